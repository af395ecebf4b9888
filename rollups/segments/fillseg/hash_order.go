package fillseg

import "slices"

// hashPlaces is the memory of gatherHashes: of each hash the first entry of the key that it goes to, its new place, and how many entries
// that key has.
type hashPlaces struct{ owners, places, fewest []uint32 }

// gatherHashes puts the hashes of a wallet's fills next to each other, so that ten of its fills are read from few memory pages. A hash is
// stored once for the fills of all its wallets: it goes to the one with the fewest fills here, because those of a wallet with many, such
// as a market maker, are spread over everything anyway. The entries are those of to, in order, which gets the hashes.
func (s *buffer) gatherHashes(to *buffer) {
	const nobody = ^uint32(0)
	fill := func(list []uint32) []uint32 {
		list = slices.Grow(list[:0], len(s.hashes))[:len(s.hashes)]
		for i := range list {
			list[i] = nobody
		}
		return list
	}
	owners, places, fewest := fill(s.places.owners), fill(s.places.places), fill(s.places.fewest)
	s.places = hashPlaces{owners, places, fewest}
	for from, end := range to.eachKey {
		n := uint32(end - from)
		for i := range to.entries[from:end] {
			if tx := to.entries[from+i].tx(); tx != noTx && n < fewest[tx] {
				owners[tx], fewest[tx] = uint32(from), n
			}
		}
	}
	gathered := slices.Grow(to.hashes[:0], len(s.hashes))
	for from, end := range to.eachKey {
		for i := range to.entries[from:end] {
			if tx := to.entries[from+i].tx(); tx != noTx && owners[tx] == uint32(from) && places[tx] == nobody {
				places[tx] = uint32(len(gathered))
				gathered = append(gathered, s.hashes[tx])
			}
		}
	}
	for i := range to.entries {
		if e := &to.entries[i]; e.tx() != noTx {
			e.w0 = e.w0&(1<<32-1) | uint64(places[e.tx()])<<32
		}
	}
	to.hashes = gathered
}

// eachKey yields where the entries of each key begin and end, in order. Entries must be sorted.
func (s *buffer) eachKey(yield func(from, to int) bool) {
	for i := 0; i < len(s.entries); {
		to := i + 1
		for to < len(s.entries) && s.entries[to].key == s.entries[i].key {
			to++
		}
		if !yield(i, to) {
			return
		}
		i = to
	}
}
