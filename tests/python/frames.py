# SPDX-License-Identifier: Apache-2.0
"""usage: frames.py RUNDIR

Sends frames out of one device and says what arrives at another, as it was on
the wire, and what the XDP program of a port has counted meanwhile.  Reads
requests from standard input, one a line, in six parts with tabs between them,
and answers each with one line, of what has been counted, a tab and what has
arrived:

    PORT    FROM    TO    MS    FRAME    EXPECTED

PORT may be empty: nothing is counted.  The daemon's socket is in RUNDIR.
FRAME and EXPECTED are Python expressions with the functions below; EXPECTED
may be empty, which is FRAME, or "none".  What arrives is waited for MS
milliseconds.  That is

    same            what was expected arrived, and nothing besides
    none            nothing arrived
    different ...   something else arrived, or something besides

A device whose name begins with "tap" is made, and kept: frames are then those
that its process writes and reads.  FRAME may be a list of frames: all are
sent, EXPECTED is a list as well, and they are to arrive in any order, or Flows,
Inside or Some."""

import fcntl
import ipaddress
import json
import os
import re
import select
import socket
import struct
import sys
import time

ETH_P_ALL = 3
SOL_PACKET, PACKET_AUXDATA, PACKET_ADD_MEMBERSHIP = 263, 8, 1
PACKET_MR_PROMISC, PACKET_OUTGOING = 1, 4
TUNSETIFF = 0x400454CA
IFF_TAP, IFF_NO_PI, IFF_VNET_HDR = 0x0002, 0x1000, 0x4000
VLAN_VALID, VLAN_TPID_VALID = 0x10, 0x40

MAC1, MAC2 = "02:00:00:00:00:01", "02:00:00:00:00:02"
GROUP, BROADCAST = "01:00:5e:00:00:05", "ff:ff:ff:ff:ff:ff"


def mac(text):
    return bytes.fromhex(text.replace(":", ""))


def fold(data, start=0):
    """The Internet checksum's sum, not inverted."""
    data += b"\0" * (len(data) % 2)
    s = start + sum(struct.unpack("!%dH" % (len(data) // 2), data))
    while s >> 16:
        s = (s & 0xFFFF) + (s >> 16)
    return s


# What is inside: functions from the pseudo-header's sum to bytes, beside the
# number of the protocol.

def data(n=32, first=0):
    return bytes((first + i) & 0xFF for i in range(n))


def finish(segment, at, pseudo, unfinished, zero_is=0):
    """'segment' with the checksum at 'at'; unfinished: only the
    pseudo-header's sum, as a sender with checksum offload leaves it."""
    s = fold(b"", pseudo + 0)
    if not unfinished:
        s = ~fold(segment, s) & 0xFFFF or zero_is
    return segment[:at] + struct.pack("!H", s) + segment[at + 2:]


def udp(inner=None, sport=1000, dport=2000, unfinished=False, zero=False):
    inner = data() if inner is None else inner
    n = 8 + len(inner)
    segment = struct.pack("!HHHH", sport, dport, n, 0) + inner
    if zero:
        return 17, lambda pseudo: segment
    return 17, lambda pseudo: finish(segment, 6, pseudo + 17 + n, unfinished,
                                     0xFFFF)


def tcp(inner=None, sport=1000, dport=2000, unfinished=False, seq=1, ack=2,
        flags=0x18, window=1024):
    inner = data() if inner is None else inner
    n = 20 + len(inner)
    segment = struct.pack("!HHIIBBHHH", sport, dport, seq, ack, 5 << 4, flags,
                          window, 0, 0) + inner
    return 6, lambda pseudo: finish(segment, 16, pseudo + 6 + n, unfinished)


def crc32c(data):
    """The CRC of SCTP (RFC 9260, appendix A), as it is in the header."""
    crc = 0xFFFFFFFF
    for byte in data:
        crc ^= byte
        for _ in range(8):
            crc = crc >> 1 ^ (0x82F63B78 if crc & 1 else 0)
    return struct.pack("<I", crc ^ 0xFFFFFFFF)


def sctp(inner=None, sport=1000, dport=2000, unfinished=False):
    inner = data() if inner is None else inner
    header = struct.pack("!HHI", sport, dport, 7)
    crc = b"\0" * 4 if unfinished else crc32c(header + b"\0" * 4 + inner)
    return 132, lambda pseudo: header + crc + inner


def icmp(kind=8, inner=None):
    inner = data() if inner is None else inner
    segment = struct.pack("!BBHHH", kind, 0, 0, 1, 1) + inner
    return 1, lambda pseudo: finish(segment, 2, 0, False)


def icmp6(kind=128, inner=None):
    inner = data() if inner is None else inner
    segment = struct.pack("!BBHHH", kind, 0, 0, 1, 1) + inner
    return 58, lambda pseudo: finish(segment, 2, pseudo + 58 + len(segment),
                                     False)


def raw(proto, inner):
    return proto, lambda pseudo: inner


# Packets: type of the frame and bytes.

def ip4(inner=None, src="10.1.0.1", dst="10.2.0.1", ttl=64, frag=0,
        version=4, ihl=None, length=None, options=b"", ident=1):
    proto, make = inner or udp()
    src, dst = (ipaddress.IPv4Address(a).packed for a in (src, dst))
    inner = make(fold(src + dst))
    n = 20 + len(options)
    header = struct.pack("!BBHHHBBH4s4s", version << 4 | (ihl or n // 4), 0,
                         n + len(inner) if length is None else length, ident,
                         frag, ttl, proto, 0, src, dst) + options
    return 0x0800, finish(header, 10, 0, False) + inner


def idents(checks, **options):
    """Values of 'ident' with which ip4() has one of the checksums 'checks'."""
    packet = ip4(ident=0, **options)[1]
    return [(int.from_bytes(packet[10:12], "big") - check) % 0xFFFF
            for check in checks]


def ip6(inner=None, src="fd00:1::1", dst="fd00:2::1", hlim=64, exts=(),
        version=6, length=None):
    """'exts': pairs of the number of an extension header and its bytes
    behind the first one, which names the next."""
    proto, make = inner or udp()
    src, dst = (ipaddress.IPv6Address(a).packed for a in (src, dst))
    inner = make(fold(src + dst))
    for number, body in reversed(exts):
        proto, inner = number, bytes([proto]) + body + inner
    return 0x86DD, struct.pack("!IHBB16s16s", version << 28,
                               len(inner) if length is None else length,
                               proto, hlim, src, dst) + inner


def fragment6(offset, more=1):
    """An extension header for ip6()."""
    return 44, struct.pack("!BHI", 0, offset | more, 7)


def arp(src="10.1.0.1", dst="10.2.0.1"):
    src, dst = (ipaddress.IPv4Address(a).packed for a in (src, dst))
    return 0x0806, struct.pack("!HHBBH6s4s6s4s", 1, 0x0800, 6, 4, 1, mac(MAC1),
                               src, b"\0" * 6, dst) + b"\0" * 18


def eth(inner=None, src=MAC1, dst=MAC2, tags=()):
    """'tags': ids, or pairs of type and TCI, the outer one first."""
    ethertype, packet = inner or ip4()
    frame = mac(dst) + mac(src)
    for tag in tags:
        tpid, tci = tag if isinstance(tag, tuple) else (0x8100, tag)
        frame += struct.pack("!HH", tpid, tci)
    return frame + struct.pack("!H", ethertype) + packet


def vxlan(frame, dport=4789, zero=True, unfinished=False):
    """A tunnel's packet; without a checksum of its own, unless 'zero' is
    false."""
    return udp(struct.pack("!II", 0x08000000, 7 << 8) + frame, sport=5000,
               dport=dport, zero=zero, unfinished=unfinished)


def geneve(packet, options=b""):
    return udp(struct.pack("!BBHI", len(options) // 4, 0, packet[0], 7 << 8) +
               options + packet[1], sport=5000, dport=6081, zero=True)


def carrying(frame, inner):
    """'frame' whose last bytes are 'inner' instead: an outer checksum that
    was computed from what 'inner' will be."""
    return frame[:-len(inner)] + inner


def flipped(frame, at):
    """'frame' with one bit wrong."""
    return frame[:at] + bytes([frame[at] ^ 1]) + frame[at + 1:]


def gre(packet):
    return raw(47, struct.pack("!HH", 0, packet[0]) + packet[1])


# Sockets.

sockets = {}


def needs_checksum(frame):
    """The virtio_net_hdr of a frame whose checksum is to be finished, if it
    is one of IPv4 without tags."""
    if frame[12:14] != b"\x08\0" or frame[23] not in (6, 17):
        return b"\0" * 10
    return struct.pack("=BBHHHH", 1, 0, 0, 0, 14 + (frame[14] & 15) * 4,
                       16 if frame[23] == 6 else 6)


class Tap:
    """A tap, made if it is not there: what its process sends and receives.
    Named tapv..., it has a header in front that asks for checksums."""

    def __init__(self, name):
        self.header = name.startswith("tapv")
        self.fd = os.open("/dev/net/tun", os.O_RDWR | os.O_NONBLOCK)
        fcntl.ioctl(self.fd, TUNSETIFF, struct.pack(
            "16sH22x", name.encode(), IFF_TAP | IFF_NO_PI |
            (IFF_VNET_HDR if self.header else 0)))

    def fileno(self):
        return self.fd

    def send(self, frame):
        os.write(self.fd, (needs_checksum(frame) if self.header else b"") +
                 frame)

    def recvmsg(self, size, _):
        return (os.read(self.fd, size)[10 if self.header else 0:], [], 0,
                (0, 0, 0))


def open_socket(dev, protocol):
    """A socket for one direction: what it would receive besides is lost."""
    if dev.startswith("tap"):
        if dev not in sockets:
            sockets[dev] = Tap(dev)
        return sockets[dev]
    if (dev, protocol) not in sockets:
        s = socket.socket(socket.AF_PACKET, socket.SOCK_RAW, 0)
        s.setsockopt(SOL_PACKET, PACKET_AUXDATA, 1)
        s.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 1 << 24)
        s.bind((dev, protocol))
        s.setsockopt(SOL_PACKET, PACKET_ADD_MEMBERSHIP,
                     struct.pack("iHH8x", socket.if_nametoindex(dev),
                                 PACKET_MR_PROMISC, 0))
        sockets[dev, protocol] = s
    return sockets[dev, protocol]


def receive(s, deadline):
    """The next frame, with the tag that the kernel has taken out, or None."""
    while True:
        left = deadline - time.monotonic()
        if not select.select([s], [], [], max(left, 0))[0]:
            return None
        frame, control, _, address = s.recvmsg(65536, 256)
        if address[2] == PACKET_OUTGOING:
            continue
        for level, kind, body in control:
            if (level, kind) == (SOL_PACKET, PACKET_AUXDATA):
                status, _, _, _, _, tci, tpid = struct.unpack("IIIHHHH", body)
                if status & VLAN_VALID:
                    tpid = tpid if status & VLAN_TPID_VALID else 0x8100
                    frame = (frame[:12] + struct.pack("!HH", tpid, tci) +
                             frame[12:])
        return frame


class Flows:
    """What to expect of untagged UDP frames in several flows, by source port:
    that all 'n' frames of a flow go one of two ways, which are told apart by
    the MAC that they arrive with.  The answer is then "same" and the number
    of flows that arrive for 'mac'."""

    def __init__(self, n, dst):
        self.n, self.mac = n, mac(dst)

    def judge(self, frames):
        ways = {}
        for frame in frames:
            ways.setdefault(frame[34:36], []).append(frame[:6] == self.mac)
        odd = [flow for flow, way in ways.items()
               if len(way) != self.n or len(set(way)) > 1]
        if odd:
            return "different: %d of %d flows, the first: port %d: %s" % (
                len(odd), len(ways), int.from_bytes(odd[0], "big"),
                ways[odd[0]])
        return "same %d" % sum(way[0] for way in ways.values())


class Inside:
    """What to expect of tunnels: that each of 'frames' arrives once behind
    'n' bytes of headers, in any order."""

    def __init__(self, n, frames):
        self.n, self.frames = n, listed(frames)

    def judge(self, frames):
        inner = [frame[self.n:] for frame in frames]
        if sorted(inner) == sorted(self.frames):
            return "same"
        return "different: %d, the first: %s" % (
            len(frames), frames[0][:128].hex() if frames else "-")


class Some:
    """That some of the frames that were sent arrive and others do not."""

    def __init__(self, sent):
        self.sent = sent

    def judge(self, frames):
        if 0 < len(frames) < self.sent:
            return "same"
        return "different: %d of %d" % (len(frames), self.sent)


def send_all(s, frames):
    """In bursts for which rings have room."""
    for i, frame in enumerate(frames):
        if i and i % 32 == 0:
            time.sleep(0.004)
        s.send(frame)


def exchange(source, sink, wait, frames, expected):
    """Sends 'frames'; returns the answer."""
    s, r = open_socket(source, 0), open_socket(sink, ETH_P_ALL)
    while receive(r, 0) is not None:    # Left over from before.
        pass
    send_all(s, frames)
    if hasattr(expected, "judge"):
        deadline = time.monotonic() + wait
        arrived = [receive(r, deadline) for _ in frames]
        return expected.judge([frame for frame in arrived if frame])
    left, other = list(expected), []
    deadline = time.monotonic() + wait
    while len(other) < len(left) or not expected:
        frame = receive(r, deadline)
        if frame is None:
            break
        if frame in left:
            left.remove(frame)
        else:
            other.append(frame)
    # What comes besides comes at once.
    frame = receive(r, time.monotonic() + 0.02)
    while frame is not None:
        other.append(frame)
        frame = receive(r, 0)
    if not left and not other:
        return "same" if expected else "none"
    if len(left) == len(expected) and not other:
        return "none"
    return "different: %d missing, the first: %s; %d others, the first: %s" % (
        len(left), left[0][:128].hex() if left else "-",
        len(other), other[0][:128].hex() if other else "-")


# Counters.

def appctl(rundir, *words):
    """What the daemon answers to a command."""
    with open(rundir + "/ovs-vswitchd.pid") as f:
        pid = f.read().strip()
    with socket.socket(socket.AF_UNIX) as s:
        s.connect("%s/ovs-vswitchd.%s.ctl" % (rundir, pid))
        s.send(json.dumps({"id": 0, "method": words[0],
                           "params": words[1:]}).encode())
        text = b""
        while True:
            piece = s.recv(1 << 16)
            text += piece
            try:
                return json.loads(text)["result"] or ""
            except ValueError:
                if not piece:
                    return ""


def verdicts(rundir, port):
    """The program's counters that say what has become of frames."""
    if not port:
        return {}
    text = appctl(rundir, "afxdp-fast/show", port)
    return {name: int(n)
            for name, n in re.findall(r"^ *(xdp_\w+): (\d+)$", text, re.M)
            if not re.match("xdp_(hints|redirect_bytes|parse_fragment)", name)}


def counted(before, after):
    return " ".join("%s=%d" % (name, n - before.get(name, 0))
                    for name, n in after.items() if n != before.get(name, 0))


def listed(value):
    return (value if isinstance(value, list) or hasattr(value, "judge")
            else [value])


def main(rundir):
    for line in sys.stdin:
        port, source, sink, wait, frame, expected = line[:-1].split("\t")
        before = verdicts(rundir, port)
        frames = listed(eval(frame))
        expected = ([] if expected == "none"
                    else listed(eval(expected)) if expected else frames)
        try:
            answer = exchange(source, sink, int(wait) / 1000, frames, expected)
        except OSError:
            # A socket tells once that its device was down, or is another.
            sockets.clear()
            answer = exchange(source, sink, int(wait) / 1000, frames, expected)
        print(counted(before, verdicts(rundir, port)), answer, sep="\t",
              flush=True)


if __name__ == "__main__":
    main(*sys.argv[1:])
