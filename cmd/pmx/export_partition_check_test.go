package main

import (
	"context"
	"errors"
	"maps"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"pmx/engine/export"
)

// TestAFolderOfFactsIsComparedWithItsManifest: a file of another size or with other bytes is named with both, and the
// comparison ends with its context.
func TestAFolderOfFactsIsComparedWithItsManifest(t *testing.T) {
	dir := t.TempDir()
	sum, bytes, err := export.FileSum(strings.NewReader("facts"))
	if err != nil {
		t.Fatal(err)
	}
	m := factsManifest{Generator: "pmx", Kind: factsKind, Complete: true, Files: []export.Partition{{Name: "a.parquet", Bytes: bytes, SHA256: sum}}}
	if err := m.write(dir, stdio{}); err != nil {
		t.Fatal(err)
	}
	for text, want := range map[string]string{"facts": "", "fact": "it has 4 bytes, not 5; copy or export it again", "facto": "its SHA-256 is "} {
		if err := os.WriteFile(filepath.Join(dir, "a.parquet"), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		err := checkFacts(t.Context(), dir)
		if want == "" && err != nil || want != "" && (err == nil || !strings.Contains(err.Error(), want)) {
			t.Errorf("%q: %v", text, err)
		}
		ended, cancel := context.WithCancel(t.Context())
		cancel()
		if err := checkFacts(ended, dir); !errors.Is(err, context.Canceled) {
			t.Errorf("%q, after the end: %v", text, err)
		}
		if err := checkPartition(ended, dir, m.Files[0]); text != "fact" && !errors.Is(err, context.Canceled) {
			t.Errorf("%q was read after the end: %v", text, err)
		}
	}
}

// TestDaysWithoutFillsLeaveNothing: the files of days that have no fills any more are removed with their folders, unless
// something else is in these.
func TestDaysWithoutFillsLeaveNothing(t *testing.T) {
	dir := t.TempDir()
	before := &factsManifest{Files: []export.Partition{{Name: "fills/day=2026-01-02/fills.parquet"}, {Name: "fills/day=2026-01-03/fills.parquet"}, {Name: "normals.parquet"}}}
	for _, name := range []string{before.Files[0].Name, before.Files[1].Name, "fills/day=2026-01-03/notes", before.Files[2].Name} {
		path := filepath.Join(dir, filepath.FromSlash(name))
		if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o700), os.WriteFile(path, nil, 0o600)); err != nil {
			t.Fatal(err)
		}
	}
	w := &partitionWriter{dir: dir}
	if err := w.finish(before, nil); err != nil {
		t.Fatal(err)
	}
	left := map[string]bool{}
	err := filepath.WalkDir(dir, func(path string, _ os.DirEntry, err error) error {
		name, _ := filepath.Rel(dir, path)
		left[filepath.ToSlash(name)] = true
		return err
	})
	if want := map[string]bool{".": true, manifestName: true, "fills": true, "fills/day=2026-01-03": true, "fills/day=2026-01-03/notes": true}; err != nil || !maps.Equal(left, want) {
		t.Errorf("%v is left, %v", left, err)
	}
}
