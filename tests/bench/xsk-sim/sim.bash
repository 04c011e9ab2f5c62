# SPDX-License-Identifier: Apache-2.0
#
# The ring simulator for suites and benchmarks: to be sourced after
# tests/lib.sh.  All figures that come of it are those of a simulation.
#
#   XSK_SIM_DEVICES   patterns of the devices that are simulated (p-*)
#   XSK_SIM_CPU       where the simulated NIC runs (0)
#   XSK_SIM_DEPTH     frames that it keeps to receive into, a queue (256)

sim=$top/tests/bench/xsk-sim/bin

# sim_setup: to be called after suite_start.  Devices p-* are simulated in the
# daemons that are started from then on.
sim_setup() {
    make -s -C "$top/tests/bench/xsk-sim" ||
        broken "the ring simulator does not build"
    export XSK_SIM_CONTROL=$dir/sim.sock XSK_SIM_LOG=$dir/sim.log
    export XSK_SIM_DEVICES=${XSK_SIM_DEVICES-p-*}
    : >"$XSK_SIM_LOG"
}

vswitchd_start() {
    LD_PRELOAD=$sim/xsk-sim.so "$OVS_DAEMON" --detach --no-chdir --pidfile \
        --log-file -vconsole:off --disable-system "$@" ||
        broken "ovs-vswitchd does not start"
}

simctl() { "$sim/xsk-simctl" "$@"; }

# sim_stat DEV KEY: a counter of the simulator, all queues together.
sim_stat() {
    simctl stats |
        sed -n 's/.*"device": "'"$1"'".*"'"$2"'": \([0-9]*\).*/\1/p' |
        awk '{ n += $1 } END { print n + 0 }'
}

# sim_broken: prints what the simulator has found wrong, false if nothing.
sim_broken() { grep BROKEN "$XSK_SIM_LOG"; }

# sim_client MODE DEV [DEV]: runs the smallest user of sockets on the
# simulator, in the background; its pid is in $client.
sim_client() {
    LD_PRELOAD=$sim/xsk-sim.so setsid "$sim/sim-client" "$@" &
    client=$!
}
