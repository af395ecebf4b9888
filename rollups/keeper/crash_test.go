package keeper_test

import (
	"bufio"
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/rs/zerolog"

	"pmx/data/feeds"
	"pmx/data/feeds/shape"
	"pmx/data/sample"
	"pmx/engine"
	"pmx/engine/ingest"
	"pmx/rollups/keeper"
)

// TestMain lets the test binary be the process that is killed.
func TestMain(m *testing.M) {
	if dir := os.Getenv("PMX_TEST_IMPORT_INTO"); dir != "" {
		importAloud(dir, os.Getenv("PMX_TEST_IMPORT_FROM"))
		return
	}
	os.Exit(m.Run())
}

// importAloud imports and prints every stage it comes to.
func importAloud(dir, from string) {
	k, err := keeper.Open(context.Background(), keeper.Config{
		Engine: engine.Options{Dir: engine.Dir(dir), Threads: 1, MemoryLimit: "1GB"},
		Feeds:  ingest.Catalogue{Head: feeds.ReadHead, Open: feeds.Open, Detect: feeds.Detect, ByName: feeds.ByName, Explain: shape.Detail},
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
	man, err := sample.Write(context.Background(), sample.Config{Fills: 20_000}, from, nil)
	if err != nil {
		t.Fatal(err)
	}
	for _, stage := range []string{
		"stage reading events.ndjson", "stage merging events.ndjson", "stage done events.ndjson",
		"stage matching orderFilled.csv", "stage merging orderFilled.csv", "stage done orderFilled.csv",
	} {
		t.Run(strings.ReplaceAll(stage, " ", "_"), func(t *testing.T) {
			dir := t.TempDir()
			killAt(t, dir, from, stage)
			k := open(t, dir)
			mustVerify(t, k)
			mustImport(t, k, from)
			if c := k.Snapshot().Counts; c.Fills != man.Fills || c.Markets != man.Markets || c.VolumeUSD != man.TakerUSD {
				t.Errorf("after the second import: %+v, want what the manifest says: %+v", c, man)
			}
			mustVerify(t, k)
			left, err := filepath.Glob(filepath.Join(dir, "tmp", "import-*"))
			if err != nil || len(left) > 0 {
				t.Errorf("left behind: %v %v", left, err)
			}
		})
	}
}

// killAt runs an import in another process and kills it when it comes to stage.
func killAt(t *testing.T, dir, from, stage string) {
	t.Helper()
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), "PMX_TEST_IMPORT_INTO="+dir, "PMX_TEST_IMPORT_FROM="+from)
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	reached := false
	for lines := bufio.NewScanner(out); lines.Scan(); {
		if lines.Text() == stage {
			reached = true
			break
		}
	}
	if err := cmd.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	_ = cmd.Wait() // it was killed
	if !reached {
		t.Fatalf("the import never came to %q", stage)
	}
}
