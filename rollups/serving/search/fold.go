package search

import (
	"bytes"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"
)

// fold adds the words of text to b, each followed by a space: letters and digits in lower case,
// without accents, everything else left out. A comma between the thousands of a number is ignored,
// so that 100,000 and 100000 are one word.
func fold(b []byte, text string) []byte {
	from := len(b)
	for i := range len(text) {
		if text[i] >= utf8.RuneSelf {
			text = norm.NFKD.String(text)
			break
		}
	}
	for i := 0; i < len(text); {
		c := text[i]
		if c >= utf8.RuneSelf {
			r, size := utf8.DecodeRuneInString(text[i:])
			b = foldRune(b, from, r)
			i += size
			continue
		}
		switch {
		case 'a' <= c && c <= 'z' || '0' <= c && c <= '9':
			b = append(b, c)
		case 'A' <= c && c <= 'Z':
			b = append(b, c|0x20)
		case c == ',' && thousands(text, i):
		default:
			b = endWord(b, from)
		}
		i++
	}
	return endWord(b, from)
}

// endWord ends the word that b[from:] ends in, if it does.
func endWord(b []byte, from int) []byte {
	if len(b) > from && b[len(b)-1] != ' ' {
		b = append(b, ' ')
	}
	return b
}

// foldRune adds a character outside ASCII, decomposed before.
func foldRune(b []byte, from int, r rune) []byte {
	switch {
	case unicode.Is(unicode.Mn, r):
		return b
	case !unicode.IsLetter(r) && !unicode.IsNumber(r) && !unicode.IsMark(r) || r == utf8.RuneError:
		return endWord(b, from)
	}
	r = unicode.ToLower(r)
	if plain := plainLetters(r); plain != "" {
		return append(b, plain...)
	}
	return utf8.AppendRune(b, r)
}

// plainLetters returns how a Latin letter without a decomposition is typed on a plain keyboard; ""
// for any other letter.
func plainLetters(r rune) string {
	switch r {
	case 'ß':
		return "ss"
	case 'æ':
		return "ae"
	case 'œ':
		return "oe"
	case 'þ':
		return "th"
	case 'ø':
		return "o"
	case 'ł':
		return "l"
	case 'đ', 'ð':
		return "d"
	case 'ħ':
		return "h"
	case 'ı':
		return "i"
	}
	return ""
}

// thousands reports whether the comma at i of s stands between digits of which exactly three follow
// it.
func thousands(s string, i int) bool {
	if i == 0 || i+3 >= len(s) || !digit(s[i-1]) || !digit(s[i+1]) || !digit(s[i+2]) || !digit(s[i+3]) {
		return false
	}
	return i+4 >= len(s) || !digit(s[i+4])
}

func digit(c byte) bool { return '0' <= c && c <= '9' }

// Words returns the distinct words of text as they are compared, in order of first appearance: in
// lower case, without accents, split at everything that is neither letter nor digit. It is nil if
// text has none.
func Words(text string) []string {
	var list []string
	seen := map[string]bool{}
	for w := range bytes.FieldsSeq(fold(nil, text)) {
		if !seen[string(w)] {
			seen[string(w)] = true
			list = append(list, string(w))
		}
	}
	return list
}
