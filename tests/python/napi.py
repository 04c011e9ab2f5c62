# SPDX-License-Identifier: Apache-2.0
"""usage: napi.py DEVICE
       napi.py --set ID DEFER-HARD-IRQS GRO-FLUSH-TIMEOUT

Prints id, defer-hard-irqs and gro-flush-timeout of each NAPI of DEVICE, in the
order of its queues, or sets those of one NAPI.  It speaks the kernel"s generic
netlink family "netdev" on its own."""

import socket
import struct
import sys

REQUEST, ACK, DUMP = 1, 4, 0x300
CTRL, CTRL_GETFAMILY, FAMILY_ID, FAMILY_NAME = 0x10, 3, 1, 2
NAPI_GET, NAPI_SET = 11, 14
IFINDEX, ID, DEFER, TIMEOUT = 1, 2, 5, 6


def attribute(number, data):
    size = 4 + len(data)
    return struct.pack("=HH", size, number) + data + bytes(-size % 4)


def parse(data):
    attributes = {}
    while len(data) >= 4:
        size, number = struct.unpack_from("=HH", data)
        attributes[number & 0x3fff] = data[4:size]
        data = data[size + 3 & ~3:]
    return attributes


def talk(sock, family, command, attributes, flags):
    body = struct.pack("=BBH", command, 1, 0) + attributes
    sock.send(struct.pack("=IHHII", 16 + len(body), family, REQUEST | flags,
                          1, 0) + body)
    replies = []
    while True:
        data = sock.recv(65536)
        while data:
            size, kind = struct.unpack_from("=IH", data)
            if kind == 3:
                return replies
            if kind == 2:
                error, = struct.unpack_from("=i", data, 16)
                if error:
                    raise OSError(-error, "netlink")
                return replies
            replies.append(parse(data[20:size]))
            data = data[size + 3 & ~3:]


def number(data):
    return int.from_bytes(data, sys.byteorder)


sock = socket.socket(socket.AF_NETLINK, socket.SOCK_RAW, 16)
sock.bind((0, 0))
family = number(talk(sock, CTRL, CTRL_GETFAMILY,
                     attribute(FAMILY_NAME, b"netdev\0"), ACK)[0][FAMILY_ID])
if sys.argv[1] == "--set":
    napi, defer, timeout = map(int, sys.argv[2:])
    talk(sock, family, NAPI_SET,
         attribute(ID, struct.pack("=I", napi))
         + attribute(DEFER, struct.pack("=I", defer))
         + attribute(TIMEOUT, struct.pack("=Q", timeout)), ACK)
else:
    ifindex = struct.pack("=I", socket.if_nametoindex(sys.argv[1]))
    napis = talk(sock, family, NAPI_GET, attribute(IFINDEX, ifindex), DUMP)
    for napi in sorted(napis, key=lambda n: number(n[ID])):
        print(number(napi[ID]), number(napi[DEFER]), number(napi[TIMEOUT]))
