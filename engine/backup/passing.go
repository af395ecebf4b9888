package backup

import (
	"context"
	"hash/maphash"
	"io"
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

// AddChanged is Add for a file of which this Writer read blocks before: by AddChanged or AddAhead, as seen has it. All of it is read; only
// blocks that changed since are stored, and those that Refresh did not find.
func (w *Writer) AddChanged(ctx context.Context, f File, from io.ReaderAt, seen *Seen, done func(bytes int64)) (File, error) {
	now := make([]seenBlock, f.count())
	f, err := w.add(ctx, f, from, func(i int, block []byte) (sum string, err error) {
		hash := seen.hash(block)
		if i < len(seen.blocks) && seen.blocks[i].hash == hash && w.knows(seen.blocks[i].sum) {
			sum = seen.blocks[i].sum
		} else {
			sum, err = w.put(block, nil)
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

// knows reports whether a block was there when it was last looked for, or was stored since.
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
