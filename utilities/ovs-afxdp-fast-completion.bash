# SPDX-License-Identifier: Apache-2.0
#
# Completion of ovs-afxdp-fast for bash: commands, options, and the ports that
# the daemon has.  To be sourced, or found by bash-completion as
# .../bash-completion/completions/ovs-afxdp-fast.

# _ovs_afxdp_fast_ports: the ports of the daemon that the line so far is about.
_ovs_afxdp_fast_ports() {
    "${COMP_WORDS[0]}" "${target[@]}" --timeout=2 show 2> /dev/null |
        sed -n 's/^\([^ ].*\):$/\1/p'
}

# _ovs_afxdp_fast_read: what stands before the cursor, options apart, goes to
# 'words', and the choice of the daemon to 'target'.
_ovs_afxdp_fast_read() {
    local i word

    for ((i = 1; i < COMP_CWORD; i++)); do
        word=${COMP_WORDS[i]}
        # The shell takes "--target=x" for three words.
        case $word in
        --target | -t)
            [ "${COMP_WORDS[i + 1]}" != = ] || i=$((i + 1))
            i=$((i + 1))
            target=("--target=${COMP_WORDS[i]}") ;;
        --timeout | -T)
            [ "${COMP_WORDS[i + 1]}" != = ] || i=$((i + 1))
            i=$((i + 1)) ;;
        -*) ;;
        *) words+=("$word") ;;
        esac
    done
}

_ovs_afxdp_fast() {
    local current=${COMP_WORDS[COMP_CWORD]} words=() target=() choices=

    COMPREPLY=()
    _ovs_afxdp_fast_read
    case $current in
    -*)
        choices='--json --target= --timeout= --help --version' ;;
    *)
        case "${#words[@]} ${words[*]}" in
        '0 ')
            choices='prefix show stats doctor' ;;
        '1 prefix')
            choices='check apply add del show lookup rollback history' ;;
        '1 show' | '1 stats' | '1 doctor' | '2 prefix '*)
            choices=$(_ovs_afxdp_fast_ports) ;;
        '3 prefix check '*)
            compopt -o filenames 2> /dev/null
            mapfile -t COMPREPLY < <(compgen -f -- "$current")
            return ;;
        '4 prefix check '*)
            choices='limit=' ;;
        *' prefix show '*)
            choices='from= limit=' ;;
        *' prefix lookup '*)
            choices='src= vlan= dmac=' ;;
        esac ;;
    esac
    mapfile -t COMPREPLY < <(compgen -W "$choices" -- "$current")
    case ${COMPREPLY[0]-} in
    *=) compopt -o nospace 2> /dev/null ;;
    esac
}

complete -F _ovs_afxdp_fast ovs-afxdp-fast
