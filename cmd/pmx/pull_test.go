package main

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"pmx/data/sample"
	"pmx/data/testfiles"
	"pmx/rollups/cluster"
	"pmx/rollups/cluster/clustertest"
)

// TestAPulledServerAnswersAsTheOneThatComputed: one server computes a venue, and another pulls the
// rollups that were computed elsewhere from its lake. Every response is the same, byte by byte.
// Without the lake, requests that need single fills are refused with a problem of their own, and
// all other responses are still the same.
func TestAPulledServerAnswersAsTheOneThatComputed(t *testing.T) {
	testfiles.InLong(t, "TestAPulledServerReadsShards requests every endpoint of a small venue")
	if testing.Short() {
		t.Skip("starts three servers")
	}
	venue, lake, out := filepath.Join(t.TempDir(), "venue"), filepath.Join(t.TempDir(), "lake"), t.TempDir()
	if _, err := sample.Write(t.Context(), sample.Config{Fills: int64(testfiles.Cases(2_500, 15_000)), FileRows: 2_000, Days: testfiles.Cases(8, 0)}, venue, nil); err != nil {
		t.Fatal(err)
	}
	a := &installation{t: t, dir: t.TempDir()}
	a.run("import", venue)
	a.serve()
	asked := a.everything()
	want := a.answers(asked)
	trades := "/trader/" + a.values("/leaderboard/traders?period=30d", "address", 1)[0] + "/trades?limit=7"
	pages := a.pages(trades, 4)
	a.run("export", "lake", "--shards", "--out", lake)
	a.shutdown()
	clustertest.Publish(t, lake, out)

	b := &installation{t: t, dir: t.TempDir(), flags: []string{"--lake", lake}}
	b.run("pull", out, "--lake", lake)
	if text := string(b.run("pull", out, "--lake", lake)); !strings.Contains(text, "already") {
		t.Errorf("pulled again: %s", text)
	}
	b.serve()
	sameAnswers(t, "a pull", want, b.answers(asked))
	if got := b.pages(trades, 4); got != pages {
		t.Errorf("page by page:\n%s\nwant\n%s", got, pages)
	}
	checks := string(b.run("verify"))
	if !strings.Contains(checks, "pulled_fills") || strings.Contains(checks, "FAILED") {
		t.Errorf("verify: %s", checks)
	}
	b.run("verify", "--against", out)
	for _, words := range [][]string{{"import", venue}, {"rebuild"}, {"export", "lake", "--out", t.TempDir()}, {"export", "fills", "--out", filepath.Join(t.TempDir(), "f")}} {
		if text, err := b.fails(words...); err == nil || !strings.Contains(text, "fills") {
			t.Errorf("pmx %s: err = %v, text = %s", words[0], err, text)
		}
	}
	b.shutdown()

	b.flags = nil
	b.serve()
	refused := 0
	got := b.answers(asked)
	for path, text := range got {
		if strings.HasPrefix(text, "501 ") && strings.Contains(text, `"code":"fills_elsewhere"`) {
			refused++
			got[path] = want[path]
		}
		if needs := strings.HasSuffix(path, "/trades") || strings.HasSuffix(path, "/overview"); needs && got[path] != want[path] {
			t.Errorf("%s without the lake: %s", path, text)
		}
	}
	sameAnswers(t, "a pull without the lake", want, got)
	if refused == 0 || refused > len(asked)/4 {
		t.Errorf("%d of %d answers need single fills", refused, len(asked))
	}
	b.shutdown()
}

// TestAPulledServerReadsShards: after a few fills were pulled, every endpoint gives the same
// response. Fills of a wallet and of a market are read from the shards of completed days: the
// responses are the same without the files of these days.
func TestAPulledServerReadsShards(t *testing.T) {
	lake, out := filepath.Join(t.TempDir(), "lake"), t.TempDir()
	a := &installation{t: t, dir: t.TempDir()}
	wallets := []string{"0x" + strings.Repeat("a1", 20), "0x" + strings.Repeat("3b", 20)}
	text, condition := "ts,address,token_id,side,shares,usd,role\n", "0x"+strings.Repeat("c", 64)
	for day := range 30 { // of which 2026-01-11 to 26 are a block
		at := time.Date(2026, 1, 4+day, 10, day, 0, 0, time.UTC).Format(time.RFC3339)
		for i, who := range wallets {
			text += fmt.Sprintf("%s,%s,%d,%s,%d,%d,%s\n", at, who, 71+day%2, []string{"BUY", "SELL"}[i], 10+day, 5, []string{"maker", "taker"}[i])
		}
	}
	market := `{"condition":"` + condition + `","question":"Q?","outcomes":["Yes","No"],"tokens":["71","72"]}`
	for name, text := range map[string]string{"fills.csv": text, "market.ndjson": market} {
		if err := os.WriteFile(filepath.Join(a.dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	a.run("import", "fills.csv", "market.ndjson")
	a.serve()
	asked := allOf(map[string][]string{"address": append(wallets, "0x"+strings.Repeat("9", 40)), "condition_id": {condition}, "q": {"q"}, "name": {"PMX-Volume"}, "city": {"nyc"}})
	want := a.answers(asked)
	var lists []string
	for _, who := range wallets {
		lists = append(lists, "/trader/"+who+"/trades?limit=7")
	}
	lists = append(lists, "/market/"+condition+"/trades?limit=7")
	pages := a.pages(lists[0], 9) + a.pages(lists[1], 9) + a.pages(lists[2], 9)
	a.run("export", "lake", "--shards", "--out", lake)
	a.shutdown()
	clustertest.Publish(t, lake, out)
	for _, pattern := range []string{"shards/from=2026-01-11/0x/*/shards.parquet", "token_shards/from=2026-01-11/ends=/*/token_shards.parquet"} {
		if shards, err := filepath.Glob(filepath.Join(lake, pattern)); err != nil || len(shards) != 1 {
			t.Fatalf("the shards are %v, %v", shards, err)
		}
	}

	b := &installation{t: t, dir: t.TempDir(), flags: []string{"--lake", lake}}
	b.run("pull", out, "--lake", lake)
	b.serve()
	sameAnswers(t, "a pull", want, b.answers(asked))
	b.shutdown()
	if proof := string(b.run("verify", "--against", out, "--lake", lake, "--prefix", "0x")); !strings.Contains(proof, " shards ") || !strings.Contains(proof, " token_shards ") || strings.Contains(proof, "FAILED") {
		t.Errorf("verify: %s", proof)
	}
	b.serve()
	for day := 11; day <= 26; day++ {
		if err := os.RemoveAll(filepath.Join(lake, fmt.Sprintf("fills/day=2026-01-%02d", day))); err != nil {
			t.Fatal(err)
		}
	}
	if got := b.pages(lists[0], 9) + b.pages(lists[1], 9) + b.pages(lists[2], 9); got != pages || strings.Count(got, "tx_hash")+strings.Count(got, "token_id") == 0 {
		t.Errorf("page by page, without the days of the block:\n%s\nwant\n%s", got, pages)
	}
	b.shutdown()
}

// smallVenue imports a few fills, exports their lake and publishes the rollups computed from it.
func smallVenue(t *testing.T) (lake, out string) {
	t.Helper()
	lake, out = filepath.Join(t.TempDir(), "lake"), t.TempDir()
	w := newReplicaWriter(t)
	w.importOne()
	w.importOne()
	w.must("export", "lake", "--out", lake)
	clustertest.Publish(t, lake, out)
	return lake, out
}

// Rollups that are incomplete, follow other definitions or do not belong to the lake are refused,
// and nothing is left behind.
func TestPullRefusesWhatIsNotWhole(t *testing.T) {
	lake, out := smallVenue(t)
	m, err := cluster.ReadRollups(out)
	if err != nil {
		t.Fatal(err)
	}
	was := *m
	target := filepath.Join(t.TempDir(), "reader")
	w := &replicaWriter{t: t, dir: target}
	refused := func(what, why string) {
		t.Helper()
		status, _, errs := w.pmx(target, "pull", out, "--lake", lake)
		if status != 1 || !strings.Contains(errs, why) {
			t.Errorf("%s: status = %d, errs = %s", what, status, errs)
		}
		for _, name := range []string{target, target + ".restoring"} {
			if _, err := os.Stat(name); !errors.Is(err, fs.ErrNotExist) {
				t.Errorf("%s: %s is left: %v", what, name, err)
			}
		}
	}
	in := func(dir, dataset string) string {
		found, err := filepath.Glob(filepath.Join(dir, dataset))
		if err != nil || len(found) == 0 {
			t.Fatalf("no %s: %v", dataset, err)
		}
		return found[0]
	}
	for _, path := range []string{in(out, "whole/*/wallet_total.parquet"), in(lake, "wallets/*/wallets.parquet")}[:testfiles.Cases(1, 2)] {
		text, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		text[len(text)/2] ^= 1
		write := func() {
			if err := os.WriteFile(path, text, 0o600); err != nil {
				t.Fatal(err)
			}
		}
		write()
		refused("a changed byte in "+filepath.Base(path), "does not match the manifest")
		text[len(text)/2] ^= 1
		write()
		if err := os.Rename(path, path+".away"); err != nil {
			t.Fatal(err)
		}
		refused("without "+filepath.Base(path), "lacks a file of its manifest")
		if err := os.Rename(path+".away", path); err != nil {
			t.Fatal(err)
		}
	}
	for nth, c := range []struct {
		what, why string
		change    func(m *cluster.Rollups)
	}{
		{"other statements", "follow other definitions", func(m *cluster.Rollups) { m.Statements = "other" }},
		{"another method", "follow other definitions", func(m *cluster.Rollups) { m.Method = "0" }},
		{"another lake", "is not the lake", func(m *cluster.Rollups) { m.Lake = strings.Repeat("0", 64) }},
		{"one file fewer", "do not agree", func(m *cluster.Rollups) { m.Files = m.Files[1:] }},
		{"one rollup fewer", "was not published", func(m *cluster.Rollups) {
			m.Tables = slices.DeleteFunc(slices.Clone(m.Tables), func(name string) bool { return name == "undated" })
		}},
		{"another number of rows", "the manifest says", func(m *cluster.Rollups) { m.Files[0].Rows++ }},
		{"another moment", "do not agree", func(m *cluster.Rollups) { m.AsOf++ }},
	} {
		if !testfiles.Long() && nth%3 > 0 {
			continue // a short run refuses one in three
		}
		other := was
		other.Files = append(other.Files[:0:0], was.Files...)
		c.change(&other)
		clustertest.Name(t, out, other)
		refused(c.what, c.why)
	}
	clustertest.Name(t, out, was)
	w.must("pull", out, "--lake", lake)
}

// A pull that was killed leaves nothing that could be taken for its result, and the next one starts over. A later pull
// takes the place of an earlier one, and backups of it are followed.
func TestPullIsKilledRepeatedAndFollowed(t *testing.T) {
	testfiles.InLong(t, "TestAPulledServerReadsShards pulls into an empty folder and serves it")
	lake, out := smallVenue(t)
	target := filepath.Join(t.TempDir(), "reader")
	cmd := exec.Command("pmx", "pull", out, "--lake", lake, "--data-dir", target)
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	for end := time.Now().Add(patience); ; time.Sleep(time.Millisecond) {
		if found, _ := filepath.Glob(target + ".restoring/data/*.duckdb"); len(found) > 0 || time.Now().After(end) {
			break
		}
	}
	_, _ = cmd.Process.Kill(), cmd.Wait()
	w := &replicaWriter{t: t, dir: target}
	w.must("pull", out, "--lake", lake)
	if _, err := os.Stat(target + ".restoring"); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("what was killed is left: %v", err)
	}
	backups := filepath.Join(t.TempDir(), "backups")
	key := fieldOf(t, w.must("keys", "issue", "--tier", "alpha", "--label", "reader", "--json"), "key")
	w.must("backup", backups)
	if listed := w.must("backup", backups, "--list"); !strings.Contains(listed, " 2 fills") {
		t.Errorf("a backup of a database that was pulled: %s", listed)
	}
	s := serveHere(t, t.TempDir(), "--follow", backups, "--lake", lake)
	becomes(t, s.base, replicaStats, key, 200, tradesOf(2))
	becomes(t, s.base, "/trader/"+replicaTrader+"/trades", key, 200, `"token_id":"71"`)

	more := newReplicaWriter(t)
	more.importOne()
	more.importOne()
	more.importOne()
	more.must("export", "lake", "--out", lake) // of another database: the lake continues
	clustertest.Publish(t, lake, out)
	w.must("pull", out, "--lake", lake)
	w.must("backup", backups)
	becomes(t, s.base, replicaStats, key, 200, tradesOf(3))
	whale := []string{"serve", "--listen", "127.0.0.1:0", "--lake", lake, "--whale-threshold"}
	if status, _, errs := w.pmx(target, append(whale, "12345")...); status != 1 || !strings.Contains(errs, "another whale threshold than $10000") {
		t.Errorf("another whale threshold: %d %s", status, errs)
	}
	same := serveHere(t, target, append(whale[3:], "10000")...)
	becomes(t, same.base, replicaStats, key, 200, tradesOf(3))
	restored := filepath.Join(t.TempDir(), "restored")
	if status, _, errs := w.pmx(restored, "restore", backups); status != 0 {
		t.Errorf("restore: %s", errs)
	}
	if status, _, errs := w.pmx(more.dir, "pull", out, "--lake", lake); status != 1 || !strings.Contains(errs, "fills of its own") {
		t.Errorf("into a database with fills: %d %s", status, errs)
	}
}

// pages returns the data of the first pages of a list.
func (in *installation) pages(path string, n int) (text string) {
	in.t.Helper()
	cursor := ""
	for range n {
		_, body := in.raw(path + cursor)
		_, data, _ := strings.Cut(body, `"data":`)
		text += data + "\n"
		_, rest, more := strings.Cut(body, `"next_cursor":"`)
		if !more {
			break
		}
		next, _, _ := strings.Cut(rest, `"`)
		cursor = "&cursor=" + next
	}
	return text
}

// fails runs pmx, which must fail, and returns its output.
func (in *installation) fails(args ...string) (string, error) {
	cmd := exec.Command("pmx", args...)
	cmd.Dir = in.dir
	text, err := cmd.CombinedOutput()
	return string(text), err
}
