package shape

import (
	"bytes"
	"encoding/json"
	"strings"

	"pmx/data"
)

// Text is a JSON string, number or boolean as its text; null is "". Token ids
// and amounts come either way, and a float would lose digits of both.
type Text string

// UnmarshalJSON takes any scalar; an object or array is kept as its JSON.
func (t *Text) UnmarshalJSON(b []byte) error {
	switch {
	case bytes.Equal(b, []byte("null")):
		*t = ""
	case len(b) > 0 && b[0] == '"':
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

// Trim gives the text without outer blanks, and "" for the words that sources
// write for a missing value (nan, NA, None, null).
func (t Text) Trim() string {
	s := strings.TrimSpace(string(t))
	switch s {
	case "nan", "NaN", "NA", "None", "null", "NULL":
		return ""
	}
	return s
}

// Unescaped gives the text of which data.EscapeCell made a cell of CSV.
func (t Text) Unescaped() Text { return Text(data.UnescapeCell(string(t))) }

// Hash gives a hash that may be absent: the zero one where it is, and a *RowError
// where it is there and cannot be read.
func (t Text) Hash() (data.Hash, error) { return t.parsed("bad_hash", data.ParseHash) }

// Condition is Hash of a condition id.
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

// Index reads an index that may be absent: data.NoIndex where it is, and a *RowError
// where it is there and no whole number from 0 to most.
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

// Micro gives the amount and true, and false where there is none to read.
func (t Text) Micro() (data.Micro, bool) {
	s := t.Trim()
	if s == "" {
		return 0, false
	}
	m, err := data.ParseMicro(s)
	return m, err == nil
}

// Bool reads true and false in the forms sources write; nil for anything else.
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

// True tells whether the text says true.
func (t Text) True() bool {
	b := t.Bool()
	return b != nil && *b
}

// List is an array of texts: a JSON array, a string that holds a JSON array, a
// list as Python prints it, or labels joined by "|". Anything else is nil.
type List []string

// UnmarshalJSON takes every form List names; it never fails on odd content.
func (l *List) UnmarshalJSON(b []byte) error {
	*l = nil
	if len(b) > 0 && b[0] == '[' {
		*l = parseArray(b)
		return nil
	}
	var s string
	if len(b) == 0 || b[0] != '"' || json.Unmarshal(b, &s) != nil {
		return nil
	}
	*l = ParseList(s)
	return nil
}

// ParseList reads the text forms of a List.
func ParseList(s string) List {
	s = strings.TrimSpace(s)
	switch {
	case s == "":
		return nil
	case s[0] != '[':
		return strings.Split(s, "|")
	}
	if l := parseArray([]byte(s)); l != nil {
		return l
	}
	return parsePython(s)
}

func parseArray(b []byte) List {
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

// parsePython reads ['Yes', "Won't", Decimal('0.5'), 1]: str() of a list.
func parsePython(s string) List {
	s = strings.TrimSuffix(strings.TrimPrefix(s, "["), "]")
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
	return out
}

// TokenID gives s as a decimal uint256 without leading zeros, and false where it
// is none: empty, zero, signed, a float, or longer than 78 digits.
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
