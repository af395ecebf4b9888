package api

import (
	"math"
	"reflect"
)

// entryOverhead is about what the cache holds of an entry beside its key and value.
const entryOverhead = 128

// kept is the result of a read and how many bytes it holds.
type kept struct {
	value  any
	weight uint32
}

// keep weighs a result once, when it was read.
func keep(v any) kept {
	n := uint64(entryOverhead)
	if v != nil {
		n += uint64(reflect.TypeOf(v).Size()) + behind(reflect.ValueOf(v))
	}
	return kept{v, uint32(min(n, math.MaxUint32))}
}

// behind is how many bytes v refers to beside its own: the arrays of its slices, used
// or not, and its texts. A pointer is to what the snapshot holds anyway.
func behind(v reflect.Value) (n uint64) {
	switch v.Kind() {
	case reflect.String:
		return uint64(v.Len())
	case reflect.Slice:
		n = uint64(v.Cap()) * uint64(v.Type().Elem().Size())
		fallthrough
	case reflect.Array:
		if !refers(v.Type().Elem()) {
			return n
		}
		for i := range v.Len() {
			n += behind(v.Index(i))
		}
	case reflect.Struct:
		for i := range v.NumField() {
			n += behind(v.Field(i))
		}
	case reflect.Map:
		entry := v.Type().Key().Size() + v.Type().Elem().Size()
		n = 2 * uint64(v.Len()) * uint64(entry+1) // its table is half full at times
		for it := v.MapRange(); it.Next(); {
			n += behind(it.Key()) + behind(it.Value())
		}
	case reflect.Interface:
		if !v.IsNil() {
			n = uint64(v.Elem().Type().Size()) + behind(v.Elem())
		}
	}
	return n
}

// refers tells whether values of t have anything behind them.
func refers(t reflect.Type) bool {
	switch t.Kind() {
	case reflect.String, reflect.Slice, reflect.Map, reflect.Interface:
		return true
	case reflect.Array:
		return refers(t.Elem())
	case reflect.Struct:
		for i := range t.NumField() {
			if refers(t.Field(i).Type) {
				return true
			}
		}
	}
	return false
}
