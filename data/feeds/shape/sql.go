package shape

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"pmx/data"
)

// Quote returns s as a SQL string literal.
func Quote(s string) string { return "'" + strings.ReplaceAll(s, "'", "''") + "'" }

// Table is a CSV, NDJSON or Parquet file as DuckDB reads it: every cell is VARCHAR, empty cells are
// NULL, and nothing is detected automatically.
type Table struct {
	from  string
	cols  map[string]string
	types map[string]string // Parquet types by column
	bad   string

	badReason string // "" is bad_row
}

// noCell is a null string that no cell has. DuckDB then keeps empty cells, and NULL means that a
// row does not have the cell.
const noCell = "pmx: no cell"

// CSVTable reads the CSV file of src. Cells are found by the header names of h but declared by
// position, so empty and repeated names do no harm. Bad finds rows whose number of cells differs
// from the header's: DuckDB pads a short row, and there is an additional column for long ones. The
// file is read on one thread except with Parallel: only then DuckDB allows both quoted line breaks
// and short rows (https://duckdb.org/docs/stable/data/csv/overview, null_padding).
func CSVTable(src data.Source, h data.Head) Table {
	t := Table{cols: map[string]string{}, bad: "odd_width"}
	n := len(h.Columns)
	decl, cells := make([]string, n+1), make([]string, n)
	for i := range decl {
		decl[i] = fmt.Sprintf("'c%d': 'VARCHAR'", i)
	}
	for i, name := range h.Columns {
		if _, seen := t.cols[name]; !seen {
			t.cols[name] = fmt.Sprintf("c%d", i)
		}
		cells[i] = fmt.Sprintf("nullif(c%[1]d, '') AS c%[1]d", i)
	}
	t.from = fmt.Sprintf("(SELECT %s, c%d IS NULL OR c%d IS NOT NULL AS odd_width FROM read_csv(%s, columns = {%s}, header = true, "+
		"auto_detect = false, delim = ',', quote = '\"', escape = '\"', nullstr = %s, null_padding = true, strict_mode = false, parallel = false))",
		strings.Join(cells, ", "), max(n-1, 0), n, Quote(src.Path), strings.Join(decl, ", "), Quote(noCell))
	return t
}

// Parallel lets all cores read a CSV file, for feeds whose cells never contain line breaks. Rows
// still come in file order.
func (t Table) Parallel() Table {
	t.from = strings.Replace(t.from, "parallel = false", "parallel = true", 1)
	return t
}

// NumberMember is the member with the number of the record in an NDJSON file that was made for
// DuckDB. DuckDB reads parts of the file in parallel and returns them in any order.
const NumberMember = "pmx:record"

// NDJSONTable reads the named members of every line of src, and NumberMember as a BIGINT. For a
// line that is not JSON, all are NULL, which Bad finds.
func NDJSONTable(src data.Source, names ...string) Table {
	t := Table{cols: map[string]string{}, badReason: "bad_json"}
	decl := make([]string, len(names), len(names)+1)
	for i, name := range names {
		t.cols[name] = Ident(name)
		decl[i] = Quote(name) + ": 'VARCHAR'"
	}
	decl = append(decl, Quote(NumberMember)+": 'BIGINT'")
	t.bad = t.AnyCol(names...) + " IS NULL"
	t.from = fmt.Sprintf("read_json(%s, format = 'newline_delimited', columns = {%s}, ignore_errors = true, "+
		"maximum_object_size = 67108864)", Quote(src.Path), strings.Join(decl, ", "))
	return t
}

// ParquetTable reads the columns of the Parquet file of src and file_row_number. Col returns
// columns as text, Native as they are.
func ParquetTable(src data.Source, h data.Head) Table {
	t := Table{cols: map[string]string{}, types: map[string]string{}, bad: "false"}
	for i, name := range h.Columns {
		t.cols[name] = Ident(name) + "::VARCHAR"
		if i < len(h.Types) {
			t.types[name] = h.Types[i]
		}
	}
	t.from = ParquetFiles(src)
	return t
}

// ParquetFiles is the table function call that reads a Parquet file, followed by those of
// Source.Rest.
func ParquetFiles(src data.Source) string {
	paths := make([]string, 0, len(src.Rest)+1)
	for _, path := range append([]string{src.Path}, src.Rest...) {
		paths = append(paths, Quote(path))
	}
	return fmt.Sprintf("read_parquet([%s], file_row_number = true, hive_partitioning = false)", strings.Join(paths, ", "))
}

// ParquetRow is the number of a row of ParquetFiles: see data.FileShift.
func ParquetRow(src data.Source) string {
	if len(src.Rest) == 0 {
		return "file_row_number + 1"
	}
	return fmt.Sprintf("(file_index::BIGINT << %d) + file_row_number + 1", data.FileShift)
}

// Ident returns name as a quoted SQL identifier.
func Ident(name string) string { return `"` + strings.ReplaceAll(name, `"`, `""`) + `"` }

// From is the table function call.
func (t Table) From() string { return t.from }

// Bad is the condition for a record that could not be parsed.
func (t Table) Bad() string { return t.bad }

// BadReason is the reject reason of such a record; "" for the usual one.
func (t Table) BadReason() string { return t.badReason }

// Has reports whether the file has a column with that name.
func (t Table) Has(name string) bool { return t.cols[name] != "" }

// Col returns the expression of the first of the named columns that exists, and a typed NULL if
// none does.
func (t Table) Col(names ...string) string {
	for _, n := range names {
		if c := t.cols[n]; c != "" {
			return c
		}
	}
	return "NULL::VARCHAR"
}

// AnyCol returns the expression of the first of the named columns that is not NULL, row by row.
func (t Table) AnyCol(names ...string) string {
	cols := make([]string, len(names))
	for i, n := range names {
		cols[i] = t.Col(n)
	}
	return "coalesce(" + strings.Join(cols, ", ") + ")"
}

// Native returns a column without conversion to text, if its Parquet type begins with one of kinds.
func (t Table) Native(name string, kinds ...string) (string, bool) {
	for _, k := range kinds {
		if strings.HasPrefix(t.types[name], k) {
			return Ident(name), true
		}
	}
	return "", false
}

// IsText reports whether the first of the named columns that exists is text in a Parquet file.
func (t Table) IsText(names ...string) bool {
	for _, n := range names {
		if t.cols[n] != "" {
			return t.types[n] == "STRING"
		}
	}
	return false
}

// Amount returns the named column of whole units as a BIGINT of millionths.
func (t Table) Amount(name string) string {
	if t.types[name] == "DECIMAL(18,6)" { // as pmx exports it; a product of 19 digits or more would be an error
		return fmt.Sprintf("CASE WHEN %[1]s BETWEEN -999999 AND 999999 THEN (%[1]s * 1000000::DECIMAL(7,0))::BIGINT ELSE %[2]s END", Ident(name), Decimal(Ident(name)))
	}
	if c, ok := t.Native(name, "DECIMAL", "INT", "DOUBLE", "FLOAT"); ok {
		return Decimal(c)
	}
	return Decimal(t.Col(name))
}

// Number returns the first of the named columns that exists if it is a number in a Parquet file,
// and whether it is an integer.
func (t Table) Number(names ...string) (c string, whole, ok bool) {
	for _, name := range names {
		if c, ok := t.Native(name, "INT", "UINT"); ok {
			return c, true, true
		}
		if c, ok := t.Native(name, "DOUBLE", "FLOAT", "DECIMAL"); ok || t.Has(name) {
			return c, false, ok
		}
	}
	return "", false, false
}

// Micros returns the first of the named columns that exists, a time, as a BIGINT of unix µs.
func (t Table) Micros(names ...string) string {
	for _, name := range names {
		if c, ok := t.Native(name, "TIMESTAMP"); ok {
			return "epoch_us(" + c + ")"
		}
		if t.Has(name) {
			return Time(t.Col(name))
		}
	}
	return Time(t.Col())
}

// Among is SQL that reports whether c is one of some constants; NULL if c is. IN means the same,
// but DuckDB plans IN with six or more constants as a join, which every row goes through, even
// inside a CASE that excludes the row.
func Among(c string, constants ...string) string {
	return fmt.Sprintf("list_contains([%s], %s)", strings.Join(constants, ", "), c)
}

// Unescaped is data.UnescapeCell in SQL.
func Unescaped(c string) string {
	starts := make([]string, 0, len(data.FormulaStarts))
	for _, r := range data.FormulaStarts {
		starts = append(starts, fmt.Sprintf("chr(%d)", r))
	}
	return fmt.Sprintf("CASE WHEN prefix(%[1]s, %[3]s) THEN replace(replace(replace(substr(%[1]s, 3), '\\n', chr(10)), '\\r', chr(13)), '\\b', '\\') "+
		"WHEN prefix(%[1]s, chr(39)) AND %[2]s THEN substr(%[1]s, 2) ELSE %[1]s END",
		c, Among("left(ltrim("+c+", chr(39)), 1)", starts...), Quote(data.LineMark))
}

// Hex returns a VARCHAR of 0x and 2n hex digits as a BLOB of n bytes, in any letter case and also
// without the 0x; NULL for anything else.
func Hex(c string, n int) string {
	return fmt.Sprintf("CASE strlen(%[1]s) WHEN %[2]d THEN CASE WHEN prefix(%[1]s, '0x') OR prefix(%[1]s, '0X') "+
		"THEN TRY(unhex(substr(%[1]s, 3))) END WHEN %[3]d THEN TRY(unhex(%[1]s)) END", c, 2*n+2, 2*n)
}

// Condition returns a VARCHAR of a condition id as a BLOB of 32 bytes, by the rule of
// data.ParseCondition; NULL for anything else.
func Condition(c string) string {
	return Hex(fmt.Sprintf("CASE WHEN strlen(%[1]s) = 64 AND (prefix(%[1]s, '0x') OR prefix(%[1]s, '0X')) "+
		"OR strlen(%[1]s) = 62 THEN %[1]s || '00' ELSE %[1]s END", c), 32)
}

// Decimal returns decimal text in whole units as a BIGINT of millionths, rounded half away from
// zero; NULL for anything else. Below a thousand million units a DOUBLE times a million is off by
// less than a quarter of a millionth, so that rounding it is exact; casts of text to DECIMAL cost
// many times as much.
func Decimal(c string) string {
	return fmt.Sprintf("CASE WHEN abs(TRY_CAST(%[1]s AS DOUBLE)) < 1000000000 THEN CAST(round(TRY_CAST(%[1]s AS DOUBLE) * 1000000) AS BIGINT) "+
		"ELSE TRY_CAST(TRY_CAST(%[1]s AS DECIMAL(18,6))::DECIMAL(38,6) * 1000000 AS BIGINT) END", c)
}

// Units returns integer text in millionths as a BIGINT; NULL for anything else.
func Units(c string) string { return Whole(c, math.MaxInt64) }

// Whole returns text of a whole number from 0 to most as a BIGINT; NULL for anything else. It
// accepts the same as data.ParseWhole: casts of text would round 3.7 and accept -1, 1e2, 0x10 and
// 1_000. Text in the canonical form of the number, as nearly all is, needs no regular expression,
// which takes six times as long.
func Whole(c string, most int64) string {
	cast, whole := fmt.Sprintf("TRY_CAST(%s AS BIGINT)", c), fmt.Sprintf("TRY_CAST(split_part(trim(%s), '.', 1) AS BIGINT)", c)
	return fmt.Sprintf("CASE WHEN %[3]s::VARCHAR = %[1]s AND %[3]s BETWEEN 0 AND %[4]d THEN %[3]s "+
		"WHEN regexp_full_match(%[1]s, '\\s*[0-9]{1,19}([.]0*)?\\s*') AND %[2]s <= %[4]d THEN %[2]s END", c, whole, cast, most)
}

// Product returns size × price, both decimal text, as a BIGINT of millionths, computed as Dollars
// does.
func Product(size, price string) string {
	return fmt.Sprintf("TRY_CAST(round(TRY_CAST(%s AS DOUBLE) * TRY_CAST(%s AS DOUBLE) * 1000000) AS BIGINT)", size, price)
}

// Token returns a VARCHAR of a decimal uint256 without leading zeros; NULL for anything else.
func Token(c string) string {
	return fmt.Sprintf("CASE WHEN regexp_full_match(%[1]s, '0*[1-9][0-9]{0,77}') "+
		"THEN CASE WHEN prefix(%[1]s, '0') THEN ltrim(%[1]s, '0') ELSE %[1]s END END", c)
}

// Label returns the label of an outcome. It is NULL if the label is one of the words for a missing
// value, or if the row has a market, given, that could not be parsed as condition.
func Label(c, condition, given string) string {
	return fmt.Sprintf("CASE WHEN NOT %s AND ((%s) IS NOT NULL OR %s) THEN %s END",
		absent("trim("+c+")"), condition, absent("coalesce(trim("+given+"), '')"), c)
}

// Side returns 0 for BUY and 1 for SELL in any letter case; NULL for anything else.
func Side(c string) string {
	return fmt.Sprintf("CASE upper(%s) WHEN 'BUY' THEN 0 WHEN 'SELL' THEN 1 END::TINYINT", c)
}

// OutOfRange returns an outcome index as text if it is not from 0 to most; NULL if it is.
func OutOfRange(c string, most int) string {
	if c == "" || strings.HasPrefix(c, "NULL::") {
		return ""
	}
	return fmt.Sprintf("CASE WHEN (%s) IS NULL THEN %s END", Whole("("+c+")::VARCHAR", int64(most)), c)
}

// Seconds returns text of unix seconds as a BIGINT of µs.
func Seconds(c string) string {
	return fmt.Sprintf("(%s) * 1000000", Whole(c, 99999999999))
}

// Time returns text in any format of ParseTime as a BIGINT of unix µs. DuckDB drops the offset of
// text cast to TIMESTAMP, and uses the session's zone for text without a zone cast to TIMESTAMPTZ,
// so each format has its own cast (https://duckdb.org/docs/stable/sql/data_types/timestamp).
func Time(c string) string {
	whole, broken := fmt.Sprintf("TRY_CAST(%s AS BIGINT)", c), fmt.Sprintf("TRY_CAST(%s AS DOUBLE)", c)
	return fmt.Sprintf("CASE WHEN regexp_full_match(%[1]s, '[0-9]{6,19}') THEN CASE WHEN %[2]s < 100000000000 THEN %[2]s * 1000000 "+
		"WHEN %[2]s < 100000000000000 THEN %[2]s * 1000 WHEN %[2]s < 100000000000000000 THEN %[2]s ELSE %[2]s // 1000 END "+
		"WHEN regexp_full_match(%[1]s, '[0-9]{6,19}[.][0-9]{1,30}') THEN TRY_CAST(floor(CASE WHEN %[3]s < 100000000000 THEN %[3]s * 1000000 "+
		"WHEN %[3]s < 100000000000000 THEN %[3]s * 1000 WHEN %[3]s < 100000000000000000 THEN %[3]s ELSE %[3]s / 1000 END) AS BIGINT) "+
		"WHEN contains(%[1]s, '+') OR contains(substr(%[1]s, 12), '-') THEN epoch_us(TRY_CAST(%[1]s AS TIMESTAMPTZ)) "+
		"ELSE epoch_us(TRY_CAST(replace(%[1]s, ' UTC', '') AS TIMESTAMP)) END", c, whole, broken)
}

// StubSQL returns the SELECT of data.StubColumns over from: exprs has expressions by column name; a
// missing one is NULL. A row without a condition may still name its token's outcome.
func StubSQL(exprs map[string]string, from string) string {
	cols := make([]string, len(data.StubColumns))
	for i, col := range data.StubColumns {
		cols[i] = fmt.Sprintf("(%s)::%s AS %s", orElse(exprs[col[0]], "NULL"), col[1], col[0])
	}
	return fmt.Sprintf("SELECT DISTINCT %s\nFROM (SELECT %s\n  FROM %s)\nWHERE condition IS NOT NULL OR token IS NOT NULL AND label IS NOT NULL",
		strings.Join(names(), ", "), strings.Join(cols, ",\n    "), from)
}

func names() []string {
	out := make([]string, 0, len(data.StubColumns))
	for _, c := range data.StubColumns {
		out = append(out, c[0])
	}
	return slices.Clip(out)
}
