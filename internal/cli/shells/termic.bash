# Completion of termic for bash. The program itself says what may follow.
_termic() {
  local line IFS=$'\n'
  COMPREPLY=()
  while IFS= read -r line; do
    line=${line%%$'\t'*}
    case $line in
    \<file\>) compopt -o filenames 2>/dev/null; COMPREPLY+=($(compgen -f -- "${COMP_WORDS[COMP_CWORD]}")) ;;
    *) COMPREPLY+=("$(printf '%q' "$line")") ;;
    esac
  done < <(printf '%s\n' "${COMP_WORDS[@]:1:COMP_CWORD}" | "${COMP_WORDS[0]/#\~/$HOME}" completion words 2>/dev/null)
}
complete -F _termic termic
