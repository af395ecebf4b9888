package backup

import (
	"bytes"
	"errors"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"testing"
)

// kept returns the number of stored blocks. No block of a backup may be missing, and there may be
// none that no backup needs.
func kept(t *testing.T, r *Repo, of int) int64 {
	t.Helper()
	needed, found := map[string]bool{}, int64(0)
	names, err := r.Manifests()
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range names {
		m, err := r.Load(name)
		if err != nil {
			t.Fatal(err)
		}
		for _, f := range m.Files {
			for _, sum := range f.Blocks {
				needed[sum] = true
			}
		}
	}
	if err := r.eachBlock(func(sum string, _ int64) error {
		if found++; !needed[sum] {
			t.Errorf("%d bytes: no backup needs the block %s", of, sum)
		}
		return nil
	}); err != nil {
		t.Fatal(err)
	}
	if found < int64(len(needed)) {
		t.Errorf("%d bytes: %d of %d blocks are missing", of, int64(len(needed))-found, len(needed))
	}
	return found
}

// readAhead reads a file ahead for a backup that is not completed.
func readAhead(t *testing.T, r *Repo, file []byte) *Writer {
	t.Helper()
	w, err := r.Begin()
	if err != nil {
		t.Fatal(err)
	}
	if err := w.AddAhead(t.Context(), File{Name: "head.db", Size: int64(len(file)), Head: 12288}, bytes.NewReader(file), NewSeen(), nobody); err != nil {
		t.Fatal(err)
	}
	return w
}

// A file that changes after it was read ahead is backed up with its final contents. The earlier
// contents are not kept, unless an earlier backup has them.
func TestOnlyTheEndOfWhatIsReadAheadIsKept(t *testing.T) {
	r := rand.New(rand.NewPCG(11, 1))
	file := content(r, 12288+9*BlockSize)
	for _, size := range []int{len(file) - 3*BlockSize, len(file), len(file) + 2*BlockSize + 99} {
		repo, err := Create(filepath.Join(t.TempDir(), "repo"))
		if err != nil {
			t.Fatal(err)
		}
		defer func() { _ = repo.Close() }()
		backUp(t, repo, map[string][]byte{"head.db": file})
		had := kept(t, repo, size)
		w, err := repo.Begin()
		if err != nil {
			t.Fatal(err)
		}
		seen, early := NewSeen(), bytes.Clone(file)
		early[12288+BlockSize]++     // is in no backup in the end
		early[12288+4*BlockSize+7]++ // nor is this
		f := File{Name: "head.db", Size: int64(len(file)), Head: 12288}
		if err := w.AddAhead(t.Context(), f, bytes.NewReader(early[:len(early)-BlockSize]), seen, nobody); err != nil {
			t.Fatal(err)
		}
		if err := os.Remove(repo.blockPath(seen.blocks[2].sum)); err != nil { // it was removed meanwhile
			t.Fatal(err)
		}
		late := append(bytes.Clone(file), content(r, 3*BlockSize)...)[:size]
		late[12288+2*BlockSize]++
		name, _ := addChanged(t, w, late, seen)
		if files, err := extracted(repo, name); err != nil || !bytes.Equal(files["head.db"], late) {
			t.Errorf("the backup of %d bytes is not the file, %v", size, err)
		}
		if err := w.Tidy(); err != nil {
			t.Fatal(err)
		}
		if blocks, _ := w.Stored(); blocks != kept(t, repo, size)-had {
			t.Errorf("%d blocks are new, %d are stored, %d were stored before", blocks, kept(t, repo, size), had)
		}
		if report, err := repo.Verify(t.Context(), func(float64) {}); err != nil || len(report.Faults) > 0 {
			t.Errorf("report = %+v, err = %v", report, err)
		}
	}
}

// A backup that is not completed removes what it read ahead. A block that an earlier backup had
// lost, and that was stored again in this way, is kept.
func TestAFailedBackupKeepsBlocksOfOthers(t *testing.T) {
	r := rand.New(rand.NewPCG(13, 1))
	repo, file := create(t, filepath.Join(t.TempDir(), "repo")), content(r, 12288+4*BlockSize)
	name, _ := backUp(t, repo, map[string][]byte{"head.db": file})
	m, err := repo.Load(name)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.Remove(repo.blockPath(m.Files[0].Blocks[3])); err != nil {
		t.Fatal(err)
	}
	file[0]++
	file[12288+BlockSize]++
	if err := readAhead(t, repo, file).Tidy(); err != nil {
		t.Fatal(err)
	}
	if n := kept(t, repo, len(file)); n != 5 {
		t.Errorf("got %d blocks", n)
	}
}

// What a backup read ahead before it was killed is known to the next one, however much of the list
// was written. While a backup cannot be read, nothing is removed, and it is still known later.
func TestBlocksReadAheadByAKilledBackupAreRemoved(t *testing.T) {
	r, dir := rand.New(rand.NewPCG(14, 1)), filepath.Join(t.TempDir(), "repo")
	repo, file := create(t, dir), content(r, 12288+4*BlockSize)
	name, _ := backUp(t, repo, map[string][]byte{"head.db": file})
	early := bytes.Clone(file)
	early[5]++
	early[12288+2*BlockSize]++
	if w := readAhead(t, repo, early); w.list == nil {
		t.Fatal("there is no list")
	} else if _, err := w.list.WriteString("3fa"); err != nil {
		t.Fatal(err)
	}
	if err := repo.Close(); err != nil { // as a kill does
		t.Fatal(err)
	}
	repo = create(t, dir)
	whole, err := os.ReadFile(repo.manifestPath(name))
	if err != nil {
		t.Fatal(err)
	}
	for _, text := range [][]byte{[]byte("{}"), whole} {
		if err := os.WriteFile(repo.manifestPath(name), text, 0o600); err != nil {
			t.Fatal(err)
		}
		w, err := repo.Begin()
		if err != nil {
			t.Fatal(err)
		}
		addChanged(t, w, file, NewSeen())
		if err := w.Tidy(); err != nil {
			t.Fatal(err)
		}
		if _, err := os.Stat(repo.path(tmpName, aheadName)); errors.Is(err, fs.ErrNotExist) != (len(text) > 2) {
			t.Errorf("the list, after a manifest of %d bytes: %v", len(text), err)
		}
	}
	if n := kept(t, repo, len(file)); n != 5 {
		t.Errorf("got %d blocks", n)
	}
}
