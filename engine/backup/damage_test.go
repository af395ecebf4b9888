package backup

import (
	"context"
	"errors"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"pmx/data/testfiles"
)

func TestAFlippedBitIsFoundInWhateverFile(t *testing.T) {
	dir, r := t.TempDir(), rand.New(rand.NewPCG(5, 6))
	repo := create(t, dir)
	state := map[string][]byte{"head.db": content(r, 12288+2*BlockSize), "zero.db": make([]byte, 9000)}
	backUp(t, repo, state)
	state["zero.db"] = []byte("other")
	backUp(t, repo, state)
	if err := repo.Close(); err != nil {
		t.Fatal(err)
	}
	for _, path := range files(t, dir) {
		text, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		bits := []int{0, 1, 8*len(text) - 1}
		for range testfiles.Cases(8, 40) {
			bits = append(bits, r.IntN(max(8*len(text), 1)))
		}
		if len(text) == 0 { // the lock
			continue
		}
		for _, bit := range bits {
			text[bit/8] ^= 1 << (bit % 8)
			if err := os.WriteFile(path, text, 0o600); err != nil {
				t.Fatal(err)
			}
			if got := faults(t, dir); !slices.ContainsFunc(got, func(s string) bool { return strings.Contains(s, path) }) {
				t.Errorf("bit %d of %s: got %q", bit, path, got)
			}
			text[bit/8] ^= 1 << (bit % 8)
		}
		if err := os.WriteFile(path, text, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if got := faults(t, dir); len(got) != 0 {
		t.Error("after the repair:", got)
	}
}

// TestADamagedBlockIsWrittenAgain: the next backup that needs it does not rely on its file.
func TestADamagedBlockIsWrittenAgain(t *testing.T) {
	dir, r := t.TempDir(), rand.New(rand.NewPCG(7, 8))
	repo := create(t, dir)
	state := map[string][]byte{"head.db": content(r, 12288+2*BlockSize)}
	_, all := backUp(t, repo, state)
	for _, path := range files(t, filepath.Join(dir, blocksName)) {
		text, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		text[len(text)/2] ^= 1
		if err := os.WriteFile(path, text, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if _, blocks := backUp(t, repo, state); blocks != all {
		t.Errorf("%d of %d blocks were written again", blocks, all)
	}
	if _, blocks := backUp(t, repo, state); blocks != 0 {
		t.Errorf("%d intact blocks were written again", blocks)
	}
	if err := repo.Close(); err != nil {
		t.Fatal(err)
	}
	if got := faults(t, dir); len(got) != 0 {
		t.Error(got)
	}
}

func TestAMissingTruncatedOrUnknownFileIsFound(t *testing.T) {
	for _, spoil := range []func(path string) error{
		os.Remove,
		func(path string) error { return os.Truncate(path, 0) },
		func(path string) error { return os.Truncate(path, 40) },
	} {
		dir := t.TempDir()
		repo := create(t, dir)
		name, _ := backUp(t, repo, map[string][]byte{"plain.db": content(rand.New(rand.NewPCG(7, 8)), 70000)})
		m, err := repo.Load(name)
		if err = errors.Join(err, repo.Close()); err != nil {
			t.Fatal(err)
		}
		for _, path := range []string{repo.blockPath(m.Files[0].Blocks[0]), repo.manifestPath(name), repo.path(currentName), repo.path(markerName)} {
			text, err := os.ReadFile(path)
			if err = errors.Join(err, spoil(path)); err != nil {
				t.Fatal(err)
			}
			got := faults(t, dir)
			lost := path == repo.manifestPath(name) && len(got) == 1 && strings.Contains(got[0], currentName)
			if !lost && !slices.ContainsFunc(got, func(s string) bool { return strings.Contains(s, filepath.Base(path)) }) {
				t.Errorf("%s: got %q", path, got)
			}
			if err := os.WriteFile(path, text, 0o600); err != nil {
				t.Fatal(err)
			}
		}
		strange := repo.path(blocksName, "notes.txt")
		if err := os.WriteFile(strange, nil, 0o600); err != nil {
			t.Fatal(err)
		}
		if got := faults(t, dir); len(got) != 1 || !strings.HasPrefix(got[0], strange) {
			t.Errorf("an unknown file: got %q", got)
		}
	}
}

// A damaged backup does not affect the others, and the error says which ones are damaged.
func TestOneDamagedFileLeavesTheOtherBackups(t *testing.T) {
	dir := t.TempDir()
	repo := create(t, dir)
	var names []string
	for i := range 3 {
		name, _ := backUp(t, repo, map[string][]byte{"plain.db": {byte(i)}})
		names = append(names, name)
	}
	if err := repo.Close(); err != nil {
		t.Fatal(err)
	}
	current, manifest := repo.path(currentName), repo.manifestPath(names[2])
	for _, tc := range []struct {
		path, text, says, advice string // text "": it is removed
	}{
		{current, "", "it is missing; give the number of a backup: it has 1, 2, 3", adviceCurrent},
		{current, "x", "it names no backup; give the number of a backup: it has 1, 2, 3", adviceCurrent},
		{manifest, "", "it names backup 3, whose manifest is missing; give the number of a backup: it has 1, 2", adviceCurrent},
		{manifest, "{}", "content does not match its name", adviceManifest},
	} {
		text, err := os.ReadFile(tc.path)
		if err == nil && tc.text == "" {
			err = os.Remove(tc.path)
		} else if err == nil {
			err = os.WriteFile(tc.path, []byte(tc.text), 0o600)
		}
		if err != nil {
			t.Fatal(err)
		}
		name, err := repo.Find("")
		if err == nil {
			_, err = repo.Load(name)
		}
		if !errors.Is(err, ErrDamaged) || !strings.Contains(err.Error(), tc.says) || errors.Is(err, ErrNone) {
			t.Errorf("the newest: %v, want %q", err, tc.says)
		}
		name, err = repo.Find("2")
		if err != nil {
			t.Errorf("%q: %v", tc.says, err)
		} else if got, err := restored(dir, name); err != nil || got["plain.db"][0] != 1 {
			t.Errorf("%q: backup 2: %v, %v", tc.says, got, err)
		}
		report, err := repo.Verify(context.Background(), func(float64) {})
		if err != nil || !slices.Equal(report.Advice, []string{tc.advice}) {
			t.Errorf("%q: report = %+v, err = %v", tc.says, report, err)
		}
		if err := os.WriteFile(tc.path, text, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Remove(current); err != nil {
		t.Fatal(err)
	}
	again := create(t, dir)
	if name, _ := backUp(t, again, map[string][]byte{"plain.db": {9}}); Number(name) != 4 {
		t.Errorf("the next one is %s", name)
	}
	if err := again.Close(); err != nil {
		t.Fatal(err)
	}
	if got := faults(t, dir); len(got) != 0 {
		t.Errorf("after the next backup: got %q", got)
	}
}
