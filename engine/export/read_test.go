package export_test

import (
	"encoding/json"
	"errors"
	"io"
	"os"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/parquet-go/parquet-go"

	"pmx/data"
)

// readParquet reads a file as text with parquet-go, which shares no code with the writer: dollars
// in the shortest form, times as RFC 3339, lists as JSON, NULL as "".
func readParquet(t testing.TB, path string) (table, *parquet.File) {
	t.Helper()
	f, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = f.Close() })
	st, err := f.Stat()
	if err != nil {
		t.Fatal(err)
	}
	file, err := parquet.OpenFile(f, st.Size())
	if err != nil {
		t.Fatalf("%s: %v", path, err)
	}
	var out table
	for _, group := range file.RowGroups() {
		out = append(out, readGroup(t, group, file.Schema())...)
	}
	return out, file
}

func readGroup(t testing.TB, group parquet.RowGroup, schema *parquet.Schema) (out table) {
	t.Helper()
	rows := group.Rows()
	defer func() { _ = rows.Close() }()
	buf := make([]parquet.Row, 512)
	for {
		n, err := rows.ReadRows(buf)
		for _, row := range buf[:n] {
			cells := map[string]string{}
			row.Range(func(column int, values []parquet.Value) bool {
				path := schema.Columns()[column]
				cells[path[0]] = shownValues(values, len(path) > 1, logical(schema, path[0]))
				return true
			})
			out = append(out, cells)
		}
		if errors.Is(err, io.EOF) {
			return out
		}
		if err != nil {
			t.Fatal(err)
		}
	}
}

// logical returns the logical type of a column; "" if it has none.
func logical(schema *parquet.Schema, name string) string {
	for _, f := range schema.Fields() {
		if f.Name() == name && f.Leaf() && f.Type().LogicalType() != nil {
			return f.Type().LogicalType().String()
		}
	}
	return ""
}

func shownValues(values []parquet.Value, list bool, logical string) string {
	if !list {
		return shown(values[0], logical)
	}
	parts := []string{}
	for _, v := range values {
		if v.IsNull() {
			if v.DefinitionLevel() == 0 {
				return ""
			}
			continue
		}
		text := shown(v, logical)
		if v.Kind() == parquet.ByteArray {
			quoted, _ := json.Marshal(text)
			text = string(quoted)
		}
		parts = append(parts, text)
	}
	return "[" + strings.Join(parts, ",") + "]"
}

func shown(v parquet.Value, logical string) string {
	switch {
	case v.IsNull():
		return ""
	case logical == "DATE":
		return time.Unix(int64(v.Int32())*86_400, 0).UTC().Format(time.DateOnly)
	case v.Kind() == parquet.Boolean:
		return strconv.FormatBool(v.Boolean())
	case strings.HasPrefix(logical, "TIMESTAMP"):
		return time.UnixMicro(v.Int64()).UTC().Format("2006-01-02T15:04:05.000000Z")
	case v.Kind() == parquet.Double:
		m, err := data.MicroOf(v.Double())
		if err != nil {
			return err.Error()
		}
		return m.String()
	case v.Kind() == parquet.Int64:
		return strconv.FormatInt(v.Int64(), 10)
	case v.Kind() == parquet.Int32:
		return strconv.Itoa(int(v.Int32()))
	}
	return string(v.ByteArray())
}

// asParquet converts a CSV cell to the form of readParquet: amounts without trailing zeros, and
// without the apostrophe before a formula.
func asParquet(cell string) string {
	if list, ok := strings.CutPrefix(cell, "["); ok && !strings.Contains(cell, `"`) {
		parts := strings.Split(strings.TrimSuffix(list, "]"), ",")
		for i := range parts {
			parts[i] = asParquet(parts[i])
		}
		return "[" + strings.Join(parts, ",") + "]"
	}
	if at := strings.IndexByte(cell, '.'); at >= 0 && len(cell) == at+7 {
		if m, err := data.ParseMicro(cell); err == nil {
			return m.String()
		}
	}
	if rest, ok := strings.CutPrefix(cell, "'"); ok && strings.ContainsAny(rest[:1], "=+-@\t\r") {
		return rest
	}
	return cell
}
