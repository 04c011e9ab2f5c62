# SPDX-License-Identifier: Apache-2.0
#
# The layout "sim" of tests/bench/run (sourced, after measures.bash): the same
# ports, contenders and measures, but sockets and traffic are those of the
# ring simulator, tests/bench/xsk-sim.  It runs on core 0 as an ideal NIC with
# zero copy, what polls on core 1.  No XDP program runs, so an afxdp-fast port
# has no hints unless the contender says xdp-hints=true: then the simulator
# writes them.

. "$bench/xsk-sim/sim.bash"

# sim_check CONTENDER: breaks off if the simulator cannot stand under it.
sim_check() {
    case ${1%%+*} in
    ceiling | afxdp | afxdp-fast) ;;
    *) broken "--sim: $1: allowed are ceiling, afxdp and afxdp-fast" ;;
    esac
}

# The simulator's ceiling: a process that receives and drops.

ceiling_up() {
    sim_client drop "p-${devs[0]}"
    taskset -apc $pmd_core "$client"
    echo "$client" >"$dir/forwarder.pid"
}

ceiling_down() {
    local pid

    pid=$(cat "$dir/forwarder.pid")
    kill -KILL "$pid"
    wait "$pid"
    rm -f "$dir/forwarder.pid"
}

layout_apply() { :; }

# sim_rate: in Mpps, of the answer of "simctl measure" in $answer.
sim_rate() {
    local key=tx_mpps

    if [ "$contender" = ceiling ]; then key=rx_mpps; fi
    sed -n 's/.*"'$key'": \([0-9.]*\).*/\1/p' <<<"$answer"
}

sim_flows() {
    local answer

    answer=$(simctl measure 0.1) && [ "$(sim_rate)" != 0.0000 ]
}

# The frames of all ports at once, as in the scenario: there is no other
# stream to tell whether two ports forward.
passes() {
    local status

    simctl start "p-${devs[0]}" "p-${devs[2]}"
    wait_until 10 sim_flows
    status=$?
    simctl stop
    return $status
}

# sim_sizes: the scenario's, as the simulator writes them.
sim_sizes() {
    case $size in imix) echo 64:7,590:4,1514:1 ;; *) echo "$size" ;; esac
}

# generate --seconds=N: sets got and seconds.
generate() {
    local answer hints=0 order=uniform sources=("p-${devs[0]}")

    case $flows in *:zipf) order=zipf:1 ;; *:zipf:*) order=${flows#*:} ;; esac
    case $contender in *+xdp-hints=true*) hints=1 ;; esac
    [ "$ports" = 1 ] || sources+=("p-${devs[2]}")
    simctl set size="$(sim_sizes)" flows="${flows%%:*}" dist="$order" \
        rate=0 verify=0 hints=$hints >&2 &&
    simctl start "${sources[@]}" >&2 || broken "the simulator says no"
    sleep 0.2
    answer=$(simctl measure "${1#--seconds=}")
    simctl stop >&2
    echo "$contender: $answer"
    if sim_broken; then broken "$contender breaks the rules of the rings"; fi
    seconds=$(sed -n 's/.*"seconds": \([0-9.]*\).*/\1/p' <<<"$answer")
    got=$(calculate "int($(sim_rate) * $seconds * 1e6)")
    # Near 0 it is the simulator that is measured.
    record "rounds in which the simulated NIC had to wait" share \
        "$(sed -n 's/.*"blocked": \([0-9.]*\).*/\1/p' <<<"$answer")"
}
