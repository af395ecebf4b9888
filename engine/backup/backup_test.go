package backup

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"
)

func nobody(int64) {}

// content is the content of a file of a test.
func content(r *rand.Rand, size int) []byte {
	b := make([]byte, size)
	for i := range b {
		b[i] = byte(r.Uint32() % 7) // which can be compressed
	}
	return b
}

// backUp adds a backup of files, whose names say whether they have a header.
func backUp(t *testing.T, r *Repo, files map[string][]byte) (name string, blocks int64) {
	t.Helper()
	w, err := r.Begin()
	if err != nil {
		t.Fatal(err)
	}
	m := Manifest{At: time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC), Pmx: "dev"}
	for _, file := range slices.Sorted(keys(files)) {
		f := File{Name: file, Size: int64(len(files[file]))}
		if strings.HasPrefix(file, "head") {
			f.Head = min(12288, f.Size)
		}
		f, err := w.Add(context.Background(), f, bytes.NewReader(files[file]), nobody)
		if err != nil {
			t.Fatal(err)
		}
		m.Files = append(m.Files, f)
	}
	if name, err = w.Publish(m); err != nil {
		t.Fatal(err)
	}
	blocks, _ = w.Stored()
	return name, blocks
}

func keys(files map[string][]byte) func(func(string) bool) {
	return func(yield func(string) bool) {
		for name := range files {
			if !yield(name) {
				return
			}
		}
	}
}

func create(t *testing.T, dir string) *Repo {
	t.Helper()
	r, err := Create(dir)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = r.Close() })
	return r
}

// restored returns the files of a backup; "" is the current one.
func restored(dir, name string) (map[string][]byte, error) {
	r, err := Open(dir)
	if err != nil {
		return nil, err
	}
	defer func() { _ = r.Close() }()
	if name == "" {
		if name, err = r.Current(); err != nil {
			return nil, err
		}
	}
	m, err := r.Load(name)
	if err != nil {
		return nil, err
	}
	files := map[string][]byte{}
	for _, f := range m.Files {
		to, err := os.CreateTemp(filepath.Dir(dir), "restored-*")
		if err != nil {
			return nil, err
		}
		if err := r.Extract(context.Background(), f, to, nobody); err != nil {
			return nil, errors.Join(err, to.Close())
		}
		if files[f.Name], err = os.ReadFile(to.Name()); err != nil {
			return nil, err
		}
		if err := errors.Join(to.Close(), os.Remove(to.Name())); err != nil {
			return nil, err
		}
	}
	return files, nil
}

func equal(a, b map[string][]byte) bool {
	if len(a) != len(b) {
		return false
	}
	for name := range a {
		if other, ok := b[name]; !ok || !bytes.Equal(a[name], other) {
			return false
		}
	}
	return true
}

func faults(t *testing.T, dir string) []string {
	t.Helper()
	r, err := Open(dir)
	if err != nil {
		return []string{err.Error()}
	}
	defer func() { _ = r.Close() }()
	report, err := r.Verify(context.Background(), func(float64) {})
	if err != nil {
		t.Fatal(err)
	}
	return report.Faults
}

func TestWhatIsBackedUpIsRestored(t *testing.T) {
	dir, r := filepath.Join(t.TempDir(), "repo"), rand.New(rand.NewPCG(1, 2))
	repo := create(t, dir)
	var names []string
	var states []map[string][]byte
	for _, size := range []int{0, 1, 12287, 12288, 12289, BlockSize, 12288 + BlockSize, 12289 + BlockSize, 3*BlockSize + 5} {
		state := map[string][]byte{"head.db": content(r, size), "plain.db": content(r, size)}
		name, _ := backUp(t, repo, state)
		names, states = append(names, name), append(states, state)
	}
	if err := repo.Close(); err != nil {
		t.Fatal(err)
	}
	for i, name := range names {
		if got, err := restored(dir, name); err != nil || !equal(got, states[i]) {
			t.Errorf("backup %d: %v, or other bytes", i+1, err)
		}
	}
	if got := faults(t, dir); len(got) != 0 {
		t.Error(got)
	}
}

func TestOnlyBlocksThatChangedAreStored(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 4))
	repo := create(t, t.TempDir())
	file := content(r, 12288+9*BlockSize+77)
	if _, blocks := backUp(t, repo, map[string][]byte{"head.db": file}); blocks != 11 { // head, nine, the rest
		t.Errorf("the first one stored %d blocks, want 11", blocks)
	}
	if _, blocks := backUp(t, repo, map[string][]byte{"head.db": file}); blocks != 0 {
		t.Errorf("the same again stored %d blocks", blocks)
	}
	file[12288+4*BlockSize]++
	file[12288+9*BlockSize-1]++
	file = append(file, 1)
	if _, blocks := backUp(t, repo, map[string][]byte{"head.db": file}); blocks != 3 {
		t.Errorf("two blocks changed and the last one grew, %d were stored", blocks)
	}
}

// If words of a block change places, DuckDB's checksum of it stays the same.
func TestWordsThatChangePlacesAreAChange(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "repo")
	repo := create(t, dir)
	file := make([]byte, BlockSize)
	copy(file, "ABCDEFGHabcdefgh")
	backUp(t, repo, map[string][]byte{"plain.db": file})
	copy(file, "abcdefghABCDEFGH")
	if _, blocks := backUp(t, repo, map[string][]byte{"plain.db": file}); blocks != 1 {
		t.Errorf("%d blocks were stored, want 1", blocks)
	}
}

// files returns all files below dir.
func files(t *testing.T, dir string) (all []string) {
	t.Helper()
	err := filepath.WalkDir(dir, func(path string, e fs.DirEntry, err error) error {
		if err == nil && !e.IsDir() {
			all = append(all, path)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return all
}

// A process that is killed leaves the repository as it is between two steps: copies that are made
// there represent it.
func TestKilledBetweenAnyTwoSteps(t *testing.T) {
	r, root := rand.New(rand.NewPCG(9, 10)), t.TempDir()
	dir := filepath.Join(root, "repo")
	first := map[string][]byte{"plain.db": content(r, 40000), "zero.db": make([]byte, 100)}
	second := map[string][]byte{"plain.db": content(r, 40000), "zero.db": content(r, 50)}
	third := map[string][]byte{"plain.db": content(r, 30000)}
	repo := create(t, dir)
	backUp(t, repo, first)
	var copies, steps []string
	repo.step = func(name string) {
		at := filepath.Join(root, fmt.Sprintf("killed-%d", len(copies)), "repo")
		if err := os.CopyFS(at, os.DirFS(dir)); err != nil {
			t.Error(err)
		}
		copies, steps = append(copies, at), append(steps, name)
	}
	backUp(t, repo, second) // one block a file: so no two goroutines work at once
	made := len(copies)
	if _, _, err := repo.Prune(1); err != nil {
		t.Fatal(err)
	}
	if made < 9 || len(copies)-made != 3 { // a manifest, two blocks
		t.Fatalf("steps %q", steps)
	}
	for i, at := range copies {
		want := first
		if i == made-1 || i >= made { // CURRENT has its name
			want = second
		}
		if got, err := restored(at, ""); err != nil || !equal(got, want) {
			t.Errorf("killed at %q: %v, or other bytes", steps[i], err)
		}
		if got := faults(t, at); len(got) != 0 {
			t.Errorf("killed at %q: got %q", steps[i], got)
		}
		again := create(t, at)
		name, _ := backUp(t, again, third)
		if _, _, err := again.Prune(1); err != nil {
			t.Errorf("killed at %q, then pruned: %v", steps[i], err)
		}
		if err := again.Close(); err != nil {
			t.Fatal(err)
		}
		if got, err := restored(at, name); err != nil || !equal(got, third) {
			t.Errorf("killed at %q, then backed up: %v, or other bytes", steps[i], err)
		}
		if left := files(t, at); len(left) != 5 { // marker, CURRENT, lock, a manifest, a block
			t.Errorf("killed at %q, then pruned: %q is left", steps[i], left)
		}
	}
}

func TestRemainingBackupsAreCompleteAfterPruning(t *testing.T) {
	dir, r := filepath.Join(t.TempDir(), "repo"), rand.New(rand.NewPCG(11, 12))
	repo := create(t, dir)
	file := content(r, 4*BlockSize)
	var names []string
	var states []map[string][]byte
	for range 5 {
		file[r.IntN(len(file))]++
		state := map[string][]byte{"plain.db": bytes.Clone(file)}
		name, _ := backUp(t, repo, state)
		names, states = append(names, name), append(states, state)
	}
	backups, blocks, err := repo.Prune(2)
	if err != nil || backups != 3 || blocks == 0 {
		t.Fatalf("%d backups and %d blocks were removed, %v", backups, blocks, err)
	}
	if err := repo.Close(); err != nil {
		t.Fatal(err)
	}
	if got := faults(t, dir); len(got) != 0 {
		t.Error(got)
	}
	for i := range names {
		got, err := restored(dir, names[i])
		if stays := i >= 3; stays != (err == nil) || stays && !equal(got, states[i]) {
			t.Errorf("backup %d: %v", i+1, err)
		}
	}
}

func TestNothingIsRemovedWhereABackupCannotBeRead(t *testing.T) {
	dir := t.TempDir()
	repo := create(t, dir)
	var names []string
	for i := range 3 {
		name, _ := backUp(t, repo, map[string][]byte{"plain.db": {byte(i)}})
		names = append(names, name)
	}
	if err := os.WriteFile(repo.manifestPath(names[1]), []byte("{}"), 0o600); err != nil {
		t.Fatal(err)
	}
	if backups, blocks, err := repo.Prune(2); !errors.Is(err, ErrDamaged) || backups+blocks != 0 {
		t.Errorf("%d backups and %d blocks were removed, %v", backups, blocks, err)
	}
}

func TestOneBackupAtATimeAndOnlyInItsOwnFolder(t *testing.T) {
	dir := t.TempDir()
	writing := create(t, dir)
	if _, err := Create(dir); !errors.Is(err, ErrBusy) {
		t.Errorf("a second backup: %v", err)
	}
	if _, err := Open(dir); !errors.Is(err, ErrBusy) {
		t.Errorf("reading during a backup: %v", err)
	}
	if err := writing.Close(); err != nil {
		t.Fatal(err)
	}
	if _, err := restored(dir, ""); !errors.Is(err, ErrNone) {
		t.Errorf("before the first backup: %v", err)
	}
	strange := t.TempDir()
	if err := os.WriteFile(filepath.Join(strange, "letter.txt"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := Create(strange); !errors.Is(err, ErrNoRepository) || !strings.Contains(err.Error(), "letter.txt") {
		t.Errorf("a folder with other files: %v", err)
	}
	if got := files(t, strange); len(got) != 1 {
		t.Errorf("files were put into it: %q", got)
	}
	if _, err := Open(strange); !errors.Is(err, ErrNoRepository) {
		t.Errorf("reading from it: %v", err)
	}
}

func TestAnImpossibleManifestIsRefused(t *testing.T) {
	sum := strings.Repeat("a", 64)
	for _, m := range []Manifest{
		{Format: 2},
		{Files: []File{{Name: "../x.db"}}},
		{Files: []File{{Name: "x.db", Size: -1}}},
		{Files: []File{{Name: "x.db", Size: 1}}},
		{Files: []File{{Name: "x.db", Size: 1, Blocks: []string{"../../etc"}}}},
		{Files: []File{{Name: "x.db", Size: 1, Head: 2, Blocks: []string{sum}}}},
		{Files: []File{{Name: "x.db"}, {Name: "x.db"}}},
		{Files: []File{{Name: "x.db", Size: 1 << 62, Blocks: []string{sum}}}},
	} {
		if m.Format == 0 {
			m.Format = format
		}
		if err := m.check(); err == nil {
			t.Errorf("%+v is accepted", m)
		}
	}
}
