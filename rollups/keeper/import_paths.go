package keeper

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
)

// foundFile is a file that a path stands for.
type foundFile struct {
	path     string
	inFolder bool  // it was not named itself, but found in a named folder
	err      error // a folder that cannot be read, although the one that has it can
}

// Named returns the files and folders that a path names: itself, or what a glob matches. It is an
// error if there is none.
func Named(path string) ([]string, error) {
	if _, err := os.Stat(path); err == nil {
		return []string{path}, nil
	}
	named, err := filepath.Glob(path)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	if len(named) == 0 {
		return nil, fmt.Errorf("%s: no such file or folder", path)
	}
	return named, nil
}

// expandPath returns the files a path stands for, in name order: itself, what is in a folder and
// below, or what a glob matches. Hidden files of a folder are left out.
func expandPath(path string) ([]foundFile, error) {
	named, err := Named(path)
	if err != nil {
		return nil, err
	}
	var files []foundFile
	for _, name := range named {
		if info, err := os.Stat(name); err != nil || !info.IsDir() {
			files = append(files, foundFile{path: name})
			continue
		}
		w := folderWalk{read: os.ReadDir, seen: map[string]bool{}}
		if err := w.folder(name); err != nil {
			return nil, err
		}
		files = append(files, w.files...)
	}
	return files, nil
}

// folderWalk goes through a folder and those below it, symbolic links included.
type folderWalk struct {
	read  func(path string) ([]os.DirEntry, error)
	files []foundFile
	seen  map[string]bool // folders by their real paths: a link may lead back
}

func (w *folderWalk) folder(path string) error {
	real, err := filepath.EvalSymlinks(path)
	if err != nil || w.seen[real] {
		return err
	}
	w.seen[real] = true
	entries, err := w.read(path)
	if err != nil {
		return err
	}
	for _, e := range entries {
		if strings.HasPrefix(e.Name(), ".") {
			continue
		}
		below := filepath.Join(path, e.Name())
		isDir := e.IsDir()
		if e.Type()&os.ModeSymlink != 0 {
			info, err := os.Stat(below) // a link that leads nowhere is a file that cannot be read
			isDir = err == nil && info.IsDir()
		}
		if !isDir {
			w.files = append(w.files, foundFile{path: below, inFolder: true})
		} else if err := w.folder(below); err != nil {
			w.files = append(w.files, foundFile{path: below, inFolder: true, err: err})
		}
	}
	return nil
}

// firstPaths lists paths, only the first ones of many.
func firstPaths(paths []string) string {
	const most = 3
	if len(paths) <= most {
		return strings.Join(paths, " ")
	}
	return fmt.Sprintf("%s and %d more", strings.Join(paths[:most], " "), len(paths)-most)
}
