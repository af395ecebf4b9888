package shape

import (
	"encoding/json"
	"reflect"
	"strings"
)

// Members decodes JSON objects into structs of type T like json.Unmarshal, which validates each
// value again before it passes it to UnmarshalJSON. Every field of T must have that method.
type Members[T any] struct {
	fields [][]int        // indexes, for reflect
	exact  map[string]int // by key
	folded map[string]int // by key in lower case, the first of those that are equal
}

// MembersOf returns the Members of a type. Its fields, including those of embedded structs, must
// have tags. It panics if they cannot be decoded.
func MembersOf[T any]() Members[T] {
	m := Members[T]{exact: map[string]int{}, folded: map[string]int{}}
	for _, f := range reflect.VisibleFields(reflect.TypeFor[T]()) {
		key := f.Tag.Get("json")
		if f.Anonymous || key == "-" {
			continue
		}
		if !reflect.PointerTo(f.Type).Implements(reflect.TypeFor[json.Unmarshaler]()) || !plainKey([]byte(key)) || key == "" {
			panic("MembersOf: the field " + f.Name + " cannot be decoded")
		}
		m.exact[key] = len(m.fields)
		if lower := strings.ToLower(key); !has(m.folded, lower) {
			m.folded[lower] = len(m.fields)
		}
		m.fields = append(m.fields, f.Index)
	}
	return m
}

func has(m map[string]int, key string) bool {
	_, found := m[key]
	return found
}

// Unmarshal is json.Unmarshal(text, to). What it sets in to is right only if the error is nil.
func (m Members[T]) Unmarshal(text []byte, to *T) error {
	s := scan{text: text}
	if s.space(); m.decode(&s, to) {
		if s.space(); s.at == len(text) {
			return nil
		}
	}
	*to = *new(T)
	return json.Unmarshal(text, to)
}

// decode reads an object, and returns false if encoding/json has to.
func (m Members[T]) decode(s *scan, to *T) bool {
	v := reflect.ValueOf(to).Elem()
	return s.object(func(key []byte) bool {
		from := s.at
		if !s.value() {
			return false
		}
		i, known := m.exact[string(key)]
		if !known {
			var lower [64]byte
			if len(key) > len(lower) || !plainKey(key) {
				return false
			}
			if i, known = m.folded[string(lowered(lower[:0], key))]; !known {
				return true
			}
		}
		field, _ := v.FieldByIndex(m.fields[i]).Addr().Interface().(json.Unmarshaler)
		return field.UnmarshalJSON(s.text[from:s.at]) == nil
	})
}

// plainKey reports whether a key is ASCII and has no escape: encoding/json also compares letters
// such as ſ without case.
func plainKey(key []byte) bool {
	for _, c := range key {
		if c >= 0x80 || c == '\\' {
			return false
		}
	}
	return true
}

func lowered(to, key []byte) []byte {
	for _, c := range key {
		if 'A' <= c && c <= 'Z' {
			c += 'a' - 'A'
		}
		to = append(to, c)
	}
	return to
}

// Elements returns the elements of a JSON list as they are in text, nil for an empty list, and false
// if text is not a list.
func Elements(text []byte) (elements [][]byte, ok bool) {
	s := scan{text: text}
	s.space()
	ok = s.array(func() bool {
		from := s.at
		if !s.value() {
			return false
		}
		elements = append(elements, text[from:s.at])
		return true
	})
	if s.space(); !ok || s.at < len(text) {
		return nil, false
	}
	return elements, true
}
