// Package shape has what the feeds share: reading records of JSON, CSV and Parquet files, lenient
// types for values in JSON of others, rules for times, and parts of the SQL that reads fills inside
// DuckDB. It is independent of any source.
package shape

import (
	"bytes"
	"fmt"
	"slices"

	"pmx/data"
)

// RowError says why a record cannot be used. Reason is short and stable, for counting; Detail is a
// sentence for people.
type RowError struct {
	Reason string
	Detail string
}

// Error returns the reason and the sentence.
func (e *RowError) Error() string { return e.Reason + ": " + e.Detail }

// Bad returns a RowError with a formatted sentence.
func Bad(reason, format string, args ...any) *RowError {
	return &RowError{Reason: reason, Detail: fmt.Sprintf(format, args...)}
}

// HasColumns reports whether every name is a column of a CSV or Parquet head.
func HasColumns(h data.Head, names ...string) bool { return hasAll(h.Columns, names) }

// HasKeys reports whether every name is a key path of a JSON or NDJSON head.
func HasKeys(h data.Head, names ...string) bool { return hasAll(h.Keys, names) }

// LacksColumns reports whether raw, a row as JSON, is from a table that has none of the columns. It
// is false for JSON records, which omit empty members.
func LacksColumns(f data.Format, raw []byte, names ...string) bool {
	return (f == data.CSV || f == data.Parquet) && !slices.ContainsFunc(names, func(n string) bool {
		return bytes.Contains(raw, []byte(`"`+n+`":`))
	})
}

// LacksQuote returns the fields of a quote for which raw has no column, by LacksColumns of the
// names of each.
func LacksQuote(f data.Format, raw []byte, book, last, liquidity []string) (lacks data.QuoteFields) {
	if LacksColumns(f, raw, book...) {
		lacks |= data.QuoteBidAsk
	}
	if LacksColumns(f, raw, last...) {
		lacks |= data.QuoteLast
	}
	if LacksColumns(f, raw, liquidity...) {
		lacks |= data.QuoteLiquidity
	}
	return lacks
}

// Has reports whether every name is a column or a key path of h.
func Has(h data.Head, names ...string) bool {
	if h.Format == data.CSV || h.Format == data.Parquet {
		return HasColumns(h, names...)
	}
	return HasKeys(h, names...)
}

// HasAny reports whether at least one name is a column or a key path of h.
func HasAny(h data.Head, names ...string) bool {
	return slices.ContainsFunc(names, func(n string) bool { return Has(h, n) })
}

func hasAll(have, want []string) bool {
	for _, w := range want {
		if !slices.Contains(have, w) {
			return false
		}
	}
	return true
}
