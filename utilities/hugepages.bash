# SPDX-License-Identifier: Apache-2.0
#
# Hugepages for a while, for tests/run and utilities/quickstart (sourced).
#
#   hugepages_reserve N   sees to it that N hugepages of 2 MB are there beyond
#                         those that are used or asked for by other callers
#   hugepages_release     gives them back
#   hugepages_forget      gives back what callers have left that were killed
#
# vm.nr_hugepages is one number for the whole machine, so callers that overlap
# share a folder: the number that the machine had before the first of them,
# and a file for each of them that says what it asked for.  A caller holds a
# lock on its file, and so do the programs it starts: a file that nobody has
# locked was left by a caller that was killed, and counts no more.

hugepages_dir=/run/afxdp-fast/hugepages     # Shared by all tests/sandbox.
hugepages_nr=/proc/sys/vm/nr_hugepages
hugepages_mine=

# Sets vm.nr_hugepages to what the callers that are left need.  Removes the
# folder when none is left.  The caller holds the lock of the folder.
hugepages_settle () {
    local file fd asked total=0 before free
    for file in "$hugepages_dir"/holder.*; do
        [ -e "$file" ] || continue
        exec {fd}< "$file"
        if [ "$file" != "$hugepages_mine" ] && flock --nonblock $fd; then
            rm -f "$file"
        else
            read -r asked < "$file" && total=$((total + asked))
        fi
        exec {fd}<&-
    done
    read -r before free < "$hugepages_dir/before"
    if [ $total -le "$free" ]; then
        echo "$before" > $hugepages_nr
    else
        echo $((before + total - free)) > $hugepages_nr
    fi
    [ $total -gt 0 ] || rm -rf "$hugepages_dir"
}

# Sets vm.nr_hugepages and the free ones down as they are without any caller,
# unless that is done.  What is there from before the machine's start is void.
hugepages_begin () {
    local boot
    boot=$(cat /proc/sys/kernel/random/boot_id)
    [ "$(cat "$hugepages_dir/boot" 2> /dev/null)" != "$boot" ] || return 0
    rm -rf "$hugepages_dir"
    mkdir -p "$hugepages_dir"
    echo "$(cat $hugepages_nr)" \
         "$(awk '/^HugePages_Free:/ { print $2 }' /proc/meminfo)" \
         > "$hugepages_dir/before"
    echo "$boot" > "$hugepages_dir/boot"
}

# hugepages_locked COMMAND: runs it with the folder there and locked.
hugepages_locked () {
    local lock
    mkdir -p "${hugepages_dir%/*}"
    exec {lock}> "$hugepages_dir.lock" || return
    flock $lock
    hugepages_begin
    "$@"
    exec {lock}>&-
}

hugepages_reserve__ () {
    hugepages_mine=$hugepages_dir/holder.$$.$RANDOM
    echo "$1" > "$hugepages_mine"
    exec {hugepages_fd}< "$hugepages_mine"
    flock $hugepages_fd
    hugepages_settle
}

hugepages_release__ () {
    rm -f "$hugepages_mine"
    exec {hugepages_fd}<&-
    hugepages_mine=
    hugepages_settle
}

hugepages_reserve () {
    hugepages_locked hugepages_reserve__ "$1"
}

hugepages_release () {
    [ -z "$hugepages_mine" ] || hugepages_locked hugepages_release__
}

hugepages_forget () {
    [ ! -d "$hugepages_dir" ] || hugepages_locked hugepages_settle
}
