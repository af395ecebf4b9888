package shape

import (
	"bytes"
	"encoding/json"
	"errors"
	"strings"
	"unicode/utf16"
	"unicode/utf8"

	"pmx/data"
)

// Text is the text of a JSON string, number or boolean; null is "". Token ids and amounts may be
// strings or numbers, and a float would lose digits.
type Text string

// UnmarshalJSON accepts any scalar; an object or array is kept as JSON.
func (t *Text) UnmarshalJSON(b []byte) error {
	switch {
	case bytes.Equal(b, []byte("null")):
		*t = ""
	case len(b) > 0 && b[0] == '"':
		if plain, ok := plainText(b); ok {
			*t = Text(plain)
			return nil
		}
		if text, ok := unescaped(b); ok {
			*t = Text(text)
			return nil
		}
		var s string
		if err := json.Unmarshal(b, &s); err != nil {
			return err
		}
		*t = Text(s)
	default:
		*t = Text(b)
	}
	return nil
}

// plainText returns the text between the quotes of a JSON string if nothing in it is escaped, as in
// most strings.
func plainText(b []byte) ([]byte, bool) {
	if len(b) < 2 || b[len(b)-1] != '"' {
		return nil, false
	}
	b = b[1 : len(b)-1]
	for _, c := range b {
		if c == '\\' || c == '"' || c < ' ' {
			return nil, false
		}
	}
	return b, utf8.Valid(b)
}

// unescaped returns the text of a JSON string. It is false for texts that encoding/json refuses or
// changes, because they are not UTF-8 or have half of a surrogate pair.
func unescaped(b []byte) (string, bool) {
	s := scan{text: b}
	if len(b) == 0 || b[0] != '"' || !s.string() || s.at < len(b) || unreadable(b) != nil {
		return "", false
	}
	var out strings.Builder
	out.Grow(len(b) - 2)
	for rest := b[1 : len(b)-1]; ; {
		i := bytes.IndexByte(rest, '\\')
		if i < 0 {
			out.Write(rest)
			return out.String(), true
		}
		out.Write(rest[:i])
		unit, n := escaped(rest[i:])
		if n == 6 {
			if utf16.IsSurrogate(unit) { // unreadable has looked for the other half
				low, _ := escaped(rest[i+6:])
				unit, n = utf16.DecodeRune(unit, low), 12
			}
			out.WriteRune(unit)
		} else {
			out.WriteByte(escapes[rest[i+1]])
		}
		rest = rest[i+n:]
	}
}

// escapes are the bytes that escapes of one letter mean.
var escapes = [256]byte{'"': '"', '\\': '\\', '/': '/', 'b': '\b', 'f': '\f', 'n': '\n', 'r': '\r', 't': '\t'}

// Trim returns the text without leading and trailing blanks, and "" for the words that sources
// write for a missing value (nan, NA, None, null).
func (t Text) Trim() string {
	s := strings.TrimSpace(string(t))
	switch s {
	case "nan", "NaN", "NA", "None", "null", "NULL":
		return ""
	}
	return s
}

// Unescaped returns the text from which data.EscapeCell made a CSV cell.
func (t Text) Unescaped() Text { return Text(data.UnescapeCell(string(t))) }

// Hash parses an optional hash: the zero hash if it is missing, and a *RowError if it cannot be
// parsed.
func (t Text) Hash() (data.Hash, error) { return t.parsed("bad_hash", data.ParseHash) }

// Condition is like Hash, for a condition id.
func (t Text) Condition() (data.Hash, error) { return t.parsed("bad_condition", data.ParseCondition) }

func (t Text) parsed(reason string, parse func(string) (data.Hash, error)) (data.Hash, error) {
	s := t.Trim()
	if s == "" {
		return data.Hash{}, nil
	}
	h, err := parse(s)
	if err != nil {
		return data.Hash{}, Known(reason)
	}
	return h, nil
}

// Index parses an optional index: data.NoIndex if it is missing, and a *RowError if it is not a
// whole number from 0 to most.
func (t Text) Index(most int) (int, error) {
	s := t.Trim()
	if s == "" {
		return data.NoIndex, nil
	}
	n, err := data.ParseWhole(s)
	if err != nil || n > int64(most) {
		return data.NoIndex, Known("bad_outcome")
	}
	return int(n), nil
}

// Micro returns the amount; false if there is none that can be parsed.
func (t Text) Micro() (data.Micro, bool) {
	s := t.Trim()
	if s == "" {
		return 0, false
	}
	m, err := data.ParseMicro(s)
	return m, err == nil
}

// Bool parses true and false in the forms that sources write; nil for anything else.
func (t Text) Bool() *bool {
	v := false
	switch strings.ToLower(t.Trim()) {
	case "true", "1", "t", "yes":
		v = true
	case "false", "0", "f", "no":
	default:
		return nil
	}
	return &v
}

// True reports whether the text says true.
func (t Text) True() bool {
	b := t.Bool()
	return b != nil && *b
}

// List is an array of texts: a JSON array, a string with a JSON array, a list as Python prints it,
// or texts joined by "|". An empty list is nil.
type List []string

// UnmarshalJSON accepts all forms of List; anything else is a *RowError.
func (l *List) UnmarshalJSON(b []byte) error {
	*l = nil
	var s Text
	switch {
	case len(b) > 0 && b[0] == '[':
		*l = parseArray(b)
		return nil
	case bytes.Equal(b, []byte("null")):
		return nil
	case len(b) == 0 || b[0] != '"' || s.UnmarshalJSON(b) != nil:
		return Bad("bad_json", "%q is not a list", clip(string(b), 40))
	}
	list, ok := parseList(s.Trim())
	if !ok {
		return Bad("bad_json", "the list %q cannot be read", clip(string(s), 40))
	}
	*l = list
	return nil
}

// Labels is a List of the names of outcomes.
type Labels []string

// UnmarshalJSON is like that of List, but a text that is not a list is a *RowError and not the name
// of one outcome.
func (l *Labels) UnmarshalJSON(b []byte) error {
	list := (*List)(l)
	if err := list.UnmarshalJSON(b); err != nil {
		return Bad("bad_outcome", "the outcomes %s are not a list", clip(string(b), 40))
	}
	var s Text
	if len(*l) == 1 && s.UnmarshalJSON(b) == nil && !strings.HasPrefix(s.Trim(), "[") {
		return Bad("bad_outcome", "the outcomes %q are not a list", clip(s.Trim(), 40))
	}
	return nil
}

// Undecoded returns the reason why a record could not be decoded: that of the field if err has one,
// else bad_json.
func Undecoded(err error) error {
	var bad *RowError
	if errors.As(err, &bad) {
		return bad
	}
	return Known("bad_json")
}

// parseList parses the text forms of a List; false if s is not one.
func parseList(s string) (List, bool) {
	switch {
	case s == "":
		return nil, true
	case s[0] != '[':
		return strings.Split(s, "|"), true
	}
	if l := parseArray([]byte(s)); l != nil {
		return l, true
	}
	return parsePython(s)
}

func parseArray(b []byte) List {
	if list := PlainArray(b); list != nil {
		return list
	}
	var texts []Text
	if json.Unmarshal(b, &texts) != nil || texts == nil {
		return nil
	}
	out := make(List, len(texts))
	for i, t := range texts {
		out[i] = string(t)
	}
	return out
}

// PlainArray returns the elements of a JSON array of strings, if it is without spaces and nothing in
// it is escaped, as what pmx writes; nil for anything else.
func PlainArray(b []byte) List {
	if len(b) < 2 || b[0] != '[' || b[len(b)-1] != ']' {
		return nil
	}
	out, rest := List{}, b[1:len(b)-1]
	for len(rest) > 0 {
		end := 1 + bytes.IndexByte(rest[1:], '"')
		text, plain := plainText(rest[:end+1])
		if rest[0] != '"' || end == 0 || !plain {
			return nil
		}
		out, rest = append(out, string(text)), rest[end+1:]
		if len(rest) == 0 {
			break
		}
		if rest[0] != ',' || len(rest) == 1 {
			return nil
		}
		rest = rest[1:]
	}
	return out
}

// parsePython parses str() of a list, such as ['Yes', "Won't", Decimal('0.5'), 1].
func parsePython(s string) (List, bool) {
	if !strings.HasSuffix(s, "]") {
		return nil, false
	}
	s = s[1 : len(s)-1]
	s = strings.NewReplacer("Decimal(", "", ")", "").Replace(s)
	var out List
	var item strings.Builder
	quote := rune(0)
	flush := func() { out = append(out, strings.TrimSpace(item.String())); item.Reset() }
	for _, c := range s {
		switch {
		case quote != 0 && c == quote:
			quote = 0
		case quote == 0 && (c == '\'' || c == '"'):
			quote = c
		case quote == 0 && c == ',':
			flush()
		default:
			item.WriteRune(c)
		}
	}
	if strings.TrimSpace(s) != "" {
		flush()
	}
	return out, quote == 0
}

// TokenID returns s as a decimal uint256 without leading zeros, and false if it is not one: empty,
// zero, signed, a float, or longer than 78 digits.
func TokenID(s string) (string, bool) {
	s = strings.TrimLeft(strings.TrimSpace(s), "0")
	if s == "" || len(s) > 78 {
		return "", false
	}
	for i := 0; i < len(s); i++ {
		if s[i] < '0' || s[i] > '9' {
			return "", false
		}
	}
	return s, true
}
