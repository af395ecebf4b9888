package rollups

import (
	"fmt"
	"strings"
)

// packed is a column of a rollup that its base has in another form than its delta, in which DuckDB stores it with fewer
// bits. Every value has exactly one such form.
type packed struct {
	column string
	into   []string // expressions of the columns in the base
	from   string   // expression of the column from these
}

// packedTrade is the first or the last trade of an hour, a number as in price.sql with a sign: its time within the hour,
// and the rest of the number, of 52 bits. The time is in seconds, to which the microseconds beyond them are added as
// multiples of an hour: blocks have whole seconds, and these take 12 bits. packTrade writes the same.
func packedTrade(column, sign string) packed {
	number := fmt.Sprintf("(%s%s::HUGEINT)", sign, column)
	ts := fmt.Sprintf("((%s >> 52)::BIGINT - hour::BIGINT * 3600000000)", number)
	return packed{
		column: column,
		into: []string{
			fmt.Sprintf("%s // 1000000 + %s %% 1000000 * 3600 AS %s_ts", ts, ts, column),
			fmt.Sprintf("(%s & 4503599627370495)::BIGINT AS %s_at", number, column),
		},
		from: fmt.Sprintf("%s((hour::BIGINT * 3600000000 + %s_ts %% 3600 * 1000000 + %s_ts // 3600)::HUGEINT * 4503599627370496 + %s_at)",
			sign, column, column, column),
	}
}

// packedPrice is a price of at most a dollar in millionths, or its negative.
func packedPrice(column string) packed {
	return packed{column: column, into: []string{column + "::INTEGER AS " + column}, from: column + "::HUGEINT"}
}

// packing is how a column is packed; nil: it is not.
func (t table) packing(column string) *packed {
	for i := range t.packed {
		if t.packed[i].column == column {
			return &t.packed[i]
		}
	}
	return nil
}

// stored are the columns of the base, from the rollup's columns.
func (t table) stored() string {
	var list []string
	for _, c := range t.columns() {
		if p := t.packing(c); p != nil {
			list = append(list, p.into...)
		} else {
			list = append(list, c)
		}
	}
	return strings.Join(list, ", ")
}

// unpacked are the rollup's columns, from those of the base.
func (t table) unpacked() string {
	list := t.columns()
	for i, c := range list {
		if p := t.packing(c); p != nil {
			list[i] = p.from + " AS " + c
		}
	}
	return strings.Join(list, ", ")
}

// baseRows reads the base with the rollup's columns.
func (t table) baseRows() string {
	return statements.Get("TableRows", "@columns", t.unpacked(), "@table", t.name)
}

// Unpacked returns the rows of a rollup's base in an attached database, with the columns of its delta; "" if the base
// has these itself.
func Unpacked(name, database string) string {
	for _, t := range tables {
		if t.name == name && t.packed != nil {
			return statements.Get("TableRows", "@columns", t.unpacked(), "@table", database+"."+t.name)
		}
	}
	return ""
}
