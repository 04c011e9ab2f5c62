# SPDX-License-Identifier: Apache-2.0
#
# What is measured, for tests/bench/run (sourced, after tests/lib.sh): a
# function measure_NAME for each measure, which calls record for each figure.

# Frames between two ports for a second: the trial of a rate.
trial_seconds=1

# Loss that a rate may have, in parts of 100,000: RFC 2544 asks for none, and
# on a machine whose cores are not isolated none would measure the machine.
max_loss=100

# The rates between which "lossless" searches, frames a second.  The generator
# itself reaches about twice the higher one.
search_low=5000 search_high=4000000

# The search ends when it knows the rate to so many percent.
search_precision=3

# Frames of "light", all of which have room in the ring of a veth (256): on a
# busy machine its far end may not run for that long.
light_frames=200

# Queues of the port that "add" compares with one of a single queue.
many=4

# record FIGURE UNIT VALUE: the value is empty if there is none.
record() {
    echo "$layout;$size;$flows;$ports;$1;$2;$contender;$3" |
        tee -a "$dir/values" >&2
    if [ -z "$3" ]; then echo "$contender: $1 is missing" >&4; fi
}

# calculate EXPRESSION: prints it, in awk's arithmetic.
calculate() { awk "BEGIN { printf \"%.10g\", $1 }"; }

# Traffic of the scenario.

# pace RATE: options of the generator for so many frames a second: in bursts
# that are due every 50 us, since buffers of some contenders hold few frames.
pace() {
    local burst=$(($1 / 20000))

    burst=$((burst < 1 ? 1 : burst > 64 ? 64 : burst))
    echo "--rate=$1 --burst=$burst --leave-out"
}

frame_sizes() {
    case $1 in
    # The simple IMIX: 7, 4 and 1 of 12, mixed.
    imix) echo 64,590,64,64,590,64,1514,64,590,64,64,590 ;;
    *) echo "$1" ;;
    esac
}

# What generate() runs at the same time.
meanwhile=:

# generate [OPTION...]: the scenario's frames from core 0, while all sinks
# count.  Sets sent, got and seconds.
generate() {
    local order=uniform number=${flows%%:*} sources=${devs[0]} i

    case $flows in *:*) order=${flows#*:} ;; esac
    [ "$ports" = 1 ] || sources+=,${devs[2]}
    if has_spread; then set -- --prefixes="$number" "$@"; fi
    for ((i = 0; i < ports; i++)); do
        sink_start sink$i "${devs[2 * i + 1]}"
    done
    $meanwhile &
    "$tools/xdp-gen" --dev="$sources" --cpu=0 --size="$(frame_sizes "$size")" \
        --flows="$number" --order="$order" "$@" >"$dir/generator.json" ||
        broken "the generator failed"
    wait $!
    got=0
    for ((i = 0; i < ports; i++)); do
        sink_stop sink$i
        got=$((got + $(result sink$i packets)))
    done
    sent=$(result generator sent)
    seconds=$(result generator seconds)
}

# What a run costs.

# busy_ticks CORE: time that the core was not idle, in hundredths of a second.
busy_ticks() {
    awk -v cpu="cpu$1" \
        '$1 == cpu { print $2 + $3 + $4 + $7 + $8 + $9 }' /proc/stat
}

# pmd_ticks: user and system time of the PMD threads, in the same unit.
pmd_ticks() {
    awk '$2 ~ /^\(pmd-/ { utime += $14; stime += $15 }
         END { print utime + 0, stime + 0 }' \
        "/proc/$(contender_pids)/task"/*/stat
}

# has_pmd: those of the fast path sleep.
has_pmd() {
    case $(kind_of "$contender") in
    ovs | dpdk) true ;;
    *) false ;;
    esac
}

is_fastpath() { [ "$(kind_of "$contender")" = fastpath ]; }

# costs_now: seconds, busy_ticks of both cores, pmd_ticks.
costs_now() {
    echo "$(date +%s.%N) $(busy_ticks 0) $(busy_ticks 1)" \
        "$(if has_pmd; then pmd_ticks; else echo 0 0; fi)"
}

received() { cat "/sys/class/net/$1/statistics/rx_packets"; }
has_received_more() { [ "$(received "$1")" -gt "$2" ]; }

# sample_costs: costs_now at the beginning and at the end of the middle half of
# a run: what starts and ends it is not among what is measured, and a PMD
# thread that gets more than it can forward has no time to poll in vain.
sample_costs() {
    local before

    before=$(received "${devs[1]}")
    wait_until 20 has_received_more "${devs[1]}" "$before" || return
    sleep "$(calculate "$run_seconds / 4")"
    costs_now
    sleep "$(calculate "$run_seconds / 2")"
    costs_now
} >"$dir/costs"

# record_costs MPPS: what sample_costs has seen, at that rate.
record_costs() {
    local wall core0 core1 user kernel packets cycles

    read -r wall core0 core1 user kernel <<<"$(awk '
        NR == 2 { for (i = 1; i <= NF; i++) { printf "%.10g ", $i - old[i] } }
        { split($0, old) }' "$dir/costs")"
    packets="($1 * $wall)"
    record "CPU time, core 0" s/Mpkt "$(calculate "$core0 / 100 / $packets")"
    record "CPU time, core 1" s/Mpkt "$(calculate "$core1 / 100 / $packets")"
    has_pmd || return 0
    record "CPU time, PMD thread" s/Mpkt \
        "$(calculate "($user + $kernel) / 100 / $packets")"
    # It polls in vain.
    if is_fastpath; then return; fi
    cycles=$(appctl dpif-netdev/pmd-stats-show |
        sed -n 's/.*avg processing cycles per packet: \([0-9.]*\).*/\1/p' |
        head -n 1)
    record "PMD cycles a packet" cycles "$cycles"
    record "of these outside of system calls" cycles \
        "$(calculate "$cycles * $user / ($user + $kernel)")"
}

# redirected_all: frames that took the fast path, of all pairs in use.
redirected_all() {
    local i n=0

    for ((i = 0; i < ports; i++)); do n=$((n + $(redirected $i))); done
    echo $n
}

# rate_of_run: in Mpps, of what arrives while more comes than can go.
rate_of_run() {
    generate --seconds="$run_seconds"
    [ "$got" -gt 0 ] || broken "not a frame of $sent arrived"
    mpps=$(calculate "$got / $seconds / 1e6")
}

measure_saturated() {
    local mpps before meanwhile=sample_costs

    if has_pmd; then appctl dpif-netdev/pmd-stats-clear >&2; fi
    if is_fastpath; then before=$(redirected_all); fi
    rate_of_run
    record "saturated rate" Mpps "$mpps"
    if is_fastpath; then
        record "of these on the fast path" % \
            "$(calculate "100 * ($(redirected_all) - $before) / $got")"
    fi
    record_costs "$mpps"
}

# passes_rate RATE: whether the contender forwards so many frames a second
# with little enough loss.  A rate has failed when it fails twice: once may be
# the machine.  Sets delivered, frames a second: less than RATE also where the
# generator shares its core with the driver and cannot offer more.
passes_rate() {
    local try offered

    for try in 1 2; do
        generate --seconds=$trial_seconds $(pace "$1")
        offered=$(calculate "int($sent / $seconds)")
        delivered=$(calculate "int($got / $seconds)")
        echo "$contender: $1 asked, $offered offered, $delivered delivered"
        if (((sent - got) * 100000 <= sent * max_loss)); then return 0; fi
    done
    return 1
}

# Nothing is known of rates below the lowest, nor recorded but that it is less.
measure_lossless() {
    local low=$search_low high=$search_high best rate

    if ! passes_rate $low; then
        record "rate with loss <= 0.1 %" Mpps "<$(calculate "$low / 1e6")"
        return
    fi
    best=$delivered
    while ((high * 100 > low * (100 + search_precision))); do
        rate=$(calculate "int(sqrt($low * $high) + 1)")
        if passes_rate "$rate"; then
            low=$rate
            if ((delivered > best)); then best=$delivered; fi
        else
            high=$rate
        fi
    done
    record "rate with loss <= 0.1 %" Mpps "$(calculate "$best / 1e6")"
}

measure_light() {
    local try

    for try in 1 2 3; do
        generate --seconds=10 --count=$light_frames $(pace $light_frames)
        if [ "$got" = "$sent" ]; then break; fi
    done
    record "lost of $light_frames frames" frames $((sent - got))
}

# Of one stream through the first two ports, all frames alike, its flows in
# turn.  What of it differs from the scenario is said in the figure's name.
measure_latency() {
    local percentile length=$size number=${flows%%:*} differs=''

    if [ "$size" = imix ]; then length=590 differs+=", 590 B"; fi
    # More than paced-send has.
    if ((number > 16384)); then number=16384 differs+=", $number flows"; fi
    [ "$number" = 1 ] || [[ $flows == *:turn ]] || differs+=", in turn"
    [ "$ports" = 1 ] || differs+=", one port"
    sink_start sink "${devs[1]}" --latency
    paced_start stream "${devs[0]}" --size="$length" --flows="$number" \
        --rate="$stream_rate" --cpu=0
    sleep "$run_seconds"
    paced_stop stream
    sink_stop sink
    for percentile in 50 90 99 99.9; do
        record "latency p$percentile${differs:+ (${differs#, })}" us \
            "$(result sink "p${percentile/./_}_us")"
    done
}

# Memory.

# kb FILE FIELD...: prints the sum of the fields of a file like meminfo.
kb() {
    local file=$1

    shift
    awk -v fields=" $* " '
        index(fields, " " substr($1, 1, length($1) - 1) " ") { n += $2 }
        END { print n + 0 }' "$file"
}

kernel_kb() {
    kb /proc/meminfo SUnreclaim VmallocUsed Percpu PageTables KernelStack
}

# kernel_settle: waits until the kernel has freed what is left over from
# before, which takes it some grace periods.
kernel_settle() {
    local last now try

    now=$(kernel_kb)
    for try in 1 2 3 4 5 6; do
        last=$now
        sleep 0.5
        now=$(kernel_kb)
        if ((now > last - 64)); then break; fi
    done
}

# user_kb: of the contender's process, hugepages included.
user_kb() {
    local pid

    pid=$(contender_pids)
    if [ -n "$pid" ]; then
        kb "/proc/$pid/status" VmRSS HugetlbPages
    else
        echo 0
    fi
}

# What four ports of one queue take that were not there before.  The daemon is
# started anew, or it would have memory left from the contender before; that of
# DPDK always is, and what DPDK itself takes counts.  In the kernel it is what
# the whole system has more, so the median of several rounds says something, on
# a machine that does nothing else: mostly what registering a UMEM takes, a
# buffer for each of its frames and a pointer for each page.  The rings, some
# 100 KB a queue for either port type, are not seen on kernels that do not take
# them from vmalloc().
measure_memory() {
    local kernel user=0

    contender_down
    if is_port_type; then
        ovs_stop
        ovs_start
        user=$(user_kb)
    fi
    kernel_settle
    kernel=$(kernel_kb)
    contender_up
    [ "$(kind_of "$contender")" != dpdk ] || user=$(cat "$dir/dpdk-before")
    user=$(($(user_kb) - user)) kernel=$(($(kernel_kb) - kernel))
    record "memory of four ports" MB "$(calculate "($user + $kernel) / 1024")"
    record "memory of four ports, user" MB "$(calculate "$user / 1024")"
    record "memory of four ports, kernel" MB "$(calculate "$kernel / 1024")"
}

# Adding ports, of those contenders that are port types.

# add_time NAME QUEUES: adds and removes a port, prints how long adding took,
# in ms.
add_time() {
    local start options

    IFS=+ read -r _ options <<<"$contender"
    options=(${options:+${options//+/ }})
    start=$(date +%s%N)
    PORT_TYPE=$(port_type) \
        port_add br0 "$1" 9 options:n_rxq="$2" "${options[@]/#/options:}" >&2
    echo $((($(date +%s%N) - start) / 1000)) | sed 's/...$/.&/'
    port_works "$1"
    vsctl del-port br0 "p-$1"
}

measure_add() {
    local one all

    is_port_type || return 0
    one=$(add_time "${tag}one" 1) && all=$(add_time "${tag}many" $many) ||
        return
    record "add a port with one queue" ms "$one"
    record "each further queue" ms "$(calculate "($all - $one) / ($many - 1)")"
}

# longest_gap I COMMAND...: in a stream through pair I of the ports while it
# runs, in ms.
longest_gap() {
    local i=$1

    shift
    sink_start sink "${devs[2 * i + 1]}" --verify
    paced_start stream "${devs[2 * i]}" --rate=5000
    sleep 0.3
    "$@" >&2
    sleep 0.3
    paced_stop stream
    sink_stop sink
    calculate "$(result sink longest_gap_us) / 1e3"
}

measure_gap() {
    local without with

    is_port_type || return 0
    without=$(longest_gap 1 sleep 0.3) &&
        with=$(longest_gap 1 add_time "${tag}one" 1) || return
    record "longest gap, nothing added" ms "$without"
    record "longest gap, a port added" ms "$with"
}

# Prefix tables, of "fastpath".

# swap I: puts the other of two versions of the table in force, which has as
# many prefixes as there are flows, and prints how long it took, in ms.
swap() {
    local start

    swap_version=$((3 - ${swap_version:-1}))
    cp "$dir/version$swap_version" "$dir/prefixes.new" &&
        mv "$dir/prefixes.new" "$(prefix_file "$1")" || return
    start=$(date +%s%N)
    appctl afxdp-fast/prefix-apply "p-${devs[2 * $1]}" >&2 || return
    echo $((($(date +%s%N) - start) / 1000)) | sed 's/...$/.&/'
}

# swaps_make I: makes the two versions, and puts the first in force.
swaps_make() {
    local version number=${flows%%:*}

    for version in 2 1; do
        prefix_file_make "$1" "$number" $version &&
            cp "$(prefix_file "$1")" "$dir/version$version" || return
    done
    vsctl remove interface "p-${devs[2 * $1]}" options prefixes
    vsctl set interface "p-${devs[2 * $1]}" \
        options:prefix-file="$(prefix_file "$1")"
    appctl afxdp-fast/prefix-apply "p-${devs[2 * $1]}" >&2
}

# swap_each_second: as long as a run is.  The programs that it runs are none of
# the daemon's work, and do not belong on the generator's core.
swap_each_second() {
    local i

    taskset -pc $pmd_core $BASHPID >&2
    for ((i = 0; i < run_seconds; i++)); do
        swap 0 || return
        sleep 0.9
    done >"$dir/swaps"
}

# The daemon's main thread, which reads the files, shares a core with the PMD
# thread, which has nothing to do: not with the generator.
measure_swap() {
    local mpps without with gap

    is_fastpath || return 0
    taskset -pc $pmd_core "$(vswitchd_pid)" >&2
    swaps_make 0 || broken "no prefix file"
    rate_of_run
    without=$mpps
    meanwhile=swap_each_second rate_of_run
    with=$mpps
    record "saturated rate, no swap" Mpps "$without"
    record "saturated rate, a swap a second" Mpps "$with"
    record "of the rate with no swap" % "$(calculate "100 * $with / $without")"
    record "swaps" "" "$(wc -l <"$dir/swaps")"
    record "longest time of a swap" ms "$(sort -n "$dir/swaps" | sed -n '$p')"
    gap=$(longest_gap 0 sleep 0.3) && record "longest gap, no swap" ms "$gap"
    gap=$(longest_gap 0 swap 0) && record "longest gap, a swap" ms "$gap"
}

# high_water_kb: the most that the daemon has had in memory, hugepages
# included.
high_water_kb() {
    kb "/proc/$(vswitchd_pid)/status" VmHWM HugetlbPages
}

# Of a table with a million prefixes, which a file that is there has.
measure_load() {
    local user kernel time

    is_fastpath || return 0
    contender_down
    ovs_stop
    ovs_start
    flows=1 contender_up
    prefix_file_make 0 1 1 || broken "no prefix file"
    vsctl remove interface "p-${devs[0]}" options prefixes
    vsctl set interface "p-${devs[0]}" options:prefix-file="$(prefix_file 0)"
    prefix_file_make 0 1000000 2 || broken "no prefix file"
    kernel_settle
    user=$(user_kb) kernel=$(kernel_kb)
    time=$(date +%s%N)
    appctl afxdp-fast/prefix-apply "p-${devs[0]}" >&2 ||
        broken "a million prefixes do not load"
    time=$((($(date +%s%N) - time) / 1000000))
    kernel=$(($(kernel_kb) - kernel))
    record "load a million prefixes" s "$(calculate "$time / 1000")"
    record "its memory, daemon at most" MB \
        "$(calculate "($(high_water_kb) - $user) / 1024")"
    record "its memory, daemon afterwards" MB \
        "$(calculate "($(user_kb) - $user) / 1024")"
    record "its memory, kernel" MB "$(calculate "$kernel / 1024")"
}
