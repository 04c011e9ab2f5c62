# SPDX-License-Identifier: Apache-2.0
#
# Which functions take the time of PMD threads, for tests/bench/sim-forward
# (sourced, after tests/lib.sh).

# pmd_tids: prints the PMD threads, with commas between them.
pmd_tids() {
    local task

    for task in /proc/"$(vswitchd_pid)"/task/*; do
        case $(<"$task/comm") in pmd-*) echo "${task##*/}" ;; esac
    done | paste -sd,
}

# code_of OBJECT...: prints the functions that these object files have.
code_of() { nm "$@" | awk 'NF == 3 && $2 ~ /^[tTwW]$/ { print $3 }'; }

# own_functions: prints those of the port type, and what it calls outside of
# itself: no other part of forwarding copies memory, takes locks or makes
# system calls.
own_functions() {
    case $PORT_TYPE in
    afxdp) code_of "$OVS_TREE"/lib/netdev-afxdp{,-pool}.o ;;
    *) code_of "$OVS_TREE"/lib/libafxdpfast.a ;;
    esac
    printf '%s\n' '(copy)' '(lock)' '(kernel)' dp_packet_use_afxdp sendto \
        recvfrom poll nic_kick_tx nic_kick_rx bound_socket
}

# rx_functions: prints those of them that only receiving calls.
rx_functions() {
    case $PORT_TYPE in
    afxdp) echo netdev_afxdp_rxq_recv; echo prepare_fill_queue ;;
    *) code_of "$OVS_TREE/lib/xsk-rx.o"; echo afxdp_fast_rxq_recv ;;
    esac
    printf '%s\n' frame_alloc cache_refill dp_packet_use_afxdp recvfrom poll \
        nic_kick_rx
}

# tx_functions: prints those of them that sending consists of, without the
# kernel, whose time is that of interrupts as long as nothing is kicked.  What
# both sending and receiving call is among them, with all of its time: the part
# of receiving does not depend on who else sends.
tx_functions() {
    rx_functions >"$dir/rx-functions"
    own_functions | grep -vxF -f "$dir/rx-functions" -e '(kernel)'
}

# sample TIDS COMMAND...: samples the threads while the command runs.
sample() {
    local tids=$1

    shift
    perf record -q -e cycles -F 4999 -t "$tids" -o "$dir/perf.data" -- "$@" ||
        broken "perf does not record"
}

# attribute FUNCTIONS CYCLES: prints which part of so many cycles a packet the
# samples give to the functions that the command FUNCTIONS prints.  Where the
# cycles go stands in $dir/profile: all of these functions (with a star), and
# what else is among the first 25.
attribute() {
    "$1" >"$dir/functions"
    # The C library has no names of what it copies with.
    perf report -i "$dir/perf.data" --stdio -q -F sample,sym,dso -t ';' |
        awk -F'; *' -v cycles="$2" '
            NR == FNR { mine[$1]; next }
            !NF { next }
            {
                name = $2
                sub(/^\[.\] /, "", name)
                sub(/ +$/, "", name)
                sub(/\.(isra|constprop|part|cold).*/, "", name)
                kind = name
                if ($2 ~ /^\[k\]/) {
                    kind = name = "(kernel)"
                } else if (name ~ /mutex|spin_/) {
                    kind = "(lock)"
                } else if (name ~ /mem(cpy|move|set)/ ||
                           name ~ /^0x/ && $3 ~ /^libc[.-]/) {
                    kind = "(copy)"
                    sub(/^0x.*/, "(libc)", name)
                }
                own = kind in mine
                part[(own ? "*     " : "      ") name] += $1
                total += $1
                if (own) { sum += $1 }
            }
            END {
                print total ? sum / total * cycles : 0 >"/dev/stderr"
                for (name in part) {
                    printf "    %7.1f  %s\n",
                           part[name] / total * cycles, name
                }
            }' "$dir/functions" - 2>"$dir/part" | sort -rn |
        awk 'NR <= 25 || $2 == "*"' >"$dir/profile"
    cat "$dir/part"
}

# keep_profile TITLE: keeps $dir/profile for the report, the last of each
# title.
keep_profile() {
    { echo "$1"; cat "$dir/profile"; } >"$dir/profile;${1//\//-}"
}
