package fillseg

import (
	"context"
	"errors"
	"fmt"
	"os"
	"slices"

	"pmx/rollups/segments"
	"pmx/rollups/serving"
)

// Plan is what a Build is to put into the file.
type Plan struct {
	Batch  int64   // the last import of it
	After  int64   // facts of later imports are to be read; the file has the others. −1: all are
	Again  []int32 // wallets whose facts are all to be read anew, ascending
	Ledger uint64  // set by the caller: the fingerprint of the imports up to Batch
	Facts  int64   // set by the caller for a store of the newest fills: how many facts there are up to Batch
}

// Wants tells whether the plan asks for the facts of a key that came with batch.
func (p *Plan) Wants(key int32, batch int64) bool {
	if batch > p.Batch {
		return false
	}
	if batch > p.After {
		return true
	}
	_, again := slices.BinarySearch(p.Again, key)
	return again
}

// mostAgain is up to how many wallets are read anew one by one.
const mostAgain = 1000

// Plan says what a Build has to do now.
func (s *Store) Plan() Plan {
	s.mu.Lock()
	defer s.mu.Unlock()
	st := s.state.Load()
	p := Plan{Batch: s.Through(), After: -1}
	if st.run == nil {
		return p
	}
	if again := st.tail.marked(p.Batch); len(again) <= mostAgain {
		p.After, p.Again = st.covered(), again
	}
	return p
}

// ErrOvertaken is returned by a Build whose store began anew meanwhile.
var ErrOvertaken = errors.New("the wallet run was begun anew")

// Build writes the file that plan describes and swaps it in. facts hands every
// fill of the plan to add, in any order. One Build runs at a time. Where the file
// before is damaged, the error is a *segments.Damage, and the next plan does without.
func (s *Store) Build(ctx context.Context, plan Plan, facts func(add func(wallet int32, f *serving.Fill) error) error) (err error) {
	b := build{store: s, covers: Covers{Batch: plan.Batch, Ledger: plan.Ledger, Facts: plan.Facts}, slice: slice{kind: s.kind}}
	err = segments.Try(func() error { return b.run(ctx, plan, facts) })
	var d *segments.Damage
	if errors.As(err, &d) {
		for i := range b.inputs {
			d.Of(b.inputs[i].File) // so that it is known which file cannot be read
		}
		if !s.lose(d) && d.Path == s.path {
			s.report(d) // it is not the one that is served
		}
	}
	return errors.Join(err, b.close())
}

func (b *build) run(ctx context.Context, plan Plan, facts func(add func(wallet int32, f *serving.Fill) error) error) error {
	s := b.store
	if plan.After >= 0 {
		if err := b.reuse(plan); err != nil {
			return err
		}
	}
	b.slice.reset()
	err := facts(func(wallet int32, f *serving.Fill) error {
		if err := b.slice.add(wallet, f); err != nil {
			return err
		}
		if len(b.slice.entries) < s.slice {
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
	b.slice = slice{}
	if err := b.merge(ctx); err != nil {
		return err
	}
	return s.adopt(plan.Batch)
}

// adopt opens the file that was written and swaps it in.
func (s *Store) adopt(batch int64) error {
	r, err := openRun(s.path, s.format)
	if err != nil {
		return err
	}
	s.mu.Lock()
	old := s.state.Load()
	if old.tail == nil || old.tail.base > batch {
		s.mu.Unlock()
		return errors.Join(ErrOvertaken, r.Drop())
	}
	r.Scattered()
	s.state.Store(&state{run: r, tail: old.tail.since(batch), ready: true})
	s.damage.Store(nil)
	s.mu.Unlock()
	if old.run != nil {
		return old.run.Drop()
	}
	return nil
}

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
	served := b.store.state.Load().run
	if served == nil {
		return ErrOvertaken // since the plan was made
	}
	r, err := openRun(b.store.path, b.store.format) // once more, to be read in order
	if err == nil && !r.Same(&served.Header) {
		err = errors.Join(errors.New("it is another file now"), r.Drop())
	}
	if err != nil { // what is mapped stays good whatever became of its name
		if r = served; !r.Take() {
			return ErrOvertaken
		}
	}
	skip := make(map[int32]bool, len(p.Again))
	for _, wallet := range p.Again {
		skip[wallet] = true
	}
	b.inputs = append(b.inputs, input{run: r, skip: skip})
	return nil
}

// flush writes the slice as one more input.
func (b *build) flush() error {
	if len(b.slice.entries) == 0 {
		return nil
	}
	path := segments.Part(b.store.path, len(b.inputs)+1)
	if err := b.slice.write(path, b.covers); err != nil {
		return fmt.Errorf("wallet run: %w", err)
	}
	b.slice.reset()
	r, err := openRun(path, b.store.format)
	if err != nil {
		return err
	}
	b.inputs = append(b.inputs, input{run: r})
	return os.Remove(path) // it stays as long as it is mapped
}

// merge makes one file of all inputs and gives it its name once it is durable.
func (b *build) merge(ctx context.Context) error {
	s := b.store
	path := segments.Part(s.path, 0)
	if err := s.kind.merge(ctx, path, b.covers, b.inputs, s.heavy, s.sync); err != nil {
		return fmt.Errorf("wallet run: %w", err)
	}
	return segments.Publish(path, s.path, s.sync)
}

func (b *build) close() error {
	var err error
	for _, in := range b.inputs {
		err = errors.Join(err, in.Drop())
	}
	return errors.Join(err, segments.Sweep(b.store.path))
}
