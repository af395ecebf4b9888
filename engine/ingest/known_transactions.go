package ingest

import (
	"context"
	"database/sql"
	"encoding/binary"
	"iter"
	"maps"
	"slices"
	"strconv"

	"pmx/data"
	"pmx/engine"
)

// mostDaysKnown is the maximum number of days whose transactions are held, and of days of a batch
// that is compared with them.
const mostDaysKnown = 4

// knownTransactions holds the transactions of the facts of some days, so that a batch of new
// transactions need not be compared with all facts of its day: for a venue with four million fills
// a day that takes 0.1 s, every two seconds. It may report an unknown transaction as known, but
// never the opposite: code that adds facts without calling add must call forget. The zero value
// holds no days.
type knownTransactions struct {
	days  []dayTransactions // the most recently used one is the last
	asked []int64           // the last requested days that are not held
}

type dayTransactions struct {
	day int64 // days since 1970
	transactionFilter
}

// transactionKey returns the part of a transaction's hash that is held: its first bytes, which are
// practically random.
func transactionKey(tx *data.Hash) uint64 { return binary.BigEndian.Uint64(tx[:]) }

// none reports whether certainly no fact of the days has one of the transactions; false if that is
// not known. load adds the transactions of all facts of a day. It is called when a day is requested
// for the second time, so that a single file does not cause it.
func (k *knownTransactions) none(days []int64, transactions iter.Seq[uint64], load func(day int64, add func(key uint64)) error) (bool, error) {
	if len(days) > mostDaysKnown {
		return false, nil
	}
	held := true
	for _, day := range days {
		known, err := k.hold(day, load)
		if err != nil {
			return false, err
		}
		held = held && known
	}
	if !held {
		return false, nil
	}
	for key := range transactions {
		for _, day := range days {
			if k.of(day).may(key) {
				return false, nil
			}
		}
	}
	return true, nil
}

// of returns what is held of a day; nil if nothing is.
func (k *knownTransactions) of(day int64) *dayTransactions {
	for i := range k.days {
		if k.days[i].day == day {
			return &k.days[i]
		}
	}
	return nil
}

// hold reports whether the transactions of a day are held, and loads them if the day was requested
// before.
func (k *knownTransactions) hold(day int64, load func(day int64, add func(key uint64)) error) (bool, error) {
	if i := slices.IndexFunc(k.days, func(d dayTransactions) bool { return d.day == day }); i >= 0 {
		d := k.days[i]
		k.days = append(slices.Delete(k.days, i, i+1), d)
		return true, nil
	}
	i := slices.Index(k.asked, day)
	if i < 0 {
		k.asked = append(k.asked, day)
		k.asked = k.asked[max(0, len(k.asked)-mostDaysKnown):]
		return false, nil
	}
	d := dayTransactions{day: day}
	if err := load(day, d.add); err != nil {
		return false, err
	}
	k.asked = slices.Delete(k.asked, i, i+1)
	k.days = append(k.days, d)
	k.days = slices.Delete(k.days, 0, max(0, len(k.days)-mostDaysKnown))
	return true, nil
}

// add records that facts of the transactions are being added to the days. It does no harm if they
// are not added in the end.
func (k *knownTransactions) add(days []int64, transactions iter.Seq[uint64]) {
	for _, day := range days {
		if d := k.of(day); d != nil {
			for key := range transactions {
				d.add(key)
			}
		}
	}
}

// forget drops everything.
func (k *knownTransactions) forget() { k.days, k.asked = nil, nil }

// transactionFilter is a Bloom filter that grows: a set of keys with about one false positive in
// 7,000. It takes 4 to 16 bytes for each key. The zero value is empty.
type transactionFilter struct {
	layers [][]uint64 // of bits; each has four times as many as the previous one, and all except for the last are full
	room   int        // capacity of the last layer
}

const (
	firstLayer  = 1 << 10 // words
	keysPerWord = 2       // of 64 bits
	probes      = 6       // bits per key
)

// bitsOf returns the bits of a key in a layer. Files may have transactions whose first bytes are
// not random, so the key is hashed.
func bitsOf(key uint64, layer []uint64) iter.Seq2[int, uint64] {
	return func(yield func(word int, bit uint64) bool) {
		at, step := data.Mix(key), data.Mix(key+1)|1
		for range probes {
			if !yield(int(at>>6)&(len(layer)-1), 1<<(at&63)) {
				return
			}
			at += step
		}
	}
}

// may reports whether the key may be in the set.
func (f *transactionFilter) may(key uint64) bool {
	return slices.ContainsFunc(f.layers, func(layer []uint64) bool {
		for word, bit := range bitsOf(key, layer) {
			if layer[word]&bit == 0 {
				return false
			}
		}
		return true
	})
}

func (f *transactionFilter) add(key uint64) {
	if f.may(key) {
		return
	}
	if f.room == 0 {
		words := firstLayer << (2 * len(f.layers))
		f.layers, f.room = append(f.layers, make([]uint64, words)), words*keysPerWord
	}
	last := f.layers[len(f.layers)-1]
	for word, bit := range bitsOf(key, last) {
		last[word] |= bit
	}
	f.room--
}

// touchedDays returns the days of the staged fills, in order.
func (s *stagedFills) touchedDays() []int64 { return slices.Sorted(maps.Keys(s.days)) }

// transactions returns the keys of all transactions of staged fills.
func (s *stagedFills) transactions() iter.Seq[uint64] {
	if s.byLog != nil {
		return maps.Keys(s.byLog.seen)
	}
	return maps.Keys(s.hashes)
}

// noneHeld reports whether certainly no fact of the touched days has a transaction of the staged
// fills, by what the importer holds.
func (j *fileImport) noneHeld() (bool, error) {
	if j.came == nil {
		return false, nil
	}
	return j.im.known.none(j.came.touchedDays(), j.came.transactions(), func(day int64, add func(key uint64)) error {
		return transactionsOfDay(j.ctx, j.conn, day, add)
	})
}

// holdTransactions adds the transactions of new facts to those held by the importer. If the new
// facts are not simply the staged fills with their original times, all held ones are dropped.
func (j *fileImport) holdTransactions() {
	r := &j.receipt
	switch {
	case j.lost || j.moving || r.Replaced+j.absorbed > 0 || r.Inserted > 0 && j.came == nil:
		j.im.known.forget()
	case r.Inserted > 0:
		j.im.known.add(j.came.touchedDays(), j.came.transactions())
	}
}

// transactionsOfDay calls add with the transactions of all facts of a day and of all lost fills.
func transactionsOfDay(ctx context.Context, conn *sql.Conn, day int64, add func(key uint64)) error {
	type transaction struct {
		Tx data.Hash `sql:"tx"`
	}
	lo, hi := strconv.FormatInt(day*dayLength, 10), strconv.FormatInt((day+1)*dayLength, 10)
	return engine.EachRow(ctx, conn, statements.Get("TransactionsOfDay", "@lo", lo, "@hi", hi), func(row *transaction) error {
		add(transactionKey(&row.Tx))
		return nil
	})
}
