package openapi

import (
	"bytes"
	"encoding/json"
)

// member is one named value of an ordered JSON object.
type member[T any] struct {
	Name  string
	Value T
}

// ordered is a JSON object whose members keep their order.
type ordered[T any] []member[T]

// get returns the value under name; false if there is none.
func (o ordered[T]) get(name string) (v T, ok bool) {
	for i := range o {
		if o[i].Name == name {
			return o[i].Value, true
		}
	}
	return v, false
}

// add appends a member.
func (o *ordered[T]) add(name string, value T) { *o = append(*o, member[T]{name, value}) }

// MarshalJSON encodes the members in their order.
func (o ordered[T]) MarshalJSON() ([]byte, error) {
	var out bytes.Buffer
	e := json.NewEncoder(&out)
	e.SetEscapeHTML(false)
	out.WriteByte('{')
	for i := range o {
		if i > 0 {
			out.WriteByte(',')
		}
		if err := e.Encode(o[i].Name); err != nil {
			return nil, err
		}
		out.WriteByte(':')
		if err := e.Encode(o[i].Value); err != nil {
			return nil, err
		}
	}
	out.WriteByte('}')
	return out.Bytes(), nil
}
