package fillseg

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"math"
	"os"
	"slices"

	"pmx/data"
	"pmx/engine/guard"
	"pmx/rollups/segments"
	"pmx/rollups/serving"
)

// Plan says what a Build has to write to the file.
type Plan struct {
	Batch         int64  // the last import of it
	After         int64  // only facts of later imports are to be read; the files have the others. −1: all facts
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
	for _, key := range k.list(tokens) {
		out[key] = true
	}
	return out
}

// list returns the keys of one kind.
func (k *Keys) list(tokens bool) (out []int32) {
	if tokens {
		for _, id := range k.Tokens {
			out = append(out, int32(id))
		}
		return out
	}
	for _, id := range k.Wallets {
		out = append(out, int32(id))
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

// Plan returns what a Build has to do now.
func (s *Store) Plan() Plan {
	p := Plan{Batch: s.Through(), After: -1}
	s.Change(func(st *segments.Contents[*memtable]) {
		if st.Files == nil {
			return
		}
		if again := st.Mem.marked(p.Batch); len(again) <= maxReread {
			p.After, p.Reread = st.Covered(), s.keysOf(again)
		}
	})
	return p
}

// Build writes the file that plan describes and swaps it in: it has the facts of imports that no file
// has yet, and takes in those of the newest files where mergeFrom says so. facts passes every fill of
// the plan to add with its batch, in any order; other fills are skipped. One Build runs at a time. If
// a previous file is damaged, the error is a *segments.Damage, and the next plan does without them.
func (s *Store) Build(ctx context.Context, plan Plan, facts func(add func(batch int64, f *serving.Fill) error) error) (err error) {
	b := build{store: s, plan: plan, buffer: buffer{kind: s.kind}, sorted: &buffer{}}
	defer func() { err = errors.Join(err, b.close()) }()
	err = errors.Join(segments.Try(func() error { return b.run(ctx, facts) }), b.wait())
	var d *segments.Damage
	if errors.As(err, &d) {
		for _, f := range b.opened() {
			d.Of(f) // to find out which file cannot be read
		}
		s.AbandonInput(d)
	}
	return err
}

// build is a file being made from previous ones and from slices of facts, each sorted in memory and
// written as a small segment of its own, while the next one is gathered.
type build struct {
	store   *Store
	plan    Plan
	buffer  buffer
	sorted  *buffer         // of the slice that is written
	writing <-chan error    // nil: none is
	served  *segments.Files // those that the plan continues
	slices  []input
	inputs  []input // previous files that are taken in
}

func (b *build) run(ctx context.Context, facts func(add func(batch int64, f *serving.Fill) error) error) error {
	s, plan := b.store, b.plan
	if plan.After >= 0 {
		st := s.Contents()
		if st.Covered() != plan.After || !st.Files.Acquire() {
			return segments.ErrStoreRestarted // since the plan was made
		}
		b.served = st.Files
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
	if err = errors.Join(err, ctx.Err(), b.wait()); err != nil {
		return err
	}
	if plan.After >= 0 && len(b.buffer.entries)+len(b.slices)+len(plan.Reread.list(s.byToken)) == 0 {
		s.Repaired() // there is nothing that the files lack
		return nil
	}
	kept, err := b.write(ctx)
	if err != nil {
		return err
	}
	if err := s.Adopt(plan.Batch, kept, b.path(kept)); err != nil {
		return err
	}
	if err := s.RemoveOthers(); err != nil && s.OnLeftover != nil {
		s.OnLeftover(err)
	}
	return nil
}

// write writes the file and gives it its name once it is durable. It returns the files that this one
// continues.
func (b *build) write(ctx context.Context) (kept []*segments.File, err error) {
	s, list := b.store, b.served.List()
	kept = list[:mergeFrom(fileSizes(list), b.added(), s.mostFiles)]
	out := b.output(segments.TempPath(s.Path, 0), kept)
	if len(b.slices) == 0 && len(kept) == len(list) { // nothing to merge
		b.buffer.moveTo(b.sorted)
		err = b.sorted.write(&out)
	} else if err = errors.Join(b.flush(), b.wait()); err == nil {
		b.buffer, b.sorted = buffer{}, nil
		if err = b.reuse(list[len(kept):]); err == nil {
			err = s.merge(ctx, &out, append(b.inputs, b.slices...), s.rangeSize, s.start)
		}
	}
	if err != nil {
		return nil, fmt.Errorf("file of fills: %w", err)
	}
	return kept, segments.Publish(out.path, b.path(kept), s.Sync)
}

// packedRow is about how many bytes a packed row takes.
const packedRow = 12

// added is about how many bytes the facts take that were read.
func (b *build) added() uint64 {
	n := uint64(len(b.buffer.entries)) * (packedRow + hashSize/2)
	for _, in := range b.slices {
		n += in.Size()
	}
	return n
}

// path is the name of the file if it continues some files.
func (b *build) path(kept []*segments.File) string {
	if len(kept) == 0 {
		return b.store.Path
	}
	return segments.LevelPath(b.store.Path, kept[len(kept)-1].Coverage.Batch, b.plan.Batch)
}

// output describes the file.
func (b *build) output(path string, kept []*segments.File) output {
	s := b.store
	out := output{path: path, covers: segments.Coverage{Batch: b.plan.Batch, ImportLogHash: b.plan.ImportLogHash, Facts: b.plan.Facts},
		heavy: s.heavyFrom, sync: s.Sync, finished: s.count}
	if len(kept) == 0 {
		return out
	}
	last := kept[len(kept)-1]
	out.later, out.follows, out.heavy = true, last.ID, s.laterHeavy
	out.whole = b.plan.Reread.list(s.byToken)
	for _, f := range b.served.List()[len(kept):] {
		out.whole = append(out.whole, segment{f}.wholeKeys()...)
	}
	slices.Sort(out.whole)
	out.whole = slices.Compact(out.whole)
	if s.most == 0 {
		out.facts = last.Coverage.Facts - s.superseded(kept, out.whole)
	}
	return out
}

// count counts a file that was written.
func (s *Store) count(size uint64) { s.written.Add(int64(size)) }

// reuse takes files as inputs, except for the keys that are read again, or that a later one has all of.
func (b *build) reuse(list []*segments.File) error {
	skip := b.plan.Reread.set(b.store.byToken)
	for i := len(list) - 1; i >= 0; i-- {
		r, err := b.reopen(list[i])
		if err != nil {
			return err
		}
		b.inputs = append(b.inputs, input{segment: r, skip: maps.Clone(skip)})
		for _, key := range r.wholeKeys() {
			skip[key] = true
		}
	}
	slices.Reverse(b.inputs)
	return nil
}

// reopen opens a file that is served a second time, to be read in order.
func (b *build) reopen(served *segments.File) (segment, error) {
	r, err := openSegment(served.Path(), b.store.formatOf(served.Path() == b.store.Path))
	if err == nil && !r.SameContent(&served.Header) {
		err = errors.Join(errors.New("it is another file now"), r.Release())
	}
	if err != nil { // a mapping stays valid whatever happens to the name
		if r = (segment{served}); !r.Acquire() {
			return r, segments.ErrStoreRestarted
		}
	}
	return r, nil
}

// flush begins to write the slice as one more input, once the one before is written. It has no sums: these are computed when slices
// are merged.
func (b *build) flush() error {
	if err := b.wait(); err != nil || len(b.buffer.entries) == 0 {
		return err
	}
	b.buffer.moveTo(b.sorted)
	b.writing = b.store.start(func() error { return segments.Try(b.writeSlice) })
	return nil
}

// start begins work beside the build.
func (s *Store) start(f func() error) <-chan error {
	if s.Start != nil {
		return s.Start(f)
	}
	return guard.Start(f)
}

// wait waits for the slice that is written.
func (b *build) wait() error {
	if b.writing == nil {
		return nil
	}
	err := <-b.writing
	b.writing = nil
	if err = guard.Repanic(err); err == nil {
		b.buffer.raise(b.sorted)
	}
	return err
}

func (b *build) writeSlice() error {
	s := b.store
	out := output{path: segments.TempPath(s.Path, len(b.slices)+1), later: true, heavy: math.MaxInt,
		slice: true, sync: func(*os.File) error { return nil }, finished: s.count}
	if err := b.sorted.write(&out); err != nil {
		return fmt.Errorf("slice of fills: %w", err)
	}
	r, err := openSegment(out.path, s.later)
	if err != nil {
		return err
	}
	b.slices = append(b.slices, input{segment: r, slice: true})
	return os.Remove(out.path) // the data stay as long as they are mapped
}

// opened are the files that are read.
func (b *build) opened() []*segments.File {
	list := slices.Clone(b.served.List())
	for _, in := range slices.Concat(b.inputs, b.slices) {
		list = append(list, in.File)
	}
	return list
}

func (b *build) close() (err error) {
	if b.writing != nil { // after a panic
		err = <-b.writing
	}
	err = errors.Join(err, b.served.Release())
	for _, in := range slices.Concat(b.inputs, b.slices) {
		err = errors.Join(err, in.Release())
	}
	return errors.Join(err, segments.RemoveTemp(b.store.Path))
}
