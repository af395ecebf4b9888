package export_test

import (
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"pmx/engine/export"
	"pmx/rollups/keeper"
)

// exportShards returns the rows of a lake's days and of its shards by wallet, each with its day or
// block, the files of shards by block and digits, the blocks that were written, and what a later
// export needs. It checks that shards by token have the same fills.
func exportShards(t testing.TB, k *keeper.Keeper, known export.LakeKnown) (days, blocks map[string][]string, names map[string]string, written []string, next export.LakeKnown) {
	t.Helper()
	days, blocks, names = map[string][]string{}, map[string][]string{}, map[string]string{}
	tokens := map[string][]string{}
	next = export.LakeKnown{Prints: map[string]string{}, Blocks: map[string]string{}, Shards: true}
	known.Shards = true
	begin := func(h export.LakeHead, _ bool) error { next.Head = h; return nil }
	err := k.Exporter().WriteLake(t.Context(), k.DB().Dir().Tmp(), known, begin, func(p export.LakeStep) error {
		if p.File.Day != "" {
			next.Prints[p.File.Day] = p.Print
		}
		if p.Last {
			next.Blocks[p.File.From] = p.Print
		}
		if p.Path == "" || p.File.Dataset != "fills" && !export.IsShard(p.File.Dataset) {
			return nil
		}
		rows, _ := readParquet(t, filepath.Clean(p.Path))
		for _, row := range rows {
			delete(row, "ts") // which shards do not have
			text := fmt.Sprint(row)
			if p.File.Day != "" {
				days[p.File.Day] = append(days[p.File.Day], text)
				continue
			}
			if p.File.Dataset == export.TokenShards {
				tokens[p.File.From] = append(tokens[p.File.From], text)
				if !strings.HasSuffix("0"+fmt.Sprint(row["token"]), p.File.Suffix) {
					t.Errorf("%s has a fill of %v", p.File.Name, row["token"])
				}
				continue
			}
			blocks[p.File.From] = append(blocks[p.File.From], text)
			if !strings.HasPrefix(fmt.Sprint(row["wallet"]), p.File.Prefix) {
				t.Errorf("%s has a fill of %v", p.File.Name, row["wallet"])
			}
		}
		if p.File.From != "" {
			names[p.File.From+" "+p.File.Prefix+p.File.Suffix] = p.File.Name
			if !slices.Contains(written, p.File.From) {
				written = append(written, p.File.From)
			}
			want := "shards/from=" + p.File.From + "/" + p.File.Prefix + "/" + p.File.SHA256[:16] + "/shards.parquet"
			if p.File.Dataset == export.TokenShards {
				want = "token_shards/from=" + p.File.From + "/ends=" + p.File.Suffix + "/" + p.File.SHA256[:16] + "/token_shards.parquet"
			}
			if p.File.Name != want {
				t.Errorf("the file is %s, want %s", p.File.Name, want)
			}
		}
		return os.Remove(p.Path)
	})
	if err != nil {
		t.Fatal(err)
	}
	for from, rows := range blocks {
		got, want := slices.Sorted(slices.Values(tokens[from])), slices.Sorted(slices.Values(rows))
		if !slices.Equal(got, want) {
			t.Errorf("the shards from %s on have %v by token, and %v by wallet", from, got, want)
		}
	}
	return days, blocks, names, written, next
}

func dayOf(t testing.TB, date string) int64 {
	t.Helper()
	at, err := time.Parse(time.DateOnly, date)
	if err != nil {
		t.Fatal(err)
	}
	return at.Unix() / 86_400
}

// Shards have the fills of all complete blocks of days, each once, and are written again only if
// fills of the block change. 2026-01-11 and 2026-01-27 are the first days of blocks.
func TestShardsHaveTheFillsOfTheirDays(t *testing.T) {
	k := open(t, 1)
	steps := []struct {
		name, text string
		blocks     []string // that are written
	}{
		{"a block that is not complete", lakeFill("2026-01-11", "1", "71", "1", "1", "") + lakeFill("2026-01-26", "a", "71", "2", "1", ""), nil},
		{"a day of the next", lakeFill("2026-01-27", "1", "81", "3", "1", ""), []string{"2026-01-11"}},
		{"nothing new", "", nil},
		{"another day of it", lakeFill("2026-01-28", "b", "81", "4", "1", ""), nil},
		{"a day far ahead", lakeFill("2026-03-31", "b", "81", "5", "1", ""), []string{"2026-01-27"}},
		{"a late fill", lakeFill("2026-01-12", "2", "91", "6", "1", ""), []string{"2026-01-11"}},
		{"a late block", lakeFill("2026-02-13", "2", "91", "7", "", ""), []string{"2026-02-12"}},
		{"a better source", lakeFill("2026-02-13", "2", "91", "7", "3", ""), []string{"2026-02-12"}},
	}
	var known export.LakeKnown
	had := map[string]string{}
	for i, step := range steps {
		if step.text != "" {
			mustImport(t, k, write(t, fmt.Sprintf("%d.csv", i), lakeHeader+step.text))
		}
		_, _, names, written, next := exportShards(t, k, known)
		if !slices.Equal(written, step.blocks) {
			t.Errorf("%s: the blocks %v were written, want %v", step.name, written, step.blocks)
		}
		maps.Copy(had, names)
		days, blocks, whole, _, all := exportShards(t, k, export.LakeKnown{})
		if !maps.Equal(had, whole) || !maps.Equal(next.Blocks, all.Blocks) {
			t.Errorf("%s: the shards are %v, from scratch they are %v", step.name, had, whole)
		}
		want := map[string][]string{}
		for day, rows := range days {
			number := dayOf(t, day)
			if from := number - number%export.ShardDays; from+export.ShardDays <= dayOf(t, slices.Max(slices.Collect(maps.Keys(days)))) {
				want[time.Unix(from*86_400, 0).UTC().Format(time.DateOnly)] = append(want[time.Unix(from*86_400, 0).UTC().Format(time.DateOnly)], rows...)
			}
		}
		for _, of := range []map[string][]string{want, blocks} {
			for _, rows := range of {
				slices.Sort(rows)
			}
		}
		if !maps.EqualFunc(blocks, want, slices.Equal) {
			t.Errorf("%s: the shards have %v, the days %v", step.name, blocks, want)
		}
		known = next
	}
}

// If a block has many fills, addresses are divided by one digit, or by two.
func TestShardsAreOfSoManyDigits(t *testing.T) {
	defer export.SetShardRows(2)()
	k := open(t, 1)
	text := lakeHeader + lakeFill("2026-03-31", "1", "71", "f", "1", "")
	digits := "0123456789abcdef"
	for i := range 60 {
		day := fmt.Sprintf("2026-01-%02d", 11+i%16)
		if i >= 51 {
			day = "2026-02-01"
		}
		who := string(digits[i%16]) + string(digits[i*7%16])
		text += strings.Replace(lakeFill(day, "1", []string{"7", "71", "1000345"}[i%3], fmt.Sprint(i%10), fmt.Sprint(i), ""), strings.Repeat("1", 40), strings.Repeat(who, 20), 1)
	}
	mustImport(t, k, write(t, "fills.csv", text))
	days, blocks, names, _, _ := exportShards(t, k, export.LakeKnown{})
	lengths := map[string]int{}
	for of := range names {
		from, key, _ := strings.Cut(of, " ")
		if !strings.HasPrefix(key, "0x") {
			from += " by token"
		}
		lengths[from] = max(lengths[from], len(key))
	}
	if !maps.Equal(lengths, map[string]int{"2026-01-11": 4, "2026-01-27": 3, "2026-01-11 by token": 2, "2026-01-27 by token": 1}) {
		t.Errorf("lengths of prefixes: %v", lengths)
	}
	n := len(blocks["2026-01-11"]) + len(blocks["2026-01-27"])
	if all := len(slices.Concat(slices.Collect(maps.Values(days))...)); n != 60 || all != 61 {
		t.Errorf("%d fills in shards and %d in days", n, all)
	}
}
