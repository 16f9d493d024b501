#compdef PROGRAM
# zsh completion for PROGRAM. It asks the program itself.
_PROGRAM() {
	local line files
	local -a candidates
	for line in "${(@f)$("${words[1]}" complete-words -- "${(@)words[2,CURRENT]}" 2>/dev/null)}"; do
		if [[ $line == :files ]]; then
			files=yes
		elif [[ -n $line ]]; then
			candidates+=("${${line%%$'\t'*}//:/\\:}:${line#*$'\t'}")
		fi
	done
	if [[ $PREFIX == --*=* ]]; then
		compset -P '*='
	fi
	(( ${#candidates} )) && _describe -o '' candidates
	[[ -n $files ]] && _files
}
if [[ $funcstack[1] == _PROGRAM ]]; then
	_PROGRAM "$@"
else
	compdef _PROGRAM PROGRAM
fi
