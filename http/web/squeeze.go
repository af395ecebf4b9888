package web

import "bytes"

// squeezed leaves out of a module the comments and spaces that browsers do not need. Lines stay lines where they may end
// a statement. What stands in texts, templates and regular expressions stays as it is.
func squeezed(js []byte) []byte {
	js = margins.ReplaceAll(js, nil)
	out := make([]byte, 0, len(js))
	for i := 0; i < len(js); {
		c := js[i]
		switch {
		case c == '"' || c == '\'' || c == '`':
			to := textEnd(js, i)
			out, i = append(out, js[i:to]...), to
		case c == '/' && i+1 < len(js) && js[i+1] == '*':
			to := bytes.Index(js[i:], []byte("*/"))
			if to < 0 {
				return append(out, js[i:]...)
			}
			i += to + 2
		case c == '/' && beginsPattern(out):
			to := patternEnd(js, i)
			out, i = append(out, js[i:to]...), to
		case c == ' ':
			to := i
			for to < len(js) && js[to] == ' ' {
				to++
			}
			switch {
			case bytes.HasPrefix(js[to:], []byte("//")): // to the end of the line
				if end := bytes.IndexByte(js[to:], '\n'); end >= 0 {
					to += end
				} else {
					to = len(js)
				}
			case len(out) == 0 || to == len(js) || closes(out[len(out)-1]) || closes(js[to]):
			default:
				out = append(out, ' ')
			}
			i = to
		case c == '\n' && (len(out) > 0 && bytes.IndexByte([]byte("{;,(["), out[len(out)-1]) >= 0 || i+1 < len(js) && bytes.IndexByte([]byte("})]"), js[i+1]) >= 0):
			i++
		default:
			if n := len(out); closes(c) && n > 0 && out[n-1] == ' ' {
				out = out[:n-1]
			}
			out, i = append(out, c), i+1
		}
	}
	return out
}

// closes tells whether no space is needed beside a character. + and - are not among them, as two make another sign, nor is the
// slash of a pattern.
func closes(c byte) bool { return bytes.IndexByte([]byte("{}()[];,=:?!<>&|*%^~\n"), c) >= 0 }

// textEnd is where the text ends that begins at i; within a template what stands in ${} is passed over with it.
func textEnd(js []byte, i int) int {
	quote, depth := js[i], 0
	for i++; i < len(js); i++ {
		switch c := js[i]; {
		case c == '\\':
			i++
		case quote == '`' && c == '$' && i+1 < len(js) && js[i+1] == '{':
			depth++
			i++
		case depth > 0 && c == '}':
			depth--
		case depth > 0 && (c == '"' || c == '\'' || c == '`'):
			i = textEnd(js, i) - 1
		case depth == 0 && c == quote:
			return i + 1
		}
	}
	return len(js)
}

// beginsPattern tells whether a slash behind out is the beginning of a regular expression, and not a division.
func beginsPattern(out []byte) bool {
	out = bytes.TrimRight(out, " ")
	return len(out) == 0 || bytes.IndexByte([]byte("(,=:[!&|?{};\n>"), out[len(out)-1]) >= 0 || bytes.HasSuffix(out, []byte("return"))
}

// patternEnd is where the regular expression ends that begins at i.
func patternEnd(js []byte, i int) int {
	class := false
	for i++; i < len(js); i++ {
		switch c := js[i]; {
		case c == '\\':
			i++
		case c == '[':
			class = true
		case c == ']':
			class = false
		case c == '\n', c == '/' && !class:
			return i + 1
		}
	}
	return len(js)
}
