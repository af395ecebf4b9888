package ingest_test

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	gocmp "github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"pmx/data/testfiles"
	"pmx/engine"
	"pmx/engine/ingest"
)

// appendCase is a file whose fills may be appended.
type appendCase struct {
	name   string
	orders string       // a CSV file
	rows   []parquetRow // a Parquet file
}

// drawAppendCase returns the nth file of a venue, in most cases in order of time and after the files before it.
func drawAppendCase(r *rand.Rand, nth int) appendCase {
	day, rows := 1+2*nth-r.IntN(4)/3*2, 1+r.IntN(12)
	ordered, tidy := r.IntN(8) > 0, r.IntN(4) > 0
	if r.IntN(2) == 0 {
		content := [][]string{}
		for range rows {
			row := drawOrder(r)
			row[0] = fmt.Sprint(1_700_000_000 + day*86_400 + r.IntN(3))
			content = append(content, row)
		}
		if ordered {
			slices.SortStableFunc(content, func(a, b []string) int { return cmp.Compare(a[0], b[0]) })
		}
		if r.IntN(8) == 0 {
			nth := r.IntN(len(content))
			content[nth] = oddOrder(r, content[nth])
		}
		text := strings.Join(orderHeader, ",") + "\n"
		for _, row := range content {
			text += strings.Join(row, ",") + "\n"
		}
		return appendCase{name: fmt.Sprintf("f%d.csv", nth), orders: text}
	}
	logs, markets := r.IntN(3), r.IntN(3)
	var file []parquetRow
	for i := range rows {
		row := drawRow(r, max(day, 1), r.IntN(3))
		if tidy { // a transaction has one time
			row.tx = fmt.Sprintf("'0x%08d%056d'", 100*day+10*int(row.ts[19]-'0')+r.IntN(3), 0)
		}
		row.name = "NULL"
		if logs == 1 || logs == 2 && r.IntN(8) > 0 {
			row.log = fmt.Sprint(i)
			if !tidy && r.IntN(8) == 0 {
				row.log = "3"
			}
		}
		if r.IntN(8) == 0 {
			row.block = []string{"0", "7"}[r.IntN(2)]
		}
		if markets > 0 && (markets == 1 || row.token == "'71'") {
			row.condition = "'0x" + strings.Repeat(row.token[2:3], 64) + "'"
		}
		if markets == 2 && r.IntN(8) == 0 {
			row.label = "'Yes'"
		}
		file = append(file, row)
	}
	if ordered {
		slices.SortStableFunc(file, func(a, b parquetRow) int { return cmp.Compare(a.ts, b.ts) })
	}
	if r.IntN(8) == 0 {
		oddRow(r, &file[r.IntN(len(file))])
	}
	return appendCase{name: fmt.Sprintf("f%d.parquet", nth), rows: file}
}

func (c appendCase) writeTo(v *intake) string {
	if c.orders != "" {
		return v.write(c.name, c.orders)
	}
	return v.parquet(c.name, c.rows)
}

// TestAppendedFillsAreAsStagedFills imports random files into one database where fills are appended to the facts while
// they are read, if possible, and into one where all are staged: receipts, rejected rows, ids, markets and facts are
// equal.
func TestAppendedFillsAreAsStagedFills(t *testing.T) {
	staged, isStaged := 0, false
	appending, staging := openWith(t, func(o *engine.Options) {
		o.OnStatement = func(text string) {
			if strings.HasPrefix(text, "CREATE OR REPLACE TEMP TABLE s_fill ") {
				isStaged = true
			}
		}
	}), open(t)
	appending.im.PlainBytes, staging.im.PlainBytes = 1, math.MaxInt64
	now, files, equal := time.Now(), 0, 0
	for seed := range uint64(testfiles.Cases(10, 14)) {
		r := rand.New(rand.NewPCG(seed, 97))
		for _, v := range []*intake{appending, staging} {
			v.empty()
			v.im.BulkRows, v.im.Now = 1, func() time.Time { return now }
		}
		for n := range 4 {
			c, opts := drawAppendCase(r, n), ingest.Options{DryRun: r.IntN(8) == 0, Remaining: ingest.Remaining{Files: 1, Fills: 1000}}
			files++
			isStaged = false
			got, gotSaid, gotKept := appending.outcome(c.writeTo(appending), "", opts)
			want, wantSaid, wantKept := staging.outcome(c.writeTo(staging), "", opts)
			accounted(t, got)
			if isStaged {
				staged++
			}
			equal += strings.Count(staging.lines("SELECT 'x' FROM fills WHERE repeat > 1"), "x")
			for what, diff := range map[string]string{
				"receipt": gocmp.Diff(fmt.Sprintf("%+v %s", want, wantSaid), fmt.Sprintf("%+v %s", got, gotSaid)),
				"kept":    gocmp.Diff(wantKept, gotKept),
				"ids":     gocmp.Diff(staging.names(), appending.names(), gocmp.AllowUnexported(knownNames{})),
				"markets": gocmp.Diff(staging.lines("SELECT m::VARCHAR FROM markets AS m ORDER BY market"), appending.lines("SELECT m::VARCHAR FROM markets AS m ORDER BY market")),
				"tokens":  gocmp.Diff(staging.lines("SELECT t::VARCHAR FROM tokens AS t ORDER BY token"), appending.lines("SELECT t::VARCHAR FROM tokens AS t ORDER BY token")),
				"facts":   gocmp.Diff(staging.facts(), appending.facts()),
			} {
				if diff != "" {
					t.Fatalf("seed %d, file %d: %s of %+v (-staged +appended):\n%s", seed, n, what, c, diff)
				}
			}
		}
	}
	t.Logf("of %d files %d were staged; %d rows repeat another", files, staged, equal)
	if staged < files/6 || staged > files*3/4 || equal == 0 {
		t.Errorf("of %d files %d were staged, %d rows repeat another: the cases do not try both", files, staged, equal)
	}
}

func TestAFileWithSomeLogIndexesIsStagedAtOnce(t *testing.T) {
	read := false
	v := openWith(t, func(o *engine.Options) {
		o.OnStatement = func(text string) { read = read || strings.Contains(text, " AS odd\n") }
	})
	v.im.PlainBytes, v.im.BulkRows = 1, 1
	for i, c := range []struct {
		logs [2]string
		read bool
	}{{[2]string{"1", "2"}, true}, {[2]string{"NULL", "2"}, false}, {[2]string{"1", "NULL"}, false}, {[2]string{"NULL", "NULL"}, true}} {
		r := rand.New(rand.NewPCG(uint64(i), 101))
		var rows []parquetRow
		for n, log := range c.logs {
			row := drawRow(r, 2*i+1, n)
			row.tx, row.log, row.name = fmt.Sprintf("'0x%08d%056d'", 10*i+n, 0), log, "NULL"
			rows = append(rows, row)
		}
		slices.SortStableFunc(rows, func(a, b parquetRow) int { return cmp.Compare(a.ts, b.ts) })
		read = false
		receipt, said, _ := v.outcome(v.parquet(fmt.Sprintf("f%d.parquet", i), rows), "", ingest.Options{Remaining: ingest.Remaining{Files: 1, Fills: 1000}})
		if receipt.Inserted != 2 || said != "" {
			t.Fatalf("logs %v: %+v %s", c.logs, receipt, said)
		}
		if read != c.read {
			t.Errorf("logs %v: rows are read while they are appended: %v", c.logs, read)
		}
	}
}

// TestFilesAppendedTogetherAreAsIfOneByOne imports random files by day one by one, with their fills staged, and together, with
// their fills appended: receipts, the import log and facts are equal, or the files have to be imported one by one.
func TestFilesAppendedTogetherAreAsIfOneByOne(t *testing.T) {
	staged, done, appended, left := false, 0, 0, 0
	v := openWith(t, func(o *engine.Options) {
		o.OnStatement = func(text string) {
			staged = staged || strings.HasPrefix(text, "CREATE OR REPLACE TEMP TABLE s_fill ")
		}
	})
	v.im.BulkRows = 1
	for seed := range uint64(testfiles.Cases(10, 14)) {
		r := rand.New(rand.NewPCG(seed, 98))
		known := []parquetRow{drawRow(r, 1, 1)}
		known[0].condition, known[0].name = "'0x"+strings.Repeat("7", 64)+"'", "NULL"
		var files [][]parquetRow
		log := r.IntN(2) == 0
		for day := range 2 + r.IntN(3) {
			var rows []parquetRow
			for n := range r.IntN(8) {
				row := drawRow(r, day+2-r.IntN(12)/11, 0)
				row.tx, row.name = fmt.Sprintf("'0x%08d%056d'", 100*day+10*int(row.ts[19]-'0')+r.IntN(3), 0), "NULL"
				if log {
					row.log = fmt.Sprint(n)
				}
				if row.token == known[0].token {
					row.condition = known[0].condition
				}
				rows = append(rows, row)
			}
			slices.SortStableFunc(rows, func(a, b parquetRow) int { return cmp.Compare(a.ts, b.ts) })
			files = append(files, rows)
		}
		if r.IntN(6) == 0 && len(files[0]) > 0 {
			files[1] = append(files[1], files[0][0])
		}
		var plans []ingest.Plan
		for i, rows := range files {
			p, _, err := v.im.Identify(v.parquet(fmt.Sprintf("day%d.parquet", i), rows), "")
			if err != nil {
				t.Fatal(err)
			}
			plans = append(plans, p)
		}
		start := func(plainBytes int64) {
			v.empty()
			v.im.PlainBytes = math.MaxInt64
			if _, err := v.bring(v.parquet("before.parquet", known), ingest.Options{}); err != nil {
				t.Fatal(err)
			}
			v.im.PlainBytes = plainBytes
		}
		opts := ingest.Options{Remaining: ingest.Remaining{Files: 1, Fills: 1000}}
		start(math.MaxInt64)
		var one []ingest.Receipt
		for _, p := range plans {
			receipt, err := v.im.Import(t.Context(), p, opts)
			if err != nil {
				t.Fatal(err)
			}
			one = append(one, receipt)
		}
		want, wantFacts := v.inBatches(), v.facts()
		start(1)
		staged = false
		all, err := v.im.ImportTogether(t.Context(), plans, opts)
		if err != nil {
			left++
			continue
		}
		if done++; !staged {
			appended++
		}
		inner := []gocmp.Option{cmpopts.IgnoreFields(ingest.Receipt{}, "Seconds"), cmpopts.IgnoreUnexported(ingest.Receipt{})}
		for what, diff := range map[string]string{
			"receipts": gocmp.Diff(one, all, inner...), "batches": gocmp.Diff(want, v.inBatches()), "facts": gocmp.Diff(wantFacts, v.facts()),
		} {
			if diff != "" {
				t.Fatalf("seed %d: %s of %+v (-one by one +together):\n%s", seed, what, files, diff)
			}
		}
	}
	t.Logf("%d together, %d of them appended, %d left", done, appended, left)
	if appended < done/3 || appended == done || left == 0 {
		t.Errorf("%d together, %d of them appended, %d left: the cases do not try all", done, appended, left)
	}
}

// TestAnAppendThatIsCancelledLeavesNothing: not a fact, a wallet, or an entry of the log.
func TestAnAppendThatIsCancelledLeavesNothing(t *testing.T) {
	v := open(t)
	v.im.PlainBytes, v.im.BulkRows = 1, 1
	r := rand.New(rand.NewPCG(1, 97))
	var b strings.Builder
	b.WriteString(strings.Join(orderHeader, ",") + "\n")
	for range 200_000 {
		row := drawOrder(r)
		row[0] = "1700000000"
		b.WriteString(strings.Join(row, ",") + "\n")
	}
	path := v.write("f.csv", b.String())
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	plan, _, err := v.im.Identify(path, "")
	if err != nil {
		t.Fatal(err)
	}
	reports := 0
	_, err = v.im.Import(ctx, plan, ingest.Options{Progress: func(ingest.Progress) {
		if reports++; reports == 1 {
			cancel()
		}
	}})
	if !errors.Is(err, context.Canceled) {
		t.Errorf("the import ended with %v", err)
	}
	for _, table := range []string{"fills", "wallets", "tokens", "batches"} {
		if left := v.lines("FROM " + table); left != "" {
			t.Errorf("%s has %s", table, left)
		}
	}
}
