package fillseg

import "slices"

// gatherHashes puts the hashes of a wallet's fills next to each other, so that ten of its fills are read from few memory pages. A hash is
// stored once for the fills of all its wallets: it goes to the one with the fewest fills here, because those of a wallet with many, such
// as a market maker, are spread over everything anyway. Entries must be sorted.
func (s *buffer) gatherHashes() {
	const nobody = ^uint32(0)
	owners, places := make([]uint32, len(s.hashes)), make([]uint32, len(s.hashes))
	fewest := make([]uint32, len(s.hashes))
	for i := range owners {
		owners[i], places[i], fewest[i] = nobody, nobody, nobody
	}
	for from, to := range s.eachKey {
		n := uint32(to - from)
		for _, e := range s.entries[from:to] {
			if tx := e.tx(); tx != noTx && n < fewest[tx] {
				owners[tx], fewest[tx] = uint32(from), n
			}
		}
	}
	gathered := slices.Grow(s.spare[:0], len(s.hashes))
	for from, to := range s.eachKey {
		for _, e := range s.entries[from:to] {
			if tx := e.tx(); tx != noTx && owners[tx] == uint32(from) && places[tx] == nobody {
				places[tx] = uint32(len(gathered))
				gathered = append(gathered, s.hashes[tx])
			}
		}
	}
	for i := range s.entries {
		if e := &s.entries[i]; e.tx() != noTx {
			e.w0 = e.w0&(1<<32-1) | uint64(places[e.tx()])<<32
		}
	}
	s.hashes, s.spare = gathered, s.hashes
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
