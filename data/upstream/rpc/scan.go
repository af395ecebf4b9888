package rpc

import (
	"errors"

	"pmx/data/chain"
)

// errNoJSON is for text that is not what a JSON value looks like.
var errNoJSON = errors.New("no whole JSON")

// elements calls f with the text of every element of a JSON array. It looks at what parts
// elements, not at whether the text in them is right.
func elements(b []byte, f func(element []byte) error) error {
	i := chain.SkipSpace(b, 0)
	if i >= len(b) || b[i] != '[' {
		return errNoJSON
	}
	if i = chain.SkipSpace(b, i+1); i < len(b) && b[i] == ']' {
		return over(b, i+1)
	}
	for {
		end, ok := chain.SkipValue(b, i)
		if !ok {
			return errNoJSON
		}
		if err := f(b[i:end]); err != nil {
			return err
		}
		i = chain.SkipSpace(b, end)
		switch {
		case i < len(b) && b[i] == ',':
			i = chain.SkipSpace(b, i+1)
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
	i := chain.SkipSpace(b, 0)
	if i >= len(b) || b[i] != '{' {
		return errNoJSON
	}
	if i = chain.SkipSpace(b, i+1); i < len(b) && b[i] == '}' {
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
		if i = chain.SkipSpace(b, end); i >= len(b) || b[i] != ':' {
			return errNoJSON
		}
		i = chain.SkipSpace(b, i+1)
		if end, ok = chain.SkipValue(b, i); !ok {
			return errNoJSON
		}
		if err := f(key, b[i:end]); err != nil {
			return err
		}
		i = chain.SkipSpace(b, end)
		switch {
		case i < len(b) && b[i] == ',':
			i = chain.SkipSpace(b, i+1)
		case i < len(b) && b[i] == '}':
			return over(b, i+1)
		default:
			return errNoJSON
		}
	}
}

// over wants nothing but space from i on.
func over(b []byte, i int) error {
	if chain.SkipSpace(b, i) != len(b) {
		return errNoJSON
	}
	return nil
}
