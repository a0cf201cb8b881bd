package cli

// bashCompletion is the script for bash. It needs nothing but bash itself: words are
// taken from the line as it stands, because bash breaks them at @, : and =, and what is
// typed is never evaluated.
const bashCompletion = `# bash completion of orange
_orange() {
    local line=${COMP_LINE:0:COMP_POINT} program out directive cur head='' breaks entry value about
    local -a words
    COMPREPLY=()
    read -ra words <<<"$line"
    program=$(type -P -- "${COMP_WORDS[0]}") || program=orange
    words=("${words[@]:1}")
    [[ $line == *[[:space:]] || ${#words[@]} -eq 0 ]] && words+=('')
    cur=${words[${#words[@]}-1]}
    out=$("$program" __complete "${words[@]}" 2>/dev/null) || return
    directive=${out##*:}
    out=${out%:*}
    [[ $directive =~ ^[0-9]+$ ]] || directive=0
    (( directive & 1 )) && return

    breaks=${COMP_WORDBREAKS//[^@:=]/} # bash replaces only what is behind the last of these
    [[ -n $breaks && $cur == *[$breaks]* ]] && head=${cur%"${cur##*[$breaks]}"}
    while IFS= read -r entry; do
        value=${entry%%$'\t'*}
        [[ -n $value && $value == "$cur"* || $cur == -*=* && $value == "${cur#*=}"* ]] || continue
        value=${value#"$head"}
        about=''
        [[ $entry == *$'\t'* ]] && about="  (${entry#*$'\t'})"
        case $COMP_TYPE in
            33|63|64) COMPREPLY+=("$value$about") ;; # they are listed, not inserted
            *) [[ $value == *[!A-Za-z0-9_./:@=,+-]* ]] && value=$(printf %q "$value")
               COMPREPLY+=("$value") ;;
        esac
    done <<<"$out"
    if (( ${#COMPREPLY[@]} == 1 )); then # one is inserted, whatever was asked for
        value=${COMPREPLY[0]%%"  ("*}
        COMPREPLY=("$value")
    fi
    (( directive & 2 )) && compopt -o nospace 2>/dev/null
    (( directive & 32 )) && compopt -o nosort 2>/dev/null
    if (( directive & 16 )); then
        while IFS= read -r entry; do COMPREPLY+=("$entry"); done < <(compgen -d -- "$cur")
        compopt -o filenames 2>/dev/null
    elif (( ! (directive & 4) && ${#COMPREPLY[@]} == 0 )); then
        while IFS= read -r entry; do COMPREPLY+=("$entry"); done < <(compgen -f -- "$cur")
        compopt -o filenames 2>/dev/null
    fi
}
complete -F _orange orange
`
