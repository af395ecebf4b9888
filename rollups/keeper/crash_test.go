package keeper_test

import (
	"bufio"
	"context"
	"database/sql"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/rs/zerolog"
	"go.uber.org/goleak"

	"pmx/data/feeds"
	"pmx/data/sample"
	"pmx/data/testfiles"
	"pmx/engine"
	"pmx/rollups/keeper"
)

// TestMain lets the test binary be the process that is killed, and finds goroutines that outlive a
// closed venue.
func TestMain(m *testing.M) {
	if dir := os.Getenv("PMX_TEST_IMPORT_INTO"); dir != "" {
		importAloud(dir, os.Getenv("PMX_TEST_IMPORT_FROM"))
		return
	}
	if dir := os.Getenv("PMX_TEST_RENEW_IN"); dir != "" {
		renewAloud(dir)
		return
	}
	if dir := os.Getenv("PMX_TEST_REBUILD_IN"); dir != "" {
		rebuildAloud(dir)
		return
	}
	if dir := os.Getenv("PMX_TEST_STOP_IN"); dir != "" {
		stopAloud(dir, os.Getenv("PMX_TEST_IMPORT_FROM"))
		return
	}
	goleak.VerifyTestMain(allTests{m})
}

// allTests runs the tests and then closes the venues that they share.
type allTests struct{ *testing.M }

func (m allTests) Run() int {
	code := m.M.Run()
	for k, dir := range map[*keeper.Keeper]string{sampleVenue.keeper: sampleVenue.dir, slicesVenue.keeper: slicesVenue.dir} {
		if k == nil {
			continue
		}
		if err := errors.Join(k.Close(), os.RemoveAll(dir)); err != nil {
			fmt.Fprintln(os.Stderr, err)
			code = 1
		}
	}
	return code
}

// renewAloud writes the file in wallet order again and again, and prints each time.
func renewAloud(dir string) {
	k, err := keeper.Open(context.Background(), keeper.Config{
		Engine: engine.Options{Dir: engine.Dir(dir), Threads: 1, MemoryLimit: "1GB"},
		Feeds:  feeds.Catalog{},
		Log:    zerolog.Nop(),
		Serve:  true,
	})
	for ; err == nil; err = k.RewriteSegments(context.Background()) {
		k.Settle()
		fmt.Println("stage renewed")
	}
	fmt.Println("end", err)
}

// Whenever the process is killed, the file in wallet order is the previous or the next one, or
// there is none.
func TestAKilledBuildLeavesAWholeFile(t *testing.T) {
	testfiles.InLong(t, "TestDamagedFilesAreSetAsideAndWrittenAgain finds incomplete files")
	dir := t.TempDir()
	k := sampleIn(t, dir, 5_000, withoutWeather)
	for round := range testfiles.Cases(1, 4) {
		if err := k.Close(); err != nil {
			t.Fatal(err)
		}
		cmd := exec.Command(os.Args[0])
		cmd.Env = append(os.Environ(), "PMX_TEST_RENEW_IN="+dir)
		killOnce(t, cmd, func(line string) bool {
			if line != "stage renewed" {
				return false
			}
			// Each kill is a little later, during the build that follows.
			for until := time.Now().Add(time.Duration(round) * 5 * time.Millisecond); time.Now().Before(until); {
				runtime.Gosched()
			}
			return true
		})
		k = open(t, dir)
		k.Settle()
		mustHave(t, k, 0)
		mustVerify(t, k)
	}
}

// rebuildAloud rebuilds the rollups, and prints the name of each before it is built.
func rebuildAloud(dir string) {
	k, err := keeper.Open(context.Background(), keeper.Config{
		Engine: engine.Options{Dir: engine.Dir(dir), Threads: 2, MemoryLimit: "1GB"},
		Feeds:  feeds.Catalog{},
		Log:    zerolog.Nop(),
	})
	if err == nil {
		err = k.Rebuild(context.Background(), func(name string, _, _ int) { fmt.Println("stage", name) })
	}
	fmt.Println("end", err)
}

// Whenever the process is killed, the rollups are the former or the new ones, which are equal here, and nothing else is left.
func TestAKilledRebuildLeavesWholeRollups(t *testing.T) {
	dir := t.TempDir()
	k := sampleIn(t, dir, 5_000, withoutWeather)
	stages := []string{"stage oracle_bin", "stage position", "stage token_day", "stage wallet_total", "stage candle", "stage desk_wallet"}
	for _, stage := range stages[:testfiles.Cases(1, len(stages))] {
		if err := k.Close(); err != nil {
			t.Fatal(err)
		}
		cmd := exec.Command(os.Args[0])
		cmd.Env = append(os.Environ(), "PMX_TEST_REBUILD_IN="+dir)
		if !killOnce(t, cmd, func(line string) bool { return line == stage }) {
			t.Fatalf("the rebuild did not reach %q", stage)
		}
		k = open(t, dir)
		mustVerify(t, k)
		left := 0
		err := k.DB().Read(t.Context(), func(conn *sql.Conn) error {
			return conn.QueryRowContext(t.Context(), "SELECT count(*) FROM duckdb_tables() WHERE ends_with(table_name, '_new')").Scan(&left)
		})
		if err != nil || left > 0 {
			t.Errorf("killed at %q: %d tables are left behind, err = %v", stage, left, err)
		}
	}
}

// importAloud imports, and prints every stage that it reaches.
func importAloud(dir, from string) {
	k, err := keeper.Open(context.Background(), keeper.Config{
		Engine: engine.Options{Dir: engine.Dir(dir), Threads: 1, MemoryLimit: "1GB"},
		Feeds:  feeds.Catalog{},
		Log:    zerolog.Nop(),
	})
	if err != nil {
		fmt.Println("open:", err)
		return
	}
	_, err = k.Import(context.Background(), keeper.Request{Paths: []string{from}}, func(e keeper.Event) {
		switch {
		case e.Progress != nil:
			fmt.Println("stage", e.Progress.Phase, filepath.Base(e.Progress.File))
		case e.Receipt != nil:
			fmt.Println("stage done", filepath.Base(e.Receipt.File))
		}
	})
	fmt.Println("end", err)
}

func TestAKilledImportIsCompletedByTheNext(t *testing.T) {
	from := filepath.Join(t.TempDir(), "venue")
	man, err := sample.Write(context.Background(), sample.Config{Fills: int64(testfiles.Cases(5_000, 12_000)), Days: sampleDays()}, from, nil)
	if err != nil {
		t.Fatal(err)
	}
	withoutWeather(t, from)
	stages := []string{
		"stage merging orderFilled.csv", "stage done events.ndjson",
		"stage reading events.ndjson", "stage merging events.ndjson", "stage matching orderFilled.csv", "stage done orderFilled.csv",
	}
	for _, stage := range stages[:testfiles.Cases(1, len(stages))] {
		t.Run(strings.ReplaceAll(stage, " ", "_"), func(t *testing.T) {
			dir := t.TempDir()
			killAt(t, dir, from, stage)
			k := open(t, dir)
			mustVerify(t, k)
			mustImport(t, k, from)
			if c := k.Snapshot().Counts; c.Fills != man.Fills || c.Markets != man.Markets || c.VolumeUSD != man.TakerUSD {
				t.Errorf("after the second import: %+v, want the manifest's figures: %+v", c, man)
			}
			mustVerify(t, k)
			left, err := filepath.Glob(filepath.Join(dir, "tmp", "import-*"))
			if err != nil || len(left) > 0 {
				t.Errorf("left behind: left = %v, err = %v", left, err)
			}
		})
	}
}

// killAt runs an import in another process and kills it at stage.
func killAt(t *testing.T, dir, from, stage string) {
	t.Helper()
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), "PMX_TEST_IMPORT_INTO="+dir, "PMX_TEST_IMPORT_FROM="+from)
	if !killOnce(t, cmd, func(line string) bool { return line == stage }) {
		t.Fatalf("the import did not reach %q", stage)
	}
}

// killOnce runs a process and kills it at the first line that reached accepts, or at its end.
func killOnce(t *testing.T, cmd *exec.Cmd, reached func(line string) bool) (was bool) {
	t.Helper()
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	for lines := bufio.NewScanner(out); !was && lines.Scan(); {
		was = reached(lines.Text())
	}
	if err := cmd.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	_ = cmd.Wait() // it was killed
	return was
}
