package keeper_test

import (
	"bytes"
	"compress/gzip"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"pmx/data/testfiles"
)

// dropped puts files into an inbox as if they had been there for a minute.
func dropped(t *testing.T, inbox string, files map[string]string) {
	t.Helper()
	old := time.Now().Add(-time.Minute)
	for name, text := range files {
		path := filepath.Join(inbox, name)
		if err := errors.Join(os.WriteFile(path, []byte(text), 0o600), os.Chtimes(path, old, old)); err != nil {
			t.Fatal(err)
		}
	}
}

func someFill(n int) string {
	return orderFilledHeader + orderFilled(1_780_000_000, 1, 400_000, 1_000_000, "77", fmt.Sprintf("0x%040x", 9), n)
}

// A file with the longest possible name is imported and moved like any other, with its extension,
// and so is one that is refused.
func TestInboxTakesLongNames(t *testing.T) {
	k := open(t, t.TempDir())
	inbox := k.DB().Dir().Inbox()
	dropped(t, inbox, map[string]string{
		strings.Repeat("a", 251) + ".csv": someFill(1), strings.Repeat("b", 251) + ".txt": "nothing that any feed knows", "z.csv": someFill(2),
	})
	if err := k.Cycle(context.Background()); err != nil {
		t.Fatal(err)
	}
	for pattern, want := range map[string]int{"done/*-aaaa*.csv": 1, "done/*z.csv": 1, "failed/*-bbbb*.txt": 2, "failed/*-bbbb*.txt.error.txt": 1, "*.*": 0} {
		if got, _ := filepath.Glob(filepath.Join(inbox, pattern)); len(got) != want {
			t.Errorf("%s: %v, want %d", pattern, got, want)
		}
	}
	if n := k.Snapshot().Counts.Fills; n != 2 {
		t.Errorf("the snapshot holds %d fills, want 2", n)
	}
}

// A file that cannot be moved does not stop the others and is not imported again. The turn says
// what is wrong, and the file is moved as soon as that is possible.
func TestInboxContinuesAfterAFileThatCannotBeMoved(t *testing.T) {
	k := open(t, t.TempDir())
	inbox := k.DB().Dir().Inbox()
	if err := os.WriteFile(filepath.Join(inbox, "done"), nil, 0o600); err != nil { // too new to be taken
		t.Fatal(err)
	}
	ahead := time.Now().Add(time.Hour)
	if err := os.Chtimes(filepath.Join(inbox, "done"), ahead, ahead); err != nil {
		t.Fatal(err)
	}
	dropped(t, inbox, map[string]string{"a.csv": someFill(1), "b.txt": "nothing that any feed knows", "c.csv": someFill(2)})
	for range 2 {
		if err := k.Cycle(context.Background()); err == nil || !strings.Contains(k.Freshness().FailureText, "inbox") {
			t.Fatalf("%v, status %q: want a failure that names the inbox", err, k.Freshness().FailureText)
		}
	}
	if n, imports := k.Snapshot().Counts.Fills, count(t, k, "SELECT count(*) FROM batches"); n != 2 || imports != 2 {
		t.Errorf("%d fills of %d imports, want 2 of 2", n, imports)
	}
	if got, _ := filepath.Glob(filepath.Join(inbox, "failed", "*b.txt")); len(got) != 1 {
		t.Errorf("failed: got %v", got)
	}
	if err := os.Remove(filepath.Join(inbox, "done")); err != nil {
		t.Fatal(err)
	}
	if err := k.Cycle(context.Background()); err != nil {
		t.Fatal(err)
	}
	if got, _ := filepath.Glob(filepath.Join(inbox, "done", "*.csv")); len(got) != 2 || count(t, k, "SELECT count(*) FROM batches") != 2 {
		t.Errorf("done: got %v", got)
	}
}

// A file that fills the disk while it is imported is moved to the failed ones: it would do so again. The note says what to do.
func TestInboxRefusesAFileThatFillsTheDisk(t *testing.T) {
	k := open(t, testfiles.Disk(t, "size=64m"))
	inbox := k.DB().Dir().Inbox()
	row := orderFilled(1_780_000_000, 1, 400_000, 1_000_000, "77", fmt.Sprintf("0x%040x", 9), 1)
	var large bytes.Buffer
	w := gzip.NewWriter(&large)
	if _, err := w.Write([]byte(orderFilledHeader + strings.Repeat(row, 64<<20/len(row)))); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	dropped(t, inbox, map[string]string{"a.csv.gz": large.String(), "b.csv": someFill(2)})
	if err := k.Cycle(t.Context()); err != nil {
		t.Errorf("err = %v", err)
	}
	notes, _ := filepath.Glob(filepath.Join(inbox, "failed", "*a.csv.gz.error.txt"))
	if len(notes) != 1 {
		t.Fatalf("notes = %q", notes)
	}
	if note, err := os.ReadFile(notes[0]); err != nil || !strings.Contains(string(note), "free some space; then import the file again") {
		t.Errorf("note = %q, err = %v", note, err)
	}
	if n := k.Snapshot().Counts.Fills; n != 1 {
		t.Errorf("%d fills of the other file are shown", n)
	}
}
