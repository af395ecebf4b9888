package backup

import (
	"context"
	"hash/maphash"
	"io"
)

// Seen remembers the contents of a file's blocks by a fast hash, so that changed ones are found without computing SHA-256.
// The hash has 128 bits, with random seeds of this process. The checksum at the head of DuckDB's blocks would not do: it
// stays the same if words of the block are swapped.
type Seen struct {
	seeds  [2]maphash.Seed
	blocks []seenBlock
}

// seenBlock is one block as it was read.
type seenBlock struct {
	hash [2]uint64
	sum  string
}

// NewSeen returns an empty Seen.
func NewSeen() *Seen { return &Seen{seeds: [2]maphash.Seed{maphash.MakeSeed(), maphash.MakeSeed()}} }

// AddChanged is Add for a file whose blocks seen has from an earlier AddChanged or AddAhead of this Writer. It reads the
// whole file, and stores only blocks that changed since, and those that Refresh did not find.
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

// CreatePassing is Create for a repository of short-lived states that replicas follow: nothing is synced to disk, so a power
// failure may damage the newest ones, which checksums detect. Backups that cannot be read are removed.
func CreatePassing(dir string) (*Repo, error) {
	r, err := Create(dir)
	if err != nil {
		return nil, err
	}
	r.passing = true
	return r, r.removeUnreadable()
}

// removeUnreadable removes damaged manifests: they cannot be used, and would keep all blocks from
// being removed.
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

// Refresh lists the blocks again that exist, after Prune.
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
