package backup

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"strings"

	"pmx/data"
)

// aheadName is the list, below tmp, of the names of the blocks that AddAhead stored, one per line. It stays until Tidy is
// done, so that a backup finds the blocks of an earlier one that was killed.
const aheadName = "ahead"

// AddAhead stores the blocks of a file while others change it, so that AddChanged, which has to follow while nobody does,
// has little left to store. What it reads may be torn or outdated: only what AddChanged reads counts. Tidy removes the
// blocks stored here that no backup needs. done is as for Add.
func (w *Writer) AddAhead(ctx context.Context, f File, from io.ReaderAt, seen *Seen, done func(bytes int64)) error {
	seen.blocks = make([]seenBlock, f.count())
	return eachAtOnce(ctx, len(seen.blocks), func(buffer []byte, i int) error {
		offset, length := f.span(i)
		block := buffer[:length]
		done(int64(length))
		if _, err := from.ReadAt(block, offset); err != nil {
			return nil // it became shorter, or was closed: AddChanged will report it
		}
		sum, err := w.put(block, w.noteAhead)
		if err != nil {
			return fmt.Errorf("write a block of %s: %w", f.Name, w.repo.full(err))
		}
		seen.blocks[i] = seenBlock{seen.hash(block), sum}
		return nil
	})
}

// noteAhead lists a block that is about to be stored.
func (w *Writer) noteAhead(sum string) (err error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.list == nil {
		if w.list, err = os.OpenFile(w.repo.path(tmpName, aheadName), os.O_WRONLY|os.O_CREATE|os.O_APPEND, 0o600); err != nil {
			return err
		}
	}
	w.ahead[sum] = true
	_, err = w.list.WriteString(sum + "\n")
	return err
}

// findAhead finds the blocks that an earlier backup listed before it was killed.
func (w *Writer) findAhead() error {
	text, err := data.ReadRegular(w.repo.path(tmpName, aheadName))
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	for sum := range strings.Lines(string(text)) {
		sum = strings.TrimSpace(sum)
		if _, has := w.have[sum]; has { // a torn line is no block's name
			w.ahead[sum] = false
		}
	}
	return err
}

// forget makes Tidy keep the blocks that a backup needs.
func (w *Writer) forget(m *Manifest) {
	for _, f := range m.Files {
		for _, sum := range f.Blocks {
			delete(w.ahead, sum)
		}
	}
}

// Tidy removes the blocks that AddAhead stored, for this backup or one that was killed, and that no backup needs. It is
// called once the backup is published, or will not be. If a backup is damaged, which may need them, nothing is removed and
// no error returned: the next Tidy looks again.
func (w *Writer) Tidy() error {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.list != nil {
		if err := w.list.Close(); err != nil {
			return err
		}
		w.list = nil
	}
	if len(w.ahead) > 0 {
		all, err := w.repo.Manifests()
		if err != nil {
			return err
		}
		for _, name := range all {
			m, err := w.repo.Load(name)
			if errors.Is(err, ErrDamaged) {
				return nil
			}
			if err != nil {
				return err
			}
			w.forget(m)
		}
	}
	for sum, mine := range w.ahead {
		if err := w.drop(sum, mine); err != nil {
			return err
		}
	}
	if err := os.Remove(w.repo.path(tmpName, aheadName)); !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return nil
}

// drop removes a block. It is no error if the block is gone already. mine is whether this backup stored
// it.
func (w *Writer) drop(sum string, mine bool) error {
	path := w.repo.blockPath(sum)
	st, err := os.Stat(path)
	if err == nil {
		err = os.Remove(path)
	}
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	if mine {
		w.blocks.Add(-1)
	}
	if mine && err == nil {
		w.stored.Add(-st.Size())
	}
	delete(w.have, sum)
	delete(w.ahead, sum)
	return nil
}
