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
	end, err := array(b, chain.SkipSpace(b, 0), func(i int) (int, error) {
		end, ok := chain.SkipValue(b, i)
		if !ok {
			return 0, errNoJSON
		}
		return end, f(b[i:end])
	})
	if err != nil {
		return err
	}
	return over(b, end)
}

// members calls f with the key, without its quotes, and the text of the value of every member
// of a JSON object, as elements does.
func members(b []byte, f func(key, value []byte) error) error {
	end, err := object(b, chain.SkipSpace(b, 0), func(key []byte, i int) (int, error) {
		end, ok := chain.SkipValue(b, i)
		if !ok {
			return 0, errNoJSON
		}
		return end, f(key, b[i:end])
	})
	if err != nil {
		return err
	}
	return over(b, end)
}

// array goes through the array at i of b and returns where it ends. each is called with where an
// element begins, and returns where it ends.
func array(b []byte, i int, each func(i int) (end int, err error)) (end int, err error) {
	if i >= len(b) || b[i] != '[' {
		return 0, errNoJSON
	}
	if i = chain.SkipSpace(b, i+1); i < len(b) && b[i] == ']' {
		return i + 1, nil
	}
	for {
		if end, err = each(i); err != nil {
			return 0, err
		}
		i = chain.SkipSpace(b, end)
		switch {
		case i < len(b) && b[i] == ',':
			i = chain.SkipSpace(b, i+1)
		case i < len(b) && b[i] == ']':
			return i + 1, nil
		default:
			return 0, errNoJSON
		}
	}
}

// object goes through the object at i of b as array does. each is called with a key, without
// its quotes, and where its value begins.
func object(b []byte, i int, each func(key []byte, i int) (end int, err error)) (end int, err error) {
	if i >= len(b) || b[i] != '{' {
		return 0, errNoJSON
	}
	if i = chain.SkipSpace(b, i+1); i < len(b) && b[i] == '}' {
		return i + 1, nil
	}
	for {
		if i >= len(b) || b[i] != '"' {
			return 0, errNoJSON
		}
		end, ok := chain.SkipString(b, i+1)
		if !ok {
			return 0, errNoJSON
		}
		key := b[i+1 : end-1]
		if i = chain.SkipSpace(b, end); i >= len(b) || b[i] != ':' {
			return 0, errNoJSON
		}
		if end, err = each(key, chain.SkipSpace(b, i+1)); err != nil {
			return 0, err
		}
		i = chain.SkipSpace(b, end)
		switch {
		case i < len(b) && b[i] == ',':
			i = chain.SkipSpace(b, i+1)
		case i < len(b) && b[i] == '}':
			return i + 1, nil
		default:
			return 0, errNoJSON
		}
	}
}

// extent is where an element of an array is in a text.
type extent struct{ from, to int32 }

// extents adds to list where the elements of the array at i of b are, and returns where it ends.
func extents(b []byte, i int, list []extent) (all []extent, end int, err error) {
	end, err = array(b, i, func(i int) (int, error) {
		end, ok := chain.SkipValue(b, i)
		if !ok {
			return 0, errNoJSON
		}
		list = append(list, extent{int32(i), int32(end)})
		return end, nil
	})
	return list, end, err
}

// over wants nothing but space from i on.
func over(b []byte, i int) error {
	if chain.SkipSpace(b, i) != len(b) {
		return errNoJSON
	}
	return nil
}
