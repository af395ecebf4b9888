package records_test

import (
	"bytes"
	"encoding/csv"
	"errors"
	"io"
	"runtime"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"pgregory.net/rapid"

	"pmx/data/feeds/records"
	"pmx/data/testfiles"
)

type row struct {
	Line  int64
	Cells []string
	Err   error
}

func all(t interface{ Fatal(...any) }, text string, anyWidth bool) (out []row) {
	r := records.NewReader(strings.NewReader(text))
	r.AnyWidth, r.LineEnds = anyWidth, true
	for {
		rec, err := r.Read()
		if errors.Is(err, io.EOF) {
			return out
		}
		if err != nil {
			t.Fatal(err)
		}
		if rec.Err == nil || errors.Is(rec.Err, records.ErrWidth) {
			out = append(out, row{rec.Line, append([]string(nil), rec.Cells...), rec.Err})
		} else {
			out = append(out, row{rec.Line, []string{rec.Raw}, rec.Err})
		}
	}
}

// TestAStrayQuoteCostsItsLine: whatever follows it, reading continues at the next line, and line
// numbers are correct.
func TestAStrayQuoteCostsItsLine(t *testing.T) {
	for name, tc := range map[string]struct {
		text string
		want []row
	}{
		"to the end": {"a,b\n1,2\n3,\"4\n5,6\n7,8\n", []row{{1, []string{"a", "b"}, nil}, {2, []string{"1", "2"}, nil},
			{3, []string{`3,"4`}, records.ErrQuote}, {4, []string{"5", "6"}, nil}, {5, []string{"7", "8"}, nil}}},
		"to the next quote": {"a,b\n\"1,2\n3,4\n5,\"6\"\n", []row{{1, []string{"a", "b"}, nil},
			{2, []string{`"1,2`}, records.ErrQuote}, {3, []string{"3", "4"}, nil}, {4, []string{"5", "6"}, nil}}},
		"every line": {"a,b\n\"1,2\n\"3,4\n", []row{{1, []string{"a", "b"}, nil},
			{2, []string{`"1,2`}, records.ErrQuote}, {3, []string{`"3,4`}, records.ErrQuote}}},
		"closed with another width": {"a,b\n1,\"2\n3\",4\n5,6\n", []row{{1, []string{"a", "b"}, nil},
			{2, []string{`1,"2`}, records.ErrQuote}, {3, []string{`3"`, "4"}, nil}, {4, []string{"5", "6"}, nil}}},
		"lawful breaks": {"a,b\r\n1,\"x\r\ny\"\"z\"\r\n\r\n3,4\r\n", []row{{1, []string{"a", "b"}, nil},
			{2, []string{"1", "x\ny\"z"}, nil}, {5, []string{"3", "4"}, nil}}},
		"quotes inside": {"a,b\nsa\"y,\"he said \"hi\" there\"\n", []row{{1, []string{"a", "b"}, nil},
			{2, []string{`sa"y`, `he said "hi" there`}, nil}}},
		"width": {"a,b\n1\n1,2,3\n", []row{{1, []string{"a", "b"}, nil}, {2, []string{"1"}, records.ErrWidth},
			{3, []string{"1", "2", "3"}, records.ErrWidth}}},
		"cut": {"a,b\n1,2\n3,4", []row{{1, []string{"a", "b"}, nil}, {2, []string{"1", "2"}, nil}, {3, []string{"3,4"}, records.ErrCut}}},
		"cut after a hash": {"a,b\n1,0x" + strings.Repeat("1f", 32), []row{{1, []string{"a", "b"}, nil},
			{2, []string{"1", "0x" + strings.Repeat("1f", 32)}, nil}}},
	} {
		if diff := cmp.Diff(tc.want, all(t, tc.text, false), cmpopts.EquateErrors()); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
	}
}

// TestWhatIsWrittenIsRead: any table that encoding/csv writes is read unchanged.
func TestWhatIsWrittenIsRead(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		width := rapid.IntRange(2, 4).Draw(t, "width")
		cell := rapid.StringMatching(`[ab,"\n é]{0,6}`)
		table := rapid.SliceOfN(rapid.SliceOfN(cell, width, width), 1, 6).Draw(t, "table")
		var b bytes.Buffer
		w := csv.NewWriter(&b)
		w.UseCRLF = rapid.Bool().Draw(t, "crlf")
		if err := w.WriteAll(table); err != nil {
			t.Fatal(err)
		}
		var got [][]string
		for _, r := range all(t, b.String(), false) {
			if r.Err != nil {
				t.Fatalf("%q: %v", b.String(), r.Err)
			}
			got = append(got, r.Cells)
		}
		if diff := cmp.Diff(table, got); diff != "" {
			t.Fatalf("%q (-want +got):\n%s", b.String(), diff)
		}
	})
}

// TestEveryLineIsInARecord: any text is read to its end, and every line is in exactly one record.
func TestEveryLineIsInARecord(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		text := rapid.StringMatching(`([ab",]{0,5}\r?\n){0,12}[a"]{0,3}`).Draw(t, "text")
		lines := strings.SplitAfter(text, "\n")
		next := int64(1)
		for _, r := range all(t, text, rapid.Bool().Draw(t, "any width")) {
			for next < r.Line && strings.TrimRight(lines[next-1], "\r\n") == "" {
				next++
			}
			if r.Line != next {
				t.Fatalf("%q: a record at line %d, want %d", text, r.Line, next)
			}
			next++
			if r.Err == nil {
				next += int64(strings.Count(strings.Join(r.Cells, ""), "\n"))
			}
		}
	})
}

// endless repeats the same bytes.
type endless struct {
	text string
	left int
}

func (e *endless) Read(p []byte) (int, error) {
	if e.left <= 0 {
		return 0, io.EOF
	}
	n := 0
	for n+len(e.text) <= len(p) && e.left > 0 {
		n += copy(p[n:], e.text)
		e.left--
	}
	return n, nil
}

// TestMemoryIsBounded: a line or a cell of 100 MB is not kept in memory.
func TestMemoryIsBounded(t *testing.T) {
	for name, src := range map[string]io.Reader{
		"a line without end": io.MultiReader(strings.NewReader("a,b\n1,"), &endless{strings.Repeat("0123456789", 1000), testfiles.Cases(4_000, 10_000)}, strings.NewReader("\n3,4\n")),
		"a stray quote":      io.MultiReader(strings.NewReader("a,b\n1,\"2\n"), &endless{strings.Repeat("3,4\n", 1000), testfiles.Cases(10_000, 20_000)}),
	} {
		r, good, bad := records.NewReader(src), 0, 0
		r.LineEnds = true
		var before, after runtime.MemStats
		runtime.GC()
		runtime.ReadMemStats(&before)
		for {
			rec, err := r.Read()
			if errors.Is(err, io.EOF) {
				break
			}
			if err != nil {
				t.Fatal(err)
			}
			if rec.Err != nil {
				bad++
			} else {
				good++
			}
		}
		runtime.GC()
		runtime.ReadMemStats(&after)
		runtime.KeepAlive(r)
		if bad != 1 || good < 2 {
			t.Errorf("%s: %d good and %d bad records", name, good, bad)
		}
		if grown := int64(after.HeapAlloc) - int64(before.HeapAlloc); grown > 16<<20 {
			t.Errorf("%s: %d MB are kept", name, grown>>20)
		}
	}
}

// TestAQuotedCellEndsOnItsLine: each of two stray quotes affects at most its own line, even if the
// number of cells between them is right.
func TestAQuotedCellEndsOnItsLine(t *testing.T) {
	var got []string
	r := records.NewReader(strings.NewReader("a,b,c\n1,\"Bob,2\n3,x,4\n5,Al\",6\n7,\"y, z\",8\n"))
	for {
		rec, err := r.Read()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil || rec.Lines != 1 {
			t.Fatal(err, rec)
		}
		if rec.Err != nil {
			got = append(got, rec.Err.Error())
		} else {
			got = append(got, strings.Join(rec.Cells, "|"))
		}
	}
	if diff := cmp.Diff([]string{"a|b|c", "a quote opens a cell that does not end on its line: in a file of this feed, a row is one line", "3|x|4", `5|Al"|6`, "7|y, z|8"}, got); diff != "" {
		t.Error(diff)
	}
}

// TestAQuotedCellHoldsNoRecords: if cells may contain line ends, a quote that swallows records
// affects only its own line, wherever the identifiers are. A description of several lines is kept,
// even one with as many commas as the header.
func TestAQuotedCellHoldsNoRecords(t *testing.T) {
	id := func(n int) string { return "0x" + strings.Repeat(string(rune('a'+n)), 64) }
	for name, tc := range map[string]struct {
		text      string
		good, bad int
	}{
		"id first":           {"id,text,end\n" + id(0) + ",\"Bob,1\n" + id(1) + ",x,2\n" + id(2) + ",Al\",3\n", 3, 1},
		"id first, adjacent": {"id,text,end\n" + id(0) + ",\"Bob,1\n" + id(1) + ",Al\",2\n", 2, 1},
		"id last":            {"text,end,id\n\"Bob,1," + id(0) + "\nx,2," + id(1) + "\nAl\",3," + id(2) + "\n", 3, 1},
		"id last, adjacent":  {"text,end,id\n\"Bob,1," + id(0) + "\nAl\",2," + id(1) + "\n", 2, 1},
		"a description":      {"id,text,end\n" + id(0) + ",\"one, two\nthree, four, five\n\nsix\",1\n", 2, 0},
		"and the id last":    {"text,end,id\n\"one,\ntwo, three, four\nfive\",1," + id(0) + "\n", 2, 0},
		"as many commas":     {"q,text,id\nwho,\"one, two\nthree, four\"," + id(0) + "\n", 2, 0},
		"with an address":    {"id,text,end\n" + id(0) + ",\"see\n0x" + strings.Repeat("1", 40) + "\nthere\",1\n", 2, 0},
	} {
		r, good, bad := records.NewReader(strings.NewReader(tc.text)), 0, 0
		r.LineEnds = true
		for lines := int64(0); ; {
			rec, err := r.Read()
			if errors.Is(err, io.EOF) {
				if want := int64(strings.Count(tc.text, "\n")); lines != want && !strings.Contains(tc.text, "\n\n") {
					t.Errorf("%s: %d of %d lines are in records", name, lines, want)
				}
				break
			}
			if err != nil {
				t.Fatal(err)
			}
			if lines += rec.Lines; rec.Err != nil {
				bad++
			} else {
				good++
			}
		}
		if good != tc.good || bad != tc.bad {
			t.Errorf("%s: %d good and %d bad records, want %d and %d", name, good, bad, tc.good, tc.bad)
		}
	}
}
