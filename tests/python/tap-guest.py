# SPDX-License-Identifier: Apache-2.0
"""usage: tap-guest.py RUNDIR PART TAP FAR [WORD...]

Plays a virtual machine's process behind the device TAP, whose frames OVS
forwards to the device FAR and back, and prints a line for each test, as the
suites do.  The daemon's socket is in RUNDIR.  PART:

    frames      single frames; WORDs say how: "vnet" or "plain" (with or
                without a virtio_net_hdr), "nonblock" for a descriptor that
                does not block, "hdr12" for a header of 12 bytes
    queues      two queues
    restart     the process ends and starts again; WORD "persist": the device
                stays meanwhile"""

import errno
import fcntl
import importlib
import os
import re
import select
import struct
import subprocess
import sys
import time

frames = importlib.import_module("frames")
eth, ip4, ip6, tcp, udp, data = (frames.eth, frames.ip4, frames.ip6,
                                 frames.tcp, frames.udp, frames.data)

IFF_MULTI_QUEUE, IFF_ATTACH_QUEUE, IFF_DETACH_QUEUE = 0x0100, 0x0200, 0x0400
TUNSETPERSIST, TUNSETOFFLOAD = 0x400454CB, 0x400454D0
TUNSETVNETHDRSZ, TUNSETQUEUE = 0x400454D8, 0x400454D9
TUN_F_ALL = 0x0F    # Checksums, TSO4, TSO6 and ECN: what the guest takes.

NEEDS_CSUM = 1
GSO_TCPV4, GSO_TCPV6, GSO_UDP_L4 = 1, 4, 5

# Bounds for what is to happen, and for what is not to, in seconds.
SOON, SILENCE = 20, 0.1


def report(name, why):
    print("not ok - %s: %s" % (name, why) if why else "ok - " + name,
          flush=True)


class Guest:
    """A queue of the tap, made if it is not there."""

    def __init__(self, name, words=(), flags=0):
        self.vnet = "vnet" in words
        self.header_len = 0
        blocking = 0 if "nonblock" not in words else os.O_NONBLOCK
        self.fd = os.open("/dev/net/tun", os.O_RDWR | blocking)
        flags |= frames.IFF_TAP | frames.IFF_NO_PI
        flags |= frames.IFF_VNET_HDR if self.vnet else 0
        fcntl.ioctl(self.fd, frames.TUNSETIFF,
                    struct.pack("16sH22x", name.encode(), flags))
        if self.vnet:
            self.header_len = 12 if "hdr12" in words else 10
            fcntl.ioctl(self.fd, TUNSETVNETHDRSZ,
                        struct.pack("i", self.header_len))

    def close(self):
        os.close(self.fd)

    def set_offload(self, features):
        fcntl.ioctl(self.fd, TUNSETOFFLOAD, features)

    def attach(self, attached):
        fcntl.ioctl(self.fd, TUNSETQUEUE, struct.pack(
            "16xH22x", IFF_ATTACH_QUEUE if attached else IFF_DETACH_QUEUE))

    def send(self, frame, gso=0, size=0):
        """With 'gso', as one to be cut into segments of 'size'; where there
        are headers, an IP frame's checksum is to be finished."""
        header = b""
        if self.vnet:
            l4 = 34 if frame[12:14] == b"\x08\0" else 54
            is_tcp = frame[23 if l4 == 34 else 20] == 6
            header = struct.pack(
                "=BBHHHH", NEEDS_CSUM, gso,
                (l4 + (20 if is_tcp else 8)) if gso else 0, size, l4,
                16 if is_tcp else 6).ljust(self.header_len, b"\0")
        os.write(self.fd, header + frame)

    def receive(self, wait):
        """A header and a frame, or None."""
        if not select.select([self.fd], [], [], wait)[0]:
            return None
        packet = os.read(self.fd, 1 << 17)
        return packet[:self.header_len], packet[self.header_len:]


class Far:
    """The other end."""

    def __init__(self, dev):
        self.dev = dev

    def drop_old(self):
        s = frames.open_socket(self.dev, frames.ETH_P_ALL)
        while frames.receive(s, 0) is not None:
            pass

    def receive(self, wait):
        s = frames.open_socket(self.dev, frames.ETH_P_ALL)
        return frames.receive(s, time.monotonic() + wait)

    def send(self, frame):
        frames.open_socket(self.dev, 0).send(frame)


def counter(rundir, port, name):
    text = frames.appctl(rundir, "afxdp-fast/show", port)
    return sum(int(n) for n in re.findall(r"^ *%s: (\d+)$" % name, text, re.M))


def to_far(name, guest, far, frame, expected, again=False):
    """'frame', sent by the guest, arrives as 'expected'.  With 'again' it is
    sent until it arrives."""
    far.drop_old()
    guest.send(frame)
    end = time.monotonic() + SOON
    got = far.receive(SILENCE if again else SOON)
    while again and got is None and time.monotonic() < end:
        guest.send(frame)
        got = far.receive(SILENCE)
    report(name, None if got == expected else "nothing arrives"
           if got is None else "it is " + got[:80].hex())


def to_guest(name, guests, far, frame, expected, again=False):
    """Likewise the other way, on whichever of the guest's queues.  The header
    asks the guest for nothing.  With 'again' it is sent until it arrives."""
    for guest in guests:
        while guest.receive(0):
            pass
    far.send(frame)
    end, ready = time.monotonic() + SOON, []
    while not ready and time.monotonic() < end:
        ready = select.select([g.fd for g in guests], [], [], SILENCE)[0]
        if again and not ready:
            far.send(frame)
    if not ready:
        report(name, "nothing arrives")
        return
    guest = next(g for g in guests if g.fd == ready[0])
    header, got = guest.receive(0)
    if got != expected:
        report(name, "it is " + got[:80].hex())
    elif any(header[:10]):
        report(name, "its header is " + header.hex())
    else:
        report(name, None)


def is_lost(name, guest, far, sent, where):
    """What is 'sent' (arguments of Guest.send()) is counted, once, by counter
    'where' (rundir, port, name), and nothing arrives, not even a part."""
    far.drop_old()
    before = counter(*where)
    guest.send(*sent)
    end = time.monotonic() + SOON
    while counter(*where) == before and time.monotonic() < end:
        time.sleep(0.02)
    n = counter(*where) - before
    got = far.receive(SILENCE)
    report(name, "%s is %d, not 1" % (where[2], n) if n != 1 else
           "%d bytes arrive" % len(got) if got is not None else None)


def segments(n):
    """Frames to be cut, with 'n' bytes of payload: name, frame, kind."""
    return (("TCP", eth(ip4(tcp(data(n), unfinished=True))), GSO_TCPV4),
            ("TCP over IPv6", eth(ip6(tcp(data(n), unfinished=True))),
             GSO_TCPV6),
            ("UDP", eth(ip4(udp(data(n), unfinished=True))), GSO_UDP_L4))


def part_frames(rundir, tap, far_dev, words):
    guest, far = Guest(tap, words), Far(far_dev)
    label = " ".join(words) + ": "
    for name, make in (
            ("TCP", lambda **how: eth(ip4(tcp(data(1400), **how)))),
            ("UDP", lambda **how: eth(ip4(udp(data(77), **how)))),
            ("TCP over IPv6", lambda **how: eth(ip6(tcp(**how)))),
            ("UDP over IPv6", lambda **how: eth(ip6(udp(data(1400), **how))))):
        to_far(label + name + " with an unfinished checksum arrives finished",
               guest, far, make(unfinished=True), make())
        to_guest(label + name + " comes to the guest as it is", [guest], far,
                 make(), make())
        to_guest(label + name + " comes to the guest finished", [guest], far,
                 make(unfinished=True), make())
    if guest.vnet:
        # What TUNSETOFFLOAD says is what the guest takes, not what it sends.
        for features in TUN_F_ALL, 0:
            guest.set_offload(features)
            offload = "%s(offload %d) " % (label, features)
            to_guest(offload + "what comes to the guest is whole", [guest],
                     far, eth(ip4(tcp())), eth(ip4(tcp())))
        for name, frame, kind in segments(3000):
            is_lost(label + name + " to be cut, above the MTU, is counted "
                    "where it cannot leave", guest, far, (frame, kind, 1000),
                    (rundir, "p-" + far_dev, "tx_too_long"))
        for name, frame, kind in segments(30000):
            is_lost(label + name + " to be cut, longer than a frame, is "
                    "counted where it comes in", guest, far,
                    (frame, kind, 1000), (rundir, tap, "rx_dropped"))
    to_far(label + "afterwards frames pass as before", guest, far,
           eth(ip4(udp())), eth(ip4(udp())))


def wait_for_port(label, guest, far, frame):
    """Waits for the port."""
    end = time.monotonic() + SOON
    guest.send(frame)
    while far.receive(SILENCE) is None:
        if time.monotonic() > end:
            report(label + "the port comes up", "nothing arrives")
            break
        guest.send(frame)


def part_queues(rundir, tap, far_dev, words):
    guests = [Guest(tap, words, IFF_MULTI_QUEUE) for _ in range(2)]
    far = Far(far_dev)
    label = " ".join(["two queues:"] + words) + ": "
    frame = eth(ip4(tcp()))
    subprocess.run(["ip", "link", "set", tap, "up"], check=True)
    wait_for_port(label, guests[0], far, frame)
    for i, guest in enumerate(guests):
        to_far("%sfrom queue %d" % (label, i), guest, far,
               eth(ip4(tcp(unfinished=True))), frame)
    for sport in range(1000, 1008):
        flow = eth(ip4(tcp(sport=sport)))
        to_guest("%sto one of them, port %d" % (label, sport), guests, far,
                 flow, flow)
    guests[1].attach(False)
    to_far(label + "from the first when the second is detached", guests[0],
           far, eth(ip4(tcp(unfinished=True))), frame)
    # It is noticed within a second.
    to_guest(label + "and to it", guests[:1], far, frame, frame, again=True)
    guests[1].attach(True)
    # The port follows within a second, both ways.
    to_far(label + "from the second when it is attached again", guests[1], far,
           eth(ip4(tcp(unfinished=True))), frame, again=True)


def comes_through(guest, far, frame):
    """True as soon as 'frame' arrives both ways, in time."""
    end = time.monotonic() + SOON
    ways = set()
    while len(ways) < 2 and time.monotonic() < end:
        try:
            far.drop_old()
            guest.send(frame)
            if far.receive(SILENCE) == frame:
                ways.add("from the guest")
            far.send(frame)
            received = guest.receive(SILENCE)
            while received is not None:
                if received[1] == frame:
                    ways.add("to the guest")
                received = guest.receive(0)
        except OSError as e:    # The device is down, or not there yet.
            if e.errno not in (errno.EIO, errno.ENETDOWN, errno.EBADFD):
                raise
            time.sleep(0.05)
    return None if len(ways) == 2 else "passes only %s" % (ways or "nowhere")


def part_restart(rundir, tap, far_dev, words):
    far = Far(far_dev)
    label = " ".join(["restart:"] + words) + ": "
    frame = eth(ip4(udp()))
    for i in range(2):
        guest = Guest(tap, words)
        fcntl.ioctl(guest.fd, TUNSETPERSIST, int("persist" in words))
        subprocess.run(["ip", "link", "set", tap, "up"], check=True)
        report("%sframes pass both ways, time %d" % (label, i + 1),
               comes_through(guest, far, frame))
        # With frames on their way to it.
        for _ in range(100):
            far.send(frame)
        guest.close()
    guest = Guest(tap, words)
    fcntl.ioctl(guest.fd, TUNSETPERSIST, 0)


def main(rundir, part, tap, far_dev, *words):
    globals()["part_" + part](rundir, tap, far_dev, list(words))


if __name__ == "__main__":
    main(*sys.argv[1:])
