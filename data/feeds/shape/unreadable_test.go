package shape_test

import (
	"bytes"
	"encoding/json"
	"testing"

	"github.com/parquet-go/parquet-go"

	"pmx/data"
	"pmx/data/feeds/shape"
)

// TestTextThatCannotBeReadCostsItsRow: rows with bytes that are not UTF-8, or with halves of
// surrogate pairs, are rejected in every format. Text that only resembles an escape is read.
func TestTextThatCannotBeReadCostsItsRow(t *testing.T) {
	type row struct {
		ID   string `parquet:"id"`
		Name string `parquet:"name"`
	}
	var table bytes.Buffer
	if err := parquet.Write(&table, []row{{"1", "Jos\xe9"}, {"2", "José"}}); err != nil {
		t.Fatal(err)
	}
	for _, tc := range []struct {
		format       data.Format
		content      string
		read         int
		line, reason string
	}{
		{data.Parquet, table.String(), 1, "1", "bad_utf8"},
		{data.CSV, "id,name\n1,\"Jos\xe9\"\n2,José\n", 1, "2", "bad_utf8"},
		{data.CSV, "id,name\n1,\\ud83d\n", 1, "", ""}, // CSV has no escapes
		{data.NDJSON, "{\"name\":\"Jos\xe9\"}\n{\"name\":\"José\"}\n", 1, "1", "bad_utf8"},
		{data.JSON, "[{\"name\":\"José\"},{\"name\":\"Jos\xe9\"}]", 1, "2", "bad_utf8"},
		{data.JSON, "{\"list\":[{\"a\":1},{\"name\":\"Jos\xe9\"}]}", 1, "2", "bad_utf8"},
		{data.NDJSON, `{"a":1}` + "\n" + `{"list":[{"a":1},{"a":"\udc00"}]}` + "\n", 2, "2", "bad_json"},
		{data.JSON, `[{"name":"\ud83d"}]`, 0, "1", "bad_json"},
		{data.JSON, `[{"name":"\ud83dA"}]`, 0, "1", "bad_json"},
		{data.JSON, `[{"name":"\uDE00\uD83D"}]`, 0, "1", "bad_json"},
		{data.JSON, `[{"name":"\uD83D\uDE00 \\ud83d \\\\ \u00e9 \ufffd"}]`, 1, "", ""},
	} {
		sink, read := &rejections{}, 0
		src := data.Source{Format: tc.format, Size: int64(len(tc.content))}
		err := shape.Reading{Sink: sink, Lists: []string{"list"}}.Each(t.Context(), src, bytes.NewReader([]byte(tc.content)), func(int64, json.RawMessage) error {
			read++
			return nil
		})
		line := ""
		for _, n := range sink.lines {
			line += string(rune('0' + n))
		}
		if err != nil || read != tc.read || line != tc.line || sink.reason != tc.reason {
			t.Errorf("%q: %d read, lines %q rejected as %s: %v", tc.content, read, line, sink.reason, err)
		}
	}
}
