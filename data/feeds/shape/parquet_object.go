package shape

import (
	"encoding/json"
	"slices"

	"github.com/parquet-go/parquet-go"
)

// parquetObject writes rows of a Parquet file as JSON objects, exactly as json.Marshal writes a map
// of their values by the names of the top-level fields.
type parquetObject struct {
	leaves []Leaf
	member []int // that a leaf belongs to
	all    []parquetMember
}

// parquetMember is a member of the object.
type parquetMember struct {
	key   []byte // quoted, with the colon
	value []byte // of the present row; of a list without its end
	there bool   // the row has the member
	list  bool
}

func newParquetObject(leaves []Leaf) *parquetObject {
	var names []string
	for _, leaf := range leaves {
		names = append(names, leaf.name)
	}
	slices.Sort(names)
	names = slices.Compact(names)
	o := &parquetObject{leaves: leaves, member: make([]int, len(leaves)), all: make([]parquetMember, len(names))}
	for i, name := range names {
		o.all[i].key = append(appendText(nil, name), ':')
	}
	for i, leaf := range leaves {
		o.member[i], _ = slices.BinarySearch(names, leaf.name)
	}
	return o
}

// empty begins a row.
func (o *parquetObject) empty() {
	for i := range o.all {
		o.all[i].there = false
	}
}

// add adds a value of the row.
func (o *parquetObject) add(v parquet.Value) {
	leaf, m := &o.leaves[v.Column()], &o.all[o.member[v.Column()]]
	switch {
	case !leaf.repeated:
		m.value, m.there, m.list = leaf.appendValue(m.value[:0], v), true, false
	case v.DefinitionLevel() >= leaf.element: // null or not, it has an index
		if !m.there || !m.list {
			m.value, m.there, m.list = append(m.value[:0], '['), true, true
		} else if len(m.value) > 1 {
			m.value = append(m.value, ',')
		}
		m.value = leaf.appendValue(m.value, v)
	case v.DefinitionLevel() == leaf.element-1: // an empty list
		m.value, m.there, m.list = append(m.value[:0], '['), true, true
	}
}

// json is the object of the row. It is a copy: a reader may keep it.
func (o *parquetObject) json() []byte {
	size := 2
	for i := range o.all {
		if m := &o.all[i]; m.there {
			size += len(m.key) + len(m.value) + 2
		}
	}
	obj := append(make([]byte, 0, size), '{')
	for i := range o.all {
		m := &o.all[i]
		if !m.there {
			continue
		}
		if len(obj) > 1 {
			obj = append(obj, ',')
		}
		obj = append(append(obj, m.key...), m.value...)
		if m.list {
			obj = append(obj, ']')
		}
	}
	return append(obj, '}')
}

// appendValue appends Value as JSON.
func (l *Leaf) appendValue(to []byte, v parquet.Value) []byte {
	switch value := l.Value(v).(type) {
	case bool:
		if value {
			return append(to, "true"...)
		}
		return append(to, "false"...)
	case string:
		return appendText(to, value)
	}
	return append(to, "null"...)
}

// appendText appends a text as json.Marshal writes it.
func appendText(to []byte, text string) []byte {
	for i := range len(text) {
		if c := text[i]; c < ' ' || c >= 0x7f || c == '"' || c == '\\' || c == '<' || c == '>' || c == '&' { // it may be escaped
			quoted, _ := json.Marshal(text) // any text can be
			return append(to, quoted...)
		}
	}
	return append(append(append(to, '"'), text...), '"')
}
