package fillseg

import (
	"math"
	"slices"

	"pmx/data"
	"pmx/rollups/serving"
)

// buffer gathers fills in any order, up to some number. They are then put in order in another buffer, which is written as a segment
// while this one gathers the next ones.
type buffer struct {
	kind
	entries []entry
	hashes  []data.Hash
	recent  recentHashes
	wide    []byte
	// Memory of sorting.
	keys, spareKeys []sortKey
	places          hashPlaces
	// Of a store of the newest fills.
	kept     []serving.Fill
	floors   []int64    // by key: there are as many fills as are kept at this time, in µs, or later
	raised   []keyFloor // floors of what was written, which are higher
	sums     tokenSums
	byWallet []uint64 // the entries of a token by wallet: a wallet and the place of an entry in each
}

// keyFloor is the floor of a key.
type keyFloor struct {
	key int32
	ts  int64
}

type entry struct {
	key int32
	row
}

func (s *buffer) reset() {
	s.entries, s.hashes, s.wide = s.entries[:0], s.hashes[:0], s.wide[:0]
	s.recent.reset()
}

func (s *buffer) add(f *serving.Fill) error {
	key, tx := s.key(f), uint32(noTx)
	if f.TS >= s.floor(key) { // else it is never shown
		tx = s.ordinal(&f.Tx)
	}
	r, err := s.pack(f, tx, uint64(len(s.wide)/wideSize))
	if err != nil {
		return err
	}
	if r.wide() {
		s.wide = appendWide(s.wide, f)
	}
	s.entries = append(s.entries, entry{key, r})
	return nil
}

// floor is the time, in µs, before which fills of a key only count for sums.
func (s *buffer) floor(key int32) int64 {
	if int(key) < len(s.floors) {
		return s.floors[key]
	}
	return math.MinInt64
}

// ordinal returns the place of a hash. In a file of the newest fills, hashes are written with the rows that have them, so it does not
// matter whether one is here twice.
func (s *buffer) ordinal(h *data.Hash) uint32 {
	if h.IsZero() {
		return noTx
	}
	n, known := uint32(len(s.hashes)), false
	if s.most == 0 {
		n, known = s.recent.ordinal(h, s.hashes)
	}
	if !known {
		s.hashes = append(s.hashes, *h)
	}
	return n
}

// fill is the fill of an entry.
func (s *buffer) fill(e *entry) serving.Fill {
	f := s.amounts(e)
	if e.tx() != noTx {
		f.Tx = s.hashes[e.tx()]
	}
	return f
}

// amounts is fill without the transaction.
func (s *buffer) amounts(e *entry) (f serving.Fill) {
	var wideBytes []byte
	if e.wide() {
		wideBytes = s.wide[e.shares()*wideSize:]
	}
	e.unpackTo(&f, wideBytes)
	s.setIDs(&f, e.key, e.other())
	return f
}

// moveTo moves the fills to another buffer, in their order, and begins to gather others.
func (s *buffer) moveTo(to *buffer) {
	to.kind, to.floors, to.raised = s.kind, s.floors, to.raised[:0]
	s.sort(to)
	if s.most == 0 {
		s.gatherHashes(to)
	} else {
		to.hashes, s.hashes = s.hashes, to.hashes
	}
	to.wide, s.wide = s.wide, to.wide
	s.reset()
}

// raise raises the floors as those of a buffer that was written.
func (s *buffer) raise(written *buffer) {
	for _, f := range written.raised {
		for int(f.key) >= len(s.floors) {
			s.floors = append(s.floors, math.MinInt64)
		}
		s.floors[f.key] = max(s.floors[f.key], f.ts)
	}
}

// write writes the fills, which are in order, as a file.
func (s *buffer) write(out *output) (err error) {
	w, err := out.begin(&s.kind)
	if err != nil {
		return err
	}
	defer func() {
		if err != nil {
			_ = w.close()
		}
	}()
	add := s.writeNewest
	if s.most == 0 {
		add = s.writeWallet
		if err := s.writeHashes(w); err != nil {
			return err
		}
	}
	p := rangeWriter{to: w, most: gatherSize}
	for from, to := range s.eachKey {
		if err := add(&p, s.entries[from:to]); err != nil {
			return err
		}
	}
	if err := p.flush(); err != nil {
		return err
	}
	return out.finish(w)
}

func (s *buffer) writeHashes(w *writer) error {
	for i := range s.hashes {
		if err := w.Add(txs, s.hashes[i][:]); err != nil {
			return err
		}
	}
	return w.Pad()
}

// writeNewest writes the newest of a key's entries. Once there are as many as are kept, older ones
// can be ignored.
func (s *buffer) writeNewest(w *rangeWriter, entries []entry) error {
	key := entries[0].key
	from, floor := max(0, len(entries)-s.most), s.floor(key)
	s.kept = s.kept[:0]
	for i := len(entries) - 1; i >= from; i-- {
		f := s.fill(&entries[i])
		if f.TS < floor {
			from = i + 1
			break
		}
		s.kept = append(s.kept, f)
	}
	slices.Reverse(s.kept)
	if from > 0 {
		s.sum(entries)
		w.addSettled(key, &s.sums)
	}
	if len(s.kept) == s.most {
		s.raised = append(s.raised, keyFloor{key, s.kept[0].TS})
	}
	return w.addNewest(key, s.kept)
}

// sum adds the entries of a token up. They are sorted by wallet first, which takes less time than to merge as many sums.
func (s *buffer) sum(entries []entry) {
	s.sums.reset()
	s.byWallet = s.byWallet[:0]
	for i := range entries {
		f := s.amounts(&entries[i])
		s.sums.hours = addHour(s.sums.hours, &f)
		s.byWallet = append(s.byWallet, uint64(uint32(f.Wallet))<<32|uint64(uint32(i)))
	}
	slices.Sort(s.byWallet)
	last := data.WalletID(-1)
	for _, at := range s.byWallet {
		f := s.amounts(&entries[uint32(at)])
		sum := serving.EventSumOf(&f)
		if f.Wallet == last {
			s.sums.wallets[len(s.sums.wallets)-1].Merge(&sum)
			continue
		}
		last = f.Wallet
		s.sums.wallets = append(s.sums.wallets, serving.WalletSum{Wallet: last, EventSum: sum})
	}
}

func (s *buffer) writeWallet(w *rangeWriter, entries []entry) error {
	w.beginKey(entries[0].key, uint64(len(entries)))
	for i := range entries {
		f := s.amounts(&entries[i])
		if err := w.fill(&f, entries[i].tx()); err != nil {
			return err
		}
	}
	return w.endKey()
}
