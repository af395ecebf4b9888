package export_test

import (
	"context"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"pmx/data"
	"pmx/data/feeds/polygon"
	"pmx/engine/export"
	"pmx/engine/ingest"
	"pmx/rollups/keeper"
)

// lake is a folder into which all facts are exported repeatedly.
type lake struct {
	dir    string
	prints map[string]string // by file of a day
	known  export.PartitionsKnown
}

// refresh exports all facts and returns the days that were written.
func (l *lake) refresh(t testing.TB, k *keeper.Keeper) (written []string) {
	t.Helper()
	prints, files := map[string]string{}, map[string]export.Partition{}
	state, err := k.Exporter().WritePartitions(t.Context(), k.DB().Dir().Tmp(), l.known, func(p export.Partition, path string, _ float64) error {
		files[p.Name] = p
		if strings.HasPrefix(p.Name, "fills/") {
			prints[p.Name] = p.Fingerprint
			if path != "" {
				written = append(written, strings.TrimSuffix(strings.TrimPrefix(p.Name, "fills/day="), "/fills.parquet"))
			}
		}
		if path == "" {
			return nil
		}
		return os.Rename(path, filepath.Join(l.dir, strings.ReplaceAll(p.Name, "/", "-")))
	})
	if err != nil {
		t.Fatal(err)
	}
	l.prints, l.known = prints, export.PartitionsKnown{Files: files, State: state}
	return written
}

// rows returns the rows of all days, in order.
func (l *lake) rows(t testing.TB) (out table) {
	t.Helper()
	for _, name := range slices.Sorted(maps.Keys(l.prints)) {
		rows, _ := readParquet(t, filepath.Join(l.dir, strings.ReplaceAll(name, "/", "-")))
		out = append(out, rows...)
	}
	return out
}

func write(t testing.TB, name, text string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), name)
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

// The market of a token and the name of a wallet, which a day's file shows with its fills, may
// become known after the day was written. Then only that day is written again, and the folder
// equals one exported from scratch.
func TestADayIsWrittenAgainWhenWhatItShowsChanges(t *testing.T) {
	k := open(t, 1)
	const header = "ts,wallet,token,side,shares,usd,tx,log_index,name\n"
	ann, bob := "0x"+strings.Repeat("1", 40), "0x"+strings.Repeat("2", 40)
	hash, condition := func(d string) string { return "0x" + strings.Repeat(d, 64) }, "0x"+strings.Repeat("a", 64)
	mustImport(t, k, write(t, "fills.csv", header+
		"2026-03-01T10:00:00Z,"+ann+",71,BUY,10,2,"+hash("1")+",1,\n"+
		"2026-03-02T10:00:00Z,"+ann+",81,BUY,10,2,"+hash("2")+",1,\n"+
		"2026-03-03T10:00:00Z,"+bob+",81,BUY,10,2,"+hash("3")+",1,\n"+
		"2026-03-03T11:00:00Z,"+bob+",81,BUY,10,2,"+hash("6")+",1,\n")) // two, which change in the same way
	l := &lake{dir: t.TempDir()}
	steps := []struct {
		name, file, text string
		days             []string
		column           string
		want             []string // of column, by row
	}{
		{"the first export", "", "", []string{"2026-03-01", "2026-03-02", "2026-03-03"}, "condition_id", []string{"", "", "", ""}},
		{"nothing new", "", "", nil, "condition_id", []string{"", "", "", ""}},
		{"a market", "m.ndjson", `{"condition":"` + condition + `","question":"Q?","outcomes":["Yes","No"],"tokens":["72","71"]}`,
			[]string{"2026-03-01"}, "condition_id", []string{condition, "", "", ""}},
		{"a name, by a fill of another day", "name.csv", header + "2026-03-04T10:00:00Z," + bob + ",91,BUY,10,2," + hash("4") + ",1,bob\n",
			[]string{"2026-03-03", "2026-03-04"}, "username", []string{"", "", "bob", "bob", "bob"}},
		{"another name", "name.csv", header + "2026-03-05T10:00:00Z," + bob + ",91,BUY,10,2," + hash("5") + ",1,rob\n",
			[]string{"2026-03-03", "2026-03-04", "2026-03-05"}, "username", []string{"", "", "rob", "rob", "rob", "rob"}},
	}
	for _, step := range steps {
		if step.file != "" {
			mustImport(t, k, write(t, step.file, step.text))
		}
		if written := l.refresh(t, k); !slices.Equal(written, step.days) {
			t.Errorf("%s: the days %v were written, want %v", step.name, written, step.days)
		}
		got := l.rows(t)
		for i, want := range step.want {
			if got[i][step.column] != want {
				t.Errorf("%s: row %d has the %s %q, want %q", step.name, i, step.column, got[i][step.column], want)
			}
		}
		whole := &lake{dir: t.TempDir()}
		whole.refresh(t, k)
		for name := range whole.prints {
			file := strings.ReplaceAll(name, "/", "-")
			a, errA := os.ReadFile(filepath.Join(l.dir, file))
			b, errB := os.ReadFile(filepath.Join(whole.dir, file))
			if errA != nil || errB != nil || string(a) != string(b) {
				t.Errorf("%s: %s differs from that of an export from scratch: %v %v", step.name, name, errA, errB)
			}
		}
	}
}

// Fills of the venue's list of trades are counted as provisional until the chain's replace them.
func TestProvisionalFillsAreCounted(t *testing.T) {
	k := open(t, 1)
	fill := func(day, tx byte, log int32) data.Fill {
		at := time.Date(2026, 3, int(day), 10, 0, 0, 0, time.UTC).UnixMicro()
		return data.Fill{Tx: data.Hash{tx}, LogIndex: log, TS: at, Wallet: data.Address{1}, TokenID: "71", Outcome: data.NoIndex, Shares: 10_000_000, USD: 2_000_000}
	}
	commit := func(name, instead string, fills ...data.Fill) {
		t.Helper()
		r, err := k.Commit(t.Context(), ingest.Rows{Feed: polygon.Feed(), Name: name, Instead: instead, Read: func(_ context.Context, sink data.Sink) error {
			for i, f := range fills {
				if err := sink.Fill(int64(i+1), f); err != nil {
					return err
				}
			}
			return nil
		}}, ingest.Remaining{})
		if err != nil || r.Inserted != int64(len(fills)) {
			t.Fatalf("%s: err = %v, r = %+v", name, err, r)
		}
	}
	counts := func() map[string]int64 {
		t.Helper()
		out := map[string]int64{}
		_, err := k.Exporter().WritePartitions(t.Context(), k.DB().Dir().Tmp(), export.PartitionsKnown{}, func(p export.Partition, path string, _ float64) error {
			if day, ok := strings.CutPrefix(p.Name, "fills/day=2026-03-"); ok {
				out[day[:2]] = p.Provisional
			}
			return os.Remove(path)
		})
		if err != nil {
			t.Fatal(err)
		}
		return out
	}
	commit(data.ListedTrades, "", fill(1, 1, data.NoIndex), fill(1, 2, data.NoIndex), fill(2, 3, data.NoIndex))
	commit("others", "", fill(1, 4, 7), fill(3, 5, 8), fill(3, 6, data.NoIndex)) // none of these is provisional
	if got, want := counts(), map[string]int64{"01": 2, "02": 1, "03": 0}; !maps.Equal(got, want) {
		t.Errorf("provisional are %v, want %v", got, want)
	}
	commit("chain", data.ListedTrades, fill(1, 1, 3))
	if got, want := counts(), map[string]int64{"01": 1, "02": 1, "03": 0}; !maps.Equal(got, want) {
		t.Errorf("after the chain's, provisional are %v, want %v", got, want)
	}
}
