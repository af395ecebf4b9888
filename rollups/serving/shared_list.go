package serving

import (
	"slices"
	"sync/atomic"
	"unsafe"
)

const (
	blockBits = 4
	blockSize = 1 << blockBits
)

// block is some values with neighbouring numbers. A published block is never written again: paged
// copies it first. Blocks are small so that a batch that touches values far apart does not copy
// much more than it changes.
type block[T any] [blockSize]T

// shared is an immutable list that successive snapshots share block by block.
type shared[T any] struct{ blocks []*block[T] }

// at returns the i-th value; nil if there is none.
func (s *shared[T]) at(i int) *T {
	if i < 0 || i>>blockBits >= len(s.blocks) || s.blocks[i>>blockBits] == nil {
		return nil
	}
	return &s.blocks[i>>blockBits][i&(blockSize-1)]
}

// unsharedBytes is about how many bytes of s o does not share.
func (s *shared[T]) unsharedBytes(o *shared[T]) int64 {
	n := 0
	for i, b := range s.blocks {
		if b != nil && (i >= len(o.blocks) || o.blocks[i] != b) {
			n++
		}
	}
	return int64(n) * int64(unsafe.Sizeof(block[T]{}))
}

// paged is the writer's side of a shared list. It belongs to one goroutine.
type paged[T any] struct {
	shared[T]
	ours  []bool // by block: made since the last seal, ours to write
	fresh []int  // the blocks that are ours
}

// edit returns the i-th value to be written, which is zero at first.
func (p *paged[T]) edit(i int) *T {
	n := i >> blockBits
	for n >= len(p.blocks) {
		p.blocks, p.ours = append(p.blocks, nil), append(p.ours, false)
	}
	if !p.ours[n] {
		b := &block[T]{}
		if old := p.blocks[n]; old != nil {
			*b = *old
		}
		p.blocks[n], p.ours[n] = b, true
		p.fresh = append(p.fresh, n)
	}
	return &p.blocks[n][i&(blockSize-1)]
}

// seal returns the list as it is now, which is not written to any more.
func (p *paged[T]) seal() shared[T] {
	for _, n := range p.fresh {
		p.ours[n] = false
	}
	p.fresh = p.fresh[:0]
	return shared[T]{blocks: slices.Clone(p.blocks)}
}

// idTable finds small ids by a hash of what they stand for: open addressing, ids only ever added.
// One goroutine adds; any number look up. A reader ignores ids that were added after its snapshot.
type idTable struct {
	slots []atomic.Uint32 // id + 1; 0 is empty
	mask  uint64
}

// newIDTable returns a table of size slots, a power of two.
func newIDTable(size uint64) *idTable {
	return &idTable{slots: make([]atomic.Uint32, size), mask: size - 1}
}

// full reports whether another id, after n, would make more than half of the slots taken.
func (t *idTable) full(n int) bool { return uint64(n+1)*2 > uint64(len(t.slots)) }

func (t *idTable) insert(hash uint64, id int) {
	i := hash & t.mask
	for t.slots[i].Load() != 0 {
		i = (i + 1) & t.mask
	}
	t.slots[i].Store(uint32(id + 1))
}

// find returns the id with that hash for which is is true.
func (t *idTable) find(hash uint64, is func(id int) bool) (int, bool) {
	for i := hash & t.mask; ; i = (i + 1) & t.mask {
		ref := t.slots[i].Load()
		if ref == 0 {
			return 0, false
		}
		if is(int(ref - 1)) {
			return int(ref - 1), true
		}
	}
}
