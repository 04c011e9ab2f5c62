/* SPDX-License-Identifier: Apache-2.0 */

#include <config.h>
#include "port-config.h"

#include <string.h>

#include "host-ports.h"
#include "openvswitch/dynamic-string.h"
#include "smap.h"
#include "util.h"

static const char *const mode_names[XDP_N_MODES] = {
    [XDP_MODE_BEST_EFFORT] = "best-effort",
    [XDP_MODE_NATIVE_ZEROCOPY] = "native-with-zerocopy",
    [XDP_MODE_NATIVE] = "native",
    [XDP_MODE_GENERIC] = "generic",
};

static const char *const hints_names[N_HINTS_CHOICES] = {
    [HINTS_AUTO] = "auto",
    [HINTS_ON] = "true",
    [HINTS_OFF] = "false",
};

static const char *const option_names[] = {
    "n_rxq", "xdp-mode", "n_rxq_desc", "n_txq_desc", "frames", "xdp-hints",
    "busy-poll", "prefixes", "prefix-file", "fast-path-share", "malformed",
    "host-traffic", "host-ports",
};

/* Returns the option value that stands for 'mode'. */
const char *
xdp_mode_to_string(enum xdp_mode mode)
{
    return mode_names[mode];
}

/* Returns the option value that stands for 'choice'. */
const char *
hints_choice_to_string(enum hints_choice choice)
{
    return hints_names[choice];
}

/* Each parser below leaves '*value' as it is where the option is not there,
 * and returns NULL or what is wrong with it, which the caller frees. */

static char *
parse_number(const struct smap *options, const char *name,
             unsigned int min, unsigned int max, uint32_t *value)
{
    const char *s = smap_get(options, name);
    unsigned int number;

    if (!s) {
        return NULL;
    }
    if (s[strspn(s, "0123456789")] || !str_to_uint(s, 10, &number)
        || number < min || number > max) {
        return xasprintf("%s=%s: must be a whole number from %u to %u",
                         name, s, min, max);
    }
    *value = number;
    return NULL;
}

static char *
parse_ring_size(const struct smap *options, const char *name, uint32_t *value)
{
    char *error = parse_number(options, name, PORT_MIN_DESC, PORT_MAX_DESC,
                               value);

    if (error || !IS_POW2(*value)) {
        free(error);
        error = xasprintf("%s=%s: must be a power of two from %d to %d",
                          name, smap_get(options, name), PORT_MIN_DESC,
                          PORT_MAX_DESC);
    }
    return error;
}

/* Stores in '*value' which of the 'n' words at 'words' the option is;
 * 'allowed' names them. */
static char *
parse_word(const struct smap *options, const char *name,
           const char *const words[], size_t n, const char *allowed,
           size_t *value)
{
    const char *s = smap_get(options, name);

    if (!s) {
        return NULL;
    }
    for (size_t i = 0; i < n; i++) {
        if (!strcmp(s, words[i])) {
            *value = i;
            return NULL;
        }
    }
    return xasprintf("%s=%s: must be %s", name, s, allowed);
}

static char *
parse_mode(const struct smap *options, enum xdp_mode *value)
{
    size_t i = *value;
    char *error;

    error = parse_word(options, "xdp-mode", mode_names, XDP_N_MODES,
                       "best-effort, native-with-zerocopy, native or generic",
                       &i);
    *value = i;
    return error;
}

static char *
parse_hints(const struct smap *options, enum hints_choice *value)
{
    size_t i = *value;
    char *error;

    error = parse_word(options, "xdp-hints", hints_names, N_HINTS_CHOICES,
                       "auto, true or false", &i);
    *value = i;
    return error;
}

static char *
parse_bool(const struct smap *options, const char *name, bool *value)
{
    const char *s = smap_get(options, name);

    if (s && strcmp(s, "true") && strcmp(s, "false")) {
        return xasprintf("%s=%s: must be true or false", name, s);
    }
    *value = smap_get_bool(options, name, *value);
    return NULL;
}

static char *
parse_malformed(const struct smap *options, bool *drop)
{
    static const char *const words[] = { "userspace", "drop" };
    size_t i = *drop;
    char *error;

    error = parse_word(options, "malformed", words, ARRAY_SIZE(words),
                       "userspace or drop", &i);
    *drop = i;
    return error;
}

static char *
parse_host(const struct smap *options, struct port_config *config)
{
    static const char *const words[] = { "refuse", "pass" };
    const char *ports = smap_get(options, "host-ports");
    size_t i = 0;
    char *error;

    error = parse_word(options, "host-traffic", words, ARRAY_SIZE(words),
                       "refuse or pass", &i);
    config->host_pass = i;
    if (!error && ports && !config->host_pass) {
        error = xasprintf("host-ports=%s: means something only together with "
                          "host-traffic=pass", ports);
    }
    if (!error && ports) {
        error = host_ports_parse(ports, config->host_ports,
                                 &config->n_host_ports);
    }
    return error;
}

/* The default of 'frames' is what fills all rings, and less makes no sense:
 * the rings could then not be filled. */
static char *
parse_frames(const struct smap *options, struct port_config *config)
{
    uint32_t min = config->n_rxq_desc + config->n_txq_desc;

    config->n_frames = min;
    return parse_number(options, "frames", min, PORT_MAX_FRAMES,
                        &config->n_frames);
}

/* Fills '*config' from the 'options' of an interface, with defaults for those
 * not there.  Returns true, or false and stores in '*errp' the first wrong
 * option, its value and what is allowed, which the caller frees; '*config' is
 * then of no use.  Any thread. */
bool
port_config_parse(const struct smap *options, struct port_config *config,
                  char **errp)
{
    char *error;

    *config = (struct port_config) {
        .xdp_mode = XDP_MODE_BEST_EFFORT,
        .n_rxq_desc = PORT_DEFAULT_RX_DESC,
        .n_txq_desc = PORT_DEFAULT_TX_DESC,
        .hints = HINTS_AUTO,
        .fast_path_share = 100,
    };
    error = parse_mode(options, &config->xdp_mode);
    if (!error) {
        error = parse_number(options, "n_rxq", 1, PORT_MAX_RXQ,
                             &config->n_rxq);
    }
    if (!error) {
        error = parse_ring_size(options, "n_rxq_desc", &config->n_rxq_desc);
    }
    if (!error) {
        error = parse_ring_size(options, "n_txq_desc", &config->n_txq_desc);
    }
    if (!error) {
        error = parse_frames(options, config);
    }
    if (!error) {
        error = parse_hints(options, &config->hints);
    }
    if (!error) {
        error = parse_bool(options, "busy-poll", &config->busy_poll);
    }
    if (!error) {
        error = parse_malformed(options, &config->malformed_drop);
    }
    if (!error) {
        error = parse_number(options, "fast-path-share", 0, 100,
                             &config->fast_path_share);
    }
    if (!error) {
        error = parse_host(options, config);
    }
    *errp = error;
    return !error;
}

/* Returns true if 'a' and 'b' say the same of the host's own traffic. */
bool
port_config_same_host(const struct port_config *a,
                      const struct port_config *b)
{
    return (a->host_pass == b->host_pass
            && a->n_host_ports == b->n_host_ports
            && !memcmp(a->host_ports, b->host_ports,
                       a->n_host_ports * sizeof a->host_ports[0]));
}

/* Makes 'to' say of the host's own traffic what 'from' does. */
void
port_config_copy_host(struct port_config *to, const struct port_config *from)
{
    to->host_pass = from->host_pass;
    to->n_host_ports = from->n_host_ports;
    memcpy(to->host_ports, from->host_ports, sizeof to->host_ports);
}

/* Returns true if 'a' and 'b' say the same. */
bool
port_config_equal(const struct port_config *a, const struct port_config *b)
{
    return (a->xdp_mode == b->xdp_mode
            && a->n_rxq == b->n_rxq
            && a->n_rxq_desc == b->n_rxq_desc
            && a->n_txq_desc == b->n_txq_desc
            && a->n_frames == b->n_frames
            && a->hints == b->hints
            && a->busy_poll == b->busy_poll
            && a->malformed_drop == b->malformed_drop
            && a->fast_path_share == b->fast_path_share
            && port_config_same_host(a, b));
}

/* Returns a message about the first of 'options' that no afxdp-fast port has,
 * or NULL if there is none.  The caller frees it.  OVS's other ports pass
 * such options over, so this one takes them too, but says so. */
char *
port_config_unknown_options(const struct smap *options)
{
    const struct smap_node *node;

    SMAP_FOR_EACH (node, options) {
        struct ds allowed = DS_EMPTY_INITIALIZER;
        bool known = false;
        char *message;

        for (size_t i = 0; i < ARRAY_SIZE(option_names); i++) {
            known = known || !strcmp(node->key, option_names[i]);
            ds_put_format(&allowed, "%s%s", i ? ", " : "", option_names[i]);
        }
        message = xasprintf("%s=%s: no such option; there are %s", node->key,
                            node->value, ds_cstr(&allowed));
        ds_destroy(&allowed);
        if (!known) {
            return message;
        }
        free(message);
    }
    return NULL;
}
