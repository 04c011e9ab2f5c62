/* SPDX-License-Identifier: Apache-2.0 */

#include <config.h>
#include "bridge-info.h"

#include <stdlib.h>
#include <string.h>

#include "ofproto/ofproto-dpif.h"
#include "ofproto/ofproto-dpif-mirror.h"
#include "ofproto/ofproto.h"
#include "sset.h"
#include "util.h"

/* Returns the bridge of type 'type' that has the port, or NULL. */
static struct ofproto_dpif *
find_bridge_of_type(const char *type, const char *port)
{
    struct sset names = SSET_INITIALIZER(&names);
    struct ofproto_dpif *found = NULL;
    const char *name;

    ofproto_enumerate_names(type, &names);
    SSET_FOR_EACH (name, &names) {
        struct ofproto_dpif *bridge = ofproto_dpif_lookup_by_name(name);
        struct ofproto_port ofproto_port;

        if (bridge && !ofproto_port_query_by_name(&bridge->up, port,
                                                  &ofproto_port)) {
            ofproto_port_destroy(&ofproto_port);
            found = bridge;
            break;
        }
    }
    sset_destroy(&names);
    return found;
}

static struct ofproto_dpif *
find_bridge(const char *port)
{
    struct sset types = SSET_INITIALIZER(&types);
    struct ofproto_dpif *found = NULL;
    const char *type;

    ofproto_enumerate_types(&types);
    SSET_FOR_EACH (type, &types) {
        found = find_bridge_of_type(type, port);
        if (found) {
            break;
        }
    }
    sset_destroy(&types);
    return found;
}

void
bridge_info_of_port(const char *port, struct bridge_info *info)
{
    struct ofproto_dpif *bridge = find_bridge(port);

    memset(info, 0, sizeof *info);
    if (bridge) {
        info->name = xstrdup(bridge->up.name);
        info->mirrors = mbridge_has_mirrors(bridge->mbridge);
        info->sflow = bridge->sflow != NULL;
        info->ipfix = bridge->ipfix != NULL;
        info->netflow = bridge->netflow != NULL;
    }
}

void
bridge_info_uninit(struct bridge_info *info)
{
    free(info->name);
    info->name = NULL;
}
