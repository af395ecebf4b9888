package chain

import (
	"bytes"
	"encoding/hex"
	"math"
	"strconv"

	"pmx/data"
)

// Log is a log as a node answers it.
type Log struct {
	Address   data.Address
	Block     int64
	BlockHash data.Hash // zero if the node does not say
	Time      int64     // of its block, unix seconds; 0 if the node does not say
	Tx        data.Hash
	Index     int32
	Removed   bool // a reorganisation removed the log

	topics  [4]data.Hash
	count   int    // of topics
	data    []byte // hex digits, a part of the input
	has     field
	unread  field // fields that are there but cannot be parsed
	noWords bool  // data is not 0x and whole bytes
}

// field is a set of fields of a log.
type field uint16

const (
	hasAddress field = 1 << iota
	hasTopics
	hasData
	hasBlock
	hasBlockHash
	hasTime
	hasTx
	hasIndex
	hasRemoved
)

// parse reads the JSON object of a log. Unknown fields are ignored; which of the others are
// required depends on the event. False if text is not an object, or has a key twice.
func (l *Log) parse(text []byte) bool {
	*l = Log{}
	i := SkipSpace(text, 0)
	if i >= len(text) || text[i] != '{' {
		return false
	}
	i = SkipSpace(text, i+1)
	if i < len(text) && text[i] == '}' {
		return SkipSpace(text, i+1) == len(text)
	}
	for {
		start := i
		end, ok := SkipValue(text, start)
		if !ok || text[start] != '"' {
			return false
		}
		i = SkipSpace(text, end)
		if i >= len(text) || text[i] != ':' {
			return false
		}
		at := SkipSpace(text, i+1)
		if i, ok = SkipValue(text, at); !ok || !l.member(text[start+1:end-1], text[at:i]) {
			return false
		}
		i = SkipSpace(text, i)
		switch {
		case i >= len(text):
			return false
		case text[i] == '}':
			return SkipSpace(text, i+1) == len(text)
		case text[i] != ',':
			return false
		}
		i = SkipSpace(text, i+1)
	}
}

// member takes a member of the object; false if it was seen before.
func (l *Log) member(key, value []byte) bool {
	var f field
	var ok bool
	switch string(key) {
	case "address":
		f, ok = hasAddress, fixed(l.Address[:], value)
	case "topics":
		f, ok = hasTopics, l.readTopics(value)
	case "data":
		f = hasData
		l.data, ok = digits(value)
		l.noWords = !ok || len(l.data)%2 != 0
	case "blockNumber":
		f = hasBlock
		l.Block, ok = quantity(value)
	case "blockHash":
		f, ok = hasBlockHash, fixed(l.BlockHash[:], value)
	case "blockTimestamp", "timeStamp": // the second is what an explorer writes
		f = hasTime
		l.Time, ok = quantity(value)
	case "transactionHash":
		f, ok = hasTx, fixed(l.Tx[:], value)
	case "logIndex":
		f = hasIndex
		n, read := quantity(value)
		l.Index, ok = int32(min(n, math.MaxInt32)), read && n <= math.MaxInt32
	case "removed":
		f = hasRemoved
		l.Removed = string(value) == "true"
		ok = l.Removed || string(value) == "false"
	default:
		return true
	}
	if l.has&f != 0 || l.unread&f != 0 {
		return false
	}
	switch {
	case ok:
		l.has |= f
	case string(value) != "null":
		l.unread |= f
	}
	return true
}

func (l *Log) readTopics(value []byte) bool {
	if value[0] != '[' {
		return false
	}
	for i := SkipSpace(value, 1); value[i] != ']'; {
		end, ok := SkipValue(value, i)
		if !ok || l.count == len(l.topics) || !fixed(l.topics[l.count][:], value[i:end]) {
			return false
		}
		l.count++
		if i = SkipSpace(value, end); value[i] == ',' {
			i = SkipSpace(value, i+1)
		}
	}
	return true
}

// digits returns the hex digits of a string of 0x and digits.
func digits(value []byte) ([]byte, bool) {
	n := len(value)
	if n < 4 || value[0] != '"' || value[1] != '0' || value[2] != 'x' && value[2] != 'X' {
		return nil, false
	}
	return value[3 : n-1], true
}

// fixed reads a string of 0x and as many bytes as dst has.
func fixed(dst, value []byte) bool {
	d, ok := digits(value)
	if !ok || len(d) != 2*len(dst) {
		return false
	}
	_, err := hex.Decode(dst, d)
	return err == nil
}

// quantity parses a number written as 0x and hex digits, or as digits without quotes. 0x alone is
// zero, as some explorer writes it.
func quantity(value []byte) (int64, bool) {
	d, ok := digits(value)
	base := int64(16)
	if !ok {
		d, base = value, 10
		if len(value) == 0 || len(value) > 18 {
			return 0, false
		}
	}
	n := int64(0)
	for _, c := range d {
		v := int64(nibble(c))
		if v >= base || n > (math.MaxInt64-v)/base {
			return 0, false
		}
		n = n*base + v
	}
	return n, true
}

func nibble(c byte) byte {
	switch {
	case c >= '0' && c <= '9':
		return c - '0'
	case c >= 'a' && c <= 'f':
		return c - 'a' + 10
	case c >= 'A' && c <= 'F':
		return c - 'A' + 10
	}
	return 255
}

// SkipSpace returns where the JSON white space at i ends.
func SkipSpace(b []byte, i int) int {
	for i < len(b) && (b[i] == ' ' || b[i] == '\n' || b[i] == '\r' || b[i] == '\t') {
		i++
	}
	return i
}

// SkipValue returns where the JSON value at i ends; false if it does not, or where its arrays and
// objects are more than DeepestJSON deep. It does not check that its contents are valid.
func SkipValue(b []byte, i int) (end int, ok bool) {
	if i >= len(b) {
		return 0, false
	}
	switch b[i] {
	case '"':
		return SkipString(b, i+1)
	case '{', '[':
		return skipNested(b, i)
	}
	for end = i; end < len(b) && plain(b[end]); end++ {
	}
	return end, end > i
}

// plain reports whether c is a letter of a number or a word.
func plain(c byte) bool {
	return c >= '0' && c <= '9' || c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c == '-' || c == '+' || c == '.'
}

// SkipString returns the end of the JSON string whose opening quote is before i: the place after
// its closing quote, false if it has none.
func SkipString(b []byte, i int) (end int, ok bool) {
	for from := i; ; {
		n := bytes.IndexByte(b[from:], '"')
		if n < 0 {
			return 0, false
		}
		from += n + 1
		back := from - 2
		for back >= i && b[back] == '\\' {
			back--
		}
		if (from-2-back)%2 == 0 {
			return from, true
		}
	}
}

// DeepestJSON is how deep arrays and objects may be nested.
const DeepestJSON = 64

// skipNested returns where the array or object at i ends. It checks that brackets match.
func skipNested(b []byte, i int) (end int, ok bool) {
	var open [DeepestJSON]byte
	for depth := 0; i < len(b); i++ {
		switch c := b[i]; c {
		case '"':
			if i, ok = SkipString(b, i+1); !ok {
				return 0, false
			}
			i--
		case '{', '[':
			if depth == len(open) {
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

// Members calls fn with every element of the list under key in the JSON object text. there reports
// whether the object has the key, list whether its value is a list.
func Members(text []byte, key string, fn func(element []byte) error) (there, list bool, err error) {
	i := SkipSpace(text, 0)
	if i >= len(text) || text[i] != '{' {
		return false, false, nil
	}
	quoted := strconv.Quote(key)
	for i = SkipSpace(text, i+1); i < len(text) && text[i] == '"'; i = SkipSpace(text, i+1) {
		end, ok := SkipValue(text, i)
		if !ok {
			break
		}
		name := text[i:end]
		if i = SkipSpace(text, end); i >= len(text) || text[i] != ':' {
			break
		}
		at := SkipSpace(text, i+1)
		if end, ok = SkipValue(text, at); !ok {
			break
		}
		if string(name) == quoted {
			list, err := elements(text[at:end], fn)
			return true, list, err
		}
		if i = SkipSpace(text, end); i >= len(text) || text[i] != ',' {
			break
		}
	}
	return false, false, nil
}

// elements calls fn with every element of an array; false if text is not one.
func elements(text []byte, fn func(element []byte) error) (list bool, err error) {
	if text[0] != '[' {
		return false, nil
	}
	for i := SkipSpace(text, 1); i < len(text) && text[i] != ']'; {
		end, ok := SkipValue(text, i)
		if !ok {
			return false, nil
		}
		if err := fn(text[i:end]); err != nil {
			return true, err
		}
		if i = SkipSpace(text, end); i < len(text) && text[i] == ',' {
			i = SkipSpace(text, i+1)
		}
	}
	return true, nil
}
