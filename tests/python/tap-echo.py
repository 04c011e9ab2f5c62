# SPDX-License-Identifier: Apache-2.0
"""usage: tap-echo.py TAP MAC

Makes the device TAP and answers each IPv4 echo request sent to MAC, as
whoever it is for.  Ends with the device when it is killed."""

import fcntl
import os
import struct
import sys

TUNSETIFF = 0x400454CA
IFF_TAP, IFF_NO_PI = 0x0002, 0x1000


def reply(frame):
    """The echo reply to 'frame', an echo request without IP options."""
    checksum = struct.unpack_from("!H", frame, 36)[0] + 0x0800
    checksum = (checksum & 0xFFFF) + (checksum >> 16)
    return (frame[6:12] + frame[0:6] + frame[12:26] + frame[30:34] +
            frame[26:30] + b"\0\0" + struct.pack("!H", checksum) + frame[38:])


def main(tap, mac):
    mac = bytes.fromhex(mac.replace(":", ""))
    fd = os.open("/dev/net/tun", os.O_RDWR)
    fcntl.ioctl(fd, TUNSETIFF,
                struct.pack("16sH22x", tap.encode(), IFF_TAP | IFF_NO_PI))
    while True:
        frame = os.read(fd, 65536)
        if (frame[0:6] == mac and frame[12:15] == b"\x08\x00\x45" and
                frame[23:24] == b"\x01" and frame[34:35] == b"\x08"):
            try:
                os.write(fd, reply(frame))
            except OSError:     # The device is down.
                pass


main(*sys.argv[1:])
