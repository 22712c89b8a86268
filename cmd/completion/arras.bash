# Completion of the arras command for bash.  What there is to complete, the command says itself.

_arras_files()
{
    compopt -o filenames 2>/dev/null
    mapfile -t COMPREPLY < <(compgen -f -- "$1")
}

_arras_words()
{
    mapfile -t COMPREPLY < <(compgen -W "$("$arras" help --words "$1" 2>/dev/null)" -- "$word")
}

_arras()
{
    local arras=${COMP_WORDS[0]} word=${COMP_WORDS[COMP_CWORD]} before=${COMP_WORDS[COMP_CWORD - 1]}
    local command=${COMP_WORDS[1]}

    COMPREPLY=()
    if ((COMP_CWORD == 1)); then
        if [[ $word == -* ]]; then
            mapfile -t COMPREPLY < <(compgen -W '--help --version' -- "$word")
        else
            _arras_words commands
        fi
    elif [[ $word == -* ]]; then
        _arras_words "$command"
    elif [[ $command == help ]]; then
        _arras_words topics
    elif [[ $before == --device ]]; then
        COMPREPLY=(cpu)
    elif [[ $word == = ]]; then
        # name=FILE comes as three words.
        _arras_files ''
    else
        _arras_files "${word#*=}"
    fi
}

complete -F _arras arras
