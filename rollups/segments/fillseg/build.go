package fillseg

import (
	"context"
	"errors"
	"fmt"
	"os"
	"slices"

	"pmx/data"
	"pmx/rollups/segments"
	"pmx/rollups/serving"
)

// Plan says what a Build has to put into the file.
type Plan struct {
	Batch         int64  // the last import of it
	After         int64  // only facts of later imports are to be read; the file has the others. −1: all facts
	Reread        Keys   // keys whose facts are all to be read again
	ImportLogHash uint64 // set by the caller: the fingerprint of the imports up to Batch
	Facts         int64  // set by the caller for a store of the newest fills: how many facts there are up to Batch
}

// Keys are wallets or tokens: a store has only one kind.
type Keys struct {
	Wallets []data.WalletID // ascending
	Tokens  []data.TokenID  // ascending
}

// keysOf returns keys of the store as wallets or tokens.
func (k *kind) keysOf(keys []int32) (out Keys) {
	for _, id := range keys {
		if k.byToken {
			out.Tokens = append(out.Tokens, data.TokenID(id))
		} else {
			out.Wallets = append(out.Wallets, data.WalletID(id))
		}
	}
	return out
}

// set returns the keys of one kind as a set.
func (k *Keys) set(tokens bool) map[int32]bool {
	out := map[int32]bool{}
	if tokens {
		for _, id := range k.Tokens {
			out[int32(id)] = true
		}
		return out
	}
	for _, id := range k.Wallets {
		out[int32(id)] = true
	}
	return out
}

func (k *Keys) has(f *serving.Fill) bool {
	_, wallet := slices.BinarySearch(k.Wallets, f.Wallet)
	_, token := slices.BinarySearch(k.Tokens, f.Token)
	return wallet || token
}

// wants reports whether the plan asks for a fact that came with batch.
func (p *Plan) wants(batch int64, f *serving.Fill) bool {
	return batch <= p.Batch && (batch > p.After || p.Reread.has(f))
}

// maxReread is the largest number of keys that are read again one by one.
const maxReread = 1000

// Plan says what a Build has to do now.
func (s *Store) Plan() Plan {
	p := Plan{Batch: s.Through(), After: -1}
	s.Change(func(st *segments.Contents[*memtable]) {
		if st.File == nil {
			return
		}
		if again := st.Mem.marked(p.Batch); len(again) <= maxReread {
			p.After, p.Reread = st.Covered(), s.keysOf(again)
		}
	})
	return p
}

// Build writes the file that plan describes and swaps it in. facts passes every fill of the plan to
// add with its batch, in any order; other fills are skipped. One Build runs at a time. If the
// previous file is damaged, the error is a *segments.Damage, and the next plan does without it.
func (s *Store) Build(ctx context.Context, plan Plan, facts func(add func(batch int64, f *serving.Fill) error) error) (err error) {
	b := build{store: s, covers: segments.Coverage{Batch: plan.Batch, ImportLogHash: plan.ImportLogHash, Facts: plan.Facts}, buffer: buffer{kind: s.kind}}
	err = segments.Try(func() error { return b.run(ctx, plan, facts) })
	var d *segments.Damage
	if errors.As(err, &d) {
		for i := range b.inputs {
			d.Of(b.inputs[i].File) // to find out which file cannot be read
		}
		s.AbandonInput(d)
	}
	return errors.Join(err, b.close())
}

func (b *build) run(ctx context.Context, plan Plan, facts func(add func(batch int64, f *serving.Fill) error) error) error {
	s := b.store
	if plan.After >= 0 {
		if err := b.reuse(plan); err != nil {
			return err
		}
	}
	b.buffer.reset()
	if plan.After < 0 { // growing it step by step would leave several copies to the collector
		b.buffer.entries = slices.Grow(b.buffer.entries, int(min(plan.Facts, int64(s.bufferFills))))
	}
	err := facts(func(batch int64, f *serving.Fill) error {
		if !plan.wants(batch, f) {
			return nil
		}
		if err := b.buffer.add(f); err != nil {
			return err
		}
		if len(b.buffer.entries) < s.bufferFills {
			return nil
		}
		return b.flush()
	})
	if err != nil {
		return err
	}
	if err := b.flush(); err != nil {
		return err
	}
	b.buffer = buffer{}
	if err := b.merge(ctx); err != nil {
		return err
	}
	return s.Adopt(plan.Batch)
}

// build is a file being made from the previous one and from slices of facts, each sorted in memory
// and written as a small segment of its own.
type build struct {
	store  *Store
	covers segments.Coverage
	buffer buffer
	inputs []input
}

// reuse takes the present segment as an input, except for the keys that are read again.
func (b *build) reuse(p Plan) error {
	served := b.store.Contents().File
	if served == nil {
		return segments.ErrStoreRestarted // since the plan was made
	}
	r, err := openSegment(b.store.Path, b.store.format) // a second time, to be read in order
	if err == nil && !r.SameContent(&served.Header) {
		err = errors.Join(errors.New("it is another file now"), r.Release())
	}
	if err != nil { // a mapping stays valid whatever happens to the name
		if r = (segment{served}); !r.Acquire() {
			return segments.ErrStoreRestarted
		}
	}
	b.inputs = append(b.inputs, input{segment: r, skip: p.Reread.set(b.store.byToken)})
	return nil
}

// flush writes the slice as one more input.
func (b *build) flush() error {
	if len(b.buffer.entries) == 0 {
		return nil
	}
	path := segments.TempPath(b.store.Path, len(b.inputs)+1)
	if err := b.buffer.write(path, b.covers); err != nil {
		return fmt.Errorf("file of fills: %w", err)
	}
	b.buffer.reset()
	r, err := openSegment(path, b.store.format)
	if err != nil {
		return err
	}
	b.inputs = append(b.inputs, input{segment: r})
	return os.Remove(path) // the data stay as long as they are mapped
}

// merge makes one file of all inputs and gives it its name once it is durable.
func (b *build) merge(ctx context.Context) error {
	s := b.store
	path := segments.TempPath(s.Path, 0)
	if err := s.kind.merge(ctx, path, b.covers, b.inputs, s.heavyFrom, s.Sync); err != nil {
		return fmt.Errorf("file of fills: %w", err)
	}
	return segments.Publish(path, s.Path, s.Sync)
}

func (b *build) close() error {
	var err error
	for _, in := range b.inputs {
		err = errors.Join(err, in.Release())
	}
	return errors.Join(err, segments.RemoveTemp(b.store.Path))
}
