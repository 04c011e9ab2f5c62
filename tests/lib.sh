# SPDX-License-Identifier: Apache-2.0
#
# What the suites and benchmarks have in common: a private ovsdb-server and
# ovs-vswitchd in a temporary folder, ports on veths, traffic, and the report.
# To be sourced, inside a network namespace of its own (tests/sandbox).
#
# A suite prints on stdout, through ok, not_ok and skip, one line a test:
#     ok - NAME
#     not ok - NAME: WHY
#     skip - NAME: REASON
# and everything else on stderr.  It exits with 0 unless it is broken itself.
#
# Variables that the caller may set:
#   OVS_STAGE   the folder of the built OVS versions (ovs-stage)
#   OVS_VERSION the one to test (3.1)
#   OVS_TREE    a built OVS tree instead of $OVS_STAGE/$OVS_VERSION
#   OVS_DAEMON  the daemon instead of $OVS_TREE/vswitchd/ovs-vswitchd
#   PORT_TYPE   the type of the ports under test (afxdp-fast)
#   CAPTURES    a folder of capture files (*.pcap) to send, too
#   PMD_MASK    pmd-cpu-mask of the daemon (0x2)

top=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
OVS_TREE=${OVS_TREE:-${OVS_STAGE:-$top/ovs-stage}/${OVS_VERSION:-3.1}}
OVS_DAEMON=${OVS_DAEMON:-$OVS_TREE/vswitchd/ovs-vswitchd}
PORT_TYPE=${PORT_TYPE:-afxdp-fast}
PMD_MASK=${PMD_MASK:-0x2}
tools=$top/tests/tools/bin
captures=${CAPTURES:-}

exec 3>&1 1>&2                  # Only the report goes to stdout.

ok() { echo "ok - $1" >&3; }
not_ok() { echo "not ok - $1: $2" >&3; }
skip() { echo "skip - $1: $2" >&3; }

# check NAME WHY COMMAND...: ok if the command succeeds, otherwise not ok.
check() {
    local name=$1 why=$2

    shift 2
    if "$@"; then ok "$name"; else not_ok "$name" "$why"; fi
}

# broken MESSAGE: the suite cannot do its work.
broken() {
    echo "$(basename "$0"): $*" >&2
    exit 1
}

# wait_until SECONDS COMMAND...: false when the time is over.
wait_until() {
    local end=$((SECONDS + $1))

    shift
    until "$@" >/dev/null 2>&1; do
        if ((SECONDS > end)); then return 1; fi
        sleep 0.05
    done
}

gone() { ! kill -0 "$1" 2>/dev/null; }

# The suite's folder and its end.

suite_end() {
    local pid

    for pid in $(jobs -p); do kill "$pid"; done
    for pid in "$dir"/*.pid; do
        if [ -s "$pid" ]; then kill -KILL "$(cat "$pid")"; fi
    done
    rm -rf "$dir"
} 2>/dev/null

# suite_start: to be called first.  Makes the folder $dir, the tools, and sets
# up the namespace so that nothing but the tests sends frames.
suite_start() {
    local program

    for program in "$OVS_DAEMON" "$OVS_TREE/ovsdb/ovsdb-server"; do
        if [ ! -x "$program" ]; then
            broken "$program is not there: run make first"
        fi
    done
    make -s -C "$top/tests/tools" || broken "the traffic tools do not build"
    dir=$(mktemp -d) || broken "no temporary folder"
    trap suite_end EXIT
    trap 'exit 1' INT TERM

    export OVS_RUNDIR=$dir OVS_LOGDIR=$dir OVS_DBDIR=$dir OVS_SYSCONFDIR=$dir
    export PATH=$OVS_TREE/utilities:$OVS_TREE/ovsdb:$PATH
    sysctl -qw net.ipv6.conf.all.disable_ipv6=1 \
               net.ipv6.conf.default.disable_ipv6=1
    ip link set lo up
}

# Open vSwitch.

vsctl() { ovs-vsctl --timeout=10 "$@"; }
appctl() { ovs-appctl --timeout=10 "$@"; }
vswitchd_pid() { cat "$dir/ovs-vswitchd.pid"; }

vswitchd_start() {
    "$OVS_DAEMON" --detach --no-chdir --pidfile --log-file -vconsole:off \
        --disable-system "$@" || broken "ovs-vswitchd does not start"
}

# vswitchd_stop [SIGNAL]: ends the daemon, by default in order.
vswitchd_stop() {
    local pid

    pid=$(vswitchd_pid)
    if [ -n "${1-}" ]; then
        kill "-$1" "$pid"
        rm -f "$dir/ovs-vswitchd.pid"
    else
        appctl exit --cleanup
    fi
    wait_until 20 gone "$pid" || broken "ovs-vswitchd does not end"
}

# ovs_start: both daemons, with one bridge br0 that has no flows.
ovs_start() {
    ovsdb-tool create "$dir/conf.db" \
        "$OVS_TREE/vswitchd/vswitch.ovsschema" &&
    ovsdb-server --detach --no-chdir --pidfile --log-file -vconsole:off \
        --remote="punix:$dir/db.sock" "$dir/conf.db" &&
    vsctl --no-wait init || broken "ovsdb-server does not start"
    vswitchd_start
    vsctl set open_vswitch . other_config:pmd-cpu-mask="$PMD_MASK"
    bridge_add br0
}

# ovs_stop: ends what still runs of the two and forgets the database.
ovs_stop() {
    local pid

    if [ -s "$dir/ovs-vswitchd.pid" ]; then
        vswitchd_stop
    fi
    pid=$(cat "$dir/ovsdb-server.pid")
    ovs-appctl -t ovsdb-server exit
    wait_until 10 gone "$pid"
    rm -f "$dir/conf.db" "$dir"/.conf.db.* "$dir"/*.log
}

bridge_add() {
    vsctl add-br "$1" -- set bridge "$1" datapath_type=netdev fail-mode=secure
}

# veth_add NAME [IP-LINK-OPTION...]: makes the veth p-NAME, for the port, and
# its peer NAME, for the tests.
veth_add() {
    local name=$1

    shift
    ip link add "$name" "$@" type veth peer name "p-$name" "$@"
    # Offloads leave checksums and tags to be finished by devices that are
    # not there: these tests compare bytes.
    ethtool -K "$name" tx off txvlan off gro on >/dev/null 2>&1
    ethtool -K "p-$name" gro on >/dev/null 2>&1
    ip link set "$name" up promisc on
    ip link set "p-$name" up
}

# port_add BRIDGE NAME OFPORT [SETTING...]: puts p-NAME into the bridge.
port_add() {
    local bridge=$1 name=$2 ofport=$3

    shift 3
    vsctl add-port "$bridge" "p-$name" -- set interface "p-$name" \
        type="$PORT_TYPE" ofport_request="$ofport" "$@"
}

# interface NAME COLUMN[:KEY]: prints it, without quotes; nothing if not set.
interface() {
    vsctl --if-exists get interface "$1" "$2" |
        sed 's/^"\(.*\)"$/\1/; s/^\[\]$//'
}

# counter PORT NAME: one of afxdp-fast/show, all queues together.
counter() {
    appctl afxdp-fast/show "$1" |
        awk -v name="$2:" '$1 == name { n += $2 } END { print n + 0 }'
}

# forward BRIDGE A B: all that comes from port number A goes to B and back.
forward() {
    ovs-ofctl add-flow "$1" "in_port=$2,actions=output:$3" &&
    ovs-ofctl add-flow "$1" "in_port=$3,actions=output:$2"
}

# unexpected_log: prints what the daemon logged at WARN or above, without what
# a busy machine (timeval, ovs_rcu) or a port that comes or goes under traffic
# (unknown port, xlate_key) make OVS say, whatever the ports' type.
unexpected_log() {
    grep -E '\|(WARN|ERR|EMER)\|' "$dir/ovs-vswitchd.log" |
        grep -vE '\|(timeval|ovs_rcu.*)\||(xlate_key failed \(No such device|received packet on unknown port )'
}

# Traffic.

# sink_start NAME DEV [OPTION...]: counts what arrives at a device.
sink_start() {
    local name=$1 dev=$2

    shift 2
    rm -f "$dir/$name.pid"
    "$tools/xdp-sink" --dev="$dev" --pidfile="$dir/$name.pid" "$@" \
        >"$dir/$name.json" &
    wait_until 10 test -s "$dir/$name.pid" || broken "xdp-sink does not start"
}

# sink_stop NAME: ends it once nothing has been on its way for a while; its
# result is in $dir/NAME.json.
sink_stop() {
    local pid

    pid=$(cat "$dir/$1.pid")
    sleep 0.3
    kill -TERM "$pid"
    wait "$pid"
    rm -f "$dir/$1.pid"
    echo "$1: $(cat "$dir/$1.json")" >&2
}

# paced_start NAME DEV [OPTION...]: a steady stream in the background.
paced_start() {
    local name=$1 dev=$2

    shift 2
    "$tools/paced-send" --dev="$dev" "$@" >"$dir/$name.json" &
    echo $! >"$dir/$name.pid"
}

paced_stop() {
    local pid

    pid=$(cat "$dir/$1.pid")
    kill -TERM "$pid"
    wait "$pid"
    rm -f "$dir/$1.pid"
    echo "$1: $(cat "$dir/$1.json")" >&2
}

# result NAME KEY: a number out of $dir/NAME.json.
result() {
    sed -n 's/.*"'"$2"'": \([0-9.]*\).*/\1/p' "$dir/$1.json"
}

# passes DEV-FROM DEV-TO: waits until a frame sent at one device arrives at
# the other, that is, until port and flows are in force.
passes() {
    sink_start passes "$2" --verify --stream=255 --count=1 --seconds=10
    paced_start passing "$1" --stream=255 --rate=100
    wait "$(cat "$dir/passes.pid")"
    paced_stop passing
    rm -f "$dir/passes.pid"
    [ "$(result passes good)" -ge 1 ]
}
