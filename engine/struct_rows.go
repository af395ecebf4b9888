package engine

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"fmt"
	"reflect"
	"slices"
	"strings"
)

// EachRow runs query and passes every row to f as a T: a struct with a field for each column, named
// by its tag as in `sql:"first_ts"`. The fields of an embedded struct count as fields of T. A
// column without a field, a field without a column, a value that does not fit into its field, and
// NULL are errors. NULL is nil in a pointer, and zero in a field that allows it, as in
// `sql:"first_ts,null"`. Pointers to booleans are shared, and must not be written through. A string with
// `sql:"label,view"` is valid only until the next row: it is not copied from DuckDB's memory.
//
// The row is reused. Like Each, it avoids database/sql's conversions.
func EachRow[T any](ctx context.Context, conn *sql.Conn, query string, f func(row *T) error) error {
	return queryRaw(ctx, conn, query, func(rows driver.Rows) error {
		var row T
		fields, err := bind(reflect.ValueOf(&row).Elem(), rows.Columns())
		if err != nil {
			return err
		}
		return readFields(rows, fields, func() error { return f(&row) })
	})
}

// EachValue runs query, which has one column, and passes the value of every row to f. Values that do
// not fit into a T are errors as in EachRow, and so is NULL, unless T is a pointer.
func EachValue[T any](ctx context.Context, conn *sql.Conn, query string, f func(v T) error) error {
	return queryRaw(ctx, conn, query, func(rows driver.Rows) error {
		columns := rows.Columns()
		if len(columns) != 1 {
			return fmt.Errorf("a query for values has the columns %q", columns)
		}
		var v T
		fields := []field{newField(columns[0], reflect.ValueOf(&v).Elem(), false)}
		return readFields(rows, fields, func() error { return f(v) })
	})
}

// readFields sets the fields of every row and calls f.
func readFields(rows driver.Rows, fields []field, f func() error) error {
	if r := newChunkReader(rows, fields); r != nil {
		return r.each(f)
	}
	return drain(rows, func(values []driver.Value) error {
		for i := range fields {
			if err := fields[i].set(values[i]); err != nil {
				return err
			}
		}
		return f()
	})
}

// field is where a column goes.
type field struct {
	name string
	to   reflect.Value
	null bool // NULL is zero
	// long, short, shorter and shortest point to the field if it is an int64, int32, int16 or int8: most are, and writing through
	// them costs a fraction of reflection.
	long     *int64
	short    *int32
	shorter  *int16
	shortest *int8
	// text, bytes, flag and truth point to it if it is a string, an array of bytes, a boolean or a pointer to one.
	text  *string
	bytes []byte
	flag  *bool
	truth **bool
	view  bool // text need not be copied
}

func newField(name string, to reflect.Value, null bool) field {
	f := field{name: name, to: to, null: null}
	switch to.Kind() {
	case reflect.Int64:
		f.long, _ = to.Addr().Convert(reflect.TypeFor[*int64]()).Interface().(*int64)
	case reflect.Int32:
		f.short, _ = to.Addr().Convert(reflect.TypeFor[*int32]()).Interface().(*int32)
	case reflect.Int16:
		f.shorter, _ = to.Addr().Convert(reflect.TypeFor[*int16]()).Interface().(*int16)
	case reflect.Int8:
		f.shortest, _ = to.Addr().Convert(reflect.TypeFor[*int8]()).Interface().(*int8)
	case reflect.String:
		f.text, _ = to.Addr().Convert(reflect.TypeFor[*string]()).Interface().(*string)
	case reflect.Bool:
		f.flag, _ = to.Addr().Convert(reflect.TypeFor[*bool]()).Interface().(*bool)
	case reflect.Pointer:
		f.truth, _ = to.Addr().Interface().(**bool)
	case reflect.Array:
		if to.Type().Elem().Kind() == reflect.Uint8 {
			f.bytes = to.Slice(0, to.Len()).Bytes()
		}
	}
	return f
}

// bind finds the field of every column.
func bind(row reflect.Value, columns []string) ([]field, error) {
	known := map[string]field{}
	if err := addFields(known, row); err != nil {
		return nil, err
	}
	fields := make([]field, len(columns))
	for i, name := range columns {
		f, ok := known[name]
		if !ok {
			return nil, fmt.Errorf("column %q is not a field of %v, or is listed twice", name, row.Type())
		}
		fields[i] = f
		delete(known, name)
	}
	for name := range known {
		return nil, fmt.Errorf("%v: there is no column %q", row.Type(), name)
	}
	return fields, nil
}

func addFields(known map[string]field, row reflect.Value) error {
	for i := range row.NumField() {
		f := row.Type().Field(i)
		name, options, tagged := strings.Cut(f.Tag.Get("sql"), ",")
		_, twice := known[name]
		switch {
		case f.Anonymous && name == "":
			if err := addFields(known, row.Field(i)); err != nil {
				return err
			}
			continue
		case name == "" || twice || tagged && options != "null" && options != "view" || !row.Field(i).CanSet():
			return fmt.Errorf("%v.%s cannot take a column: %q", row.Type(), f.Name, f.Tag)
		}
		of := newField(name, row.Field(i), options == "null")
		of.view = options == "view"
		known[name] = of
	}
	return nil
}

// isTrue and isFalse are what pointers to booleans point to.
var isTrue, isFalse = true, false

func sharedBool(b bool) *bool {
	if b {
		return &isTrue
	}
	return &isFalse
}

// setNull is set(nil).
func (f *field) setNull() error {
	switch {
	case f.truth != nil:
		*f.truth = nil
	case f.null && f.long != nil:
		*f.long = 0
	case f.null && f.text != nil:
		*f.text = ""
	default:
		return f.set(nil)
	}
	return nil
}

// set writes a value as the driver returned it.
func (f *field) set(v driver.Value) error {
	switch n := v.(type) {
	case int64:
		if f.long != nil {
			*f.long = n
			return nil
		}
	case int32:
		if f.short != nil {
			*f.short = n
			return nil
		}
	}
	to := f.to
	if v == nil {
		if !f.null && to.Kind() != reflect.Pointer && to.Kind() != reflect.Interface {
			return fmt.Errorf("column %q is NULL", f.name)
		}
		to.SetZero()
		return nil
	}
	if to.Kind() == reflect.Pointer {
		if b, ok := v.(bool); ok && to.Type() == reflect.TypeFor[*bool]() {
			to.Set(reflect.ValueOf(sharedBool(b)))
			return nil
		}
		to.Set(reflect.New(to.Type().Elem()))
		to = to.Elem()
	}
	if !assign(to, v) {
		return fmt.Errorf("column %q: %T does not fit into %v", f.name, v, to.Type())
	}
	return nil
}

// assign reports whether it could write v.
func assign(to reflect.Value, v driver.Value) bool {
	switch to.Kind() {
	case reflect.Int64, reflect.Int32, reflect.Int16, reflect.Int8, reflect.Int:
		n, ok := integer(v)
		if !ok || to.OverflowInt(n) {
			return false
		}
		to.SetInt(n)
	case reflect.Uint64, reflect.Uint32, reflect.Uint16, reflect.Uint8:
		n, ok := integer(v)
		if !ok || n < 0 || to.OverflowUint(uint64(n)) {
			return false
		}
		to.SetUint(uint64(n))
	case reflect.String:
		s, ok := v.(string)
		to.SetString(s)
		return ok
	case reflect.Bool:
		b, ok := v.(bool)
		to.SetBool(b)
		return ok
	case reflect.Float64:
		x, ok := v.(float64)
		to.SetFloat(x)
		return ok
	case reflect.Array: // of bytes
		b, ok := v.([]byte)
		return ok && len(b) == to.Len() && reflect.Copy(to, reflect.ValueOf(b)) == len(b)
	case reflect.Slice:
		b, ok := v.([]byte)
		if !ok || to.Type().Elem().Kind() != reflect.Uint8 {
			return assignList(to, v)
		}
		to.SetBytes(slices.Clone(b))
	default:
		return false
	}
	return true
}

// assignList writes a list of values, none of which is NULL; an empty one is nil.
func assignList(to reflect.Value, v driver.Value) bool {
	list, ok := v.([]any)
	if !ok {
		return false
	}
	if len(list) == 0 {
		to.SetZero()
		return true
	}
	out := reflect.MakeSlice(to.Type(), len(list), len(list))
	for i := range list {
		if list[i] == nil || !assign(out.Index(i), list[i]) {
			return false
		}
	}
	to.Set(out)
	return true
}
