package main

import (
	"bytes"
	"errors"
	"io/fs"
	"path/filepath"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"

	"pmx/engine/ingest"
	"pmx/rollups/keeper"
)

func cmdPrivate(ts *testscript.TestScript, neg bool, args []string) {
	usage(ts, neg, len(args) == 1, "private DIR")
	seen := 0
	ts.Check(filepath.WalkDir(ts.MkAbs(args[0]), func(path string, e fs.DirEntry, err error) error {
		if errors.Is(err, fs.ErrNotExist) { // a running server removed it
			return nil
		}
		if err != nil {
			return err
		}
		info, err := e.Info()
		if err != nil {
			return nil
		}
		seen++
		if info.Mode().Perm()&0o077 != 0 {
			ts.Fatalf("%s has the mode %s", path, info.Mode())
		}
		return nil
	}))
	if seen < 5 {
		ts.Fatalf("%s is almost empty", args[0])
	}
}

// The name of a file may contain anything except a slash: nothing of it is sent to a terminal
// unescaped.
func TestNamesOfFilesAreShownVisibly(t *testing.T) {
	name := "/tmp/a\x1b[31m\nb\u202egnp.csv\x9b\xff"
	var out, errOut bytes.Buffer
	p := newReceiptPrinter(&out, &errOut)
	p.event(keeper.Event{Receipt: &ingest.Receipt{File: name, Feed: "pmx-fills", Read: 1, RejectedFile: name}})
	p.event(keeper.Event{Failed: &keeper.Failure{File: name, Error: name + ": broken"}})
	p.event(keeper.Event{Skipped: &keeper.Failure{File: name, Error: name + ": not recognised"}})
	status(t.Context(), errors.New(name+": no such file"), stdio{err: &errOut})
	text := out.String() + errOut.String()
	for _, raw := range []string{"\x1b", "\u202e", "\x9b", "\xff"} {
		if strings.Contains(text, raw) {
			t.Errorf("%q is printed raw: %q", raw, text)
		}
	}
	const shown = `/tmp/a\x1b[31m\x0ab\u202egnp.csv\x9b\xff`
	if n := strings.Count(text, shown); n != 4 {
		t.Errorf("the name is shown %d times as %s, want 4: %q", n, shown, text)
	}
	if got := visible("ä ü 漢字 'quoted'\n\tmore", ""); got != "ä ü 漢字 'quoted'\n\tmore" {
		t.Errorf("plain text became %q", got)
	}
}
