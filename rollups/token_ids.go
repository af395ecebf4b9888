package rollups

import (
	"hash/maphash"

	"pmx/data"
)

// tokenIDs finds tokens by their public names. It is a hash table of ids alone: the names are those of the tokens, and
// a map would hold them, and their hashes, once more.
type tokenIDs struct {
	seed  maphash.Seed
	slots []int32 // id + 1, 0 for none; a power of two
	used  int
}

func newTokenIDs() tokenIDs {
	return tokenIDs{seed: maphash.MakeSeed(), slots: make([]int32, 1024)}
}

// tokenIDsOf makes all tokens findable.
func tokenIDsOf(tokens []tokenLifetime) tokenIDs {
	size := 1024
	for size < 2*(len(tokens)+1) {
		size *= 2
	}
	t := tokenIDs{seed: maphash.MakeSeed(), slots: make([]int32, size)}
	for id := range tokens {
		if tokens[id].id != "" { // else there is no such token
			t.insert(tokens[id].id, int32(id)+1)
		}
	}
	t.used = len(tokens)
	return t
}

// add makes the token of an id findable by its current name.
func (t *tokenIDs) add(tokens []tokenLifetime, id data.TokenID) {
	if 2*t.used >= len(t.slots) {
		old := t.slots
		t.slots = make([]int32, 2*len(old))
		for _, slot := range old {
			if slot != 0 {
				t.insert(tokens[slot-1].id, slot)
			}
		}
	}
	t.insert(tokens[id].id, int32(id)+1)
	t.used++
}

func (t *tokenIDs) insert(name string, slot int32) {
	i := t.first(name)
	for t.slots[i] != 0 {
		i = (i + 1) & (len(t.slots) - 1)
	}
	t.slots[i] = slot
}

// first is where the search for a name begins.
func (t *tokenIDs) first(name string) int {
	return int(maphash.String(t.seed, name) & uint64(len(t.slots)-1))
}

// find returns the id of the token with that name; false if there is none.
func (t *tokenIDs) find(tokens []tokenLifetime, name string) (data.TokenID, bool) {
	if len(t.slots) == 0 {
		return 0, false
	}
	for i := t.first(name); t.slots[i] != 0; i = (i + 1) & (len(t.slots) - 1) {
		if id := t.slots[i] - 1; tokens[id].id == name {
			return data.TokenID(id), true
		}
	}
	return 0, false
}
