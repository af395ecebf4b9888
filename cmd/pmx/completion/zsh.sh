#compdef pmx
_pmx() {
	local -a lines
	lines=("${(@f)$("${words[1]}" complete -- "${(@)words[2,CURRENT]}" 2>/dev/null)}")
	lines=(${lines:#})
	if (( ! $#lines )); then
		_files
		return
	fi
	lines=("${(@)lines//:/\\:}")
	lines=("${(@)lines/$'\t'/:}")
	_describe pmx lines
}
if [[ "${funcstack[1]}" == "_pmx" ]]; then
	_pmx "$@"
else
	compdef _pmx pmx
fi
