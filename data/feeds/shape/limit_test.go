package shape_test

import (
	"encoding/json"
	"io"
	"strings"
	"testing"

	"pmx/data"
	"pmx/data/feeds/shape"
	"pmx/data/testfiles"
)

// endless reads as begin, n letters and end, without having them in memory.
func endless(begin string, n int64, end string) io.Reader {
	return io.MultiReader(strings.NewReader(begin), io.LimitReader(letters{}, n), strings.NewReader(end))
}

type letters struct{}

func (letters) Read(p []byte) (int, error) {
	for i := range p {
		p[i] = 'a'
	}
	return len(p), nil
}

// rejections counts rejected rows; no other method is called.
type rejections struct {
	data.Sink
	lines  []int64
	reason string
	raw    int
}

func (r *rejections) Reject(line int64, reason, _, raw string) error {
	r.lines, r.reason, r.raw = append(r.lines, line), reason, len(raw)
	return nil
}

func (*rejections) Lines(data.LineKind, int64) error { return nil }

// TestARecordOfJSONHasALimit: a longer line is rejected and the next one is read; an array with a
// longer record is refused; a record just below the limit is read.
func TestARecordOfJSONHasALimit(t *testing.T) {
	const around = int64(len(`{"a":""}`))
	for _, tc := range []struct {
		name   string
		format data.Format
		in     io.Reader
		read   int
		bad    int
		fails  bool
	}{
		{"a long line", data.NDJSON, endless("{\"a\":1}\n{\"a\":\"", shape.MaxRecord, "\"}\n{\"a\":2}\n"), 2, 1, false},
		{"an unclosed quote", data.NDJSON, endless("{\"a\":1}\n{\"a\":\"", int64(testfiles.Cases(1, 3))*shape.MaxRecord, ""), 1, 1, false},
		{"a line of the limit", data.NDJSON, endless("{\"a\":\"", shape.MaxRecord-around-1, "\"}\n{\"a\":2}\n"), 2, 0, false},
		{"a long record of an array", data.JSON, endless(`[{"a":1},{"a":"`, shape.MaxRecord+(1<<20), `"},{"a":2}]`), 1, 0, true},
		{"a record of an array below the limit", data.JSON, endless(`[{"a":1},{"a":"`, shape.MaxRecord-(1<<20), `"},{"a":2}]`), 3, 0, false},
	} {
		sink, read := &rejections{}, 0
		err := shape.Reading{Sink: sink}.Each(t.Context(), data.Source{Format: tc.format}, tc.in, func(int64, json.RawMessage) error {
			read++
			return nil
		})
		if read != tc.read || len(sink.lines) != tc.bad || (err != nil) != tc.fails {
			t.Errorf("%s: %d read, %d rejected, %v; want %d, %d, failing %v", tc.name, read, len(sink.lines), err, tc.read, tc.bad, tc.fails)
		}
		if tc.bad > 0 && (sink.lines[0] != 2 || sink.reason != "bad_row" || sink.raw > 4096) {
			t.Errorf("%s: line %d, %s, %d bytes kept", tc.name, sink.lines[0], sink.reason, sink.raw)
		}
	}
}
