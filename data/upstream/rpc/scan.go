package rpc

import (
	"errors"

	"pmx/data/chain"
)

// errNoJSON is for text that is not what a JSON value looks like.
var errNoJSON = errors.New("no whole JSON")

// deepest is how deep arrays and objects may be in each other.
const deepest = 64

// elements calls f with the text of every element of a JSON array. It looks at what parts
// elements, not at whether the text in them is right.
func elements(b []byte, f func(element []byte) error) error {
	i := space(b, 0)
	if i >= len(b) || b[i] != '[' {
		return errNoJSON
	}
	if i = space(b, i+1); i < len(b) && b[i] == ']' {
		return over(b, i+1)
	}
	for {
		end, ok := value(b, i)
		if !ok {
			return errNoJSON
		}
		if err := f(b[i:end]); err != nil {
			return err
		}
		i = space(b, end)
		switch {
		case i < len(b) && b[i] == ',':
			i = space(b, i+1)
		case i < len(b) && b[i] == ']':
			return over(b, i+1)
		default:
			return errNoJSON
		}
	}
}

// members calls f with the key, without its quotes, and the text of the value of every member
// of a JSON object, as elements does.
func members(b []byte, f func(key, value []byte) error) error {
	i := space(b, 0)
	if i >= len(b) || b[i] != '{' {
		return errNoJSON
	}
	if i = space(b, i+1); i < len(b) && b[i] == '}' {
		return over(b, i+1)
	}
	for {
		if i >= len(b) || b[i] != '"' {
			return errNoJSON
		}
		end, ok := chain.SkipString(b, i+1)
		if !ok {
			return errNoJSON
		}
		key := b[i+1 : end-1]
		if i = space(b, end); i >= len(b) || b[i] != ':' {
			return errNoJSON
		}
		i = space(b, i+1)
		if end, ok = value(b, i); !ok {
			return errNoJSON
		}
		if err := f(key, b[i:end]); err != nil {
			return err
		}
		i = space(b, end)
		switch {
		case i < len(b) && b[i] == ',':
			i = space(b, i+1)
		case i < len(b) && b[i] == '}':
			return over(b, i+1)
		default:
			return errNoJSON
		}
	}
}

// over wants nothing but space from i on.
func over(b []byte, i int) error {
	if space(b, i) != len(b) {
		return errNoJSON
	}
	return nil
}

func space(b []byte, i int) int {
	for i < len(b) && (b[i] == ' ' || b[i] == '\n' || b[i] == '\r' || b[i] == '\t') {
		i++
	}
	return i
}

// value gives where the value at i ends.
func value(b []byte, i int) (end int, ok bool) {
	if i >= len(b) {
		return 0, false
	}
	switch b[i] {
	case '"':
		return chain.SkipString(b, i+1)
	case '{', '[':
		return nested(b, i)
	}
	for end = i; end < len(b) && plain(b[end]); end++ {
	}
	return end, end > i
}

// plain tells whether c is a letter of a number or a word.
func plain(c byte) bool {
	return c >= '0' && c <= '9' || c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c == '-' || c == '+' || c == '.'
}

// nested gives where the array or object at i ends. Its brackets fit each other.
func nested(b []byte, i int) (end int, ok bool) {
	var open [deepest]byte
	for depth := 0; i < len(b); i++ {
		switch c := b[i]; c {
		case '"':
			if i, ok = chain.SkipString(b, i+1); !ok {
				return 0, false
			}
			i--
		case '{', '[':
			if depth == deepest {
				return 0, false
			}
			open[depth] = c + 2 // the closing bracket of each is two letters on
			depth++
		case '}', ']':
			if depth--; open[depth] != c {
				return 0, false
			}
			if depth == 0 {
				return i + 1, true
			}
		}
	}
	return 0, false
}
