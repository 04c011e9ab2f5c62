/* SPDX-License-Identifier: Apache-2.0 */

/* port-config.h: what each option takes, and what it says of all else. */

#include <config.h>
#include "port-config.h"

#include <stdlib.h>
#include <string.h>

#include "host-ports.h"
#include "openvswitch/dynamic-string.h"
#include "smap.h"
#include "util.h"
#include "unit.h"

/* Parses one option, or none if 'name' is NULL.  Returns the message, which
 * the caller frees. */
static char *
parse(const char *name, const char *value, struct port_config *config)
{
    struct smap options = SMAP_INITIALIZER(&options);
    char *error = NULL;
    bool ok;

    if (name) {
        smap_add(&options, name, value);
    }
    ok = port_config_parse(&options, config, &error);
    if (ok != !error) {
        unit_fail(OVS_SOURCE_LOCATOR, "%s=%s: result %d, message %s", name,
                  value, ok, error);
    }
    smap_destroy(&options);
    return error;
}

static void
defaults(void)
{
    struct port_config c;
    char *error = parse(NULL, NULL, &c);

    CHECK(!error);
    CHECK_INT(c.xdp_mode, XDP_MODE_BEST_EFFORT);
    CHECK_INT(c.n_rxq, 0);
    CHECK_INT(c.n_rxq_desc, 2048);
    CHECK_INT(c.n_txq_desc, 512);
    CHECK_INT(c.n_frames, 2560);
    CHECK_INT(c.hints, HINTS_AUTO);
    CHECK_INT(c.busy_poll, false);
    free(error);
}

static void
good_values(void)
{
    static const struct {
        const char *name, *value;
        size_t offset;          /* Of an uint32_t in the config. */
        uint32_t expected;
    } cases[] = {
#define CASE(NAME, VALUE, MEMBER, EXPECTED) \
        { NAME, VALUE, offsetof(struct port_config, MEMBER), EXPECTED }
        CASE("n_rxq", "1", n_rxq, 1),
        CASE("n_rxq", "256", n_rxq, 256),
        CASE("n_rxq", "007", n_rxq, 7),
        CASE("n_rxq_desc", "64", n_rxq_desc, 64),
        CASE("n_rxq_desc", "512", n_rxq_desc, 512),
        CASE("n_rxq_desc", "4096", n_rxq_desc, 4096),
        CASE("n_txq_desc", "64", n_txq_desc, 64),
        CASE("n_txq_desc", "4096", n_txq_desc, 4096),
        CASE("n_rxq_desc", "4096", n_frames, 4096 + 512),
        CASE("n_txq_desc", "64", n_frames, 2048 + 64),
        CASE("frames", "2560", n_frames, 2560),
        CASE("frames", "3100", n_frames, 3100),
        CASE("frames", "32768", n_frames, 32768),
#undef CASE
    };

    for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
        struct port_config c;
        char *error = parse(cases[i].name, cases[i].value, &c);
        uint32_t got;

        memcpy(&got, (char *) &c + cases[i].offset, sizeof got);
        if (error || got != cases[i].expected) {
            unit_fail(OVS_SOURCE_LOCATOR, "%s=%s: %u, not %u (%s)",
                      cases[i].name, cases[i].value, got, cases[i].expected,
                      error ? error : "no message");
        }
        free(error);
    }
}

static void
good_words(void)
{
    struct port_config c;

    for (enum xdp_mode mode = 0; mode < XDP_N_MODES; mode++) {
        char *error = parse("xdp-mode", xdp_mode_to_string(mode), &c);

        CHECK(!error);
        CHECK_INT(c.xdp_mode, mode);
        free(error);
    }
    CHECK(!strcmp(xdp_mode_to_string(XDP_MODE_NATIVE_ZEROCOPY),
                  "native-with-zerocopy"));
    CHECK(!parse("xdp-hints", "false", &c) && c.hints == HINTS_OFF);
    CHECK(!parse("xdp-hints", "true", &c) && c.hints == HINTS_ON);
    CHECK(!parse("xdp-hints", "auto", &c) && c.hints == HINTS_AUTO);
    CHECK(!parse("busy-poll", "false", &c) && !c.busy_poll);
    CHECK(!parse("busy-poll", "true", &c) && c.busy_poll);
}

static void
check_host_ports(const char *value, const char *expected)
{
    struct smap options = SMAP_INITIALIZER(&options);
    struct ds ds = DS_EMPTY_INITIALIZER;
    struct port_config c;
    char *error = NULL;

    smap_add(&options, "host-traffic", "pass");
    smap_add(&options, "host-ports", value);
    if (!port_config_parse(&options, &c, &error)) {
        unit_fail(OVS_SOURCE_LOCATOR, "host-ports=%s: %s", value, error);
    } else {
        host_ports_format(c.host_ports, c.n_host_ports, &ds);
        if (strcmp(ds_cstr(&ds), expected)) {
            unit_fail(OVS_SOURCE_LOCATOR, "host-ports=%s is %s, not %s",
                      value, ds_cstr(&ds), expected);
        }
    }
    free(error);
    ds_destroy(&ds);
    smap_destroy(&options);
}

static void
host_traffic(void)
{
    struct port_config c, other;
    char *error;

    CHECK(!parse("host-traffic", "refuse", &other) && !other.host_pass);
    CHECK(!parse("host-traffic", "pass", &c) && c.host_pass);
    CHECK_INT(c.n_host_ports, 0);
    CHECK(!port_config_same_host(&c, &other));
    CHECK(!port_config_equal(&c, &other));
    port_config_copy_host(&other, &c);
    CHECK(port_config_same_host(&c, &other));
    c.host_ports[c.n_host_ports++] = 1;
    CHECK(!port_config_same_host(&c, &other));
    CHECK(!port_config_equal(&c, &other));

    check_host_ports("tcp:22", "tcp:22");
    check_host_ports("udp:68,tcp:1 sctp:65535,,  icmpv6:0",
                     "tcp:1,udp:68,icmpv6:0,sctp:65535");
    check_host_ports("icmpv6:255 tcp:22 tcp:022", "tcp:22,icmpv6:255");
    check_host_ports("", "");

    error = parse("host-ports", "tcp:22", &c);
    CHECK(error && !strcmp(error, "host-ports=tcp:22: means something only "
                           "together with host-traffic=pass"));
    free(error);
}

/* What host-ports does not take, each the whole of an option. */
static void
wrong_host_ports(void)
{
    static const char *const wrong[] = {
        "22", "tcp", "tcp:", ":22", "tcp:0", "tcp:65536", "tcp:-1", "tcp:+1",
        "tcp:2x", "tcp:99999999999", "TCP:22", "tc:22", "tcpp:22", "icmp:8",
        "icmpv6:256", "tcp:22-23", "tcp:22;udp:68",
    };

    for (size_t i = 0; i < ARRAY_SIZE(wrong); i++) {
        char *expected = xasprintf("host-ports=tcp:1 %s: \"%s\" must be "
                                   "tcp:PORT, udp:PORT or sctp:PORT, from 1 "
                                   "to 65535, or icmpv6:TYPE, from 0 to 255",
                                   wrong[i], wrong[i]);
        char *value = xasprintf("tcp:1 %s", wrong[i]);
        uint32_t ports[PORT_MAX_HOST_PORTS], n;
        char *error = host_ports_parse(value, ports, &n);

        if (!error || strcmp(error, expected)) {
            unit_fail(OVS_SOURCE_LOCATOR, "%s: %s", value,
                      error ? error : "no message");
        }
        free(error);
        free(value);
        free(expected);
    }
}

static void
too_many_host_ports(void)
{
    uint32_t ports[PORT_MAX_HOST_PORTS], n;
    struct ds value = DS_EMPTY_INITIALIZER;
    char *error;

    for (int i = 1; i <= PORT_MAX_HOST_PORTS; i++) {
        ds_put_format(&value, "udp:%d,", i);
    }
    error = host_ports_parse(ds_cstr(&value), ports, &n);
    CHECK(!error);
    CHECK_INT(n, PORT_MAX_HOST_PORTS);
    free(error);
    ds_put_cstr(&value, "udp:9999");
    error = host_ports_parse(ds_cstr(&value), ports, &n);
    CHECK(error && strstr(error, "at most 32 entries"));
    free(error);
    ds_destroy(&value);
}

/* Checks that 'value' is refused in a message that names option, value and
 * all of what is 'allowed'. */
static void
check_refused(const char *name, const char *value, const char *allowed)
{
    char *expected = xasprintf("%s=%s: must be %s", name, value, allowed);
    struct port_config c;
    char *error = parse(name, value, &c);

    if (!error || strcmp(error, expected)) {
        unit_fail(OVS_SOURCE_LOCATOR, "\"%s\", not \"%s\"",
                  error ? error : "(accepted)", expected);
    }
    free(expected);
    free(error);
}

/* Mistakes that no number may have. */
static const char *const no_numbers[] = {
    "", " ", "-1", "-64", "+64", "0x40", "0x400", "64k", "1024 ", " 1024",
    "1e3", "64.0", "many", "1024,1024", "4294967360", "18446744073709551680",
    "99999999999999999999999999", "0",
};

static void
wrong_numbers(void)
{
    static const struct {
        const char *name, *allowed;
        const char *values[6];  /* Wrong for this option. */
    } cases[] = {
        { "n_rxq", "a whole number from 1 to 256",
          { "257", "4294967295" } },
        { "n_rxq_desc", "a power of two from 64 to 4096",
          { "1", "32", "63", "65", "1000", "8192" } },
        { "n_txq_desc", "a power of two from 64 to 4096",
          { "1", "32", "96", "4095", "4097", "8192" } },
        { "frames", "a whole number from 2560 to 32768",
          { "1", "1024", "2559", "32769", "65536", "4294967295" } },
    };

    for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
        for (size_t j = 0; j < ARRAY_SIZE(no_numbers); j++) {
            check_refused(cases[i].name, no_numbers[j], cases[i].allowed);
        }
        for (size_t j = 0; j < ARRAY_SIZE(cases[i].values); j++) {
            if (cases[i].values[j]) {
                check_refused(cases[i].name, cases[i].values[j],
                              cases[i].allowed);
            }
        }
    }
}

static void
wrong_words(void)
{
    static const char *const words[] = {
        "", "fast", "Native", "native ", " native", "native,generic", "skb",
        "1", "best_effort", "native-with-zerocop", "native-with-zerocopyy",
    };
    static const char *const no_bools[] = {
        "", "1", "0", "yes", "True", "FALSE", "true ", "maybe", "tru",
    };

    for (size_t i = 0; i < ARRAY_SIZE(words); i++) {
        check_refused("xdp-mode", words[i], "best-effort, "
                      "native-with-zerocopy, native or generic");
    }
    for (size_t i = 0; i < ARRAY_SIZE(no_bools); i++) {
        check_refused("xdp-hints", no_bools[i], "auto, true or false");
        check_refused("busy-poll", no_bools[i], "true or false");
        check_refused("host-traffic", no_bools[i], "refuse or pass");
    }
}

static void
frames_below_rings(void)
{
    struct smap options = SMAP_INITIALIZER(&options);
    struct port_config c;
    char *error;

    smap_add(&options, "n_rxq_desc", "4096");
    smap_add(&options, "n_txq_desc", "2048");
    smap_add(&options, "frames", "6143");
    CHECK(!port_config_parse(&options, &c, &error));
    CHECK(error && !strcmp(error, "frames=6143: must be a whole number from "
                           "6144 to 32768"));
    free(error);

    smap_replace(&options, "frames", "6144");
    CHECK(port_config_parse(&options, &c, &error));
    CHECK_INT(c.n_frames, 6144);
    CHECK(!error);
    smap_destroy(&options);
}

static void
unknown_options(void)
{
    struct smap options = SMAP_INITIALIZER(&options);
    char *message;

    CHECK(!port_config_unknown_options(&options));
    smap_add(&options, "n_rxq", "wrong, but known");
    smap_add(&options, "xdp-mode", "native");
    smap_add(&options, "n_rxq_desc", "64");
    smap_add(&options, "n_txq_desc", "64");
    smap_add(&options, "frames", "4096");
    smap_add(&options, "xdp-hints", "true");
    smap_add(&options, "busy-poll", "true");
    smap_add(&options, "prefixes", "wrong, but known");
    smap_add(&options, "prefix-file", "/x");
    smap_add(&options, "fast-path-share", "10");
    smap_add(&options, "malformed", "drop");
    smap_add(&options, "host-traffic", "wrong, but known");
    smap_add(&options, "host-ports", "wrong, but known");
    CHECK(!port_config_unknown_options(&options));

    smap_add(&options, "n-rxq", "2");
    message = port_config_unknown_options(&options);
    CHECK(message && !strcmp(message, "n-rxq=2: no such option; there are "
                             "n_rxq, xdp-mode, n_rxq_desc, n_txq_desc, "
                             "frames, xdp-hints, busy-poll, prefixes, "
                             "prefix-file, fast-path-share, malformed, "
                             "host-traffic, host-ports"));
    free(message);
    smap_destroy(&options);
}

static void
equality(void)
{
    static const char *const options[][2] = {
        { "n_rxq", "2" }, { "xdp-mode", "native" }, { "n_rxq_desc", "512" },
        { "n_txq_desc", "64" }, { "frames", "4000" },
        { "xdp-hints", "false" }, { "busy-poll", "true" },
    };
    struct port_config a, b;

    CHECK(!parse(NULL, NULL, &a) && !parse("frames", "2560", &b));
    CHECK(port_config_equal(&a, &b));
    for (size_t i = 0; i < ARRAY_SIZE(options); i++) {
        CHECK(!parse(options[i][0], options[i][1], &b));
        if (port_config_equal(&a, &b) || !port_config_equal(&b, &b)) {
            unit_fail(OVS_SOURCE_LOCATOR, "%s makes no difference",
                      options[i][0]);
        }
        /* Ring sizes change the number of frames with them. */
        b.n_frames = a.n_frames;
        CHECK(port_config_equal(&a, &b) == !strcmp(options[i][0], "frames"));
    }
}

int
main(void)
{
    unit_run("an option that is not given has its default", defaults);
    unit_run("each number from the least to the largest is taken",
             good_values);
    unit_run("each word that is allowed is taken", good_words);
    unit_run("a wrong number is refused with option, value and range",
             wrong_numbers);
    unit_run("a wrong word is refused with option, value and the words",
             wrong_words);
    unit_run("fewer frames than fill the rings are refused",
             frames_below_rings);
    unit_run("an unknown option is named, with those there are",
             unknown_options);
    unit_run("what the host gets is an option, its ports are a list",
             host_traffic);
    unit_run("a wrong entry of host-ports is refused with what is allowed",
             wrong_host_ports);
    unit_run("more ports than the program takes are refused",
             too_many_host_ports);
    unit_run("two configurations are equal if every option is", equality);
    return unit_exit_status();
}
