# SPDX-License-Identifier: Apache-2.0
#
# What the suites of the prefix table share: single frames and where they go,
# tables and targets, and connections.  To be sourced behind tests/lib.sh.
#
# A frame is an expression of tests/python/frames.py; senders run on CPU 0, so
# that one CPU counts, and remembers which source MACs OVS has seen.

prefix=$OVS_TREE/utilities/ovs-afxdp-fast
prefix() { "$prefix" --timeout=60 prefix "$@"; }

# Frames.

frames_start() {
    coproc FRAMES {
        exec taskset -c 0 python3 "$top/tests/python/frames.py" "$dir"
    }
}

# exchange PORT FROM TO MS FRAME [EXPECTED]: sets 'counted' to what the port
# has counted, and 'arrived' to same, none or different ...
exchange() {
    printf '%s\t%s\t%s\t%s\t%s\t%s\n' "$1" "$2" "$3" "$4" "${5//$'\n'/ }" \
        "${6//$'\n'/ }" >&"${FRAMES[1]}"
    IFS= read -r -u "${FRAMES[0]}" arrived || broken "frames.py has ended"
    counted=${arrived%%$'\t'*} arrived=${arrived#*$'\t'}
}

# In words: what is counted for a frame that takes the fast path, and for one
# that goes up for the reason REASON.
fast=xdp_redirect=1
up() { echo "xdp_to_userspace=1 xdp_$1=1"; }

# goes NAME COUNTED FRAME [ARRIVES]: the frame, sent at $from, is counted like
# that by the port of $from ($port if set), and arrives at $to as ARRIVES (as
# it was sent; or "none").  It is sent once more if OVS was due to see its
# source MAC.
from=v1 to=v2 port=''
goes() {
    local name="$part: $1" expected=$2 frame=$3 arrives=${4-}
    # Less than the time until OVS is due again: some suites let nothing pass
    # that goes up.
    local counted arrived i wait=1500

    [ "$arrives" != none ] || wait=200
    for i in 1 2 3 4; do
        exchange "${port:-p-$from}" $from $to $wait "$frame" "$arrives"
        [[ $counted == *xdp_up_learn* && $expected != *xdp_up_learn* ]] ||
            break
    done
    echo "$name: $counted: $arrived" >&2
    if [ "$counted" != "$expected" ]; then
        not_ok "$name" "counted '$counted', not '$expected'; it is $arrived"
    elif [ "$arrived" != "$([ "$arrives" = none ] && echo none || echo same)" ]
    then
        not_ok "$name" "what arrived is $arrived"
    else
        ok "$name"
    fi
}

# comes_to SECONDS COUNTED FRAME: the frame is sent until it is counted like
# that; what arrives does not matter.
comes_to() {
    local end=$((SECONDS + $1)) expected=$2 frame=$3 counted arrived

    until exchange "${port:-p-$from}" $from $to 100 "$frame" none
        [ "$counted" = "$expected" ]; do
        if ((SECONDS > end)); then
            echo "counted $counted, not $expected"
            return 1
        fi
    done
}

# Tables.

# entries_in_force PORT N
entries_in_force() {
    local shown

    shown=$(appctl afxdp-fast/show "$1") &&
        grep -q '^ *fast-path: on' <<<"$shown" &&
        grep -q "^ *prefix-entries: $2\$" <<<"$shown"
}

# version_in_force PORT VERSION
version_in_force() {
    appctl afxdp-fast/prefix-show "$1" limit=1 |
        grep -qxF "  version: $2"
}

# target_is PORT yes|no
target_is() {
    appctl afxdp-fast/stats | grep -A 1 -xF "target $1:" |
        grep -q "ready: $2"
}

# targets_ready PORT...
targets_ready() {
    local port

    for port; do
        wait_until 10 target_is "$port" yes ||
            { echo "$port is not ready"; appctl afxdp-fast/stats; return 1; }
    done
}

# table PORT ENTRY...: puts the entries in force, and waits for that and for
# all targets.
table() {
    local port=$1 target

    shift
    vsctl set interface "$port" options:prefixes="$*"
    wait_until 10 entries_in_force "$port" $# ||
        { echo "$port: no table"; appctl afxdp-fast/show "$port"; }
    for target in $(grep -o 'redirect:[^, ]*' <<<"$*" | sort -u); do
        targets_ready "${target#redirect:}"
    done
}

# many N VERSION: entries of a file, one a line: 11.0.0.0/24 and those after.
many() {
    awk -v n="$1" -v version="$2" -v probes=$probes 'BEGIN {
        printf "{\"version\": \"%s\", \"entries\": [\n", version
        form = "{\"prefix\": \"%d.%d.%d.%d/%d\", \"action\": \"%s\"%s}%s\n"
        for (i = 0; i < n; i++) {
            printf form, 11 + int(i / 65536), int(i / 256) % 256, i % 256, 0,
                24, "redirect", ", \"port\": \"p-v2\"", ","
        }
        printf "{\"prefix\": \"%s\", \"action\": \"redirect\", ", probes
        printf "\"port\": \"p-v2\"}]}\n"
    }'
}

# working: a thread of the daemon is at a table.
working() { grep -qs '^prefix' "/proc/$(vswitchd_pid)/task/"*/comm; }

# applying COMMAND...: it runs while a thread is at the file of p-v1, which is
# large; what 'apply' has said is in $dir/applied.
applying() {
    local pid

    prefix apply p-v1 >"$dir/applied" 2>&1 &
    pid=$!
    wait_until 10 working || echo "no thread is seen"
    "$@"
    wait $pid
    cat "$dir/applied"
}

no_table() { vsctl remove interface "$1" options prefixes; }

# lost PORT: frames that were redirected to the target and lost.
lost() {
    appctl afxdp-fast/stats | grep -A 2 -xF "target $1:" |
        sed -n 's/.*and lost: //p'
}

# Connections between two network namespaces.

# hosts_start on|off [SETTING...]: va and vb in namespaces of their own, na and
# nb, with checksum offload on or off, and the settings of their ports.
hosts_start() {
    local n offload=$1

    shift
    for n in a b; do
        veth_add v$n
        ip netns add n$n
        ip link set v$n netns n$n
        ip -n n$n addr add 10.2.0.$([ $n = a ] && echo 1 || echo 2)/24 \
            dev v$n
        ip netns exec n$n sysctl -qw net.ipv6.conf.v$n.disable_ipv6=0
        ip -n n$n addr add fd00:2::$n/64 dev v$n nodad
        ip netns exec n$n ethtool -K v$n tx "$offload" >/dev/null 2>&1
        ip -n n$n link set v$n up
        ip -n n$n link set lo up
        port_add br0 v$n 1$([ $n = a ] && echo 1 || echo 2) "$@"
    done
}

hosts_stop() {
    vsctl del-port p-va -- del-port p-vb
    ip netns del na
    ip netns del nb
}

# transfer FROM TO ADDRESS: a file of 30 MB; true if it arrives unchanged.
transfer() {
    local receiver family=-4

    case $3 in *:*) family=-6 ;; esac
    head -c 30000000 /dev/urandom >"$dir/file"
    ip netns exec "$2" timeout 30 nc $family -N -l -p 5001 </dev/null \
        >"$dir/arrived" &
    receiver=$!
    wait_until 5 listens "$2"
    ip netns exec "$1" timeout 30 nc $family -N "$3" 5001 <"$dir/file"
    wait $receiver
    cmp "$dir/file" "$dir/arrived"
}

listens() { ip netns exec "$1" ss -tlnH | grep -q :5001; }

# guest_tunnels [no]udpcsum: a VXLAN between the hosts, of their own, with
# checksums in its UDP or, as Docker has it, without.
guest_tunnels() {
    local n=0 host remote

    for host in a b; do
        n=$((n + 1)) remote=$((3 - n))
        ip -n n$host link add vx type vxlan id 7 dstport 4789 \
            local 10.2.0.$n remote 10.2.0.$remote "$1" &&
        ip -n n$host addr add 10.8.0.$n/24 dev vx &&
        ip -n n$host link set vx up
    done
}

# Parts of a suite.

# parts_run PART...: each in daemons of its own, set up by the function setup.
# The functions are part_PART.
parts_run() {
    local part

    for part; do
        echo "== $part"
        declare -F "part_$part" >/dev/null || broken "$part: no such part"
        setup
        time "part_$part"
        part_end "$part" "${warns[$part]-}"
    done
}

# part_end PART WARNING: in order if the daemon is there; what it may have
# logged at WARN or above is the extended regular expression WARNING.
part_end() {
    local text

    if gone "$(vswitchd_pid)"; then
        not_ok "$1: the daemon lives" "it does not"
        tail -n 20 "$dir/ovs-vswitchd.log"
        rm -f "$dir/ovs-vswitchd.pid"
    else
        ok "$1: the daemon lives"
    fi
    text=$(unexpected_log)
    [ -z "$2" ] || text=$(grep -vE "$2" <<<"$text")
    check "$1: nothing is logged at WARN or above but what deserves it" \
        "$(wc -l <<<"$text") lines, the first: ${text%%$'\n'*}" [ -z "$text" ]
    ovs_stop
}
