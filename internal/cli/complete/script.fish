# fish completion for PROGRAM. It asks the program itself.
function __PROGRAM_complete
    set -l words (commandline -opc)
    set -l current (commandline -ct)
    set -l flag (string match -r -- '^--[^=]*=' $current)
    for line in ($words[1] complete-words -- $words[2..-1] $current 2>/dev/null)
        if test "$line" = :files
            set -l part $current
            test -n "$flag"; and set part (string replace -- $flag '' $current)
            for path in (__fish_complete_path $part)
                echo "$flag$path"
            end
        else
            echo "$flag$line"
        end
    end
end
complete -c PROGRAM -f -a '(__PROGRAM_complete)'
