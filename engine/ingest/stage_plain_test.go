package ingest_test

import (
	"context"
	"database/sql"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"pmx/data/testfiles"
	"pmx/engine"
	"pmx/engine/ingest"
)

// orderHeader are the columns of orderFilled.csv, in the order of drawOrder's cells.
var orderHeader = []string{"timestamp", "maker", "makerAssetId", "makerAmountFilled", "taker", "takerAssetId", "takerAmountFilled", "transactionHash"}

const anExchange = "0x4bfb41d5b3570defd03c39a9a4d8de6bd8b8982e"

// drawOrder returns the cells of a plain row.
func drawOrder(r *rand.Rand) []string {
	of := func(many ...string) string { return many[r.IntN(len(many))] }
	wallet := func() string { return "0x" + strings.Repeat(of("a", "b", "c"), 40) }
	row := []string{fmt.Sprint(1_700_000_000 + r.IntN(3)), wallet(), "0", of("40", "41"), of(wallet(), anExchange), of("71", "72", strings.Repeat("9", 78)), of("100", "99"),
		"0x" + strings.Repeat(of("1", "2", "e"), 64)}
	if r.IntN(2) == 0 {
		row[2], row[3], row[5], row[6] = row[5], row[6], row[2], row[3]
	}
	return row
}

// oddOrder changes a row so that it is not plain, or barely.
func oddOrder(r *rand.Rand, row []string) []string {
	at := r.IntN(len(row))
	switch odd := r.IntN(14); odd {
	case 0:
		row[at] = `"` + row[at] + `"`
	case 1:
		row[at] = ""
	case 2:
		row[at] = " " + row[at]
	case 3:
		row[at] = "0" + row[at]
	case 4:
		row[at] = strings.ToUpper(row[at])
	case 5:
		row[at] = strings.TrimPrefix(row[at], "0x")
	case 6:
		row[at] += []string{".0", "é", "\r", "x", "-"}[r.IntN(5)]
	case 7:
		return row[:at]
	case 8:
		return append(row, "more")
	case 9:
		row[3], row[6] = "1000000000", []string{"990099009", "980000000", "989999000", "1000000001", "1100000000"}[r.IntN(5)] // near the limits of a price
	case 10:
		row[0] = []string{"1577836799", "1577836800", "2082758400", "4102444800", "99999999999", "100000000000"}[r.IntN(6)]
	case 11:
		row[3+3*r.IntN(2)] = []string{"0", "999999999999999999", "9223372036854775807", "9223372036854775808", "1000000000000001"}[r.IntN(5)]
	case 12:
		row[2], row[5] = "0", "0"
	default:
		row[2], row[5] = "71", "72"
	}
	return row
}

// drawOrders returns a file, in most cases a plain one.
func drawOrders(r *rand.Rand) string {
	header, order, end := slices.Clone(orderHeader), r.Perm(len(orderHeader)), "\n"
	rows := [][]string{}
	n := 1 + r.IntN(8)
	if r.IntN(20) == 0 {
		n = 4_000 + r.IntN(200) // several batches
	}
	for range n {
		rows = append(rows, drawOrder(r))
	}
	if r.IntN(3) == 0 {
		nth := r.IntN(len(rows))
		rows[nth] = oddOrder(r, rows[nth])
	}
	var more []string // a column that is not read
	if r.IntN(4) == 0 {
		header, more = append(header, []string{"note", "maker"}[r.IntN(2)]), []string{"", "x", "0x5", "é", `"a"`, `"a,b"`}[:2+r.IntN(5)]
	}
	if r.IntN(12) == 0 {
		end = "\r\n"
	}
	line := func(cells []string) string {
		if len(cells) < len(order) {
			return strings.Join(cells, ",") + end
		}
		mixed := make([]string, 0, len(cells))
		for _, i := range order {
			mixed = append(mixed, cells[i])
		}
		return strings.Join(append(mixed, cells[len(order):]...), ",") + end
	}
	var b strings.Builder
	b.WriteString([]string{"", "", "", "\ufeff"}[r.IntN(4)] + line(header))
	for _, row := range rows {
		if more != nil && len(row) == len(orderHeader) {
			row = append(row, more[r.IntN(len(more))])
		}
		b.WriteString(line(row))
	}
	switch r.IntN(20) {
	case 0:
		return strings.TrimSuffix(b.String(), end)
	case 1:
		return b.String() + end
	}
	return b.String()
}

// TestAPlainFileIsStagedAsAnyOther imports random CSV files by both ways of staging them: receipts, rejected rows, ids
// and facts are equal.
func TestAPlainFileIsStagedAsAnyOther(t *testing.T) {
	staged := map[string]int{}
	plain, usual := openWith(t, func(o *engine.Options) {
		o.OnStatement = func(text string) {
			for _, name := range []string{"s_fill AS", "s_raw AS"} {
				if strings.HasPrefix(text, "CREATE OR REPLACE TEMP TABLE "+name) {
					staged[name]++
				}
			}
		}
	}), open(t)
	plain.im.PlainBytes, usual.im.PlainBytes = 1, math.MaxInt64
	now := plain.im.Now()
	files := testfiles.Cases(24, 60)
	for seed := range uint64(files) {
		r := rand.New(rand.NewPCG(seed, 41))
		if seed%8 == 0 {
			plain.empty()
			usual.empty()
		}
		content, opts := drawOrders(r), ingest.Options{DryRun: r.IntN(8) == 0}
		if r.IntN(6) == 0 {
			opts.OnError = ingest.RejectFile
		}
		for _, v := range []*intake{plain, usual} {
			v.im.Now = func() time.Time { return now }
		}
		got, gotSaid, gotKept := plain.outcome(plain.write("f.csv", content), "", opts)
		want, wantSaid, wantKept := usual.outcome(usual.write("f.csv", content), "", opts)
		for what, diff := range map[string]string{
			"receipt": cmp.Diff(fmt.Sprintf("%+v %s", want, wantSaid), fmt.Sprintf("%+v %s", got, gotSaid)),
			"kept":    cmp.Diff(wantKept, gotKept),
			"ids":     cmp.Diff(usual.names(), plain.names(), cmp.AllowUnexported(knownNames{})),
			"facts":   cmp.Diff(usual.facts(), plain.facts()),
		} {
			if diff != "" {
				t.Fatalf("seed %d: %s of\n%s(-as usual +as a plain file):\n%s", seed, what, content, diff)
			}
		}
	}
	t.Logf("of %d files %d were not plain", files, staged["s_raw AS"])
	if odd := staged["s_raw AS"]; odd < files/6 || odd > files*2/3 {
		t.Errorf("of %d files %d were not plain: the cases do not try both", files, odd)
	}
}

// TestAByteThatIsNotUTF8RejectsItsRowWhereItIsNotRead: DuckDB does not look at a column that nobody reads.
func TestAByteThatIsNotUTF8RejectsItsRowWhereItIsNotRead(t *testing.T) {
	v := open(t)
	r := rand.New(rand.NewPCG(1, 41))
	content := strings.Join(append(slices.Clone(orderHeader), "note"), ",") + "\n"
	for _, note := range []string{"Ann", "Jos\xe9", ""} {
		content += strings.Join(append(drawOrder(r), note), ",") + "\n"
	}
	for _, size := range []int64{1, math.MaxInt64} {
		v.empty()
		v.im.PlainBytes = size
		if r, err := v.load("f.csv", content); err != nil || r.Read != 3 || r.Inserted != 2 || r.Rejected["bad_utf8"] != 1 {
			t.Errorf("from %d bytes on: %v, %+v", size, err, r)
		}
	}
}

// TestNoFileIsReadInVain: a file whose fills could not be staged as those of a plain one is not read as one.
func TestNoFileIsReadInVain(t *testing.T) {
	read := 0
	v := openWith(t, func(o *engine.Options) {
		o.OnStatement = func(text string) {
			if strings.HasPrefix(text, "CREATE OR REPLACE TEMP TABLE s_fill (") {
				read++
			}
		}
	})
	v.im.PlainBytes = 1
	content := strings.Join(orderHeader, ",") + "\n" + strings.Join(drawOrder(rand.New(rand.NewPCG(1, 41))), ",") + "\n"
	for _, c := range []struct {
		what   string
		before func()
		want   int
	}{
		{"a plain file", func() {}, 1},
		{"few rows, and a directory: they are held", func() { v.im.Directory = v.names() }, 1},
		{"later times of blocks", func() {
			v.im.Directory = nil
			v.each(func(ctx context.Context, conn *sql.Conn) error {
				_, err := conn.ExecContext(ctx, "INSERT INTO block_times VALUES (1, 1700000000000000)")
				return err
			})
		}, 0},
	} {
		c.before()
		read = 0
		if _, err := v.load("f.csv", content); err != nil || read != c.want {
			t.Errorf("%s: read as a plain one %d times, want %d: %v", c.what, read, c.want, err)
		}
	}
}
