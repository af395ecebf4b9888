package backup

import (
	"bytes"
	"context"
	"errors"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"
)

// addChanged publishes a state and returns how many of its blocks were new.
func addChanged(t *testing.T, w *Writer, file []byte, seen *Seen) (name string, blocks int64) {
	t.Helper()
	before, _ := w.Stored()
	f, err := w.AddChanged(context.Background(), File{Name: "head.db", Size: int64(len(file)), Head: 12288}, bytes.NewReader(file), seen, nobody)
	if err != nil {
		t.Fatal(err)
	}
	if name, err = w.Publish(Manifest{At: time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC), Files: []File{f}}); err != nil {
		t.Fatal(err)
	}
	after, _ := w.Stored()
	return name, after - before
}

// A block that somebody removed is stored again once its absence is noticed, although it did not
// change.
func TestALostBlockIsPublishedAgain(t *testing.T) {
	repo, err := CreatePassing(filepath.Join(t.TempDir(), "repo"))
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = repo.Close() }()
	w, err := repo.Begin()
	if err != nil {
		t.Fatal(err)
	}
	seen, file := NewSeen(), content(rand.New(rand.NewPCG(9, 1)), 12288+3*BlockSize)
	name, _ := addChanged(t, w, file, seen)
	m, err := repo.Load(name)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.Remove(repo.blockPath(m.Files[0].Blocks[2])); err != nil {
		t.Fatal(err)
	}
	if _, blocks := addChanged(t, w, file, seen); blocks != 0 {
		t.Errorf("%d blocks were stored before anybody looked", blocks)
	}
	if err := w.Refresh(); err != nil {
		t.Fatal(err)
	}
	name, blocks := addChanged(t, w, file, seen)
	if files, err := extracted(repo, name); blocks != 1 || err != nil || !bytes.Equal(files["head.db"], file) {
		t.Errorf("%d blocks were stored again, %v", blocks, err)
	}
}

// A folder that disappears while it is written to does not become one that is refused from then on.
func TestAFolderThatDisappearedIsCreatedAgain(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "repo")
	repo, err := CreatePassing(dir)
	if err != nil {
		t.Fatal(err)
	}
	w, err := repo.Begin()
	if err != nil {
		t.Fatal(err)
	}
	if err := os.Rename(dir, dir+".away"); err != nil {
		t.Fatal(err)
	}
	if _, err := w.put([]byte("a block"), nil); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("a block is stored where the folder was: %v", err)
	}
	if err := repo.Close(); err != nil {
		t.Fatal(err)
	}
	if repo, err = CreatePassing(dir); err != nil {
		t.Fatal(err)
	}
	if err := repo.Close(); err != nil {
		t.Fatal(err)
	}
}

// If words of a block change places, DuckDB's checksum stays the same. It is a change nevertheless.
func TestWhatChangedIsPublishedAndNothingElse(t *testing.T) {
	r := rand.New(rand.NewPCG(7, 1))
	repo, err := CreatePassing(filepath.Join(t.TempDir(), "repo"))
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = repo.Close() }()
	w, err := repo.Begin()
	if err != nil {
		t.Fatal(err)
	}
	seen := NewSeen()
	file := content(r, 12288+20*BlockSize)
	for i := range 8 {
		want := int64(21) // including the head
		switch {
		case i == 1:
			want = 0
		case i == 2:
			at := 12288 + 5*BlockSize
			copy(file[at+8:at+24], slices.Concat(file[at+16:at+24], file[at+8:at+16]))
			want = 1
		case i > 2:
			file[12288+(3*i)%20*BlockSize+99]++
			file[i]++ // in the head
			file = append(file, content(r, BlockSize)...)
			want = 3
		}
		name, blocks := addChanged(t, w, file, seen)
		if blocks != want {
			t.Errorf("state %d: %d blocks were new, not %d", i, blocks, want)
		}
		files, err := extracted(repo, name)
		if err != nil || !bytes.Equal(files["head.db"], file) {
			t.Fatalf("state %d differs: %v", i, err)
		}
		if i%2 == 0 {
			if _, _, err := repo.Prune(2); err != nil {
				t.Fatal(err)
			}
			if err := w.Refresh(); err != nil {
				t.Fatal(err)
			}
		}
	}
}

// extracted returns the files of a backup.
func extracted(r *Repo, name string) (map[string][]byte, error) {
	m, err := r.Load(name)
	if err != nil {
		return nil, err
	}
	from, err := r.newReader()
	if err != nil {
		return nil, err
	}
	defer from.unzip.Close()
	files := map[string][]byte{}
	for _, f := range m.Files {
		for i := range f.Blocks {
			block, err := from.blockOf(&f, i, make([]byte, BlockSize))
			if err != nil {
				return nil, err
			}
			files[f.Name] = append(files[f.Name], block...)
		}
	}
	return files, nil
}

// After a power failure, any part of what was not synced may be on the disk: the next start works
// nevertheless.
func TestAFolderIsRepairedAfterAPowerFailure(t *testing.T) {
	r := rand.New(rand.NewPCG(9, 1))
	dir := filepath.Join(t.TempDir(), "repo")
	file := content(r, 12288+4*BlockSize)
	var names []string
	for round := range 3 {
		repo, err := CreatePassing(dir)
		if err != nil {
			t.Fatal(err)
		}
		w, err := repo.Begin()
		if err != nil {
			t.Fatal(err)
		}
		name, _ := addChanged(t, w, file, NewSeen())
		names = append(names, name)
		files, err := extracted(repo, name)
		if err != nil || !bytes.Equal(files["head.db"], file) {
			t.Fatalf("round %d: %v", round, err)
		}
		if _, _, err := repo.Prune(1); err != nil {
			t.Fatal(err)
		}
		m, err := repo.Load(name)
		if err != nil {
			t.Fatal(err)
		}
		for _, path := range []string{repo.path(currentName), repo.blockPath(m.Files[0].Blocks[2]), repo.manifestPath(name)} {
			if err := os.Truncate(path, int64(round*7)); err != nil {
				t.Fatal(err)
			}
		}
		if err := repo.Close(); err != nil {
			t.Fatal(err)
		}
	}
	if len(names) != 3 {
		t.Error(names)
	}
}
