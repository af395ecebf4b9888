package ingest

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"reflect"
	"testing"
	"time"

	"pmx/data/testfiles"
)

// filled returns values of a type: the zero value, and values with one part set, including parts
// that are easily lost, such as an empty list and a pointer to zero.
func filled(of reflect.Type) (out []reflect.Value) {
	add := func(v any) { out = append(out, reflect.ValueOf(v).Convert(of)) }
	out = append(out, reflect.Zero(of))
	if of == timeType {
		for _, t := range []time.Time{time.Unix(0, 0).UTC(), time.Unix(-1, 999).UTC(), time.Date(12000, 1, 2, 3, 4, 5, 6, time.UTC),
			time.Date(-3, 1, 2, 3, 4, 5, 999_999_999, time.UTC)} {
			add(t)
		}
		return out
	}
	switch of.Kind() {
	case reflect.Bool:
		add(true)
	case reflect.Int, reflect.Int64:
		add(int64(1))
		add(int64(-1) << 63)
	case reflect.Int8, reflect.Int32:
		add(int8(-128))
		add(int8(127))
	case reflect.Uint8:
		add(byte(255))
	case reflect.String:
		add("a")
		add("\x00\xff \"")
	case reflect.Pointer:
		for _, v := range filled(of.Elem()) {
			p := reflect.New(of.Elem())
			p.Elem().Set(v)
			out = append(out, p)
		}
	case reflect.Slice:
		out = append(out, reflect.MakeSlice(of, 0, 0))
		for _, v := range filled(of.Elem()) {
			out = append(out, reflect.Append(reflect.MakeSlice(of, 0, 2), v, v))
		}
	case reflect.Array:
		for _, v := range filled(of.Elem()) {
			a := reflect.New(of).Elem()
			a.Index(of.Len() - 1).Set(v)
			out = append(out, a)
		}
	case reflect.Struct:
		for i := range of.NumField() {
			for _, v := range filled(of.Field(i).Type) {
				s := reflect.New(of).Elem()
				s.Field(i).Set(v)
				out = append(out, s)
			}
		}
	default:
		panic("no values of " + of.String())
	}
	return out
}

// TestRecordsAreReadBackWhole: spilled records are decoded exactly, for each field with values that
// are easily lost, and for all fields together.
func TestRecordsAreReadBackWhole(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	for _, of := range []reflect.Type{reflect.TypeFor[gathered](), reflect.TypeFor[lostResolution]()} {
		values := filled(of)
		if len(values) < of.NumField() {
			t.Fatalf("%d values of %s", len(values), of)
		}
		for range 500 {
			values = append(values, mixed(rng, of))
		}
		for _, v := range values {
			text := encode(nil, v)
			back := reflect.New(of)
			if err := decode(text, back.Interface()); err != nil || !reflect.DeepEqual(back.Elem().Interface(), v.Interface()) {
				t.Fatalf("%+v became %+v, %v", v, back.Elem(), err)
			}
			for _, bad := range [][]byte{text[:rng.IntN(len(text))], append(text, 0)} {
				if err := decode(bad, reflect.New(of).Interface()); !errors.Is(err, errCode) {
					t.Fatalf("%d of %d bytes are read: %v", len(bad), len(text), err)
				}
			}
		}
	}
}

// mixed returns a value whose fields are each one of filled.
func mixed(rng *rand.Rand, of reflect.Type) reflect.Value {
	out := reflect.New(of).Elem()
	for i := range of.NumField() {
		if f := of.Field(i).Type; f.Kind() == reflect.Struct && f != timeType {
			out.Field(i).Set(mixed(rng, f))
		} else {
			all := filled(f)
			out.Field(i).Set(all[rng.IntN(len(all))])
		}
	}
	return out
}

// TestDamagedRecordsAreNoPanic: changed bytes give an error or a different record.
func TestDamagedRecordsAreNoPanic(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 4))
	for range testfiles.Cases(4_000, 20_000) {
		text := encode(nil, mixed(rng, reflect.TypeFor[gathered]()))
		for range 1 + rng.IntN(3) {
			text[rng.IntN(len(text))] = byte(rng.Uint32())
		}
		if err := decode(text, &gathered{}); err != nil && !errors.Is(err, errCode) {
			t.Fatal(fmt.Errorf("%x: %w", text, err))
		}
	}
}
