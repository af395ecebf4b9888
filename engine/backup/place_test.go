package backup

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func link(t *testing.T, to, path string) {
	t.Helper()
	if err := os.Symlink(to, path); err != nil {
		t.Fatal(err)
	}
}

func folder(t *testing.T, parts ...string) string {
	t.Helper()
	path := filepath.Join(parts...)
	if err := os.MkdirAll(path, 0o700); err != nil {
		t.Fatal(err)
	}
	return path
}

func TestBackupsAndDataAreKeptApart(t *testing.T) {
	root := t.TempDir()
	data, other := folder(t, root, "data"), folder(t, root, "other")
	link(t, data, filepath.Join(root, "to-data"))
	link(t, other, filepath.Join(root, "to-other"))
	link(t, filepath.Join(data, "tmp"), filepath.Join(root, "dangling"))
	if err := os.WriteFile(filepath.Join(root, "file"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	for _, tc := range []struct{ data, repo, says string }{
		{"data", "other", ""},
		{"data", "other/new/er", ""},
		{"data", "data-too", ""}, // a name with the same prefix
		{"new", "newer", ""},
		{"data", "to-other/new", ""},
		{"data", "data", "is in the data directory"},
		{"data", "data/new/er", "is in the data directory"},
		{"data", "to-data/new", "is in the data directory"},
		{"to-data", "data/new", "is in the data directory"},
		{"new", "new/er", "is in the data directory"},
		{"other/data", "other", "the data directory"},
		{"to-other/data", "other", "the data directory"},
		{"new/data", "new", "the data directory"},
		{"data", "dangling", "which does not exist: make that folder"},
		{"data", "file/new", "file is a file: give a folder"},
	} {
		err := Apart(filepath.Join(root, tc.data), filepath.Join(root, tc.repo))
		if (err == nil) != (tc.says == "") || err != nil && !strings.Contains(err.Error(), tc.says) {
			t.Errorf("data %s, backups %s: %v", tc.data, tc.repo, err)
		}
	}
}

func TestAFileIsNotABackupFolder(t *testing.T) {
	file := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	_, created := Create(file)
	_, opened := Open(file)
	_, staged := Stage(file)
	_, below := Stage(filepath.Join(file, "data"))
	for _, err := range []error{created, opened, staged, below} {
		if err == nil || !strings.Contains(err.Error(), file+" is a file: give a folder") {
			t.Errorf("the error is %v", err)
		}
	}
}

// A lock file that this user may not open still keeps others out; a copy has none.
func TestReadsNeedTheLock(t *testing.T) {
	dir := t.TempDir()
	repo := create(t, dir)
	backUp(t, repo, map[string][]byte{"plain.db": {1}})
	if err := repo.Close(); err != nil {
		t.Fatal(err)
	}
	lock := filepath.Join(dir, lockName)
	if err := os.Remove(lock); err != nil {
		t.Fatal(err)
	}
	if _, err := restored(dir, ""); err != nil {
		t.Errorf("a copy without lock: %v", err)
	}
	folder(t, lock) // which cannot be opened as a file, by any user
	if _, err := Open(dir); err == nil {
		t.Error("a lock that cannot be taken was ignored")
	}
	if os.Geteuid() == 0 {
		return // may take every lock
	}
	if err := errors.Join(os.Remove(lock), os.WriteFile(lock, nil, 0o000)); err != nil {
		t.Fatal(err)
	}
	if _, err := Open(dir); err == nil || !strings.Contains(err.Error(), "as the user to whom the folder belongs") {
		t.Errorf("a lock of another user: %v", err)
	}
}
