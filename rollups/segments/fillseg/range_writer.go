package fillseg

import (
	"slices"

	"pmx/data"
	"pmx/rollups/serving"
)

// rangeWriter gathers what a range of keys adds to a file in memory, so that several ranges can be gathered at once. They are added to
// the file in order of key.
type rangeWriter struct {
	to   *writer      // only what does not change is used without turn
	turn func() error // waits until all ranges before are in the file; nil: they are
	most int          // it is added to the file once it has so many bytes
	// What is not in the file yet.
	keys         []keyPlace
	heavy        []heavyAt // places in tokens and days
	rows         []byte
	rowCount     uint64
	tokens, days []byte
	txs          []byte // of a file of the newest fills
	moved        []int  // places of blocks in rows whose hashes are places in txs
	// Of the key being written.
	sums    *sums // nil if it is not a heavy wallet
	hashes  []data.Hash
	firstTx uint32 // the place of hashes in txs
	pending block  // rows of the next block
	dir     []uint64
	blocks  int
	last    int    // how many rows the last block has
	size    uint64 // of the blocks
}

// keyPlace is where the rows of a key begin.
type keyPlace struct {
	key int32
	at  uint64
}

// rangeSize is about how many bytes of inputs are merged at once, gatherSize how many bytes are gathered before they are added to the
// file.
const (
	rangeSize  = 8 << 20
	gatherSize = rangeSize / 2
)

// sums add the rows of one wallet up.
type sums struct {
	tokens map[data.TokenID]*serving.TokenSum
	days   []serving.DaySum
}

func (s *sums) add(f *serving.Fill) {
	t := s.tokens[f.Token]
	if t == nil {
		t = &serving.TokenSum{}
		s.tokens[f.Token] = t
	}
	t.Add(f)
	if n := len(s.days) - 1; n < 0 || s.days[n].Day != serving.DayOf(f.TS) {
		s.days = append(s.days, serving.DaySum{})
	}
	s.days[len(s.days)-1].Add(f)
}

// empty removes what was added to the file.
func (w *rangeWriter) empty() {
	w.keys, w.heavy, w.moved = w.keys[:0], w.heavy[:0], w.moved[:0]
	w.rows, w.tokens, w.days, w.txs = w.rows[:0], w.tokens[:0], w.days[:0], w.txs[:0]
	w.rowCount = 0
}

// flush adds what was gathered to the file.
func (w *rangeWriter) flush() error {
	if w.turn != nil {
		if err := w.turn(); err != nil {
			return err
		}
	}
	return w.to.add(w)
}

// flushFull is flush if much was gathered.
func (w *rangeWriter) flushFull() error {
	if len(w.rows)+len(w.tokens)+len(w.days)+len(w.txs) < w.most {
		return nil
	}
	return w.flush()
}

// beginKey begins the rows of a key, of which there will be n; keys come in ascending
// order.
func (w *rangeWriter) beginKey(key int32, n uint64) {
	w.keys = append(w.keys, keyPlace{key, uint64(len(w.rows))})
	if n >= uint64(w.to.heavyFrom) {
		w.addHeavy(key)
		w.sums = &sums{tokens: map[data.TokenID]*serving.TokenSum{}}
	}
}

// addHeavy says that the sums of a key come next.
func (w *rangeWriter) addHeavy(key int32) {
	w.heavy = append(w.heavy, heavyAt{uint64(key), uint64(len(w.tokens)), uint64(len(w.days))})
}

// addSums adds the sums of a key whose rows are about to be added.
func (w *rangeWriter) addSums(key int32, wallets, hours []byte) {
	w.addHeavy(key)
	w.tokens, w.days = append(w.tokens, wallets...), append(w.days, hours...)
}

// addSettled is addSums for sums that are not encoded yet.
func (w *rangeWriter) addSettled(key int32, b *tokenSums) {
	b.settle()
	w.addHeavy(key)
	w.tokens, w.days = appendWallets(w.tokens, b.wallets), appendHours(w.days, b.hours)
}

// endKey ends the rows of a key, and adds the sums of a heavy wallet.
func (w *rangeWriter) endKey() error {
	if err := w.endRows(); err != nil {
		return err
	}
	if s := w.sums; s != nil {
		w.sums = nil
		ids := make([]data.TokenID, 0, len(s.tokens))
		for id := range s.tokens {
			ids = append(ids, id)
		}
		slices.Sort(ids)
		byToken := make([]serving.TokenSum, 0, len(ids))
		for _, id := range ids {
			byToken = append(byToken, *s.tokens[id])
		}
		w.tokens, w.days = appendTokens(w.tokens, byToken), appendDays(w.days, s.days)
	}
	return w.flushFull()
}

// addNewest adds the rows of a key to a file of the newest fills, oldest first; keys come
// in ascending order.
func (w *rangeWriter) addNewest(key int32, fills []serving.Fill) error {
	w.beginKey(key, 0)
	w.hashes, w.firstTx = w.hashes[:0], uint32(len(w.txs)/hashSize)
	for i := range fills {
		f := &fills[i]
		if err := w.fill(f, w.ordinal(&f.Tx)); err != nil {
			return err
		}
	}
	return w.endKey()
}

// ordinal returns the place of a hash in txs, where it is added if the key does not have it yet.
func (w *rangeWriter) ordinal(h *data.Hash) uint32 {
	if h.IsZero() {
		return noTx
	}
	at := slices.Index(w.hashes, *h)
	if at < 0 {
		at = len(w.hashes)
		w.hashes = append(w.hashes, *h)
		w.txs = append(w.txs, h[:]...)
	}
	return w.firstTx + uint32(at)
}
