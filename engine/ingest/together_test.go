package ingest_test

import (
	"cmp"
	"context"
	"database/sql"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	gocmp "github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"pmx/data/testfiles"
	"pmx/engine/ingest"
)

// parquetRow is a row of a canonical file of fills, as SQL.
type parquetRow struct {
	ts, block, wallet, token, side, shares, usd, fee, role, tx, log, condition, name, label string

	outcome string // "": 0
}

// parquet writes rows to a canonical file.
func (v *intake) parquet(name string, rows []parquetRow) string {
	v.t.Helper()
	writer, err := sql.Open("duckdb", "")
	if err != nil {
		v.t.Fatal(err)
	}
	defer writer.Close()
	selects := []string{"SELECT * FROM (SELECT NULL::TIMESTAMPTZ AS ts, NULL::BIGINT AS block, NULL::VARCHAR AS address, NULL::VARCHAR AS token_id, NULL::VARCHAR AS side, " +
		"NULL::DECIMAL(18, 6) AS shares, NULL::DECIMAL(18, 6) AS usd, NULL::DECIMAL(18, 6) AS fee, NULL::VARCHAR AS role, NULL::VARCHAR AS transaction_hash, " +
		"NULL::INTEGER AS log_index, NULL::VARCHAR AS condition_id, 1::TINYINT AS outcome_index, NULL::VARCHAR AS username, NULL::VARCHAR AS outcome_label) WHERE false"}
	for _, r := range rows {
		decimal := func(text string) string { return text + "::DECIMAL(18, 6)" }
		selects = append(selects, "SELECT "+strings.Join([]string{r.ts, r.block, r.wallet, r.token, r.side, decimal(r.shares), decimal(r.usd), decimal(r.fee), r.role, r.tx,
			r.log, r.condition, cmp.Or(r.outcome, "0") + "::TINYINT", r.name, r.label}, ", "))
	}
	path := filepath.Join(v.at, name)
	if _, err := writer.Exec("SET TimeZone = 'UTC'; COPY (" + strings.Join(selects, " UNION ALL ") + ") TO '" + path + "' (FORMAT parquet)"); err != nil {
		v.t.Fatal(err)
	}
	return path
}

// drawRow draws a row with few possible values; day and tx mostly distinguish files.
func drawRow(r *rand.Rand, day, tx int) parquetRow {
	of := func(many ...string) string { return many[r.IntN(len(many))] }
	row := parquetRow{ts: fmt.Sprintf("'2026-01-%02d 10:00:0%d+00'::TIMESTAMPTZ", day, r.IntN(2)), block: "NULL",
		wallet: "'0x" + strings.Repeat(of("a", "b"), 40) + "'", token: "'7" + of("1", "2") + "'", side: "'BUY'", shares: "100", usd: of("40", "41"),
		fee: of("NULL", "1", "2"), role: of("NULL", "'maker'", "'taker'"), tx: fmt.Sprintf("'0x%064d'", tx), log: "NULL", condition: "NULL", name: "NULL", label: "NULL"}
	if r.IntN(12) == 0 {
		row.name = of("'ann'", "'bob'")
	}
	return row
}

// togetherCase draws a few files of fills and one that is imported before them. Quiet ones are more
// likely to be importable together.
func togetherCase(r *rand.Rand) (before []parquetRow, files [][]parquetRow) {
	quiet, logs, labels := r.IntN(4) > 0, r.IntN(3), r.IntN(3)
	label := func(row *parquetRow) {
		if labels > 0 {
			row.label = map[string]string{"'71'": "'Yes'", "'72'": "'No'"}[row.token]
		}
		if labels == 2 {
			row.condition = "'0x" + strings.Repeat(row.token[2:3], 64) + "'"
		}
	}
	if labels > 0 && (quiet || r.IntN(2) == 0) { // they are known
		for _, token := range []string{"'71'", "'72'"} {
			row := drawRow(r, 20, 20)
			row.token = token
			label(&row)
			before = append(before, row)
		}
	}
	for day := range 2 + r.IntN(3) {
		var rows []parquetRow
		for n := range r.IntN(6) {
			day, tx := day+1, 10*(day+1)+r.IntN(3)
			if !quiet && r.IntN(8) == 0 {
				day, tx = 1, 10
			}
			row := drawRow(r, day, tx)
			label(&row)
			if logs == 1 || logs == 2 && r.IntN(2) == 0 {
				row.log = fmt.Sprint(n)
				if !quiet && r.IntN(8) == 0 {
					row.log = "1"
				}
			}
			if !quiet && r.IntN(30) == 0 {
				row.condition = "'0x" + strings.Repeat("c", 64) + "'"
			}
			if !quiet && r.IntN(30) == 0 {
				row.side = "'HOLD'"
			}
			if !quiet && r.IntN(30) == 0 {
				row.block = "7"
			}
			rows = append(rows, row)
			if r.IntN(6) == 0 && (row.log == "NULL" || !quiet) {
				rows = append(rows, row) // equal rows of one file are separate fills
			}
			if r.IntN(4) == 0 {
				known := row
				known.role, known.fee = []string{"NULL", "'taker'"}[r.IntN(2)], []string{"NULL", "2"}[r.IntN(2)]
				if r.IntN(3) == 0 {
					known.log = "NULL"
				}
				before = append(before, known)
			}
		}
		files = append(files, rows)
	}
	return before, files
}

// inBatches returns the fills with their batches, and the import log.
func (v *intake) inBatches() string {
	return v.lines("SELECT f.batch, f.ts, lower(hex(w.address)), t.token_id, f.role, f.fee, hex(f.tx), f.log_index, f.repeat FROM fills AS f "+
		"JOIN wallets AS w USING (wallet) JOIN tokens AS t ON t.token = f.token ORDER BY ALL") +
		v.lines("SELECT * EXCLUDE (imported_at, receipt), regexp_replace(receipt, '\"seconds\":[^,]*', '') FROM batches ORDER BY batch")
}

// TestFilesImportedTogetherAreAsIfOneByOne imports random files together and one by one: the facts,
// the import log and every receipt are equal, or nothing is imported and they have to be imported
// one by one. A dry run changes nothing and gives the same receipts.
func TestFilesImportedTogetherAreAsIfOneByOne(t *testing.T) {
	ctx := context.Background()
	v := open(t)
	done, left, known, better, labelled, enough := 0, 0, 0, 0, 0, testfiles.Cases(1, 3)
	for seed := range uint64(testfiles.Cases(10, 14)) {
		r := rand.New(rand.NewPCG(seed, 5))
		before, files := togetherCase(r)
		first := v.parquet("before.parquet", before)
		start := func() {
			v.empty()
			if _, err := v.bring(first, ingest.Options{}); err != nil {
				t.Fatal(err)
			}
		}
		var plans []ingest.Plan
		for i, rows := range files {
			p, _, err := v.im.Identify(v.parquet(fmt.Sprintf("day%d.parquet", i), rows), "")
			if err != nil {
				t.Fatal(err)
			}
			plans = append(plans, p)
		}
		if groups := ingest.Groups(plans); len(groups) != 1 {
			t.Fatalf("%d groups of %d files", len(groups), len(plans))
		}
		start()
		var one []ingest.Receipt
		for _, p := range plans {
			receipt, err := v.im.Import(ctx, p, ingest.Options{})
			if err != nil {
				t.Fatal(err)
			}
			accounted(t, receipt)
			one = append(one, receipt)
		}
		wantFacts, wantBatches := v.facts(), v.inBatches()

		start()
		untouched := v.inBatches()
		dry, dryErr := v.im.ImportTogether(ctx, plans, ingest.Options{DryRun: true})
		if diff := gocmp.Diff(untouched, v.inBatches()); diff != "" {
			t.Fatalf("seed %d: a dry run changed:\n%s", seed, diff)
		}
		all, err := v.im.ImportTogether(ctx, plans, ingest.Options{})
		if (dryErr == nil) != (err == nil) {
			t.Fatalf("seed %d: dry: %v, else: %v", seed, dryErr, err)
		}
		if err != nil {
			left++
			if diff := gocmp.Diff(untouched, v.inBatches()); diff != "" {
				t.Fatalf("seed %d: files that are left (%v) changed:\n%s", seed, err, diff)
			}
			continue
		}
		done++
		if slices.ContainsFunc(slices.Concat(files...), func(r parquetRow) bool { return r.label != "NULL" }) {
			labelled++
		}
		for i := range all {
			known, better = known+int(all[i].AlreadyThere), better+int(all[i].Replaced)
			if !dry[i].DryRun {
				t.Error("the receipt of a dry run does not say so")
			}
			dry[i].DryRun = false
		}
		inner := []gocmp.Option{cmpopts.IgnoreFields(ingest.Receipt{}, "Seconds"), cmpopts.IgnoreUnexported(ingest.Receipt{})}
		if diff := gocmp.Diff(one, all, inner...); diff != "" {
			t.Fatalf("seed %d: receipts, one by one and together:\n%s", seed, diff)
		}
		if diff := gocmp.Diff(all, dry, inner...); diff != "" {
			t.Fatalf("seed %d: receipts, together and of a dry run:\n%s", seed, diff)
		}
		if diff := gocmp.Diff(wantFacts, v.facts()); diff != "" {
			t.Fatalf("seed %d: facts:\n%s", seed, diff)
		}
		if diff := gocmp.Diff(wantBatches, v.inBatches()); diff != "" {
			t.Fatalf("seed %d: batches:\n%s", seed, diff)
		}
		if done >= enough && left >= enough && known > 0 && better > 0 && labelled > 0 && !testfiles.Long() {
			break // a short run ends with the first cases that try everything
		}
	}
	t.Logf("%d together, %d of them with labels, %d left, %d rows known, %d better", done, labelled, left, known, better)
	if done < enough || left < enough || known == 0 || better == 0 || labelled == 0 {
		t.Errorf("%d cases together, %d left, %d rows known, %d better, %d cases with labels: the cases do not try everything", done, left, known, better, labelled)
	}
}

// TestWhatKeepsFilesFromBeingImportedTogether has pairs of files with one fill each, and a reason
// for which they must be imported one by one.
func TestWhatKeepsFilesFromBeingImportedTogether(t *testing.T) {
	ctx := context.Background()
	v := open(t)
	row := func(day int, change func(*parquetRow)) parquetRow {
		r := drawRow(rand.New(rand.NewPCG(1, 1)), day, day)
		r.log, r.name = "NULL", "NULL"
		if change != nil {
			change(&r)
		}
		return r
	}
	ofLog := func(r *parquetRow) { r.tx, r.log = "'0x"+strings.Repeat("9", 64)+"'", "3" }
	ofMarket := func(digit string) func(*parquetRow) {
		return func(r *parquetRow) { r.tx, r.token, r.condition = "NULL", "'71'", "'0x"+strings.Repeat(digit, 64)+"'" }
	}
	for name, c := range map[string]struct {
		rows []parquetRow
		with []parquetRow // after the first file's row
		want bool
	}{
		"nothing":                 {[]parquetRow{row(2, nil)}, nil, true},
		"an equal fill":           {[]parquetRow{row(1, nil)}, nil, false},
		"a row of the same log":   {[]parquetRow{row(2, ofLog)}, []parquetRow{row(1, ofLog)}, false},
		"a row to reject":         {[]parquetRow{row(2, func(r *parquetRow) { r.side = "'HOLD'" })}, nil, false},
		"a market":                {[]parquetRow{row(2, ofMarket("c"))}, nil, true},
		"another market":          {[]parquetRow{row(2, ofMarket("c"))}, []parquetRow{row(1, ofMarket("d"))}, false},
		"a label":                 {[]parquetRow{row(2, func(r *parquetRow) { r.label = "'Yes'" })}, nil, false},
		"a time only a block has": {[]parquetRow{row(2, func(r *parquetRow) { r.ts, r.block = "NULL", "7" })}, nil, false},
		"no row":                  {nil, nil, true},
	} {
		t.Run(name, func(t *testing.T) {
			v.empty()
			var plans []ingest.Plan
			for i, rows := range [][]parquetRow{append([]parquetRow{row(1, nil)}, c.with...), c.rows} {
				p, _, err := v.im.Identify(v.parquet(fmt.Sprintf("f%d.parquet", i), rows), "")
				if err != nil {
					t.Fatal(err)
				}
				p.Name = fmt.Sprintf("file %d", i)
				plans = append(plans, p)
			}
			receipts, err := v.im.ImportTogether(ctx, plans, ingest.Options{})
			if (err == nil) != c.want {
				t.Fatalf("%v, imported together: want %v", err, c.want)
			}
			fills := v.lines("SELECT count(*) FROM fills")
			if err != nil && fills != "0|\n" {
				t.Errorf("%s fills were imported nevertheless", fills)
			}
			if err == nil && (len(receipts) != 2 || receipts[1].File != "file 1" || receipts[1].Read != int64(len(c.rows)) || receipts[1].Inserted != int64(len(c.rows))) {
				t.Errorf("receipts = %+v", receipts)
			}
		})
	}
}

// TestAFileThatChangedIsNotImportedTogether replaces one of two planned files with a file of other
// columns, and with an invalid one.
func TestAFileThatChangedIsNotImportedTogether(t *testing.T) {
	ctx := context.Background()
	v := open(t)
	draw := rand.New(rand.NewPCG(2, 2))
	var plans []ingest.Plan
	for i := range 2 {
		p, _, err := v.im.Identify(v.parquet(fmt.Sprintf("f%d.parquet", i), []parquetRow{drawRow(draw, i+1, i)}), "")
		if err != nil {
			t.Fatal(err)
		}
		plans = append(plans, p)
	}
	for name, change := range map[string]func(path string) error{
		"other columns": func(path string) error { return os.Rename(v.blockFile("blocks.parquet", earlyTime), path) },
		"no Parquet":    func(path string) error { return os.WriteFile(path, []byte("PAR1 no more"), 0o600) },
		"gone":          os.Remove,
	} {
		v.parquet("f1.parquet", []parquetRow{drawRow(draw, 2, 2)})
		if err := change(plans[1].Path); err != nil {
			t.Fatal(err)
		}
		if r, err := v.im.ImportTogether(ctx, plans, ingest.Options{}); err == nil {
			t.Errorf("%s: %+v", name, r)
		}
		if got := v.lines("SELECT count(*) FROM fills"); got != "0|\n" {
			t.Errorf("%s: %s fills were imported", name, got)
		}
	}
	left, err := filepath.Glob(filepath.Join(v.im.DB.Dir().Tmp(), "import-*"))
	if err != nil || len(left) > 0 {
		t.Errorf("left in tmp: %v %v", left, err)
	}
}

// TestGroups divides plans by feed, columns and the sum of rows.
func TestGroups(t *testing.T) {
	v := open(t)
	p, _, err := v.im.Identify(v.parquet("a.parquet", nil), "")
	if err != nil {
		t.Fatal(err)
	}
	csv, _, err := v.im.Identify(v.write("a.csv", orderHead), "")
	if err != nil {
		t.Fatal(err)
	}
	with := func(change func(*ingest.Plan)) ingest.Plan {
		next := p
		next.Head.Types = slices.Clone(p.Head.Types)
		change(&next)
		return next
	}
	one := with(func(p *ingest.Plan) { p.Rows = 1 })
	large, other := with(func(p *ingest.Plan) { p.Rows = 1_000_000 }), with(func(p *ingest.Plan) { p.Head.Types[0] = "STRING" })
	for name, c := range map[string]struct {
		plans []ingest.Plan
		want  []int
	}{
		"none":          {nil, nil},
		"alike":         {[]ingest.Plan{p, p, p}, []int{3}},
		"text":          {[]ingest.Plan{csv, csv}, []int{1, 1}},
		"text among":    {[]ingest.Plan{p, csv, p, p}, []int{1, 1, 2}},
		"many rows":     {[]ingest.Plan{large, large, p, large}, []int{3, 1}},
		"a row more":    {[]ingest.Plan{large, large, one, large}, []int{2, 2}},
		"other columns": {[]ingest.Plan{p, other, other, p}, []int{1, 2, 1}},
		"many files":    {slices.Repeat([]ingest.Plan{p}, 2_500), []int{1_000, 1_000, 500}},
	} {
		var got []int
		for _, run := range ingest.Groups(c.plans) {
			got = append(got, len(run))
		}
		if !slices.Equal(got, c.want) {
			t.Errorf("%s: groups of %v files, want %v", name, got, c.want)
		}
	}
}
