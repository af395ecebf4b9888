package api

import (
	"math"
	"reflect"
)

// entryOverhead is about how many bytes the cache takes for an entry in addition to its key and
// value.
const entryOverhead = 128

// cacheEntry is the result of a read and how many bytes it holds.
type cacheEntry struct {
	value  any
	weight uint32
}

// newCacheEntry weighs a result once, when it was read.
func newCacheEntry(v any) cacheEntry {
	n := uint64(entryOverhead)
	if v != nil {
		n += uint64(reflect.TypeOf(v).Size()) + referencedBytes(reflect.ValueOf(v))
	}
	return cacheEntry{v, uint32(min(n, math.MaxUint32))}
}

// referencedBytes is how many bytes v refers to in addition to its own: the arrays of its slices,
// used or not, and its texts. Pointers are not followed: they point to what the snapshot holds
// anyway.
func referencedBytes(v reflect.Value) (n uint64) {
	switch v.Kind() {
	case reflect.String:
		return uint64(v.Len())
	case reflect.Slice:
		n = uint64(v.Cap()) * uint64(v.Type().Elem().Size())
		fallthrough
	case reflect.Array:
		if !hasReferences(v.Type().Elem()) {
			return n
		}
		for i := range v.Len() {
			n += referencedBytes(v.Index(i))
		}
	case reflect.Struct:
		for i := range v.NumField() {
			n += referencedBytes(v.Field(i))
		}
	case reflect.Map:
		entry := v.Type().Key().Size() + v.Type().Elem().Size()
		n = 2 * uint64(v.Len()) * uint64(entry+1) // its table may be half full
		for it := v.MapRange(); it.Next(); {
			n += referencedBytes(it.Key()) + referencedBytes(it.Value())
		}
	case reflect.Interface:
		if !v.IsNil() {
			n = uint64(v.Elem().Type().Size()) + referencedBytes(v.Elem())
		}
	}
	return n
}

// hasReferences reports whether values of t refer to other memory.
func hasReferences(t reflect.Type) bool {
	switch t.Kind() {
	case reflect.String, reflect.Slice, reflect.Map, reflect.Interface:
		return true
	case reflect.Array:
		return hasReferences(t.Elem())
	case reflect.Struct:
		for i := range t.NumField() {
			if hasReferences(t.Field(i).Type) {
				return true
			}
		}
	}
	return false
}
