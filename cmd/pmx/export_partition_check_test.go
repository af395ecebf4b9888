package main

import (
	"context"
	"errors"
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
