# SPDX-License-Identifier: Apache-2.0

# run_afxdp OVS-TREE FOLDER [OPTION...]: tests/ovs-suite with OVS's own afxdp
# ports, which log an error whenever they may not raise RLIMIT_MEMLOCK, though
# kernels since 5.11 do not look at it.
run_afxdp () {
    local tree=$1 folder=$2
    shift 2
    "$here/ovs-suite" --type=afxdp \
        --allow-log='/setrlimit(RLIMIT_MEMLOCK) failed/d' "$@" \
        "$tree" "$folder"
}
