package backup

import (
	"context"
	"fmt"
	"hash/maphash"
	"io"
	"os"
)

// Seen remembers what the blocks of a file held, by a hash that is quick: which of them changed is known without their SHA-256.
// The hash is of 128 bits, and its seeds are of this process alone. The checksum that DuckDB begins a block with would not do: it is the same
// where words of the block change places.
type Seen struct {
	seeds  [2]maphash.Seed
	blocks []seenBlock
}

// seenBlock is one block as it was read.
type seenBlock struct {
	hash [2]uint64
	sum  string
}

// NewSeen remembers nothing yet.
func NewSeen() *Seen { return &Seen{seeds: [2]maphash.Seed{maphash.MakeSeed(), maphash.MakeSeed()}} }

// AddChanged is Add for a file that was added before by this Writer. All of it is read; only blocks that changed since are stored, and those
// that Refresh did not find.
func (w *Writer) AddChanged(ctx context.Context, f File, from io.ReaderAt, seen *Seen, done func(bytes int64)) (File, error) {
	now := make([]seenBlock, f.count())
	f, err := w.add(ctx, f, from, func(i int, block []byte) (sum string, err error) {
		hash := seen.hash(block)
		if i < len(seen.blocks) && seen.blocks[i].hash == hash && w.knows(seen.blocks[i].sum) {
			sum = seen.blocks[i].sum
		} else {
			sum, _, err = w.put(block)
		}
		now[i] = seenBlock{hash, sum}
		if err == nil {
			done(int64(len(block)))
		}
		return sum, err
	})
	if err != nil {
		return f, err
	}
	seen.blocks = now
	return f, nil
}

func (s *Seen) hash(block []byte) [2]uint64 {
	return [2]uint64{maphash.Bytes(s.seeds[0], block), maphash.Bytes(s.seeds[1], block)}
}

// AddAhead stores the blocks of a file that others change meanwhile, so that AddChanged, which has to follow while nobody does, has little
// left to store. What is read may be torn, or be no more: the file that counts is the one that AddChanged reads. Of what was stored here, Publish
// removes what the backup does not need. done is as for Add.
func (w *Writer) AddAhead(ctx context.Context, f File, from io.ReaderAt, seen *Seen, done func(bytes int64)) error {
	seen.blocks = make([]seenBlock, f.count())
	return eachAtOnce(ctx, len(seen.blocks), func(buffer []byte, i int) error {
		offset, length := f.span(i)
		block := buffer[:length]
		done(int64(length))
		if _, err := from.ReadAt(block, offset); err != nil {
			return nil // it became shorter, or was closed: AddChanged tells
		}
		sum, fresh, err := w.put(block)
		if err != nil {
			return fmt.Errorf("write a block of %s: %w", f.Name, w.repo.full(err))
		}
		seen.blocks[i] = seenBlock{seen.hash(block), sum}
		if fresh {
			w.mu.Lock()
			w.ahead = append(w.ahead, sum)
			w.mu.Unlock()
		}
		return nil
	})
}

// dropAhead removes the blocks that AddAhead stored and the backup does not need: nobody knows of them.
func (w *Writer) dropAhead(m *Manifest) error {
	if len(w.ahead) == 0 {
		return nil
	}
	needed := map[string]bool{}
	for _, f := range m.Files {
		for _, sum := range f.Blocks {
			needed[sum] = true
		}
	}
	for _, sum := range w.ahead {
		if needed[sum] {
			continue
		}
		path := w.repo.blockPath(sum)
		st, err := os.Stat(path)
		if err == nil {
			err = os.Remove(path)
		}
		if err != nil {
			return err
		}
		delete(w.have, sum)
		w.blocks.Add(-1)
		w.stored.Add(-st.Size())
	}
	w.ahead = nil
	return nil
}

// knows tells whether a block was there when it was last looked for, or was stored since.
func (w *Writer) knows(sum string) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	_, has := w.have[sum]
	return has
}

// CreatePassing is Create for a repository of states that are followed as they come and soon replaced: nothing waits for the disk, so a power
// failure may damage the newest ones, which their checksums tell. Backups that cannot be read are removed.
func CreatePassing(dir string) (*Repo, error) {
	r, err := Create(dir)
	if err != nil {
		return nil, err
	}
	r.passing = true
	return r, r.removeUnreadable()
}

// removeUnreadable removes the manifests that are damaged: nobody can take them, and they would keep all blocks.
func (r *Repo) removeUnreadable() error {
	names, err := r.Manifests()
	if err != nil {
		return err
	}
	for _, name := range names {
		if _, err := r.Load(name); err == nil {
			continue
		}
		if err := r.remove(name); err != nil {
			return err
		}
	}
	return nil
}

// Refresh forgets which blocks are there, and looks again: after Prune.
func (w *Writer) Refresh() error {
	w.mu.Lock()
	defer w.mu.Unlock()
	have := map[string]proof{}
	err := w.repo.eachBlock(func(sum string, _ int64) error {
		if have[sum] = unread; w.have[sum] == sure {
			have[sum] = sure
		}
		return nil
	})
	w.have = have
	return err
}
