# Completion of termic for fish. The program itself says what may follow.
function __termic_words
    set -l words (commandline -opc) (commandline -ct)
    set -l program $words[1]
    set -e words[1]
    for line in (printf '%s\n' $words | $program completion words 2>/dev/null)
        if test "$line" = '<file>'
            __fish_complete_path (commandline -ct)
        else
            printf '%s\n' $line
        end
    end
end
complete -c termic -f -a '(__termic_words)'
