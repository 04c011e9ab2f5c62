# SPDX-License-Identifier: Apache-2.0
"""usage: packet-out.py BRIDGE OFPORT DEV

Has the bridge send frames out of its port OFPORT, and prints how many of them
did not arrive at DEV, each within 5 seconds, byte by byte."""

import subprocess
import sys
import time

from frames import ETH_P_ALL, arp, data, eth, ip4, open_socket, receive, udp


def main(bridge, ofport, dev):
    s = open_socket(dev, ETH_P_ALL)
    wrong = 0
    for frame in [eth(ip4(udp())), eth(ip4(udp(data(1400)))), eth(arp())] * 5:
        subprocess.run(["ovs-ofctl", "packet-out", bridge,
                        "in_port=controller,packet=%s,actions=output:%s" %
                        (frame.hex(), ofport)], check=True)
        wrong += receive(s, time.monotonic() + 5) != frame
    print(wrong)


main(*sys.argv[1:])
