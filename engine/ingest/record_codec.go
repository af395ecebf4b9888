package ingest

import (
	"encoding/binary"
	"errors"
	"fmt"
	"reflect"
	"time"
)

// errCode is the error of bytes that encode did not write.
var errCode = errors.New("a spilled record cannot be decoded")

var timeType = reflect.TypeFor[time.Time]()

// encode appends v to b, field by field, so that decode restores it exactly, including empty lists
// and pointers to zero.
func encode(b []byte, v reflect.Value) []byte {
	if v.Type() == timeType {
		t, _ := v.Interface().(time.Time)
		if t.IsZero() {
			return append(b, 0)
		}
		return binary.AppendUvarint(binary.AppendVarint(append(b, 1), t.Unix()), uint64(t.Nanosecond()))
	}
	switch v.Kind() {
	case reflect.Bool:
		if v.Bool() {
			return append(b, 1)
		}
		return append(b, 0)
	case reflect.Int, reflect.Int8, reflect.Int16, reflect.Int32, reflect.Int64:
		return binary.AppendVarint(b, v.Int())
	case reflect.Uint8:
		return append(b, byte(v.Uint()))
	case reflect.String:
		return append(binary.AppendUvarint(b, uint64(v.Len())), v.String()...)
	case reflect.Pointer:
		if v.IsNil() {
			return append(b, 0)
		}
		return encode(append(b, 1), v.Elem())
	case reflect.Slice:
		if v.IsNil() {
			return append(b, 0)
		}
		b = binary.AppendUvarint(b, uint64(v.Len())+1)
		fallthrough
	case reflect.Array:
		for i := range v.Len() {
			b = encode(b, v.Index(i))
		}
		return b
	case reflect.Struct:
		for i := range v.NumField() {
			b = encode(b, v.Field(i))
		}
		return b
	}
	panic("encode: no code for " + v.Type().String()) // a field of a new kind: TestRecordsAreReadBackWhole finds it
}

// decode decodes a value of the type that v points to.
func decode(b []byte, v any) error {
	d := decoder{b}
	if err := d.value(reflect.ValueOf(v).Elem()); err != nil {
		return err
	}
	if len(d.b) > 0 {
		return fmt.Errorf("%w: %d bytes too many", errCode, len(d.b))
	}
	return nil
}

// decoder reads from the beginning of b.
type decoder struct{ b []byte }

func (d *decoder) take(n uint64) ([]byte, error) {
	if n > uint64(len(d.b)) {
		return nil, errCode
	}
	out := d.b[:n]
	d.b = d.b[n:]
	return out, nil
}

func (d *decoder) uint() (uint64, error) {
	n, size := binary.Uvarint(d.b)
	if size <= 0 {
		return 0, errCode
	}
	d.b = d.b[size:]
	return n, nil
}

func (d *decoder) int() (int64, error) {
	n, size := binary.Varint(d.b)
	if size <= 0 {
		return 0, errCode
	}
	d.b = d.b[size:]
	return n, nil
}

func (d *decoder) flag() (bool, error) {
	b, err := d.take(1)
	if err != nil || b[0] > 1 {
		return false, errCode
	}
	return b[0] == 1, nil
}

func (d *decoder) value(v reflect.Value) error {
	if v.Type() == timeType {
		return d.time(v)
	}
	switch v.Kind() {
	case reflect.Bool:
		is, err := d.flag()
		v.SetBool(is)
		return err
	case reflect.Int, reflect.Int8, reflect.Int16, reflect.Int32, reflect.Int64:
		n, err := d.int()
		if err != nil || v.OverflowInt(n) {
			return errCode
		}
		v.SetInt(n)
		return nil
	case reflect.Uint8:
		b, err := d.take(1)
		if err == nil {
			v.SetUint(uint64(b[0]))
		}
		return err
	case reflect.String:
		return d.text(v)
	case reflect.Pointer:
		there, err := d.flag()
		if err != nil || !there {
			return err
		}
		v.Set(reflect.New(v.Type().Elem()))
		return d.value(v.Elem())
	case reflect.Slice:
		return d.slice(v)
	case reflect.Array:
		return d.each(v)
	case reflect.Struct:
		for i := range v.NumField() {
			if err := d.value(v.Field(i)); err != nil {
				return err
			}
		}
		return nil
	}
	return fmt.Errorf("%w: no code for %s", errCode, v.Type())
}

func (d *decoder) text(v reflect.Value) error {
	n, err := d.uint()
	if err != nil {
		return err
	}
	b, err := d.take(n)
	v.SetString(string(b))
	return err
}

func (d *decoder) slice(v reflect.Value) error {
	n, err := d.uint()
	if err != nil || n == 0 {
		return err
	}
	if n--; n > uint64(len(d.b)) { // an element has a byte at least
		return errCode
	}
	v.Set(reflect.MakeSlice(v.Type(), int(n), int(n)))
	return d.each(v)
}

func (d *decoder) each(v reflect.Value) error {
	for i := range v.Len() {
		if err := d.value(v.Index(i)); err != nil {
			return err
		}
	}
	return nil
}

func (d *decoder) time(v reflect.Value) error {
	there, err := d.flag()
	if err != nil || !there {
		return err
	}
	seconds, err := d.int()
	if err != nil {
		return err
	}
	nanos, err := d.uint()
	if err != nil || nanos >= uint64(time.Second) {
		return errCode
	}
	v.Set(reflect.ValueOf(time.Unix(seconds, int64(nanos)).UTC()))
	return nil
}
