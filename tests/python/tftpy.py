# SPDX-License-Identifier: Apache-2.0
"""As much of the tftpy module as OVS's test-l7.py needs: a server that sends
files (RFC 1350, read requests in octet mode).  Debian 12 does not package
tftpy, and without it OVS's suite skips its TFTP tests."""

import os
import socket
import struct

RRQ, DATA, ACK, ERROR = 1, 3, 4, 5
BLOCK = 512


class TftpShared:
    DEF_TFTP_PORT = 69


class TftpServer:
    def __init__(self, tftproot):
        self.root = tftproot

    def listen(self, ip, port):
        """Serves one client after another, for ever."""
        with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as server:
            server.bind((ip, port))
            while True:
                request, client = server.recvfrom(65536)
                if len(request) > 2 and request[:2] == struct.pack("!H", RRQ):
                    name = request[2:].split(b"\0")[0].decode()
                    self.send(os.path.join(self.root, name), client)

    @staticmethod
    def send(path, client):
        """Sends the file from a port of its own, each block until it is
        acknowledged or five times."""
        with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as peer:
            peer.settimeout(1)
            peer.connect(client)
            try:
                with open(path, "rb") as file:
                    content = file.read()
            except OSError as error:
                peer.send(struct.pack("!HH", ERROR, 1) +
                          error.strerror.encode() + b"\0")
                return
            for number in range(len(content) // BLOCK + 1):
                block = (number + 1) & 0xffff
                part = content[number * BLOCK:(number + 1) * BLOCK]
                for _ in range(5):
                    try:
                        peer.send(struct.pack("!HH", DATA, block) + part)
                        reply = peer.recv(BLOCK)
                    except OSError:
                        continue
                    if reply[:4] == struct.pack("!HH", ACK, block):
                        break
                else:
                    return
