# bash completion for PROGRAM. It asks the program itself.
_PROGRAM_complete() {
	local word candidate files= joined=
	local -a words=()
	COMPREPLY=()
	# Readline takes = for the end of a word.
	for word in "${COMP_WORDS[@]:1:COMP_CWORD}"; do
		if [[ $word == "=" && ${#words[@]} -gt 0 ]]; then
			words[${#words[@]}-1]+="="
			joined=yes
		elif [[ -n $joined ]]; then
			words[${#words[@]}-1]+=$word
			joined=
		else
			words+=("$word")
		fi
	done
	while IFS=$'\t' read -r candidate _; do
		if [[ $candidate == :files ]]; then
			files=yes
		else
			COMPREPLY+=("$candidate")
		fi
	done < <("${COMP_WORDS[0]}" complete-words -- "${words[@]}" 2>/dev/null)
	if [[ -n $files ]]; then
		compopt -o filenames 2>/dev/null
		while IFS= read -r candidate; do
			COMPREPLY+=("$candidate")
		done < <(compgen -f -- "$2")
	fi
}
complete -F _PROGRAM_complete PROGRAM
