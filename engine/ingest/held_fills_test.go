package ingest_test

import (
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

// fillHeader are columns of a canonical file of fills, in the order of drawFillCells.
var fillHeader = []string{"ts", "address", "token_id", "side", "shares", "usd", "role", "transaction_hash", "log_index", "block", "fee", "fee_asset", "condition_id", "username"}

// drawFillCells returns the cells of a plain row.
func drawFillCells(r *rand.Rand) []string {
	of := func(many ...string) string { return many[r.IntN(len(many))] }
	side, asset := of("BUY", "SELL"), of("", "", "usd", "shares")
	if side == "SELL" && asset == "shares" {
		asset = ""
	}
	return []string{of("1700000000", "1700000000000", "1700000000000001", "2023-11-14T22:13:20Z", "2023-11-14T22:13:20.000001Z"),
		"0x" + strings.Repeat(of("a", "B", "3"), 40), of("71", "72", strings.Repeat("9", 78)), side,
		of("40", "40.0", "1e2", "999.123456", "1000000000.5"), of("2", "0", "0.5", "0.0000015", "2.5e-06", "20.1"), of("", "maker", "taker"),
		"0x" + strings.Repeat(of("1", "2", "e"), 64), of("", "", fmt.Sprint(r.IntN(100))), of("", "", "", "5"), of("", "0", "0.01"), asset, "", ""}
}

// oddFill changes a row so that it is not plain, or barely.
func oddFill(r *rand.Rand, row []string) []string {
	at := r.IntN(len(row))
	switch r.IntN(9) {
	case 0:
		row[at] = `"` + row[at] + `"`
	case 1:
		row[at] = ""
	case 2:
		row[at] = " " + row[at]
	case 3:
		row[at] = "0" + row[at]
	case 4:
		row[at] = strings.ToLower(row[at])
	case 5:
		row[at] += []string{".0", "é", "\r", "x", "-", "e1"}[r.IntN(6)]
	case 6:
		return row[:at]
	case 7:
		row[4+r.IntN(2)] = []string{"-1", "1000000001", "1e9", "1e400", ".5", "5.", "0.00000049999", "999999999.9999995", "12345678901234567890"}[r.IntN(9)]
	default:
		row[0] = []string{"99999", "100000", "1577836799", "2082758399.5", "99999999999", "1700000000", "2023-11-14 22:13:20", "2023-11-14T22:13:20+01:00", "2023-02-30T00:00:00Z", "2023-11-14T22:13:20.0000019Z"}[r.IntN(10)]
	}
	return row
}

// drawFillFile returns a file of fills, in most cases a plain one.
func drawFillFile(r *rand.Rand) string {
	end := []string{"\n", "\n", "\r\n"}[r.IntN(3)]
	columns := 8 + r.IntN(len(fillHeader)-7)
	order := r.Perm(columns)
	line := func(cells []string) string {
		if len(cells) < columns {
			return strings.Join(cells, ",") + end
		}
		mixed := make([]string, columns)
		for to, from := range order {
			mixed[to] = cells[from]
		}
		return strings.Join(mixed, ",") + end
	}
	header := slices.Clone(fillHeader)
	if r.IntN(4) == 0 {
		header[0], header[1], header[7] = "timestamp", "wallet", "tx"
	}
	text := line(header)
	rows := 1 + r.IntN(8)
	odd := r.IntN(3 * rows)
	for i := range rows {
		row := drawFillCells(r)
		if i == odd {
			row = oddFill(r, row)
		}
		text += line(row)
	}
	return text
}

// TestAPlainFileOfFillsIsReadAsAnyOther imports random CSV files in three ways: by statements, in Go as a large file, and
// in Go as one of few rows beside a server. Receipts, rejected rows, ids and facts are equal.
func TestAPlainFileOfFillsIsReadAsAnyOther(t *testing.T) {
	held := 0
	few, plain, usual := openWith(t, func(o *engine.Options) {
		o.OnStatement = func(text string) {
			if strings.HasPrefix(text, "CREATE OR REPLACE TEMP TABLE s_fill (") {
				held++
			}
		}
	}), open(t), open(t)
	plain.im.PlainBytes, usual.im.PlainBytes, few.im.PlainBytes = 1, math.MaxInt64, math.MaxInt64
	now, files := usual.im.Now(), testfiles.Cases(24, 60)
	all := []*intake{usual, plain, few}
	for seed := range uint64(files) {
		r := rand.New(rand.NewPCG(seed, 43))
		content, opts := drawFillFile(r), ingest.Options{DryRun: r.IntN(8) == 0}
		if r.IntN(6) == 0 {
			opts.OnError = ingest.RejectFile
		}
		var want, names string
		for i, v := range all {
			v.im.Now = func() time.Time { return now }
			if seed%8 == 0 {
				v.empty()
			}
			if v == few {
				v.im.Directory = v.names()
			}
			receipt, said, kept := v.outcome(v.write("f.csv", content), "", opts)
			got := fmt.Sprintf("%+v %s\n%v\n%v\n%v", receipt, said, kept, v.names(), v.facts())
			if i == 0 {
				want, names = got, fmt.Sprint(v.names())
				continue
			}
			if diff := cmp.Diff(want, got); diff != "" {
				t.Fatalf("seed %d: %s of\n%s(-by statements +as way %d):\n%s", seed, names, content, i, diff)
			}
		}
	}
	t.Logf("%d of %d files were read in Go", held, files)
	if held < files/5 || held > files*9/10 {
		t.Errorf("%d of %d files were read in Go: the cases do not try both", held, files)
	}
}
