package export

import (
	"fmt"
	"strings"

	"pmx/data"
)

// kind is the kind of a column: its type in the frozen rows and its form in each format.
type kind uint8

const (
	text   kind = iota // VARCHAR
	texts              // VARCHAR with a JSON array of strings; Parquet: a list
	hexed              // BLOB; shown as 0x and lower-case hex digits
	number             // BIGINT
	amount             // BIGINT millionths; Parquet: DOUBLE, CSV: six decimals, exactly
	shares             // BIGINT[] millionths; Parquet: a list of DOUBLE, CSV: a JSON array
	moment             // BIGINT unix µs; Parquet: TIMESTAMP in UTC, CSV: RFC 3339
	day                // INTEGER days since 1970; Parquet: DATE, CSV: YYYY-MM-DD
	flag               // BOOLEAN
)

// column is one column of a dataset.
type column struct {
	name string
	kind kind
}

// timeSource is SQL for the name of the source of a resolution's time.
func timeSource(column string) string {
	var b strings.Builder
	b.WriteString("CASE " + column)
	for s := data.TimeOfEnd; s <= data.TimeOnChain; s++ {
		fmt.Fprintf(&b, " WHEN %d THEN '%s'", s, s)
	}
	return b.String() + " END"
}

// shown returns the SQL expression of the column for a format.
func (c column) shown(format data.Format) string {
	expression := c.csv()
	if format == data.Parquet {
		expression = c.parquet()
	}
	return expression + " AS " + c.name
}

func (c column) parquet() string {
	switch c.kind {
	case texts:
		return fmt.Sprintf(`from_json(%s, '["VARCHAR"]')`, c.name)
	case hexed:
		return fmt.Sprintf("'0x' || lower(hex(%s))", c.name)
	case amount:
		return c.name + " / 1e6"
	case shares:
		return fmt.Sprintf("list_transform(%s, lambda x: x / 1e6)", c.name)
	case moment:
		return fmt.Sprintf("make_timestamp(%s)::TIMESTAMPTZ", c.name)
	case day:
		return fmt.Sprintf("(DATE '1970-01-01' + %s)::DATE", c.name)
	}
	return c.name
}

func (c column) csv() string {
	switch c.kind {
	case text, texts:
		return escapeFormula(c.name)
	case amount:
		return exactDecimal(c.name)
	case shares:
		return fmt.Sprintf("'[' || array_to_string(list_transform(%s, lambda x: %s), ',') || ']'", c.name, exactDecimal("x"))
	case moment:
		return rfc3339(c.name)
	}
	return c.parquet()
}

// exactDecimal converts millionths to a decimal of the same value. A division would use a DOUBLE,
// which has only 53 bits.
func exactDecimal(col string) string {
	return fmt.Sprintf("(%s::DECIMAL(19, 0) * 0.000001::DECIMAL(6, 6))", col)
}

// rfc3339 formats unix µs with all digits.
func rfc3339(col string) string {
	return fmt.Sprintf("strftime(make_timestamp(%s), '%%Y-%%m-%%dT%%H:%%M:%%S.%%fZ')", col)
}

// escapeFormula is data.EscapeFormula in SQL.
func escapeFormula(col string) string {
	starts := make([]string, 0, len(data.FormulaStarts))
	for _, r := range data.FormulaStarts {
		starts = append(starts, fmt.Sprintf("chr(%d)", r))
	}
	return fmt.Sprintf("CASE WHEN left(ltrim(%[1]s, chr(39)), 1) IN (%[2]s) THEN chr(39) || %[1]s ELSE %[1]s END", col, strings.Join(starts, ", "))
}

// ratio is a over b in millionths, rounded half away from zero like data.Ratio; NULL if b is 0. It
// divides 128 bits, which takes ten times as long, only if the numerator does not fit into 64.
func ratio(a, b string) string {
	const quotient = "(abs(@a)::@int * 1000000 + abs(@b)::@int // 2) // abs(@b)::@int"
	return strings.NewReplacer("@a", "("+a+")", "@b", "("+b+")").Replace(
		"CASE WHEN @b <> 0 THEN CASE WHEN (@a < 0) <> (@b < 0) THEN -1 ELSE 1 END * " +
			"CASE WHEN abs(@a) < 9000000000000 AND abs(@b) < 200000000000000000 THEN " + strings.ReplaceAll(quotient, "@int", "BIGINT") +
			" ELSE least(" + strings.ReplaceAll(quotient, "@int", "HUGEINT") + ", 9223372036854775807)::BIGINT END END")
}
