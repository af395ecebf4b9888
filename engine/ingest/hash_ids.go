package ingest

// hashIDs has the ids of texts by their hash. It is read for every row, so a slot has nothing else and takes 16 bytes:
// one of few cache lines that a row needs. A hash is spread well, as DuckDB's are, and is no key of a map again.
type hashIDs struct {
	slots []hashID // a power of two of them
	n     int
}

// hashID is what has a hash.
type hashID struct {
	hash int64
	nth  int32 // from 1, in the order of add; 0: the slot is empty
	id   int32 // noID: no row had the hash yet
}

const firstHashes = 1 << 10

// add adds a hash, and reports whether it is new.
func (h *hashIDs) add(hash int64) bool {
	if 2*h.n >= len(h.slots) {
		h.grow()
	}
	s := h.slot(hash)
	if s.nth > 0 {
		return false
	}
	h.n++
	*s = hashID{hash: hash, nth: int32(h.n), id: noID}
	return true
}

// find returns what has a hash; nil if nothing has. It is valid until the next add.
func (h *hashIDs) find(hash int64) *hashID {
	if len(h.slots) == 0 {
		return nil
	}
	if s := h.slot(hash); s.nth > 0 {
		return s
	}
	return nil
}

// slot returns the slot where a hash is or belongs.
func (h *hashIDs) slot(hash int64) *hashID {
	mask := uint64(len(h.slots) - 1)
	for at := uint64(hash) & mask; ; at = (at + 1) & mask {
		if s := &h.slots[at]; s.nth == 0 || s.hash == hash {
			return s
		}
	}
}

func (h *hashIDs) grow() {
	old := h.slots
	h.slots = make([]hashID, max(2*len(old), firstHashes))
	for _, s := range old {
		if s.nth > 0 {
			*h.slot(s.hash) = s
		}
	}
}
