package ingest_test

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"pmx/data/testfiles"
	"pmx/engine"
	"pmx/engine/ingest"
)

// oddRow changes a row in an unusual way; most changes make it unusable, or require reading it row
// by row.
func oddRow(r *rand.Rand, row *parquetRow) {
	tx := strings.Repeat("5", 64)
	switch r.IntN(16) {
	case 0:
		row.wallet = "'0x" + strings.Repeat("A", 40) + "'" // another text of the same wallet
	case 1:
		row.wallet = "'" + strings.Repeat("c", 40) + "'"
	case 2:
		row.wallet = "'0x" + strings.Repeat("x", 40) + "'"
	case 3:
		row.wallet = "NULL"
	case 4:
		row.token = "'071'"
	case 5:
		row.token = []string{"'x'", "NULL"}[r.IntN(2)]
	case 6:
		row.side = []string{"'HOLD'", "'sell'"}[r.IntN(2)]
	case 7:
		row.usd = []string{"100.5", "150", "-1", "NULL"}[r.IntN(4)]
	case 8:
		row.shares = []string{"-1", "NULL", "99999999999"}[r.IntN(3)]
	case 9:
		row.tx = []string{"''", "'x'", "NULL", "'" + tx + "'", "'0X" + tx + "'", "'none'"}[r.IntN(6)]
	case 10:
		row.ts = []string{"'2099-01-01 00:00:00+00'::TIMESTAMPTZ", "'2001-01-01 00:00:00+00'::TIMESTAMPTZ", "NULL"}[r.IntN(3)]
	case 11:
		row.block = "7"
	case 12:
		row.log = []string{"-1", "3"}[r.IntN(2)]
	case 13:
		row.condition = []string{"''", "'junk'", "'0x" + strings.Repeat("d", 62) + "'", "'0X" + strings.Repeat("D", 64) + "'"}[r.IntN(4)]
	case 14:
		row.fee = []string{"-1", "99999999999"}[r.IntN(2)]
	case 15:
		row.role, row.name = "'MAKER'", "''"
	}
}

// TestFillsStagedByTextsAreAsFillsStagedByRows imports random Parquet files whose fills are staged
// by the texts of wallets and tokens if possible, and equal files that never are: receipts, ids,
// facts and stored rows are equal.
func TestFillsStagedByTextsAreAsFillsStagedByRows(t *testing.T) {
	staged := map[string]int{}
	count := func(o *engine.Options) {
		o.OnStatement = func(text string) {
			for _, name := range []string{"s_said AS", "s_raw AS"} {
				if strings.HasPrefix(text, "CREATE OR REPLACE TEMP TABLE "+name) {
					staged[name]++
				}
			}
		}
	}
	texts, rows := openWith(t, count), open(t)
	now := texts.im.Now()
	files, names := 0, 0
	for seed := range uint64(testfiles.Cases(4, 18)) {
		r := rand.New(rand.NewPCG(seed, 31))
		texts.empty()
		rows.empty()
		for n := range 3 {
			var file []parquetRow
			for range r.IntN(8) {
				row := drawRow(r, 1+r.IntN(2), r.IntN(3))
				if r.IntN(3) == 0 {
					row.log = fmt.Sprint(r.IntN(3))
				}
				if r.IntN(2) == 0 {
					row.condition = "'0x" + strings.Repeat(row.token[2:3], 64) + "'"
				}
				if r.IntN(3) == 0 {
					row.label = "'Yes'"
				}
				if row.name != "NULL" {
					names++
				}
				file = append(file, row)
			}
			if len(file) > 0 && r.IntN(2) == 0 {
				oddRow(r, &file[r.IntN(len(file))])
			}
			files++
			name := fmt.Sprintf("f%d.parquet", n)
			rows.im.Directory = knownNames{}
			for _, v := range []*intake{texts, rows} {
				v.im.Now = func() time.Time { return now }
			}
			got, gotSaid, gotKept := texts.outcome(texts.parquet(name, file), "", ingest.Options{})
			want, wantSaid, wantKept := rows.outcome(rows.parquet(name, file), "", ingest.Options{})
			accounted(t, got)
			for what, diff := range map[string]string{
				"receipt": cmp.Diff(fmt.Sprintf("%+v %s", want, wantSaid), fmt.Sprintf("%+v %s", got, gotSaid)),
				"kept":    cmp.Diff(wantKept, gotKept),
				"ids":     cmp.Diff(rows.names(), texts.names(), cmp.AllowUnexported(knownNames{})),
				"markets": cmp.Diff(rows.lines("SELECT market, hex(condition) FROM markets ORDER BY ALL"), texts.lines("SELECT market, hex(condition) FROM markets ORDER BY ALL")),
				"facts":   cmp.Diff(rows.facts(), texts.facts()),
			} {
				if diff != "" {
					t.Fatalf("seed %d: %s of %+v (-by rows +by texts):\n%s", seed, what, file, diff)
				}
			}
		}
	}
	t.Logf("%d files: the texts of %d were read, and %d were staged by rows", files, staged["s_said AS"], staged["s_raw AS"])
	if byTexts := files - staged["s_raw AS"]; byTexts < files/2 || staged["s_raw AS"] < files/10 || names == 0 {
		t.Errorf("of %d files %d were staged by texts, with %d names: the cases do not try both", files, byTexts, names)
	}
}
