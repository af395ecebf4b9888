package export_test

import (
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"pmx/engine/export"
	"pmx/rollups/keeper"
)

// exportLake returns the names of a lake's files, the days that were written, and what a later
// export needs.
func exportLake(t testing.TB, k *keeper.Keeper, known export.LakeKnown, had map[string]string) (names map[string]string, written []string, next export.LakeKnown) {
	t.Helper()
	names, next.Prints, next.Tables = map[string]string{}, map[string]string{}, map[string]string{}
	begin := func(h export.LakeHead, _ bool) error { next.Head, next.Since = h, &h.Batch; return nil }
	err := k.Exporter().WriteLake(t.Context(), k.DB().Dir().Tmp(), known, begin, func(p export.LakeStep) error {
		of := p.File.Dataset + p.File.Day
		if p.File.Day != "" {
			next.Prints[p.File.Day] = p.Print
		} else {
			next.Tables[p.File.Dataset] = p.Print
		}
		if p.Path == "" {
			names[of] = had[of]
			return nil
		}
		if !strings.Contains(p.File.Name, p.File.SHA256[:16]) {
			t.Errorf("%s is not named by its SHA-256 %s", p.File.Name, p.File.SHA256)
		}
		if p.File.Day != "" {
			written = append(written, p.File.Day)
		}
		names[of] = p.File.Name
		return os.Remove(p.Path)
	})
	if err != nil {
		t.Fatal(err)
	}
	return names, written, next
}

const lakeHeader = "ts,wallet,token,side,shares,usd,tx,log_index,name\n"

func lakeFill(day, who, token, tx, log, name string) string {
	return day + "T10:00:00.250001Z,0x" + strings.Repeat(who, 40) + "," + token + ",BUY,10,2,0x" + strings.Repeat(tx, 64) + "," + log + "," + name + "\n"
}

// A day is written again only if its fills change, and an incremental export equals one written
// from scratch.
func TestALakeIsWrittenWhereFillsChange(t *testing.T) {
	k := open(t, 1)
	condition := "0x" + strings.Repeat("a", 64)
	steps := []struct {
		name, file, text string
		days             []string
		others           []string // datasets whose file differs
		gone             string   // a statement that removes fills
		stale            bool     // the rollups lack facts and are wrong
	}{
		{"the first export", "fills.csv", lakeHeader + lakeFill("2026-03-01", "1", "71", "1", "1", "") + lakeFill("2026-03-02", "1", "81", "2", "", "") +
			lakeFill("2026-03-03", "2", "81", "3", "1", ""), []string{"2026-03-01", "2026-03-02", "2026-03-03"}, []string{"days", "settings", "tokens", "wallets"}, "", false},
		{"nothing new", "", "", nil, nil, "", false},
		{"a market", "m.ndjson", `{"condition":"` + condition + `","question":"Q?","outcomes":["Yes","No"],"tokens":["72","71"]}`, nil, []string{"conditions", "tokens"}, "", false},
		{"a name and a new day", "name.csv", lakeHeader + lakeFill("2026-03-04", "2", "91", "4", "1", "bob"), []string{"2026-03-04"}, []string{"days", "tokens", "wallets"}, "", false},
		{"a late fill", "late.csv", lakeHeader + lakeFill("2026-03-01", "2", "91", "5", "1", ""), []string{"2026-03-01"}, nil, "", false},
		{"a better source", "better.csv", lakeHeader + lakeFill("2026-03-02", "1", "81", "2", "7", ""), []string{"2026-03-02"}, nil, "", false},
		{"the same again", "better.csv", lakeHeader + lakeFill("2026-03-02", "1", "81", "2", "7", ""), nil, nil, "", false},
		{"one fill fewer", "", "", []string{"2026-03-01"}, nil, "DELETE FROM fills WHERE log_index = 1 AND batch = 0 AND ts // 86400000000 = 20513", false},
		{"one day fewer", "", "", nil, []string{"days"}, "DELETE FROM fills WHERE ts // 86400000000 = 20515", false},
		{"rollups that lack facts", "late2.csv", lakeHeader + lakeFill("2026-03-01", "1", "91", "6", "1", ""), []string{"2026-03-01"}, nil, "", true},
	}
	var known export.LakeKnown
	had := map[string]string{}
	for _, step := range steps {
		if step.file != "" {
			mustImport(t, k, write(t, step.file, step.text))
		}
		if step.gone != "" {
			change(t, k, step.gone)
			if err := k.Rebuild(t.Context(), nil); err != nil {
				t.Fatal(err)
			}
		}
		if step.stale {
			change(t, k, "UPDATE rollup_state SET stale = true", "DELETE FROM platform_day", "DELETE FROM platform_day_delta")
		}
		names, written, next := exportLake(t, k, known, had)
		if !slices.Equal(written, step.days) {
			t.Errorf("%s: days %v were written, want %v", step.name, written, step.days)
		}
		var others []string
		for of, name := range names {
			if name != had[of] && !strings.HasPrefix(of, "fills") {
				others = append(others, of)
			}
		}
		if slices.Sort(others); !slices.Equal(others, step.others) {
			t.Errorf("%s: the files of %v differ, want %v", step.name, others, step.others)
		}
		if whole, _, _ := exportLake(t, k, export.LakeKnown{}, nil); !maps.Equal(names, whole) {
			t.Errorf("%s: the lake is %v, from scratch it is %v", step.name, names, whole)
		}
		// As if this export had been killed after the first of its days.
		killed := export.LakeKnown{Head: next.Head, Since: known.Since, Prints: map[string]string{}, Tables: known.Tables}
		maps.Copy(killed.Prints, known.Prints)
		if len(written) > 0 {
			killed.Prints[written[0]] = next.Prints[written[0]]
		}
		again, left, _ := exportLake(t, k, killed, names)
		if !maps.Equal(again, names) || len(written) > 0 && !slices.Equal(left, written[1:]) {
			t.Errorf("%s: after a killed export, the days %v were written, and the lake is %v, want %v", step.name, left, again, names)
		}
		known, had = next, names
	}
}

// Fingerprints belong to one history of imports: if another database has as many fills of the same
// imports, as after restoring a backup, nothing of the old lake is reused.
func TestALakeOfAnotherDatabaseIsRewritten(t *testing.T) {
	var known export.LakeKnown
	for i, who := range []string{"1", "2"} {
		k := open(t, 1)
		mustImport(t, k, write(t, "fills.csv", lakeHeader+lakeFill("2026-03-01", who, "71", "1", "1", "")))
		_, written, next := exportLake(t, k, known, nil)
		if !slices.Equal(written, []string{"2026-03-01"}) {
			t.Errorf("database %d: days %v were written", i, written)
		}
		if i > 0 && known.Prints["2026-03-01"] != next.Prints["2026-03-01"] {
			t.Errorf("the fingerprints are %v and %v: the test proves nothing", known.Prints, next.Prints)
		}
		known = next
	}
}

// Rows of fills have nothing that a later import could change, and exact times and amounts.
func TestRowsOfALake(t *testing.T) {
	k := open(t, 1)
	mustImport(t, k, write(t, "fills.csv", lakeHeader+lakeFill("2026-03-01", "1", "71", "1", "1", "ann")))
	var columns []string
	err := k.Exporter().WriteLake(t.Context(), k.DB().Dir().Tmp(), export.LakeKnown{}, func(export.LakeHead, bool) error { return nil }, func(p export.LakeStep) error {
		if p.File.Dataset != "fills" {
			return nil
		}
		rows, _ := readParquet(t, filepath.Clean(p.Path))
		columns = slices.Sorted(maps.Keys(rows[0]))
		if got := rows[0]["us"]; got != "1772359200250001" {
			t.Errorf("us is %v", got)
		}
		if s := *p.File.Sums; s != (export.LakeSums{BuyUSD: 2_000_000, BuyShares: 10_000_000}) {
			t.Errorf("sums are %+v", s)
		}
		return nil
	})
	want := []string{"fee", "fee_asset", "log_index", "role", "shares", "side", "token", "transaction_hash", "ts", "us", "usd", "wallet"}
	if err != nil || !slices.Equal(columns, want) {
		t.Errorf("columns are %v, %v", columns, err)
	}
}
