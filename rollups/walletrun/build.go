package walletrun

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
)

// build is a file being made from the one before and from slices of facts, each
// sorted in memory and written as a small run of its own.
type build struct {
	store  *Store
	covers Covers
	slice  slice
	inputs []input
}

// reuse takes the present run as an input, but for the wallets that are read anew.
func (b *build) reuse(p Plan) error {
	r := b.store.state.Load().run
	if r == nil || !r.take() {
		return errors.New("wallet run: the file to go on from is gone")
	}
	skip := make(map[int32]bool, len(p.Again))
	for _, wallet := range p.Again {
		skip[wallet] = true
	}
	b.inputs = append(b.inputs, input{run: r, skip: skip})
	return nil
}

// part is the name of a file under way; Open sweeps such files.
func (b *build) part(n int) string {
	return filepath.Join(b.store.dir, fmt.Sprintf("wallets.part-%d", n))
}

// flush writes the slice as one more input.
func (b *build) flush() error {
	if len(b.slice.entries) == 0 {
		return nil
	}
	path := b.part(len(b.inputs) + 1)
	if err := b.slice.write(path, b.covers); err != nil {
		return fmt.Errorf("wallet run: %w", err)
	}
	b.slice.reset()
	r, err := openRun(path)
	if err != nil {
		return err
	}
	b.inputs = append(b.inputs, input{run: r})
	return os.Remove(path) // it stays as long as it is mapped
}

// merge makes one file of all inputs and gives it its name once it is durable.
func (b *build) merge(ctx context.Context) error {
	path := b.part(0)
	if err := merge(ctx, path, b.covers, b.inputs, b.store.heavy, b.store.sync); err != nil {
		return fmt.Errorf("wallet run: %w", err)
	}
	if err := os.Rename(path, b.store.path()); err != nil {
		return err
	}
	return b.store.syncDir()
}

// syncDir makes a rename durable.
func (s *Store) syncDir() error {
	d, err := os.Open(s.dir)
	if err != nil {
		return err
	}
	return errors.Join(s.sync(d), d.Close())
}

func (b *build) close() error {
	var err error
	for _, in := range b.inputs {
		err = errors.Join(err, in.drop())
	}
	return errors.Join(err, b.store.sweep())
}
