package fillseg

import (
	"cmp"
	"context"
	"encoding/binary"
	"fmt"
	"math"
	"runtime"
	"slices"
	"sort"
	"sync"

	"pmx/engine/guard"
	"pmx/rollups/segments"
)

// starter begins work beside the caller and returns how it ended, a panic as a *guard.Panic.
type starter = func(f func() error) <-chan error

// mergers is how many ranges are merged beside each other.
func mergers() int { return min(max(runtime.NumCPU(), 2), 4) }

// ranges divides the keys of a merge among mergers that run beside each other. Each takes the next range, gathers what it adds to the
// file, and adds it once all ranges before are in the file.
type ranges struct {
	kind   *kind
	w      *writer
	inputs []input
	size   uint64 // about that of a range

	mu   sync.Mutex
	from int32         // where the next range begins; math.MaxInt32: there is none
	last chan struct{} // closed once the range before that one is in the file
}

// keyRange is a range of keys to be merged.
type keyRange struct {
	from, to int32         // to is not in it
	before   chan struct{} // closed once all ranges before are in the file
	done     chan struct{} // to be closed once this one is
}

// mergeRanges merges all keys, in ranges of about so many bytes of the inputs.
func (k *kind) mergeRanges(ctx context.Context, w *writer, inputs []input, size uint64, start starter) error {
	ctx, fail := context.WithCancelCause(ctx)
	defer fail(nil)
	r := ranges{kind: k, w: w, inputs: inputs, size: size, last: make(chan struct{})}
	close(r.last)
	run := func() error {
		err := guard.Do(func() error { return segments.Try(func() error { return r.run(ctx) }) })
		if err != nil {
			fail(err) // the others do not wait for it
		}
		return err
	}
	var others []<-chan error
	if r.end(0) < math.MaxInt32 {
		for range mergers() - 1 {
			others = append(others, start(run))
		}
	}
	err := run()
	for _, other := range others {
		err = cmp.Or(err, <-other)
	}
	if err != nil {
		err = cmp.Or(context.Cause(ctx), err) // the first one
	}
	return guard.Repanic(err)
}

// run merges ranges until there are none.
func (r *ranges) run(ctx context.Context) error {
	m := merger{kind: *r.kind, w: &rangeWriter{to: r.w, most: int(r.size / 2)}, inputs: slices.Clone(r.inputs), keys: make([]int32, len(r.inputs))}
	for {
		next, ok := r.next()
		if !ok {
			return ctx.Err()
		}
		m.w.turn = func() error {
			select {
			case <-next.before:
				return nil
			case <-ctx.Done():
				return context.Cause(ctx)
			}
		}
		if err := m.merge(ctx, next.from, next.to); err != nil {
			return err
		}
		close(next.done)
	}
}

// next takes the next range.
func (r *ranges) next() (next keyRange, ok bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.from == math.MaxInt32 {
		return next, false
	}
	next = keyRange{from: r.from, to: r.end(r.from), before: r.last, done: make(chan struct{})}
	r.from, r.last = next.to, next.done
	return next, true
}

// end is where the range ends that begins at a key; math.MaxInt32: it is the last one.
func (r *ranges) end(from int32) int32 {
	keys, most := 0, r.size
	for i := range r.inputs {
		in := &r.inputs[i]
		keys = max(keys, in.keys())
		most += in.sizeBefore(from)
	}
	first := int(from) + 1
	n := sort.Search(keys-first, func(n int) bool {
		size := uint64(0)
		for i := range r.inputs {
			size += r.inputs[i].sizeBefore(int32(first + n))
		}
		return size >= most
	})
	if first+n >= keys {
		return math.MaxInt32
	}
	return int32(first + n)
}

// sizeBefore is how many bytes of rows and sums come before those of a key.
func (r segment) sizeBefore(key int32) uint64 {
	at := min(int(key), r.keys())
	if r.sparse() {
		at, _ = r.find(ids, key)
	}
	sums := r.heavy(r.firstHeavy(key))
	return binary.LittleEndian.Uint64(r.Bytes(index, at*indexSize, (at+1)*indexSize)) + sums.tokens + sums.days
}

// firstHeavy is the place of the first key with sums from one on.
func (r segment) firstHeavy(key int32) int {
	return sort.Search(int(r.Counts[heavy])-1, func(i int) bool { return r.heavy(i).wallet >= uint64(key) })
}

// merge adds a range of keys to the file.
func (m *merger) merge(ctx context.Context, from, to int32) error {
	for i := range m.inputs {
		in := &m.inputs[i]
		m.keys[i], in.summed = -1, in.firstHeavy(from)
		if in.sparse() {
			in.at, _ = in.find(ids, from)
		}
	}
	add := m.mergeNewest
	if m.most == 0 {
		add = m.mergeWallet
	}
	n := 0
	for key := m.next(from); key < to; key = m.next(key + 1) {
		if n++; n%4096 == 0 && ctx.Err() != nil {
			return context.Cause(ctx)
		}
		if err := add(key); err != nil {
			return fmt.Errorf("merge key %d: %w", key, err)
		}
	}
	return m.w.flush()
}
