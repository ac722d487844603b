"""The scripts that make bash, zsh and fish ask `atc` for completions.

A script runs `atc` with the words of the command line in COMP_WORDS, the index of the word under
the cursor (fish: its text) in COMP_CWORD, and the name of the shell in _ATC_COMPLETE. `atc` answers
in the format of `click.shell_completion`. No script evaluates the answer, and an error of `atc`
prints nothing into the shell.

click has such scripts too. They print the errors of `atc` into the shell, and the one for bash
expands wildcards in the answer and changes variables of the shell.
"""

from __future__ import annotations

VARIABLE = "_ATC_COMPLETE"
"""Variable with the name of the shell that asks, such as `bash_complete`."""

_BASH = r"""
_atc_completion() {
    local IFS=$'\n' response type value
    COMPREPLY=()
    response=$(env COMP_WORDS="${COMP_WORDS[*]}" COMP_CWORD="$COMP_CWORD" \
        _ATC_COMPLETE=bash_complete "${1/#\~/$HOME}" 2>/dev/null </dev/null)
    while IFS=',' read -r type value; do
        case $type in
            dir) compopt -o dirnames 2>/dev/null ;;
            file) compopt -o default 2>/dev/null ;;
            plain) COMPREPLY+=("$value") ;;
        esac
    done <<< "$response"
}

complete -o nosort -F _atc_completion atc 2>/dev/null || complete -F _atc_completion atc
"""
_ZSH = r"""
#compdef atc

_atc_completion() {
    local -a completions described response
    local type key descr
    (( ! $+commands[atc] )) && return 1
    response=("${(@f)$(env COMP_WORDS="${words[*]}" COMP_CWORD=$((CURRENT-1)) \
        _ATC_COMPLETE=zsh_complete atc 2>/dev/null </dev/null)}")
    for type key descr in ${response}; do
        case $type in
            dir) _path_files -/ ;;
            file) _path_files -f ;;
            plain)
                if [[ $descr == _ ]]; then
                    completions+=("$key")
                else
                    described+=("$key":"$descr")
                fi
                ;;
        esac
    done
    (( $#described )) && _describe -V unsorted described -U
    (( $#completions )) && compadd -U -V unsorted -a completions
    return 0
}

if [[ $zsh_eval_context[-1] == loadautofunc ]]; then
    _atc_completion "$@"  # the file is in a folder of fpath
elif (( $+functions[compdef] )); then
    compdef _atc_completion atc
fi
"""
_FISH = r"""
function _atc_completion
    set -l response (env _ATC_COMPLETE=fish_complete COMP_WORDS=(commandline -cp) \
        COMP_CWORD=(commandline -t) atc 2>/dev/null </dev/null)
    for line in $response
        set -l parts (string split -m 1 "," -- $line)
        switch $parts[1]
            case dir
                __fish_complete_directories $parts[2]
            case file
                __fish_complete_path $parts[2]
            case plain
                echo $parts[2]
        end
    end
end

complete --no-files --command atc --arguments "(_atc_completion)"
"""
SCRIPTS = {"bash": _BASH.lstrip(), "zsh": _ZSH.lstrip(), "fish": _FISH.lstrip()}
"""The scripts, keyed by the name of the shell."""
