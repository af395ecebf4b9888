package api

import (
	"bytes"
	"encoding/json"
	"fmt"
	"time"
	"unicode/utf8"

	"pmx/data"
	"pmx/rollups/serving"
)

const hexDigits = "0123456789abcdef"

// encodeJSON adds v, its keys in the order of its fields and its texts as appendString
// writes them.
func encodeJSON(b []byte, v any) ([]byte, error) {
	out := bytes.NewBuffer(b)
	e := json.NewEncoder(out)
	e.SetEscapeHTML(false)
	if err := e.Encode(v); err != nil {
		return nil, fmt.Errorf("encode: %w", err)
	}
	text := out.Bytes()[:out.Len()-1] // it ends in a line break
	return text[:len(b)+unescape(text[len(b):])], nil
}

// unescaped is what encoding/json writes as an escape and appendString does not: line separators,
// and the replacement for bytes that are not UTF-8.
var unescaped = map[string]string{`\u2028`: "\u2028", `\u2029`: "\u2029", `\ufffd`: "\ufffd"}

// unescape replaces such escapes in a JSON text and returns its new length.
func unescape(text []byte) int {
	if !bytes.Contains(text, []byte(`\u`)) {
		return len(text)
	}
	b := text[:0] // the replacement is shorter
	for i := 0; i < len(text); {
		n := 1
		if text[i] == '\\' {
			n = 2
		}
		if plain, ok := unescaped[string(text[i:min(i+6, len(text))])]; ok {
			b, n = append(b, plain...), 6
		} else {
			b = append(b, text[i:i+n]...)
		}
		i += n
	}
	return len(b)
}

// appendJSON is encodeJSON for a wire type: failing to encode one is a bug, which tests find.
func appendJSON(b []byte, v any) []byte {
	b, err := encodeJSON(b, v)
	if err != nil {
		panic(err)
	}
	return b
}

// marshal is v as JSON.
func marshal(v any) []byte { return appendJSON(nil, v) }

// membersOf returns the members of an object without its braces, with a leading comma.
func membersOf(v any) []byte {
	b := marshal(v)
	b[0] = ','
	return b[:len(b)-1]
}

// dataOf returns v as the member data, with a leading comma.
func dataOf(v any) []byte { return appendJSON([]byte(`,"data":`), v) }

// appendList adds a list of n wire types.
func appendList[T any](b []byte, n int, row func(i int) T) []byte {
	rows := make([]T, n)
	for i := range rows {
		rows[i] = row(i)
	}
	return appendJSON(b, rows)
}

// appendString adds s as a JSON string. Bytes that are not UTF-8 become U+FFFD.
func appendString(b []byte, s string) []byte {
	b = append(b, '"')
	from := 0
	for i := plainPrefix(s); i < len(s); {
		c := s[i]
		if c >= utf8.RuneSelf {
			r, size := utf8.DecodeRuneInString(s[i:])
			if r == utf8.RuneError && size == 1 {
				b = append(append(b, s[from:i]...), "\ufffd"...)
				from = i + 1
			}
			i += size
			continue
		}
		if c < ' ' || c == '"' || c == '\\' {
			b = appendEscape(append(b, s[from:i]...), c)
			from = i + 1
		}
		i++
	}
	return append(append(b, s[from:]...), '"')
}

// plainPrefix is how many bytes of s, in steps of eight, need no escape in JSON: most texts need
// none at all, and looking at every single byte took half of the time for a page of rows.
func plainPrefix(s string) int {
	const (
		ones  = 0x0101010101010101
		highs = 0x80 * ones
	)
	i := 0
	for ; i+8 <= len(s); i += 8 {
		w := uint64(s[i]) | uint64(s[i+1])<<8 | uint64(s[i+2])<<16 | uint64(s[i+3])<<24 |
			uint64(s[i+4])<<32 | uint64(s[i+5])<<40 | uint64(s[i+6])<<48 | uint64(s[i+7])<<56
		quote, backslash := w^'"'*ones, w^'\\'*ones
		// The high bit of a byte in each term: below a space, a quote, a backslash, not ASCII. A
		// borrow may mark a byte too many, never one too few.
		if ((w-' '*ones)|(quote-ones)|(backslash-ones)|w)&highs != 0 {
			break
		}
	}
	return i
}

func appendEscape(b []byte, c byte) []byte {
	switch c {
	case '"', '\\':
		return append(b, '\\', c)
	case '\n':
		return append(b, '\\', 'n')
	case '\r':
		return append(b, '\\', 'r')
	case '\t':
		return append(b, '\\', 't')
	case '\b':
		return append(b, '\\', 'b')
	case '\f':
		return append(b, '\\', 'f')
	}
	return append(b, '\\', 'u', '0', '0', hexDigits[c>>4], hexDigits[c&15])
}

// appendText adds s as a JSON string, null if it is empty: unknown.
func appendText(b []byte, s string) []byte {
	if s == "" {
		return append(b, "null"...)
	}
	return appendString(b, s)
}

// appendTime adds t in UTC with whole seconds, null for the zero time.
func appendTime(b []byte, t time.Time) []byte {
	if t.IsZero() {
		return append(b, "null"...)
	}
	b = append(b, '"')
	b = t.UTC().Truncate(time.Second).AppendFormat(b, time.RFC3339)
	return append(b, '"')
}

// appendMicros adds a time given in unix µs, null for 0.
func appendMicros(b []byte, us int64) []byte {
	if us == 0 {
		return append(b, "null"...)
	}
	return appendTime(b, time.UnixMicro(us))
}

// appendRatio adds num/den with at most 6 decimals, null if den is zero.
func appendRatio(b []byte, num, den data.Micro) []byte {
	ratio, ok := data.Ratio(num, den)
	if !ok {
		return append(b, "null"...)
	}
	return ratio.Append(b)
}

// appendBool adds true or false.
func appendBool(b []byte, v bool) []byte {
	if v {
		return append(b, "true"...)
	}
	return append(b, "false"...)
}

// ratioOrNull returns num/den with at most 6 decimals, nil if den is zero.
func ratioOrNull(num, den data.Micro) *data.Micro {
	ratio, ok := data.Ratio(num, den)
	return microOrNull(ratio, ok)
}

// microOrNull returns m, nil if there is none.
func microOrNull(m data.Micro, ok bool) *data.Micro {
	if !ok {
		return nil
	}
	return &m
}

// appendFigure adds a figure, null for serving.NoValue.
func appendFigure(b []byte, v data.Micro) []byte {
	if v == serving.NoValue {
		return append(b, "null"...)
	}
	return v.Append(b)
}

// appendAmount adds *v, null for nil.
func appendAmount(b []byte, v *data.Micro) []byte {
	if v == nil {
		return append(b, "null"...)
	}
	return v.Append(b)
}

// appendFlag adds *v, null for nil.
func appendFlag(b []byte, v *bool) []byte {
	if v == nil {
		return append(b, "null"...)
	}
	return appendBool(b, *v)
}

// appendTexts adds a list of strings, null if there is none: unknown.
func appendTexts(b []byte, list []string) []byte {
	if list == nil {
		return append(b, "null"...)
	}
	return appendRows(b, len(list), func(b []byte, i int) []byte { return appendString(b, list[i]) })
}
