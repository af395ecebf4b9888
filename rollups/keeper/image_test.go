package keeper_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/rs/zerolog"

	"pmx/data"
	"pmx/data/feeds"
	"pmx/data/reference"
	"pmx/data/testfiles"
	"pmx/engine"
	"pmx/engine/enginetest"
	"pmx/rollups/keeper"
	"pmx/rollups/serving"
)

const (
	fromImage    = "was read from its image"
	fromDatabase = "everything was read from the database"
	imageWritten = "written to an image"
)

// served opens a venue for a moment, and returns what it serves and logs, with its close.
func served(t *testing.T, dir string, change func(*keeper.Config), during func(k *keeper.Keeper)) (*serving.Snapshot, string) {
	t.Helper()
	var log bytes.Buffer
	cfg := keeper.Config{Engine: enginetest.Options(t, dir, "2GB"), Feeds: feeds.Catalog{}, Log: zerolog.New(zerolog.SyncWriter(&log)), Serve: true}
	if change != nil {
		change(&cfg)
	}
	k, err := keeper.Open(context.Background(), cfg)
	if err != nil {
		t.Fatal(err)
	}
	if during != nil {
		during(k)
	}
	s := k.Snapshot()
	if err := k.Close(); err != nil {
		t.Error(err)
	}
	return s, log.String()
}

func imageFile(dir string) string { return engine.Dir(dir).Image() }

// A stopped server leaves an image, and the next start reads it; after whatever else, it reads the database and serves the same.
func TestAStartReadsTheImageOfTheLastStop(t *testing.T) {
	defer keeper.SetImageFrom(1)()
	dir := t.TempDir()
	fills := func(at int) string {
		lines := orderFilledHeader
		for i := range 20 {
			lines += orderFilled(1_700_000_000+int64(at*100+i), at*7+i, 400_000, 1_000_000, fmt.Sprint(100+i%3), fmt.Sprintf("0x%040x", 9), at*100+i)
		}
		return lines
	}
	next := 0
	imported := func(k *keeper.Keeper) {
		next++
		mustImport(t, k, write(t, fmt.Sprintf("orderFilled-%d.csv", next), fills(next)))
	}
	start := func(what, want string, change func(*keeper.Config), during func(*keeper.Keeper)) *serving.Snapshot {
		t.Helper()
		s, log := served(t, dir, change, during)
		if !strings.Contains(log, want) || want != fromImage && strings.Contains(log, fromImage) {
			t.Fatalf("%s: the log is %s", what, log)
		}
		if !strings.Contains(log, imageWritten) {
			t.Fatalf("%s: no image was written: %s", what, log)
		}
		if _, err := os.Stat(filepath.Join(engine.Dir(dir).Tmp(), "memory.image")); err == nil {
			t.Errorf("%s: a file is left below tmp/", what)
		}
		return s
	}
	equal := func(what string, a, b *serving.Snapshot) {
		t.Helper()
		if rows, differ := a.Compare(b); differ > 0 || rows == 0 || a.Epoch != b.Epoch {
			t.Fatalf("%s: %d of %d things differ, epochs %d and %d", what, differ, rows, a.Epoch, b.Epoch)
		}
	}
	was := start("the first start", "there is no image", nil, imported)
	if was.Counts.Fills == 0 {
		t.Fatal("nothing was imported")
	}
	now := start("the second start", fromImage, nil, func(k *keeper.Keeper) {
		equal("the second start", was, k.Snapshot())
		if _, err := os.Stat(imageFile(dir)); err == nil {
			t.Error("the image is still there while the server runs")
		}
		imported(k)
		mustVerify(t, k)
	})
	kept, err := os.ReadFile(imageFile(dir))
	if err != nil {
		t.Fatal(err)
	}
	equal("the third start", now, start("the third start", fromImage, nil, nil))
	damage := func(reason string, f func(path string)) {
		t.Helper()
		f(imageFile(dir))
		equal(reason, now, start(reason, reason, nil, nil))
	}
	written := func(b func(is []byte) []byte) func(string) {
		return func(path string) {
			is, err := os.ReadFile(path)
			if err == nil {
				err = os.WriteFile(path, b(is), 0o600)
			}
			if err != nil {
				t.Fatal(err)
			}
		}
	}
	damages := []struct {
		reason string
		do     func(path string)
	}{
		{"the image was written for something else", written(func([]byte) []byte { return kept })},
		{"the checksum of block", written(func(is []byte) []byte { is[len(is)/2]++; return is })},
		{"the checksum of its head", written(func(is []byte) []byte { is[30]++; return is })},
		{"the image is damaged", written(func(is []byte) []byte { return is[:len(is)/3] })},
		{"it is not an image", written(func([]byte) []byte { return nil })},
		{"it is not an image", written(func([]byte) []byte { return bytes.Repeat([]byte("PAR1"), 1000) })},
		{"regular file", func(path string) {
			if err := errors.Join(os.Remove(path), os.Mkdir(path, 0o700)); err != nil {
				t.Fatal(err)
			}
		}},
		{"there is no image", func(path string) { _ = os.Remove(path) }},
	}
	for _, d := range damages[:testfiles.Cases(2, len(damages))] { // package image has the others
		damage(d.reason, d.do)
	}

	opened := func(change func(*keeper.Config), during func(*keeper.Keeper)) func(string) {
		return func(string) {
			served(t, dir, func(c *keeper.Config) {
				c.Serve = false
				if change != nil {
					change(c)
				}
			}, during)
		}
	}
	damage("the database was opened or changed since", opened(nil, nil))
	opened(nil, imported)("")
	now = start("after an import by a command", "the database was opened or changed since", nil, nil)
	if now.Counts.Fills <= was.Counts.Fills {
		t.Error("the import by a command is not served")
	}
	other := map[data.Address]bool{}
	for id := range 3 {
		other[now.WalletAt(data.WalletID(id))] = true
	}
	start("other wallets of the venue", "the image was written for something else", func(c *keeper.Config) { c.Venue = other }, nil)
	start("the same wallets", fromImage, func(c *keeper.Config) { c.Venue = other }, nil)
	cities, err := data.NewGazetteer(reference.Gazetteer().Cities()[:5], nil, nil)
	if err != nil {
		t.Fatal(err)
	}
	start("other cities", "the image was written for something else", func(c *keeper.Config) { c.Venue, c.Feeds = other, feeds.Catalog{Cities: cities} }, nil)
	start("another whale threshold", "not the state of the database", func(c *keeper.Config) {
		c.Venue, c.Feeds, c.Whale = other, feeds.Catalog{Cities: cities}, 5*data.One
	}, nil)
}

// A start from an image shows traders once, before everything else; so does one whose image is damaged behind them, which reads the database.
func TestAStartFromAnImageShowsTradersFirst(t *testing.T) {
	defer keeper.SetImageFrom(1)()
	dir := t.TempDir()
	was, _ := served(t, dir, nil, func(k *keeper.Keeper) { mustImport(t, k, oneFill(t, 1)) })
	for _, want := range []string{fromImage, "the checksum of block 0 of part 3 is wrong"} {
		if want != fromImage {
			path := imageFile(dir)
			b, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			const tail = 4*16 + 8 // bytes after the last part
			b[len(b)-tail-1]++
			if err := os.WriteFile(path, b, 0o600); err != nil {
				t.Fatal(err)
			}
		}
		var shown []*serving.Snapshot
		s, log := served(t, dir, func(c *keeper.Config) { c.Later = true }, func(k *keeper.Keeper) {
			if err := k.Begin(t.Context(), func(s *serving.Snapshot) {
				if k.Snapshot() != nil {
					t.Error("everything is there before traders are shown")
				}
				shown = append(shown, s)
			}); err != nil {
				t.Fatal(err)
			}
		})
		if len(shown) != 1 || !strings.Contains(log, want) {
			t.Fatalf("traders are shown %d times: %s", len(shown), log)
		}
		if _, differ := was.Compare(s); differ > 0 || shown[0].Epoch != s.Epoch || !cmp.Equal(shown[0].Traders, s.Traders) || shown[0].Wallets() != s.Wallets() || s.Wallets() == 0 || len(s.Traders[serving.Month]) == 0 {
			t.Errorf("%s: %d things differ from what was served; traders at first: %v, %d wallets, later: %v", want, differ, shown[0].Traders, shown[0].Wallets(), s.Traders)
		}
	}
}

// A server with few wallets leaves no image: a start takes no time without one.
func TestASmallVenueLeavesNoImage(t *testing.T) {
	dir := t.TempDir()
	_, log := served(t, dir, nil, nil)
	if _, err := os.Stat(imageFile(dir)); err == nil || strings.Contains(log, imageWritten) || !strings.Contains(log, fromDatabase) {
		t.Errorf("an image was written: %v, %s", err, log)
	}
}

// oneFill is a file with one fill.
func oneFill(t *testing.T, nth int) string {
	t.Helper()
	return write(t, fmt.Sprintf("orderFilled-%d.csv", nth), orderFilledHeader+orderFilled(1_700_000_000, nth, 400_000, 1_000_000, "77", fmt.Sprintf("0x%040x", 9), nth))
}

// The files that a server leaves that is killed while it stops: a part of the image below tmp/; all of it in its place without its mark; and
// both, with the mark in the write-ahead log. Only the last one is taken.
func TestAnImageWithoutItsMarkIsNotTaken(t *testing.T) {
	defer keeper.SetImageFrom(1)()
	dir := t.TempDir()
	was, _ := served(t, dir, nil, func(k *keeper.Keeper) { mustImport(t, k, oneFill(t, 1)) })
	whole, err := os.ReadFile(imageFile(dir))
	if err != nil {
		t.Fatal(err)
	}
	put := func(path string, b []byte) {
		t.Helper()
		if err := os.WriteFile(path, b, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for name, leave := range map[string]func(){
		"a part below tmp/": func() { put(filepath.Join(engine.Dir(dir).Tmp(), "memory.image"), whole[:len(whole)/2]) },
		"a whole file":      func() { put(imageFile(dir), whole) },
	} {
		if _, log := served(t, dir, nil, func(k *keeper.Keeper) { k.DropImage(); leave() }); strings.Contains(log, imageWritten) {
			t.Fatalf("%s: an image was written: %s", name, log)
		}
		s, log := served(t, dir, nil, func(k *keeper.Keeper) { k.DropImage() })
		if _, differ := was.Compare(s); differ > 0 || strings.Contains(log, fromImage) {
			t.Errorf("%s was taken: %s", name, log)
		}
	}
	killed := t.TempDir()
	served(t, dir, nil, func(k *keeper.Keeper) {
		k.LeaveImage()
		for _, from := range []string{engine.Dir(dir).Database(), engine.Dir(dir).Database() + ".wal", imageFile(dir)} {
			b, err := os.ReadFile(from)
			if err != nil {
				t.Fatal(err)
			}
			put(filepath.Join(killed, filepath.Base(from)), b)
		}
	})
	s, log := served(t, killed, nil, nil)
	if _, differ := was.Compare(s); differ > 0 || !strings.Contains(log, fromImage) {
		t.Errorf("killed before the checkpoint: %d things differ, %s", differ, log)
	}
}

// stopAloud imports a file, says so, and stops.
func stopAloud(dir, from string) {
	keeper.SetImageFrom(1)
	k, err := keeper.Open(context.Background(), keeper.Config{
		Engine: engine.Options{Dir: engine.Dir(dir), Threads: 1, MemoryLimit: "1GB"},
		Feeds:  feeds.Catalog{},
		Log:    zerolog.Nop(),
		Serve:  true,
	})
	if err == nil {
		_, err = k.Import(context.Background(), keeper.Request{Paths: []string{from}}, nil)
	}
	if err == nil {
		k.Settle()
		fmt.Println("stage stopping")
		err = k.Close()
	}
	fmt.Println("end", err)
}

// Whatever moment a stopping server is killed at, the next one serves what the database has.
func TestAKilledStopLeavesNoWrongImage(t *testing.T) {
	testfiles.InLong(t, "TestAnImageWithoutItsMarkIsNotTaken has the files that it would leave")
	defer keeper.SetImageFrom(1)()
	dir, taken := t.TempDir(), 0
	const rounds = 12
	for round := range rounds {
		cmd := exec.Command(os.Args[0])
		cmd.Env = append(os.Environ(), "PMX_TEST_STOP_IN="+dir, "PMX_TEST_IMPORT_FROM="+oneFill(t, round+1))
		killOnce(t, cmd, func(line string) bool {
			if line != "stage stopping" {
				return false
			}
			time.Sleep(time.Duration(round*8) * time.Millisecond)
			return true
		})
		s, log := served(t, dir, nil, func(k *keeper.Keeper) { mustVerify(t, k) })
		if s.Counts.Fills != int64(round+1) {
			t.Fatalf("round %d: %d fills are served", round, s.Counts.Fills)
		}
		if strings.Contains(log, fromImage) {
			taken++
		}
	}
	t.Logf("%d of %d images were taken", taken, rounds)
}
