/* SPDX-License-Identifier: Apache-2.0 */

/* Sends every frame of capture files through whatever lies between two devices
 * and compares what arrives byte for byte: see usage(). */

#include <arpa/inet.h>
#include <errno.h>
#include <getopt.h>
#include <inttypes.h>
#include <linux/if_ether.h>
#include <linux/if_packet.h>
#include <poll.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/uio.h>
#include <unistd.h>

#include "args.h"

/* The longest frame that a capture may hold: libpcap's own limit. */
#define MAX_FRAME 262144

#define LINKTYPE_ETHERNET 1

static void
usage(void)
{
    puts("pcap-pass: send capture files from one device to another\n"
         "usage: pcap-pass --from=DEV --to=DEV [--wait=MS] FILE...\n"
         "Sends each frame of the files (pcap, Ethernet) out of one device,\n"
         "waits until a frame arrives at the other, at most MS milliseconds\n"
         "(1000), and compares the two byte for byte; a checksum of TCP or\n"
         "UDP that was unfinished may be finished.  Prints a line for\n"
         "each frame that differs or does not arrive, and at the end\n"
         "{\"frames\", \"same\", \"different\", \"missing\",\n"
         "\"unsendable\"}; unsendable frames are those that the sending\n"
         "device refuses, for instance as longer than its MTU.  Exits with 1\n"
         "unless all the frames that could be sent arrived unchanged.");
    exit(0);
}

struct totals {
    unsigned int frames, same, different, missing, unsendable;
};

static int
open_socket(int ifindex, uint16_t protocol)
{
    struct sockaddr_ll address = {
        .sll_family = AF_PACKET, .sll_ifindex = ifindex,
        .sll_protocol = htons(protocol),
    };
    struct packet_mreq promiscuous = {
        .mr_ifindex = ifindex, .mr_type = PACKET_MR_PROMISC,
    };
    int fd = socket(AF_PACKET, SOCK_RAW, 0);
    int on = 1;

    if (fd < 0 || bind(fd, (struct sockaddr *) &address, sizeof address)
        || setsockopt(fd, SOL_PACKET, PACKET_ADD_MEMBERSHIP, &promiscuous,
                      sizeof promiscuous)
        || setsockopt(fd, SOL_PACKET, PACKET_AUXDATA, &on, sizeof on)) {
        die("raw socket: %s", strerror(errno));
    }
    return fd;
}

/* The kernel takes the outer tag out of a frame that arrives: puts it back
 * into the frame of '*size' bytes if 'message' says that there was one. */
static void
restore_tag(struct msghdr *message, uint8_t *frame, size_t *size)
{
    struct cmsghdr *cmsg;

    for (cmsg = CMSG_FIRSTHDR(message); cmsg;
         cmsg = CMSG_NXTHDR(message, cmsg)) {
        struct tpacket_auxdata aux;
        uint16_t tag[2];

        if (cmsg->cmsg_level != SOL_PACKET
            || cmsg->cmsg_type != PACKET_AUXDATA) {
            continue;
        }
        memcpy(&aux, CMSG_DATA(cmsg), sizeof aux);
        if (!(aux.tp_status & TP_STATUS_VLAN_VALID)) {
            continue;
        }
        tag[0] = htons(aux.tp_status & TP_STATUS_VLAN_TPID_VALID
                       ? aux.tp_vlan_tpid : ETH_P_8021Q);
        tag[1] = htons(aux.tp_vlan_tci);
        memmove(frame + 16, frame + 12, *size - 12);
        memcpy(frame + 12, tag, sizeof tag);
        *size += sizeof tag;
    }
}

/* Receives one frame into 'frame', of MAX_FRAME + 4 bytes.  Returns false when
 * none arrives before 'deadline'. */
static bool
receive(int fd, uint8_t *frame, size_t *size, uint64_t deadline)
{
    for (;;) {
        uint64_t now = now_ns();
        int left = now < deadline ? (deadline - now + 999999) / 1000000 : 0;
        struct pollfd pollfd = { .fd = fd, .events = POLLIN };
        uint8_t control[CMSG_SPACE(sizeof(struct tpacket_auxdata))];
        struct iovec iov = { .iov_base = frame, .iov_len = MAX_FRAME };
        struct sockaddr_ll from;
        struct msghdr message = {
            .msg_name = &from, .msg_namelen = sizeof from,
            .msg_iov = &iov, .msg_iovlen = 1,
            .msg_control = control, .msg_controllen = sizeof control,
        };

        if (poll(&pollfd, 1, left) <= 0) {
            return false;
        }
        ssize_t n = recvmsg(fd, &message, MSG_DONTWAIT);
        if (n >= ETH_HLEN && from.sll_pkttype != PACKET_OUTGOING) {
            *size = n;
            restore_tag(&message, frame, size);
            return true;
        }
    }
}

static uint16_t
word_at(const uint8_t *p)
{
    return p[0] << 8 | p[1];
}

/* Returns where the IP packet in 'frame' ends, 0 if there is none. */
static size_t
ip_end(const uint8_t *frame, size_t size)
{
    size_t ofs = 12, end = 0;

    while (ofs + 4 < size && (word_at(frame + ofs) == ETH_P_8021Q
                              || word_at(frame + ofs) == ETH_P_8021AD)) {
        ofs += 4;
    }
    ofs += 2;
    if (ofs + 20 <= size && word_at(frame + ofs - 2) == ETH_P_IP) {
        end = ofs + word_at(frame + ofs + 2);
    } else if (ofs + 40 <= size && word_at(frame + ofs - 2) == ETH_P_IPV6) {
        end = ofs + 40 + word_at(frame + ofs + 4);
    }
    return end <= size ? end : 0;
}

/* Is the word at 'check' the sum's complement over what is from 'start' to
 * 'end', with the word there as it was in 'sent'? */
static bool
is_sum(const uint8_t *sent, const uint8_t *got, size_t check, size_t start,
       size_t end)
{
    uint64_t sum = 0;
    uint16_t folded;

    for (size_t i = start; i < end; i++) {
        sum += (i - start) % 2 ? sent[i] : sent[i] << 8;
    }
    while (sum >> 16) {
        sum = (sum & 0xffff) + (sum >> 16);
    }
    folded = ~sum;
    return word_at(got + check) == (folded ? folded : 0xffff);
}

/* Many a capture was made where the sender's checksums were unfinished yet, as
 * the port finishes them: is 'got' but for that, in TCP or UDP, what was
 * sent? */
static bool
is_finished(const uint8_t *sent, const uint8_t *got, size_t size)
{
    size_t end = ip_end(sent, size), first = 0;

    while (sent[first] == got[first]) {
        first++;
    }
    for (size_t check = first - 1; check <= first && check >= 34; check++) {
        if (check + 2 <= end
            && !memcmp(sent + check + 2, got + check + 2, size - check - 2)
            && (is_sum(sent, got, check, check - 16, end)
                || is_sum(sent, got, check, check - 6, end))) {
            return true;
        }
    }
    return false;
}

/* Prints where 'got' differs from 'sent'. */
static void
report(const char *file, unsigned int number, const uint8_t *sent,
       size_t sent_size, const uint8_t *got, size_t got_size)
{
    size_t i = 0;

    while (i < sent_size && i < got_size && sent[i] == got[i]) {
        i++;
    }
    fprintf(stderr, "%s: frame %u: %zu bytes sent, %zu arrived, "
            "first difference at byte %zu\n",
            file, number, sent_size, got_size, i);
}

static void
pass_frame(int from, int to, uint64_t wait_ns, const char *file,
           unsigned int number, const uint8_t *frame, size_t size,
           struct totals *totals)
{
    static uint8_t got[MAX_FRAME + 4];
    size_t got_size;

    totals->frames++;
    while (receive(to, got, &got_size, 0)) {
        continue;               /* Left over: not an answer to this frame. */
    }
    if (send(from, frame, size, 0) != (ssize_t) size) {
        fprintf(stderr, "%s: frame %u: %zu bytes: not sent: %s\n",
                file, number, size, strerror(errno));
        totals->unsendable++;
    } else if (!receive(to, got, &got_size, now_ns() + wait_ns)) {
        fprintf(stderr, "%s: frame %u: %zu bytes: did not arrive\n",
                file, number, size);
        totals->missing++;
    } else if (got_size != size
               || (memcmp(got, frame, size)
                   && !is_finished(frame, got, size))) {
        report(file, number, frame, size, got, got_size);
        totals->different++;
    } else {
        totals->same++;
    }
}

/* The file's headers, in the byte order of who wrote it. */
struct pcap_file_header {
    uint32_t magic;
    uint16_t major, minor;
    uint32_t zone, accuracy, snaplen, linktype;
};

struct pcap_frame_header {
    uint32_t seconds, fraction, caplen, len;
};

static void
pass_file(int from, int to, uint64_t wait_ns, const char *name,
          struct totals *totals)
{
    static uint8_t frame[MAX_FRAME];
    struct pcap_file_header file;
    struct pcap_frame_header header;
    FILE *stream = fopen(name, "rb");
    unsigned int number = 0;
    bool swapped;

    if (!stream || fread(&file, sizeof file, 1, stream) != 1) {
        die("%s: %s", name, stream ? "too short for a pcap file"
                                   : strerror(errno));
    }
    /* Microseconds or nanoseconds, native or foreign byte order. */
    swapped = file.magic == 0xd4c3b2a1 || file.magic == 0x4d3cb2a1;
    if (!swapped && file.magic != 0xa1b2c3d4 && file.magic != 0xa1b23c4d) {
        die("%s: not a pcap file", name);
    }
    uint32_t linktype = swapped ? __builtin_bswap32(file.linktype)
                                : file.linktype;
    if ((linktype & 0xffff) != LINKTYPE_ETHERNET) {
        fprintf(stderr, "%s: link type %"PRIu32", not Ethernet: left out\n",
                name, linktype);
        fclose(stream);
        return;
    }

    while (fread(&header, sizeof header, 1, stream) == 1) {
        uint32_t size = swapped ? __builtin_bswap32(header.caplen)
                                : header.caplen;

        if (size > MAX_FRAME || fread(frame, 1, size, stream) != size) {
            fprintf(stderr, "%s: frame %u: cut short: the rest of the file is "
                    "left out\n", name, number + 1);
            break;
        }
        pass_frame(from, to, wait_ns, name, ++number, frame, size, totals);
    }
    fclose(stream);
}

int
main(int argc, char *argv[])
{
    static const struct option long_options[] = {
        {"from", required_argument, NULL, 'f'},
        {"to", required_argument, NULL, 't'},
        {"wait", required_argument, NULL, 'w'},
        {"help", no_argument, NULL, 'h'},
        {NULL, 0, NULL, 0},
    };
    const char *from_dev = NULL;
    const char *to_dev = NULL;
    struct totals totals = { 0 };
    uint64_t wait_ms = 1000;
    int option;

    while ((option = getopt_long(argc, argv, "", long_options, NULL)) != -1) {
        switch (option) {
        case 'f': from_dev = optarg; break;
        case 't': to_dev = optarg; break;
        case 'w': wait_ms = parse_number("wait", optarg, 1, 60000); break;
        case 'h': usage(); break;
        default: exit(1);
        }
    }
    int from = open_socket(parse_device("--from", from_dev), 0);
    int to = open_socket(parse_device("--to", to_dev), ETH_P_ALL);
    for (int i = optind; i < argc; i++) {
        pass_file(from, to, wait_ms * 1000000, argv[i], &totals);
    }
    printf("{\"frames\": %u, \"same\": %u, \"different\": %u, "
           "\"missing\": %u, \"unsendable\": %u}\n",
           totals.frames, totals.same, totals.different, totals.missing,
           totals.unsendable);
    return totals.different || totals.missing;
}
