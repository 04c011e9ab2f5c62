# SPDX-License-Identifier: Apache-2.0
#
# What forwards, for tests/bench/run (sourced, after tests/lib.sh).
#
# A contender is NAME[+OPTION=VALUE...].  Its kind, made of NAME, is a function
# KIND_up OPTION=VALUE... that makes the ports of the topology exchange their
# frames, the first with the second and the third with the fourth, and a
# function KIND_down that undoes it.  KIND_lacks, if there is one, prints what
# is missing on this machine, and nothing if the contender can run.  KIND_pids
# prints the processes whose memory is the contender's.

# The names that there are; also --contenders=all.
all_contenders=(bare xsk bridge system afxdp afxdp-fast fastpath dpdk)

# The core of all that polls.
pmd_core=1

kind_of() {
    case ${1%%+*} in
    bare | xsk | bridge | system | fastpath | dpdk) echo "${1%%+*}" ;;
    afxdp | afxdp-fast) echo ovs ;;
    *) return 1 ;;
    esac
}

# The kernel alone.

bare_up() {
    forwarder_up xdp-redirect "${devs[@]/#/p-}"
}

bare_down() { forwarder_down; }

bridge_up() {
    local i bridge

    for i in 0 2; do
        bridge=${tag}b$i
        # No frames of its own.
        ip link add "$bridge" arp off type bridge mcast_snooping 0
        ip link set "p-${devs[i]}" master "$bridge"
        ip link set "p-${devs[i + 1]}" master "$bridge"
        # Known destinations, as with a guest that has answered once.
        bridge fdb add 02:00:00:00:00:02 dev "p-${devs[i + 1]}" master static
        ip link set "$bridge" up
    done
}

bridge_down() {
    ip link del "${tag}b0"
    ip link del "${tag}b2"
}

# Forwarders of our own.

# forwarder_up PROGRAM [ARGUMENT...]
forwarder_up() {
    local program=$1

    shift
    "$bench/bin/$program" "$@" >"$dir/forwarder.json" &
    echo $! >"$dir/forwarder.pid"
}

forwarder_lives() {
    [ ! -e "$dir/forwarder.pid" ] || kill -0 "$(cat "$dir/forwarder.pid")"
}

forwarder_down() {
    local pid

    pid=$(cat "$dir/forwarder.pid")
    kill -TERM "$pid"
    # It may be the child of another shell of ours.
    wait_until 10 gone "$pid" || broken "does not end"
    rm -f "$dir/forwarder.pid"
    cat "$dir/forwarder.json"
}

xsk_up() {
    local option arguments=(--cpu=$pmd_core)

    for option; do
        case $option in
        copy=true) arguments+=(--copy) ;;
        copy=false) ;;
        *) broken "$option: allowed is copy=true or copy=false" ;;
        esac
    done
    forwarder_up xsk-forward "${arguments[@]}" "${devs[@]/#/p-}"
}

xsk_down() { forwarder_down; }
xsk_pids() { cat "$dir/forwarder.pid"; }

# Port types of the daemon under test.

# port_works NAME: or it is broken.
port_works() {
    local error

    error=$(interface "p-$1" error)
    [ -z "$error" ] || broken "$error"
}

port_type() {
    case $(kind_of "$contender") in
    fastpath) echo afxdp-fast ;;
    *) echo "${contender%%+*}" ;;
    esac
}

ovs_up() {
    local n

    for n in 1 2 3 4; do
        PORT_TYPE=$(port_type) \
            port_add br0 "${devs[n - 1]}" $n "${@/#/options:}"
        port_works "${devs[n - 1]}"
    done
    forward br0 1 2
    forward br0 3 4
}

ovs_down() {
    local dev

    for dev in "${devs[@]}"; do
        vsctl del-port br0 "p-$dev"
    done
}

ovs_pids() { vswitchd_pid; }

# The same with a prefix table, in which each flow's destination has a prefix of
# its own.

# has_spread: whether destinations are many, in which case all contenders get
# the same traffic.
has_spread() { [[ ,$contenders == *,fastpath* && ${flows%%:*} -gt 1 ]]; }

# prefix_file I: of the port that the flows of pair I come from.
prefix_file() { echo "$dir/prefixes$1.json"; }

# prefix_file_make I PREFIXES VERSION: makes it at once, however long it is.
prefix_file_make() {
    "$tools/make-prefixes" --port="p-${devs[2 * $1 + 1]}" --prefixes="$2" \
        --version="$3" >"$dir/prefixes.new" &&
        mv "$dir/prefixes.new" "$(prefix_file "$1")"
}

# redirected I: frames that took the fast path of pair I.
redirected() { counter "p-${devs[2 * $1]}" xdp_redirect; }

is_redirecting() {
    local before

    before=$(redirected "$1")
    passes "${devs[2 * $1]}" "${devs[2 * $1 + 1]}" &&
        [ "$(redirected "$1")" -gt "$before" ]
}

# A million prefixes take some seconds to come into force.  The PMD threads,
# which hardly a frame reaches, sleep: two virtual CPUs can be one core, which
# one that spins would share with the fast path.
fastpath_up() {
    local i number=${flows%%:*} dev

    vsctl set open_vswitch . other_config:pmd-maxsleep=10000
    ovs_up "$@"
    for ((i = 0; i < ports; i++)); do
        dev=${devs[2 * i]}
        if [ "$number" = 1 ]; then
            vsctl set interface "p-$dev" \
                options:prefixes="192.0.2.0/24=redirect:p-${devs[2 * i + 1]}"
        else
            prefix_file_make $i "$number" 1 || broken "no prefix file"
            vsctl set interface "p-$dev" \
                options:prefix-file="$(prefix_file $i)"
        fi
        wait_until 120 is_redirecting $i ||
            broken "the fast path does not begin:" \
                "$(interface "p-$dev" status)"
    done
}

fastpath_down() {
    ovs_down
    vsctl remove open_vswitch . other_config pmd-maxsleep
}

fastpath_pids() { vswitchd_pid; }

# The type "system" knows no PMD threads: the daemon's main thread forwards.

system_up() {
    ovs_up "$@"
    taskset -pc $pmd_core "$(vswitchd_pid)"
}

system_down() {
    ovs_down
    taskset -pc 0 "$(vswitchd_pid)"
}

system_pids() { vswitchd_pid; }

is_port_type() {
    case $(kind_of "$contender") in
    ovs | fastpath | system) true ;;
    *) false ;;
    esac
}

# Debian's daemon with DPDK, in place of ours while it has its turn.

dpdk_daemon=/usr/lib/openvswitch-switch-dpdk/ovs-vswitchd-dpdk
dpdk_memory=512                         # MB of hugepages.
dpdk_pages=$((dpdk_memory / 2))         # Of 2 MB.

# dpdk_is_installed: or prints what is not.
dpdk_is_installed() {
    if [ ! -x $dpdk_daemon ]; then
        echo "the package openvswitch-switch-dpdk is not installed"
    elif ! compgen -G "/usr/lib/*/dpdk/pmds-*/librte_net_af_xdp.so*" \
            >/dev/null; then
        echo "DPDK's driver net_af_xdp is not installed"
    else
        return 0
    fi
    return 1
}

dpdk_lacks() {
    local free

    dpdk_is_installed || return 0
    free=$(cat /sys/kernel/mm/hugepages/hugepages-2048kB/free_hugepages)
    [ "${free:-0}" -ge $dpdk_pages ] || echo "it takes $dpdk_pages hugepages" \
        "of 2 MB, of which ${free:-none} are free"
}

# Leaves the daemon's memory from before DPDK was there in $dir/dpdk-before.
dpdk_up() {
    local n

    ovs_stop
    # Under the name by which the tools look for it.
    ln -sf $dpdk_daemon "$dir/ovs-vswitchd"
    OVS_DAEMON=$dir/ovs-vswitchd ovs_start
    user_kb >"$dir/dpdk-before"
    vsctl set open_vswitch . other_config:dpdk-init=true \
        other_config:dpdk-socket-mem=$dpdk_memory \
        other_config:dpdk-lcore-mask=0x1 \
        other_config:dpdk-extra="--in-memory --no-telemetry"
    for n in 1 2 3 4; do
        PORT_TYPE=dpdk port_add br0 "${devs[n - 1]}" $n \
            options:dpdk-devargs="net_af_xdp$n,iface=p-${devs[n - 1]}" \
            "${@/#/options:}"
        port_works "${devs[n - 1]}"
    done
    forward br0 1 2
    forward br0 3 4
}

dpdk_down() {
    ovs_stop
    ovs_start
}

dpdk_pids() { vswitchd_pid; }

# carries I J: whether frames go from one device to the other.  On a busy
# machine what polls may not run for seconds.
carries() {
    local try

    for try in 1 2 3; do
        if passes "${devs[$1]}" "${devs[$2]}"; then return 0; fi
    done
    return 1
}

# contender_up, contender_down: the one that the variable names.
contender_up() {
    local options

    IFS=+ read -r _ options <<<"$contender"
    options=(${options:+${options//+/ }})
    "$(kind_of "$contender")_up" "${options[@]}"
    layout_apply
    carries 0 1 && carries 2 3 || broken "carries no frames"
    forwarder_lives || broken "has ended"
}

contender_down() { "$(kind_of "$contender")_down"; }

# contender_pids: nothing for one that lives in the kernel.
contender_pids() {
    local kind

    kind=$(kind_of "$contender")
    if declare -F "${kind}_pids" >/dev/null; then "${kind}_pids"; fi
}
