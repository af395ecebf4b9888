package shape

import (
	"encoding/binary"
	"encoding/json"
	"math/bits"
)

// scan reads JSON text in one pass, while encoding/json calls a function for every byte. It accepts
// no text that encoding/json refuses. Its methods are called at the first byte of what they read, go
// to the byte after it, and return false if they cannot read it; what that is, is left to
// encoding/json.
type scan struct {
	text []byte
	at   int
	deep int // lists and objects that are open
}

// deepest is how many lists and objects may be open; encoding/json allows 10,000.
const deepest = 1000

// validJSON is json.Valid.
func validJSON(text []byte) bool {
	s := scan{text: text}
	return s.whole() || json.Valid(text)
}

// whole reads the text, which must be one value, and blanks around it.
func (s *scan) whole() bool {
	s.space()
	if !s.value() {
		return false
	}
	s.space()
	return s.at == len(s.text)
}

// byte returns the next byte, and 0, which no value begins with, at the end.
func (s *scan) byte() byte {
	if s.at < len(s.text) {
		return s.text[s.at]
	}
	return 0
}

func (s *scan) space() {
	for s.at < len(s.text) {
		switch s.text[s.at] {
		case ' ', '\t', '\r', '\n':
			s.at++
		default:
			return
		}
	}
}

// value reads any value.
func (s *scan) value() bool {
	switch c := s.byte(); c {
	case '"':
		return s.string()
	case '{':
		return s.object(nil)
	case '[':
		return s.array(nil)
	case 't':
		return s.word("true")
	case 'f':
		return s.word("false")
	case 'n':
		return s.word("null")
	default:
		return s.number()
	}
}

func (s *scan) word(w string) bool {
	if len(s.text)-s.at < len(w) || string(s.text[s.at:s.at+len(w)]) != w {
		return false
	}
	s.at += len(w)
	return true
}

func (s *scan) number() bool {
	if s.byte() == '-' {
		s.at++
	}
	if s.byte() == '0' {
		s.at++
	} else if !s.digits() {
		return false
	}
	if s.byte() == '.' {
		s.at++
		if !s.digits() {
			return false
		}
	}
	if c := s.byte(); c != 'e' && c != 'E' {
		return true
	}
	s.at++
	if c := s.byte(); c == '+' || c == '-' {
		s.at++
	}
	return s.digits()
}

// digits reads at least one digit.
func (s *scan) digits() bool {
	from := s.at
	for s.at < len(s.text) && s.text[s.at]-'0' < 10 {
		s.at++
	}
	return s.at > from
}

// string reads a string. Like encoding/json, it does not look whether it is UTF-8.
func (s *scan) string() bool {
	for s.at++; s.at < len(s.text); s.at++ {
		if s.plain(); s.at == len(s.text) {
			return false
		}
		switch c := s.text[s.at]; {
		case c == '"':
			s.at++
			return true
		case c < ' ', c == '\\' && !s.escape():
			return false
		}
	}
	return false
}

// plain goes to the next byte that has a meaning in a string: a quote, a backslash, a control
// character. It looks at eight bytes at once: (v-1)&^v has the highest bit of the first byte of v
// that is zero, and none before it (https://graphics.stanford.edu/~seander/bithacks.html#ZeroInWord).
func (s *scan) plain() {
	const ones, tops = 0x0101010101010101, 0x8080808080808080
	for len(s.text)-s.at >= 8 {
		v := binary.LittleEndian.Uint64(s.text[s.at:])
		quotes, slashes := v^ones*'"', v^ones*'\\'
		found := ((quotes-ones)&^quotes | (slashes-ones)&^slashes | (v-ones*' ')&^v) & tops
		if found != 0 {
			s.at += bits.TrailingZeros64(found) / 8
			return
		}
		s.at += 8
	}
	for s.at < len(s.text) {
		if c := s.text[s.at]; c == '"' || c == '\\' || c < ' ' {
			return
		}
		s.at++
	}
}

// escape reads an escape up to its last byte.
func (s *scan) escape() bool {
	s.at++
	switch s.byte() {
	case '"', '\\', '/', 'b', 'f', 'n', 'r', 't':
		return true
	case 'u':
	default:
		return false
	}
	for range 4 {
		s.at++
		switch c := s.byte(); {
		case '0' <= c && c <= '9', 'a' <= c && c <= 'f', 'A' <= c && c <= 'F':
		default:
			return false
		}
	}
	return true
}

// array reads a list. element is called at the first byte of each element, which it has to read;
// nil skips them.
func (s *scan) array(element func() bool) bool {
	return s.list('[', ']', func() bool {
		if element == nil {
			return s.value()
		}
		return element()
	})
}

// object reads an object. member is called with each key, as it is between the quotes, at the first
// byte of the value, which it has to read; nil skips them.
func (s *scan) object(member func(key []byte) bool) bool {
	return s.list('{', '}', func() bool {
		from := s.at + 1
		if s.byte() != '"' || !s.string() {
			return false
		}
		key := s.text[from : s.at-1]
		if s.space(); s.byte() != ':' {
			return false
		}
		s.at++
		if s.space(); member == nil {
			return s.value()
		}
		return member(key)
	})
}

// list reads items between two brackets.
func (s *scan) list(opening, closing byte, item func() bool) bool {
	if s.byte() != opening || s.deep == deepest {
		return false
	}
	s.deep++
	defer func() { s.deep-- }()
	s.at++
	if s.space(); s.byte() == closing {
		s.at++
		return true
	}
	for item() {
		s.space()
		switch s.byte() {
		case closing:
			s.at++
			return true
		case ',':
			s.at++
			s.space()
		default:
			return false
		}
	}
	return false
}
