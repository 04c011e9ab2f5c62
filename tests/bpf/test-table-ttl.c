/* SPDX-License-Identifier: Apache-2.0 */

/* The checksum of IPv4 headers whose TTL is decremented. */

#include <config.h>

#include <inttypes.h>
#include <linux/bpf.h>
#include <string.h>

#include "frame.h"
#include "report.h"
#include "table-fixtures.h"
#include "util.h"

/* Runs the program on 'in' and checks that 'out' comes out.  Returns false if
 * not. */
static bool
check_ttl(struct table_program *tp, const struct frame *in,
          const struct frame *out)
{
    struct table_outcome o;
    const uint8_t *ip = o.frame + 14;

    lab_run(tp, NULL, in->data, in->len, &o);
    if (!o.counted[XDP_C_REDIRECT] || o.len != out->len
        || memcmp(o.frame, out->data, out->len)) {
        test_fail("TTL %d, checksum %02x%02x: to TTL %d, checksum %02x%02x, "
                  "not %02x%02x", in->data[22], in->data[24], in->data[25],
                  ip[8], ip[10], ip[11], out->data[24], out->data[25]);
        return false;
    }
    return true;
}

/* Makes a frame with this TTL and identification; all else is the same. */
static void
make_packet(struct frame *f, int ttl, uint16_t id)
{
    char spec[64];

    snprintf(spec, sizeof spec, "eth ip4 ttl=%d id=%d udp pay=2", ttl, id);
    frame_make(f, spec);
}

void
test_table_ttl(void)
{
    struct table_program *tp = lab_program(0);
    struct frame in, out;
    bool seen[UINT16_MAX + 1] = { false };
    size_t n = 0;

    lab_set_table(tp, "0.0.0.0/0=redirect:out,dec-ttl");
    test_begin("the header's checksum is right after each TTL");
    for (int ttl = 2; ttl <= 255; ttl++) {
        for (int id = 0; id <= UINT16_MAX; id += 1499) {
            make_packet(&in, ttl, id);
            make_packet(&out, ttl - 1, id);
            if (!check_ttl(tp, &in, &out)) {
                ttl = 255;
                break;
            }
        }
    }
    test_end();

    test_begin("the header's checksum is right after each that there can be");
    for (int id = 0; id <= UINT16_MAX; id++) {
        make_packet(&in, 64, id);
        make_packet(&out, 63, id);
        n += !seen[in.data[24] << 8 | in.data[25]];
        seen[in.data[24] << 8 | in.data[25]] = true;
        if (!check_ttl(tp, &in, &out)) {
            break;
        }
    }
    /* 0xffff would be the sum of a header of zeros. */
    CHECK(n == UINT16_MAX, "%"PRIuSIZE" checksums, not %d", n, UINT16_MAX);
    test_end();
}
