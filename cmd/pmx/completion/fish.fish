function __pmx_complete
	set -l words (commandline -opc)
	set -l current (commandline -ct)
	$words[1] complete -- $words[2..-1] "$current" 2>/dev/null
end
complete -c pmx -n 'test (count (__pmx_complete)) -gt 0' -f
complete -c pmx -a '(__pmx_complete)'
