package fillseg

import (
	"hash/maphash"

	"pmx/data"
)

// recentHashes finds the ordinals of recently seen hashes: the fills of a transaction come close together, and a hash that is stored
// twice only costs space. It remembers the hashes seen last, as many as a generation has or up to twice as many.
type recentHashes struct {
	seed          maphash.Seed
	recent, older generation
}

// generation is a hash table of ordinals by their hash. Its slots are twice as many as the hashes, so that one is free.
type generation struct {
	slots []uint32 // an ordinal plus one; 0: free
	count int
}

const (
	hashesRemembered = 1 << 15 // of a generation
	hashSlots        = 2 * hashesRemembered
)

func (r *recentHashes) reset() {
	if r.recent.slots == nil {
		r.seed = maphash.MakeSeed()
		r.recent.slots, r.older.slots = make([]uint32, hashSlots), make([]uint32, hashSlots)
	}
	r.recent.clear()
	r.older.clear()
}

// ordinal returns the place of h in hashes, and whether it was seen recently: else it is to be added there.
func (r *recentHashes) ordinal(h *data.Hash, hashes []data.Hash) (n uint32, known bool) {
	at := uint32(maphash.Bytes(r.seed, h[:])) % hashSlots
	slot := r.recent.find(at, h, hashes)
	if n = r.recent.slots[slot]; n == 0 {
		n = r.older.slots[r.older.find(at, h, hashes)]
	}
	if known = n != 0; !known {
		n = uint32(len(hashes)) + 1
	}
	if r.recent.count >= hashesRemembered {
		r.recent, r.older = r.older, r.recent
		r.recent.clear()
		slot = at
	}
	if r.recent.slots[slot] == 0 {
		r.recent.slots[slot] = n
		r.recent.count++
	}
	return n - 1, known
}

// find returns the slot of h, or the free one where it belongs, from a slot on.
func (g *generation) find(at uint32, h *data.Hash, hashes []data.Hash) uint32 {
	for g.slots[at] != 0 && hashes[g.slots[at]-1] != *h {
		at = (at + 1) % hashSlots
	}
	return at
}

func (g *generation) clear() {
	clear(g.slots)
	g.count = 0
}
