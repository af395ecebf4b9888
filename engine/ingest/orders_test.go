package ingest_test

import (
	"database/sql"
	"fmt"
	"maps"
	"math/rand/v2"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"pmx/data/testfiles"
	"pmx/engine/ingest"
)

const orderHead = "ts,block,address,token_id,side,shares,usd,role,fee,fee_asset,transaction_hash,log_index\n"

// The two times that files give for blocks 7 and 8, and one that no file gives.
const earlyTime, lateTime, otherTime = "2026-01-02T10:00:01Z", "2026-01-02T10:00:04Z", "2026-01-02T10:00:03Z"

// orderRow is a row of a fill, dated by a time or a block. A fee of 3$ is in dollars.
func orderRow(at string, content int, role, fee, tx, log string) string {
	ts, block := at, ""
	if !strings.Contains(at, "T") {
		ts, block = "", at
	}
	what := []string{"0x" + strings.Repeat("a", 40) + ",71,BUY,100,40", "0x" + strings.Repeat("b", 40) + ",72,SELL,50,30"}[content]
	asset := ""
	if amount, dollars := strings.CutSuffix(fee, "$"); dollars {
		fee, asset = amount, "usd"
	}
	return strings.Join([]string{ts, block, what, role, fee, asset, tx, log}, ",") + "\n"
}

// blockFile writes a file with a time for blocks 7 and 8.
func (v *intake) blockFile(name, at string) string {
	v.t.Helper()
	writer, err := sql.Open("duckdb", "")
	if err != nil {
		v.t.Fatal(err)
	}
	defer writer.Close()
	path := filepath.Join(v.at, name)
	if _, err := writer.Exec("COPY (SELECT unnest([7, 8]) AS block_number, '" + at + "' AS timestamp) TO '" + path + "' (FORMAT parquet)"); err != nil {
		v.t.Fatal(err)
	}
	return path
}

// exported returns the fills as in an export, in order, each after the end of its transaction's
// hash.
func (v *intake) exported() []string {
	return strings.Split(v.lines("SELECT coalesce(right(lower(hex(f.tx)), 2), ''), f.ts % 60000000 // 1000000 AS second, left(lower(hex(w.address)), 2), t.token_id, f.side, f.role, f.shares // 1000000, f.usd // 1000000, "+
		"f.fee // 1000000, left(lower(hex(f.tx)), 2), f.log_index FROM fills AS f JOIN wallets AS w USING (wallet) JOIN tokens AS t ON t.token = f.token ORDER BY ALL"), "\n")
}

// inOrder imports files in an order into an empty database and returns its fills. With twice, the
// second import of each must change nothing.
func (v *intake) inOrder(files []string, order []int, twice bool) []string {
	v.t.Helper()
	v.empty()
	var first []string
	for range 1 + map[bool]int{true: 1}[twice] {
		for _, nth := range order {
			if r, err := v.bring(files[nth], ingest.Options{}); err != nil || r.Warning != "" || accounted(v.t, r) != r.Read {
				v.t.Fatalf("%s: err = %v, r = %+v", files[nth], err, r)
			}
		}
		got := v.exported()
		if first == nil {
			first = got
		}
		if diff := cmp.Diff(first, got); diff != "" {
			v.t.Errorf("order %v: imported twice:\n%s", order, diff)
		}
	}
	return first
}

// orderCase has rows of one transaction, each for a separate file, and the resulting fills.
type orderCase struct {
	rows []string
	want string
}

// try imports the files of all cases together, with a different transaction for each, in every
// order.
func (v *intake) try(cases map[string]orderCase) {
	v.t.Helper()
	names := slices.Sorted(maps.Keys(cases))
	of := func(nth int) string { return fmt.Sprintf("%02x", 0x40+nth) } // the end of a case's hash
	texts, blocks := []string{}, false
	for nth, name := range names {
		for i, row := range cases[name].rows {
			if len(texts) == i {
				texts = append(texts, "")
			}
			if strings.HasPrefix(row, "blocks ") {
				blocks = true
				continue
			}
			texts[i] += strings.ReplaceAll(row, hashOne, strings.TrimSuffix(hashOne, "11")+of(nth))
		}
	}
	files := []string{v.blockFile("late.parquet", lateTime)}
	for i, text := range texts {
		if i == 0 && blocks {
			files = append(files, v.blockFile("blocks.parquet", earlyTime))
			continue
		}
		files = append(files, v.write(fmt.Sprintf("fills%d.csv", i), orderHead+text))
	}
	twice := true
	permutations(len(texts), func(order []int) {
		steps := []int{0}
		for _, nth := range order {
			steps = append(steps, nth+1)
		}
		got := map[string]string{}
		for _, line := range v.inOrder(files, steps, twice) {
			if end, fill, ok := strings.Cut(line, "|"); ok {
				got[end] += strings.TrimSpace(fill) + " "
			}
		}
		twice = false
		for nth, name := range names {
			end := of(nth)
			if !strings.Contains(strings.Join(cases[name].rows, ""), hashOne) {
				end = ""
			}
			if got[end] != cases[name].want {
				v.t.Errorf("%s, order %v: got[end] = %s, want %s", name, order, got[end], cases[name].want)
			}
		}
	})
}

// TestFillsDoNotDependOnTheOrderOfFiles imports a few sets of rows one by one, in every order, each
// row in a separate file. A short run imports the sets together, as if they came from one source.
func TestFillsDoNotDependOnTheOrderOfFiles(t *testing.T) {
	testfiles.InLong(t, "TestAnyOrderAndSplitOfFillsGivesTheSame imports random rows that contradict each other")
	const a, b = 0, 1
	v := open(t)
	fill := func(second string, content int, role, fee, log string) string {
		return second + []string{"|aa|71|0|", "|bb|72|1|"}[content] + role + []string{"|100|40|", "|50|30|"}[content] + fee + "|11|" + log + "| "
	}
	cases := map[string]orderCase{
		"one without a log index that equals the loser of a log": {[]string{orderRow(earlyTime, b, "", "", hashOne, ""), orderRow(earlyTime, b, "", "", hashOne, "5"),
			orderRow(earlyTime, a, "", "", hashOne, "5")}, fill("1", a, "0", "0", "5")},
		"one that equals a loser of another time": {[]string{orderRow(lateTime, a, "", "", hashOne, ""), orderRow(lateTime, a, "taker", "3", hashOne, "5"),
			orderRow(earlyTime, a, "", "", hashOne, "5")}, fill("1", a, "0", "0", "5")},
		"a block's other time": {[]string{"blocks " + earlyTime, orderRow("7", a, "", "", hashOne, "5"), orderRow(earlyTime, b, "", "", hashOne, "6")},
			fill("1", a, "0", "0", "5") + fill("1", b, "0", "0", "6")},
		"a block's other time, known beside": {[]string{"blocks " + earlyTime, orderRow("7", a, "", "", hashOne, "5"), orderRow(lateTime, a, "maker", "2", hashOne, "5")},
			fill("1", a, "1", "2", "5")},
		"another log of the block": {[]string{"blocks " + earlyTime, orderRow("7", a, "", "", hashOne, "5"), orderRow(lateTime, b, "maker", "2", hashOne, "")},
			fill("1", a, "0", "0", "5") + fill("1", b, "1", "2", "")},
		"a loser that the block lets win": {[]string{"blocks " + earlyTime, orderRow("7", a, "taker", "", hashOne, "5"), orderRow(otherTime, b, "maker", "2", hashOne, "5")},
			fill("1", a, "2", "0", "5")},
		"no log index, dated by the block": {[]string{"blocks " + earlyTime, orderRow("7", a, "", "1", hashOne, ""), orderRow(lateTime, a, "maker", "", hashOne, "")},
			fill("1", a, "1", "1", "")},
		"a log index without a transaction": {[]string{orderRow(earlyTime, a, "", "", "", "5") + orderRow(earlyTime, b, "", "", "", "5")},
			strings.ReplaceAll(fill("1", a, "0", "0", "")+fill("1", b, "0", "0", ""), "|11|", "||")},
		"one file, several times that are one": {[]string{"blocks " + earlyTime,
			orderRow(lateTime, a, "maker", "", hashOne, "") + orderRow(earlyTime, a, "", "2", hashOne, "") + orderRow("7", b, "", "", hashOne, "")},
			fill("1", a, "1", "2", "") + fill("1", b, "0", "0", "")},
		"one file, a time and a block without one": {[]string{"blocks " + earlyTime, orderRow("7", a, "", "", hashOne, "") + orderRow(lateTime, a, "", "", hashOne, "")},
			fill("1", a, "0", "0", "")},
		"one file, the time that stands and a block": {[]string{"blocks " + earlyTime, orderRow("7", a, "", "", hashOne, "") + orderRow(earlyTime, a, "", "", hashOne, "")},
			fill("1", a, "0", "0", "")},
		"one file, two of one time, one of another": {[]string{"blocks " + earlyTime, orderRow("7", a, "", "", hashOne, "") + orderRow("7", a, "", "", hashOne, "") +
			orderRow(earlyTime, a, "", "", hashOne, "")}, fill("1", a, "0", "0", "") + fill("1", a, "0", "0", "")},
		"one file, a log and a row of each time": {[]string{"blocks " + earlyTime, orderRow("7", a, "", "", hashOne, "5") + orderRow(earlyTime, a, "", "", hashOne, "5") +
			orderRow("7", a, "", "", hashOne, "") + orderRow(earlyTime, a, "", "", hashOne, "")}, fill("1", a, "0", "0", "5") + fill("1", a, "0", "0", "")},
		"one file, a row that equals a loser of another time": {[]string{"blocks " + earlyTime, orderRow(earlyTime, b, "", "", hashOne, "") +
			orderRow(earlyTime, a, "", "", hashOne, "6") + orderRow("7", b, "", "", hashOne, "6")}, fill("1", a, "0", "0", "6")},
		"one file, a row that equals a loser": {[]string{orderRow(earlyTime, b, "", "", hashOne, "") + orderRow(earlyTime, a, "", "", hashOne, "6") +
			orderRow(earlyTime, b, "", "", hashOne, "6"), orderRow(earlyTime, b, "", "", hashOne, "")}, fill("1", a, "0", "0", "6") + fill("1", b, "0", "0", "")},
		"fees in tokens and in dollars of one log": {[]string{orderRow(earlyTime, a, "", "3", hashOne, "5"), orderRow(earlyTime, a, "", "1$", hashOne, "5"),
			orderRow(earlyTime, a, "", "2$", hashOne, "5"), orderRow(earlyTime, a, "", "", hashOne, "5")}, fill("1", a, "0", "-2", "5")},
		"fees in tokens and in dollars, without a log index": {[]string{orderRow(earlyTime, a, "", "3", hashOne, ""), orderRow(earlyTime, a, "", "1$", hashOne, ""),
			orderRow(earlyTime, a, "", "2$", hashOne, ""), orderRow(earlyTime, a, "", "", hashOne, "")}, fill("1", a, "0", "-2", "")},
		"equal fills in two files": {[]string{orderRow(earlyTime, a, "maker", "", hashOne, "") + orderRow(earlyTime, a, "taker", "3", hashOne, ""),
			orderRow(earlyTime, a, "taker", "3", hashOne, "") + orderRow(earlyTime, a, "maker", "", hashOne, ""), orderRow(earlyTime, a, "", "", hashOne, "")},
			fill("1", a, "1", "0", "") + fill("1", a, "2", "3", "")},
	}
	together := map[string]map[string]orderCase{}
	for name, c := range cases {
		with := name // if the transaction is unknown, the case is imported alone
		switch {
		case testfiles.Long() || !strings.Contains(strings.Join(c.rows, ""), hashOne):
		case strings.HasPrefix(c.rows[0], "blocks "):
			with = "with times of blocks"
		default:
			with = "without"
		}
		if together[with] == nil {
			together[with] = map[string]orderCase{}
		}
		together[with][name] = c
	}
	for with, cases := range together {
		t.Run(with, func(t *testing.T) {
			v.t = t
			v.try(cases)
		})
	}
}

// drawFile draws the rows of a file of fills of one or two transactions. Each transaction is dated
// in one way or, as no good source does, each row in a different way. repeats: equal rows are
// separate fills.
func drawFile(r *rand.Rand, repeats bool) (rows []string) {
	pick := func(of ...string) string { return of[r.IntN(len(of))] }
	type fill struct {
		tx, content int
		log         string
	}
	times := []string{pick("7", "7", earlyTime, lateTime, otherTime), pick("8", lateTime)}
	mixed := r.IntN(2) == 0
	seen, bare := map[fill]bool{}, map[[2]int]int{}
	for range 1 + r.IntN(4) {
		f := fill{r.IntN(5) / 4, r.IntN(2), pick("", "", "5", "6")}
		key := [2]int{f.tx, f.content}
		if !repeats && (bare[key] > 0 || f.log == "" && len(seen) > 0) {
			continue // a second such row is another fill in this file, and the same one in another
		}
		seen[f] = true
		if f.log == "" {
			bare[key]++
		}
		if mixed {
			times = []string{pick("7", "7", earlyTime, lateTime, otherTime), pick("8", "8", earlyTime, lateTime)}
		}
		rows = append(rows, orderRow(times[f.tx], f.content, pick("", "maker", "taker"), pick("", "2", "3", "2$", "3$"), []string{hashOne, hashTwo}[f.tx], f.log))
	}
	return rows
}

// TestAnyOrderAndSplitOfFillsGivesTheSame draws files of fills that share logs, repeat and
// contradict each other, and two times of their blocks.
func TestAnyOrderAndSplitOfFillsGivesTheSame(t *testing.T) {
	v := open(t)
	early, late := v.blockFile("early.parquet", earlyTime), v.blockFile("late.parquet", lateTime)
	for seed := range uint64(testfiles.Cases(1, 4)) {
		r := rand.New(rand.NewPCG(seed, 11))
		files, repeats := []string{early, late}, seed%3 > 0
		split := slices.Clone(files)
		var texts []string
		for i := range 2 + r.IntN(3) {
			rows := drawFile(r, repeats)
			texts = append(texts, strings.Join(rows, ""))
			files = append(files, v.write(fmt.Sprintf("fills%d.csv", i), orderHead+texts[i]))
			for n, row := range rows {
				split = append(split, v.write(fmt.Sprintf("row%d-%d.csv", i, n), orderHead+row))
			}
		}
		var want []string
		try := func(files []string) {
			for i, text := range texts { // the order of rows does not matter either
				rows := slices.Collect(strings.Lines(text))
				r.Shuffle(len(rows), func(a, b int) { rows[a], rows[b] = rows[b], rows[a] })
				v.write(fmt.Sprintf("fills%d.csv", i), orderHead+strings.Join(rows, ""))
			}
			// Rows with a block are rejected before any time of the block is known.
			order := append([]int{r.IntN(2)}, r.Perm(len(files))...)
			got := v.inOrder(files, order, r.IntN(6) == 0)
			if want == nil {
				want = got
			}
			if diff := cmp.Diff(want, got); diff != "" {
				t.Fatalf("seed %d, order %v of\n%s\ndiffer:\n%s", seed, order, strings.Join(texts, "--\n"), diff)
			}
		}
		for range testfiles.Cases(2, 4) {
			try(files)
			if !repeats {
				try(split)
			}
		}
	}
}

// TestFillsThatAreOneNowAreInTheReceipt: a later file of blocks gives two fills the same time.
func TestFillsThatAreOneNowAreInTheReceipt(t *testing.T) {
	v := open(t)
	rows := orderHead + orderRow(earlyTime, 0, "", "", hashOne, "") + orderRow("7", 0, "", "", hashOne, "")
	for i, want := range []ingest.Receipt{{}, {Inserted: 2}, {Merged: 1}, {AlreadyThere: 1, Identical: 1}} {
		file := []string{v.blockFile("late.parquet", lateTime), v.write("fills.csv", rows), v.blockFile("early.parquet", earlyTime), v.write("fills.csv", rows)}[i]
		r, err := v.bring(file, ingest.Options{})
		if err != nil || r.Warning != "" {
			t.Fatal(err, r.Warning)
		}
		if r.Inserted != want.Inserted || r.Merged != want.Merged || i == 3 && (r.AlreadyThere != want.AlreadyThere || r.Identical != want.Identical) {
			t.Errorf("file %d: inserted %d, merged %d, already there %d, identical %d, want %+v", i, r.Inserted, r.Merged, r.AlreadyThere, r.Identical, want)
		}
	}
}
