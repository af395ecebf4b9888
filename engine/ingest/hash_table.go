package ingest

// hashTable finds what was added under hashes that are spread well, as those of DuckDB and of data.Mix are. It is asked for
// every row, so a slot takes 16 bytes: a row needs one cache line of it.
type hashTable struct {
	slots []hashSlot // a power of two of them
	n     int
}

// hashSlot is what was added under a hash.
type hashSlot struct {
	hash uint64
	mark uint32 // what the owner of the table notes; 0: the slot is empty
	id   int32  // the same
}

const firstSlots = 1 << 12

// add returns the slot of a hash, which is new if it is empty: then it has to be marked. It is valid until the next add.
func (h *hashTable) add(hash uint64) *hashSlot {
	if 4*h.n >= 3*len(h.slots) {
		h.grow()
	}
	s := h.slot(hash)
	if s.mark == 0 {
		s.hash = hash
		h.n++
	}
	return s
}

// find returns the slot of a hash; nil if it was not added. It is valid until the next add.
func (h *hashTable) find(hash uint64) *hashSlot {
	if len(h.slots) == 0 {
		return nil
	}
	if s := h.slot(hash); s.mark > 0 {
		return s
	}
	return nil
}

// slot returns where a hash is or belongs.
func (h *hashTable) slot(hash uint64) *hashSlot {
	mask := uint64(len(h.slots) - 1)
	for at := hash & mask; ; at = (at + 1) & mask {
		if s := &h.slots[at]; s.mark == 0 || s.hash == hash {
			return s
		}
	}
}

func (h *hashTable) grow() {
	old := h.slots
	h.slots = make([]hashSlot, max(2*len(old), firstSlots))
	for _, s := range old {
		if s.mark > 0 {
			*h.slot(s.hash) = s
		}
	}
}

// hashIDs has the ids of texts by their hash. Marks number the hashes from 1, in the order of add.
type hashIDs struct{ hashTable }

// add adds a hash without an id, and reports whether it is new.
func (h *hashIDs) add(hash int64) bool {
	s := h.hashTable.add(uint64(hash))
	if s.mark > 0 {
		return false
	}
	s.mark, s.id = uint32(h.n), noID
	return true
}

// find returns the slot of a hash; nil if it was not added.
func (h *hashIDs) find(hash int64) *hashSlot { return h.hashTable.find(uint64(hash)) }
