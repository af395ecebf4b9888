package rpc

import (
	"errors"

	"pmx/data/chain"
)

// errNoJSON is the error of text that does not look like JSON.
var errNoJSON = errors.New("incomplete or invalid JSON")

// elements calls f with the text of every element of a JSON array. It only finds the boundaries of
// elements and does not check whether their text is valid.
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

// members calls f with the key, without its quotes, and the text of the value of every member of a
// JSON object. Like elements, it does not check the text.
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

// array scans the array at i of b and returns its end. each is called with the start of an element
// and returns its end.
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

// object scans the object at i of b like array. each is called with a key, without its quotes, and
// the start of its value.
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

// element is the position of an element of an array in a text.
type element struct{ from, to int32 }

// locateElements appends the positions of the elements of the array at i of b to list, and returns the end
// of the array.
func locateElements(b []byte, i int, list []element) (all []element, end int, err error) {
	end, err = array(b, i, func(i int) (int, error) {
		end, ok := chain.SkipValue(b, i)
		if !ok {
			return 0, errNoJSON
		}
		list = append(list, element{int32(i), int32(end)})
		return end, nil
	})
	return list, end, err
}

// over returns an error if there is anything but white space from i on.
func over(b []byte, i int) error {
	if chain.SkipSpace(b, i) != len(b) {
		return errNoJSON
	}
	return nil
}
