package rollups

import (
	"database/sql/driver"
	"fmt"
	"math/big"
	"reflect"
	"slices"
	"strings"

	"pmx/engine"
)

// sums are rows by key, in order of first appearance.
type sums[K comparable, R any] struct {
	index map[K]int
	rows  []R
}

// at returns the row of a key, adding first if there is none. The pointer holds until the next
// call.
func (s *sums[K, R]) at(key K, first R) *R {
	i, known := s.index[key]
	if !known {
		if s.index == nil {
			s.index = map[K]int{}
		}
		i = len(s.rows)
		s.index[key] = i
		s.rows = append(s.rows, first)
	}
	return &s.rows[i]
}

// appendRows appends rows to the delta of t, without those that change nothing. Rows are structs
// with a field for each column, as for engine.EachRow.
func appendRows[R any](m *merge, t table, rows []R) error {
	if len(rows) == 0 {
		return nil
	}
	fields, err := columnFields(reflect.TypeFor[R](), t.columns())
	if err != nil {
		return fmt.Errorf("%s: %w", t.name, err)
	}
	summed := len(t.keys) + len(t.sums)
	values := make([][]driver.Value, 0, len(rows))
	for i := range rows {
		row, counts := make([]driver.Value, len(fields)), false
		for c, field := range fields {
			v := reflect.ValueOf(&rows[i]).Elem().FieldByIndex(field)
			// Among keys, a transaction may be NULL; no sum is.
			if row[c] = columnValue(v); v.IsZero() && (c >= summed || v.Kind() == reflect.Array) {
				row[c] = nil
			}
			counts = counts || c >= len(t.keys) && !v.IsZero() && (c < summed || !t.extremes)
		}
		if counts {
			values = append(values, row)
		}
	}
	if len(values) == 0 {
		return nil
	}
	return engine.Append(m.conn, t.deltaTable(), len(values), func(i int) []driver.Value { return values[i] })
}

// columnFields finds the field of each column.
func columnFields(row reflect.Type, columns []string) ([][]int, error) {
	fields := make([][]int, len(columns))
	for _, f := range reflect.VisibleFields(row) {
		name, _, _ := strings.Cut(f.Tag.Get("sql"), ",")
		if i := slices.Index(columns, name); i >= 0 {
			fields[i] = f.Index
		}
	}
	if i := slices.IndexFunc(fields, func(f []int) bool { return f == nil }); i >= 0 {
		return nil, fmt.Errorf("%v has no field for column %q", row, columns[i])
	}
	return fields, nil
}

// columnValue is the value of a field as an appender takes it.
func columnValue(v reflect.Value) driver.Value {
	switch {
	case v.CanInt():
		return v.Int()
	case v.CanUint():
		return int64(v.Uint())
	case v.Kind() == reflect.Array: // of bytes
		return slices.Clone(v.Bytes())
	}
	return v.Interface()
}

// tradeKey is a trade as statement PriceKey has it; nil if there is none.
func (q pricedTrade) key() *big.Int {
	if q == (pricedTrade{}) {
		return nil
	}
	key := new(big.Int).Lsh(big.NewInt(q.ts), 52)
	return key.Add(key, big.NewInt((int64(q.log)+1)<<20+int64(q.price)))
}
