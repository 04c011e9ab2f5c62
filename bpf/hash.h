/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */

/* The flow hash.
 *
 * A function of the 5-tuple and of nothing else: no seed, so that a flow
 * keeps its hash when the program is replaced or the daemon restarts, on
 * whatever port it arrives, and on CPUs of either byte order.  Like OVS's own
 * hash of the 5-tuple it is not symmetric: the two directions of a connection
 * are two flows.
 *
 * OVS takes the low 26 bits for two probes into its exact match cache and
 * folds all of it into later hashes, so every bit must depend on every bit of
 * the tuple.  Multiplying carries a difference upwards only; addresses are
 * therefore taken in host order, where the bits that vary most are the lowest
 * ones, and the shifts bring the upper half down in between. */

#ifndef HASH_H
#define HASH_H 1

#include <linux/types.h>
#include <bpf/bpf_endian.h>

/* Odd, so that multiplying is a bijection, and with bits set evenly.  The
 * fractional parts of the golden ratio, and of the square roots of 2 and 3. */
#define HASH_MUL1 0x9e3779b97f4a7c15ULL
#define HASH_MUL2 0x6a09e667f3bcc909ULL
#define HASH_MUL3 0xbb67ae8584caa73bULL

/* Loads 8 bytes in network order.  Packet memory may be read unaligned, in
 * one instruction, but the compiler splits it up if it knows. */
static __always_inline __u64
load_be64(const void *p)
{
    return bpf_be64_to_cpu(*(const __u64 *) p);
}

static __always_inline __u64
hash_mix(__u64 h, __u64 word)
{
    h = (h ^ word) * HASH_MUL1;
    return h ^ h >> 32;
}

/* 'ports' is the first word of the L4 header, source and destination, or 0
 * if the flow has none. */
static __always_inline __u32
hash_finish(__u64 h, __u8 proto, __be32 ports)
{
    h ^= (__u64) proto << 32 | bpf_ntohl(ports);
    h *= HASH_MUL2;
    h ^= h >> 29;
    h *= HASH_MUL3;
    return h >> 32;
}

/* 'addrs' are the two addresses of an IPv4 header, 8 bytes. */
static __always_inline __u32
hash_ipv4(const void *addrs, __u8 proto, __be32 ports)
{
    return hash_finish(hash_mix(0, load_be64(addrs)), proto, ports);
}

/* 'addrs' are the two addresses of an IPv6 header, 32 bytes. */
static __always_inline __u32
hash_ipv6(const void *addrs, __u8 proto, __be32 ports)
{
    __u64 h;

    h = hash_mix(0, load_be64(addrs));
    h = hash_mix(h, load_be64(addrs + 8));
    h = hash_mix(h, load_be64(addrs + 16));
    h = hash_mix(h, load_be64(addrs + 24));
    return hash_finish(h, proto, ports);
}

#endif /* hash.h */
