package ingest_test

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"pmx/data/testfiles"
	"pmx/engine/ingest"
)

const (
	yes = `["1","0"]`
	no  = `["0","1"]`
	won = "condition_id,payouts,source,version,resolved_at,resolved_at_source,corrected_at\n"
)

// says is a row of a list of winners.
func says(payouts, source, version string) string { return saysAt(payouts, source, version, "") }

func saysAt(payouts, source, version, at string) string {
	by := ""
	if at != "" {
		by = "oracle"
	}
	return fmt.Sprintf("%s,\"%s\",%s,%s,%s,%s,\n", hashTwo, strings.ReplaceAll(payouts, `"`, `""`), source, version, at, by)
}

func (v *intake) list(opts ingest.Options, rows ...string) ingest.Receipt {
	v.t.Helper()
	r, err := v.bring(v.write("winners.csv", won+strings.Join(rows, "")), opts)
	if err != nil {
		v.t.Fatal(err)
	}
	return r
}

// kept returns the rows of the receipt's file of rejected rows, as line, reason and raw.
func (v *intake) kept(r ingest.Receipt) (out []string) {
	v.t.Helper()
	text, err := os.ReadFile(r.RejectedFile)
	if err != nil {
		v.t.Fatal(err)
	}
	for line := range strings.Lines(string(text)) {
		var row struct {
			Line        int
			Reason, Raw string
		}
		if err := json.Unmarshal([]byte(line), &row); err != nil {
			v.t.Fatal(err)
		}
		out = append(out, fmt.Sprintf("%d %s %s", row.Line, row.Reason, row.Raw))
	}
	return out
}

func (v *intake) winner() string {
	v.t.Helper()
	for _, row := range v.facts()["markets"] {
		if strings.Contains(row, "'payouts': [1000000, 0]") {
			return yes
		}
		if strings.Contains(row, "'payouts': [0, 1000000]") {
			return no
		}
	}
	return ""
}

// TestAConflictOfPayoutsIsNamedAndSettled: different payouts with equal source and version are a
// conflict, whichever came first. --correct settles it, and importing the corrected list again does
// not change that.
func TestAConflictOfPayoutsIsNamedAndSettled(t *testing.T) {
	for _, first := range []string{yes, no} {
		v := open(t)
		second := map[string]string{yes: no, no: yes}[first]
		if r := v.list(ingest.Options{}, says(first, "map", "")); r.Conflicts != 0 || r.RejectedFile != "" {
			t.Fatalf("the first list: %+v", r)
		}
		for _, dry := range []bool{true, false, false} {
			r := v.list(ingest.Options{DryRun: dry, OnError: ingest.RejectFile}, says(second, "map", ""))
			again := r.Conflicts == 0 && second == v.winner() // it is used since the first time
			if !again && (r.Conflicts != 1 || !slices.Equal(r.ConflictMarkets, []string{hashTwo}) || r.RejectedRows() != 0 || r.Read != 1) {
				t.Errorf("%s after %s, dry run %t: %+v, want a conflict", second, first, dry, r)
			}
			if !dry && !again && !strings.HasPrefix(v.kept(r)[0], `2 conflict {"condition_id":"`+hashTwo+`","payouts":`+second) {
				t.Errorf("kept %v", v.kept(r))
			}
		}
		if got := v.winner(); got != yes {
			t.Errorf("%s, then %s: %s is in force, want the larger", first, second, got)
		}
		for _, right := range []string{no, yes, no}[:testfiles.Cases(map[string]int{yes: 2, no: 1}[first], 3)] {
			wrong := map[string]string{yes: no, no: yes}[right]
			if r := v.list(ingest.Options{Correct: true}, says(right, "map", "")); r.Conflicts+r.Overruled != 0 || v.winner() != right {
				t.Errorf("correct to %s: %s is in force, %+v", right, v.winner(), r)
			}
			held := v.facts()
			if r := v.list(ingest.Options{Correct: true}, says(right, "map", "")); r.Resolutions+r.MarketsChanged+r.Conflicts != 0 {
				t.Errorf("the same correction twice: %+v", r)
			}
			if r := v.list(ingest.Options{}, says(wrong, "map", "")); r.Conflicts != 1 || len(v.kept(r)) != 1 {
				t.Errorf("the list that was corrected again: %+v, want a conflict", r)
			}
			if r := v.list(ingest.Options{}, says(right, "map", "")); r.Conflicts != 0 {
				t.Errorf("the right list without the flag: %+v", r)
			}
			if diff := cmp.Diff(held, v.facts()); diff != "" {
				t.Errorf("what was corrected to %s has changed:\n%s", right, diff)
			}
		}
	}
}

// TestACorrectionKeepsItsRank: it overrules equal and later versions of its source, but not a
// better source and not versions after the correction.
func TestACorrectionKeepsItsRank(t *testing.T) {
	v := open(t)
	v.list(ingest.Options{}, says(yes, "winner", "2026-02-01T00:00:00Z"))
	if r := v.list(ingest.Options{Correct: true}, says(no, "map", "")); r.Overruled != 1 || r.Conflicts != 0 || v.winner() != yes {
		t.Errorf("a correction of a weaker source: %+v, %s is in force", r, v.winner())
	}
	if r := v.list(ingest.Options{}, says(no, "winner", "2026-01-01T00:00:00Z")); r.Overruled != 1 || r.Conflicts != 0 || v.winner() != yes {
		t.Errorf("an earlier version: %+v, %s is in force", r, v.winner())
	}
	if r := v.list(ingest.Options{Correct: true}, says(no, "winner", "2026-01-01T00:00:00Z")); r.Overruled != 0 || v.winner() != no {
		t.Errorf("a correction by an earlier version: %+v, %s is in force", r, v.winner())
	}
	if r := v.list(ingest.Options{}, says(yes, "winner", "2026-02-01T00:00:00Z")); r.Conflicts != 1 || v.winner() != no {
		t.Errorf("what was corrected, again: %+v, %s is in force", r, v.winner())
	}
	if r := v.list(ingest.Options{}, says(yes, "winner", "2100-01-01T00:00:00Z")); r.Conflicts+r.Overruled != 0 || v.winner() != yes {
		t.Errorf("a version later than the correction: %+v, %s is in force", r, v.winner())
	}
	if r := v.list(ingest.Options{Correct: true}, says(no, "winner", "")); r.Conflicts+r.Overruled != 0 || v.winner() != no {
		t.Errorf("a correction of a version ahead of the clock: %+v, %s is in force", r, v.winner())
	}
}

// TestAFileThatContradictsItself: the row that is not used is stored, a repeated row is not a
// conflict, and the file corrects nothing.
func TestAFileThatContradictsItself(t *testing.T) {
	for _, rows := range [][]string{{yes, no}, {no, yes}} {
		for _, correct := range []bool{false, true} {
			v := open(t)
			r := v.list(ingest.Options{Correct: correct}, says(rows[0], "map", ""), says(rows[1], "map", ""))
			line := 2 + slices.Index(rows, no)
			if r.Conflicts != 1 || r.Read != 2 || v.winner() != yes || !strings.HasPrefix(v.kept(r)[0], fmt.Sprintf(`%d conflict {"condition_id":"%s","payouts":["0","1"]`, line, hashTwo)) {
				t.Errorf("%v: %+v, %s is in force, kept %v", rows, r, v.winner(), v.kept(r))
			}
			if r := v.list(ingest.Options{}, says(no, "map", "")); r.Conflicts != 1 || v.winner() != yes {
				t.Errorf("%v, then no: %+v, %s is in force", rows, r, v.winner())
			}
		}
	}
	v := open(t)
	if r := v.list(ingest.Options{}, says(yes, "map", ""), says(yes, "map", ""), says(no, "chain", "")); r.Conflicts != 0 || v.winner() != no {
		t.Errorf("the same row twice, and a better one: %+v", r)
	}
}

// TestAConflictOfTimes: two times of a resolution with equal source and version.
func TestAConflictOfTimes(t *testing.T) {
	v := open(t)
	early, late := saysAt(yes, "map", "", "2026-03-01T00:00:00Z"), saysAt(yes, "map", "", "2026-03-02T00:00:00Z")
	at := func(day string) bool { return strings.Contains(v.facts()["markets"][0], "'resolved_at': "+day) }
	const first, second = "1772323200000000", "1772409600000000"
	v.list(ingest.Options{}, early)
	if r := v.list(ingest.Options{}, late); r.Conflicts != 1 || len(v.kept(r)) != 1 || !at(first) {
		t.Errorf("another time: %+v %v", r, v.facts()["markets"])
	}
	if r := v.list(ingest.Options{Correct: true}, late); r.Conflicts != 0 || !at(second) {
		t.Errorf("corrected: %+v %v", r, v.facts()["markets"])
	}
	if r := v.list(ingest.Options{Correct: true}, late); r.MarketsChanged != 0 {
		t.Errorf("the same correction twice: %+v", r)
	}
	if r := v.list(ingest.Options{}, early); r.Conflicts != 1 || !at(second) {
		t.Errorf("the early time again: %+v %v", r, v.facts()["markets"])
	}
}

// TestTheOrderOfConflictingListsDoesNotMatter: records of every source, version and correction give
// the same result in any order and any number of files.
func TestTheOrderOfConflictingListsDoesNotMatter(t *testing.T) {
	v := open(t)
	rng := rand.New(rand.NewPCG(3, 4))
	pick := func(of ...string) string { return of[rng.IntN(len(of))] }
	for range testfiles.Cases(2, 8) {
		var rows []string
		for range 5 {
			row := saysAt(pick(yes, no, `["0.5","0.5"]`), pick("map", "winner"), pick("", "2026-01-01T00:00:00Z"), pick("", "2026-03-01T00:00:00Z", "2026-03-02T00:00:00Z"))
			rows = append(rows, strings.TrimSuffix(row, "\n")+pick("", "", "2026-01-01T00:00:00Z", "2026-05-01T00:00:00Z")+"\n")
		}
		v.empty()
		v.list(ingest.Options{}, rows...)
		want := v.facts()["markets"]
		for range 3 {
			rng.Shuffle(len(rows), func(i, j int) { rows[i], rows[j] = rows[j], rows[i] })
			v.empty()
			cut := rng.IntN(len(rows))
			v.list(ingest.Options{}, rows[:cut]...)
			v.list(ingest.Options{}, rows[cut:]...)
			if diff := cmp.Diff(want, v.facts()["markets"]); diff != "" {
				t.Fatalf("%v cut at %d (-want +got):\n%s", rows, cut, diff)
			}
		}
	}
}

// TestATimeWithoutAVersionGetsNone, in a file with payouts of a later version or in another one.
func TestATimeWithoutAVersionGetsNone(t *testing.T) {
	v := open(t)
	const version = "2026-01-01T00:00:00Z"
	rows := []string{saysAt(no, "map", version, ""), saysAt(yes, "map", "", "2026-03-01T00:00:00Z"), saysAt(yes, "chain", version, "2026-03-02T00:00:00Z")}
	var want []string
	for _, files := range [][]string{{rows[0], rows[1], rows[2]}, {rows[0] + rows[1], rows[2]}, {rows[2], rows[1] + rows[0]}} {
		v.empty()
		for _, rows := range files {
			v.list(ingest.Options{}, rows)
		}
		got := v.facts()["markets"]
		if want == nil {
			want = got
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%q: diff = %s", files, diff)
		}
	}
}
