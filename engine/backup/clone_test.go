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
)

func openClone(t *testing.T, dir string) *Clone {
	t.Helper()
	c, err := OpenClone(dir)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = c.Close() })
	return c
}

// fetch takes a backup and checks that it has these files.
func fetch(t *testing.T, c *Clone, repo, name string, files map[string][]byte) *Copy {
	t.Helper()
	from, err := Follow(repo)
	if err != nil {
		t.Fatal(err)
	}
	at, err := c.Fetch(context.Background(), from, name)
	if err != nil {
		t.Fatal(err)
	}
	holds(t, at, files)
	return at
}

// holds checks that a copy has these files and no others.
func holds(t *testing.T, at *Copy, files map[string][]byte) {
	t.Helper()
	got := map[string][]byte{}
	entries, err := os.ReadDir(at.Dir)
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range entries {
		if e.Name() == cloneManifest {
			continue
		}
		if got[e.Name()], err = os.ReadFile(filepath.Join(at.Dir, e.Name())); err != nil {
			t.Fatal(err)
		}
	}
	if !equal(got, files) {
		t.Fatalf("the copy of backup %d in %s holds %d files that differ from the backup", Number(at.Name), at.Dir, len(got))
	}
}

// changed returns files with some bytes of a block changed, and one more block.
func changed(r *rand.Rand, files map[string][]byte, block int) map[string][]byte {
	next := map[string][]byte{}
	for name, text := range files {
		next[name] = append([]byte{}, text...)
	}
	next["head.db"][12288+block*BlockSize+5] ^= 0x55
	next["head.db"] = append(next["head.db"], content(r, BlockSize)...)
	return next
}

func someFiles(r *rand.Rand, blocks int) map[string][]byte {
	return map[string][]byte{"head.db": content(r, 12288+blocks*BlockSize), "control.db": content(r, 9000)}
}

func TestACopyBecomesTheNextBackupByWhatChanged(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 1))
	repo, dir := filepath.Join(t.TempDir(), "repo"), t.TempDir()
	w := create(t, repo)
	a := someFiles(r, 6)
	a["cities.csv"] = []byte("x")
	one, _ := backUp(t, w, a)
	c := openClone(t, dir)
	first := fetch(t, c, repo, one, a)
	b := changed(r, a, 2)
	delete(b, "cities.csv")
	two, _ := backUp(t, w, b)

	// Unchanged blocks are not requested: without them in the repository, the copy is still
	// complete.
	m, err := w.Load(one)
	if err != nil {
		t.Fatal(err)
	}
	db, _ := m.File("head.db")
	if err := os.Remove(w.blockPath(db.Blocks[1])); err != nil {
		t.Fatal(err)
	}
	second := fetch(t, c, repo, two, b)
	holds(t, first, a) // it is in use
	c.Release(first)
	d := changed(r, b, 4)
	three, _ := backUp(t, w, d)
	third := fetch(t, c, repo, three, d)
	if third.Dir != first.Dir {
		t.Errorf("the third copy is in %s: the first, which nobody uses, is in %s", third.Dir, first.Dir)
	}
	holds(t, second, b)
}

func TestACopyReusesTheUnusedOne(t *testing.T) {
	r := rand.New(rand.NewPCG(2, 1))
	repo, dir := filepath.Join(t.TempDir(), "repo"), t.TempDir()
	w, c := create(t, repo), openClone(t, dir)
	state := someFiles(r, 4)
	var used []*Copy
	for i := range 7 {
		state = changed(r, state, i%4)
		name, _ := backUp(t, w, state)
		at := fetch(t, c, repo, name, state)
		used = append(used, at)
		if i == 2 { // a reader that takes long: two of three are in use
			continue
		}
		for len(used) > 1 {
			c.Release(used[0])
			used = used[1:]
		}
	}
	entries, err := filepath.Glob(filepath.Join(dir, "[0-9]*"))
	if err != nil || len(entries) != maxCopies {
		t.Errorf("%d copies are left: %v", len(entries), err)
	}
	// The next process finds the complete newest copy, without the repository.
	if err := c.Close(); err != nil {
		t.Fatal(err)
	}
	again := openClone(t, dir)
	at, err := again.Newest(context.Background())
	if err != nil || at == nil {
		t.Fatal(at, err)
	}
	holds(t, at, state)
	if _, err := OpenClone(dir); err == nil || !strings.Contains(err.Error(), "choose another --data-dir") {
		t.Errorf("two processes have one folder of copies: %v", err)
	}
}

// An unfinished copy is never used as a complete one, wherever it was stopped, and whatever of the
// last write reached the disk.
func TestAnInterruptedCopyIsCompleted(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 1))
	repo, dir := filepath.Join(t.TempDir(), "repo"), t.TempDir()
	w := create(t, repo)
	a := someFiles(r, 12)
	one, _ := backUp(t, w, a)
	b := changed(r, changed(r, changed(r, a, 1), 5), 9)
	two, _ := backUp(t, w, b)
	c := openClone(t, dir)
	fetch(t, c, repo, one, a)
	m, err := w.Load(two)
	if err != nil {
		t.Fatal(err)
	}
	file, _ := m.File("head.db")
	before, err := w.Load(one)
	if err != nil {
		t.Fatal(err)
	}
	old, _ := before.File("head.db")
	for lost := range file.Blocks {
		if slices.Contains(old.Blocks, file.Blocks[lost]) {
			continue
		}
		// A new process, which knows nothing about the files. The blocks that the last one wrote
		// would not be requested.
		if err := errors.Join(c.Close(), os.RemoveAll(filepath.Join(dir, "2"))); err != nil {
			t.Fatal(err)
		}
		c = openClone(t, dir)
		// It is stopped at a block that is missing: those before it are written, most of those
		// after it are not.
		path := w.blockPath(file.Blocks[lost])
		text, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, text[:len(text)/2], 0o600); err != nil {
			t.Fatal(err)
		}
		if _, err := c.Fetch(context.Background(), w, two); !errors.Is(err, ErrDamaged) {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, text, 0o600); err != nil {
			t.Fatal(err)
		}
		newest, err := c.Newest(context.Background())
		if err != nil || newest == nil {
			t.Fatal(err)
		}
		if newest.Name != one {
			t.Errorf("backup %d is incomplete, but was accepted", Number(newest.Name))
		}
		holds(t, newest, a)
	}
	if err := c.Close(); err != nil {
		t.Fatal(err)
	}
	c = openClone(t, dir)
	// A block that was only partly written before a power failure is detected by its checksum, and
	// requested again.
	whole := fetch(t, c, repo, two, b)
	c.Release(whole)
	if err := c.Close(); err != nil {
		t.Fatal(err)
	}
	f, err := os.OpenFile(filepath.Join(whole.Dir, "head.db"), os.O_RDWR, 0)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := f.WriteAt([]byte("torn"), 12288+3*BlockSize+77); err != nil {
		t.Fatal(err)
	}
	if err := f.Close(); err != nil {
		t.Fatal(err)
	}
	c = openClone(t, dir)
	earlier, err := c.Newest(context.Background())
	if err != nil || earlier == nil || earlier.Name == two {
		t.Fatalf("a torn block was accepted: earlier = %+v, err = %v", earlier, err)
	}
	c.Release(earlier)
	fetch(t, c, repo, two, b)
}

func TestAnIncompleteCopyOfABackupIsNotUsed(t *testing.T) {
	r := rand.New(rand.NewPCG(4, 1))
	repo, dir := filepath.Join(t.TempDir(), "repo"), t.TempDir()
	w, c := create(t, repo), openClone(t, dir)
	a := someFiles(r, 5)
	one, _ := backUp(t, w, a)
	at := fetch(t, c, repo, one, a)
	b := changed(r, a, 3)
	two, _ := backUp(t, w, b)
	m, err := w.Load(two)
	if err != nil {
		t.Fatal(err)
	}
	file, _ := m.File("head.db")
	from, err := Follow(repo)
	if err != nil {
		t.Fatal(err)
	}
	for _, path := range []string{w.blockPath(file.Blocks[4]), w.blockPath(file.Blocks[6]), w.manifestPath(two)} {
		if err := os.Rename(path, path+".part"); err != nil {
			t.Fatal(err)
		}
		if _, err := c.Fetch(context.Background(), from, two); !errors.Is(err, ErrIncomplete) {
			t.Errorf("without %s: %v", filepath.Base(path), err)
		}
		holds(t, at, a)
		if err := os.Rename(path+".part", path); err != nil {
			t.Fatal(err)
		}
	}
	fetch(t, c, repo, two, b)
	if _, err := Follow(t.TempDir()); !errors.Is(err, ErrNoRepository) {
		t.Error(err)
	}
}

// A replica whose newest copy is damaged starts with the one before.
func TestTheCopyBeforeADamagedOneIsUsed(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 9))
	repo, dir := filepath.Join(t.TempDir(), "repo"), t.TempDir()
	w, c, files := create(t, repo), openClone(t, dir), someFiles(r, 3)
	next := changed(r, files, 1)
	one, _ := backUp(t, w, files)
	older := fetch(t, c, repo, one, files)
	two, _ := backUp(t, w, next)
	newer := fetch(t, c, repo, two, next)
	if err := c.Close(); err != nil {
		t.Fatal(err)
	}
	damage := func(at *Copy) {
		t.Helper()
		if err := os.WriteFile(filepath.Join(at.Dir, "control.db"), content(r, 9000), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	damage(newer)
	c = openClone(t, dir)
	at, err := c.Newest(context.Background())
	if err != nil || at.Name != older.Name {
		t.Fatalf("at = %+v, err = %v", at, err)
	}
	holds(t, at, files)
	if err := c.Close(); err != nil {
		t.Fatal(err)
	}
	damage(older)
	if at, err := openClone(t, dir).Newest(context.Background()); at != nil || !errors.Is(err, ErrDamaged) {
		t.Fatalf("with two damaged copies: at = %+v, err = %v", at, err)
	}
}
