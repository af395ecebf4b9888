package fillseg

import (
	"encoding/binary"
	"errors"

	"pmx/data"
	"pmx/rollups/segments"
)

// segment is an open file. Its readers panic with a *segments.Damage if the file is corrupted.
type segment struct{ *segments.File }

// openSegment maps a finished file and verifies its index.
func openSegment(path string, format *segments.Format) (segment, error) {
	f, err := segments.Open(path, format)
	if err != nil {
		return segment{}, err
	}
	r := segment{f}
	if err := segments.Try(r.bounds); err != nil {
		return segment{}, errors.Join(err, f.Release())
	}
	return r, nil
}

// bounds checks the positions of rows and sums.
func (r segment) bounds() error {
	if r.Counts[index] == 0 || r.Counts[heavy] == 0 || r.Counts[txs] > noTx {
		return r.Damaged("%d places, %d heavy wallets, %d transactions", r.Counts[index], r.Counts[heavy], r.Counts[txs])
	}
	at := uint64(0)
	for b := r.Bytes(index, 0, r.Len(index)); len(b) > 0; b = b[indexSize:] {
		next := binary.LittleEndian.Uint64(b)
		if next < at || next > r.Counts[rows] {
			return r.Damaged("index: %d after %d of %d", next, at, r.Counts[rows])
		}
		at = next
	}
	if at+wordSize != r.Counts[rows] {
		return r.Damaged("index: it ends with %d of %d", at, r.Counts[rows])
	}
	if r.sparse() {
		if err := errors.Join(r.ascending(ids), r.ascending(whole)); err != nil {
			return err
		}
		if r.Counts[ids]+1 != r.Counts[index] {
			return r.Damaged("index: %d places of %d keys", r.Counts[index], r.Counts[ids])
		}
	}
	last := int(r.Counts[heavy]) - 1
	for i := range last {
		w, next := r.heavy(i), r.heavy(i+1)
		if w.wallet >= next.wallet || w.tokens > next.tokens || w.days > next.days {
			return r.Damaged("heavy wallets: %v after %v", next, w)
		}
	}
	if end := r.heavy(last); end.tokens != r.Counts[tokens] || end.days != r.Counts[days] {
		return r.Damaged("heavy wallets: they end with %v", end)
	}
	return nil
}

// ascending checks a list of keys.
func (r segment) ascending(extent int) error {
	before := int32(-1)
	for b := r.Bytes(extent, 0, r.Len(extent)); len(b) > 0; b = b[idSize:] {
		key := int32(binary.LittleEndian.Uint32(b))
		if key <= before {
			return r.Damaged("keys: %d after %d", key, before)
		}
		before = key
	}
	return nil
}

// sparse reports whether the file continues another one: its index has only keys with rows.
func (r segment) sparse() bool { return len(r.Counts) > ids }

// heavyAt is an entry of heavy: a wallet, and where its sums begin.
type heavyAt struct{ wallet, tokens, days uint64 }

func (r segment) heavy(i int) heavyAt {
	b := r.Bytes(heavy, i*heavySize, (i+1)*heavySize)
	return heavyAt{binary.LittleEndian.Uint64(b), binary.LittleEndian.Uint64(b[8:]), binary.LittleEndian.Uint64(b[16:])}
}

// keys is one more than the largest key with rows.
func (r segment) keys() int {
	if !r.sparse() {
		return int(r.Counts[index]) - 1
	}
	if n := int(r.Counts[ids]); n > 0 {
		return int(r.id(ids, n-1)) + 1
	}
	return 0
}

// id is a key in a list of keys.
func (r segment) id(extent, i int) int32 { return idAt(r.Checked(extent), i) }

func idAt(list []byte, i int) int32 { return int32(binary.LittleEndian.Uint32(list[i*idSize:])) }

// find returns the place of a key in a list of keys, which were verified when the file was opened.
func (r segment) find(extent int, key int32) (at int, found bool) {
	list := r.Checked(extent)
	lo, hi := 0, len(list)/idSize
	for lo < hi {
		if mid := int(uint(lo+hi) / 2); idAt(list, mid) < key {
			lo = mid + 1
		} else {
			hi = mid
		}
	}
	return lo, lo*idSize < len(list) && idAt(list, lo) == key
}

// isWhole reports whether files before this one do not count for a key.
func (r segment) isWhole(key int32) bool {
	if !r.sparse() || r.Counts[whole] == 0 {
		return false
	}
	_, found := r.find(whole, key)
	return found
}

// wholeKeys are the keys of which files before this one do not count.
func (r segment) wholeKeys() (keys []int32) {
	if !r.sparse() {
		return nil
	}
	for i := range int(r.Counts[whole]) {
		keys = append(keys, r.id(whole, i))
	}
	return keys
}

// span returns where the bytes of a key's rows are; equal if it has none.
func (r segment) span(key int32) (lo, hi int) {
	at := int(key)
	if !r.sparse() {
		if at < 0 || at >= r.keys() {
			return 0, 0
		}
		return r.between(at)
	}
	at, found := r.find(ids, key)
	if !found {
		return 0, 0
	}
	return r.between(at)
}

// between returns an entry of the index and the next one.
func (r segment) between(at int) (lo, hi int) {
	b := r.Bytes(index, at*indexSize, (at+2)*indexSize)
	from, to := binary.LittleEndian.Uint64(b), binary.LittleEndian.Uint64(b[indexSize:])
	if from > to || to > r.Counts[rows] {
		panic(r.Damaged("index: bytes %d to %d of %d", from, to, r.Counts[rows]))
	}
	return int(from), int(to)
}

func (r segment) hash(ordinal uint32) (h data.Hash) {
	if ordinal != noTx {
		at := int(ordinal) * hashSize
		copy(h[:], r.Bytes(txs, at, at+hashSize))
	}
	return h
}

// pageHashes is how many hashes a page has.
const pageHashes = segments.PageSize / hashSize

// hashPage is a page of hashes: neighbouring rows often have theirs in the same page.
type hashPage struct {
	at     uint32
	hashes []byte
}

// nextHash is hash for consecutive rows.
func (r segment) nextHash(p *hashPage, ordinal uint32) (h data.Hash) {
	if page := ordinal / pageHashes; page != p.at {
		lo := int(page) * segments.PageSize
		p.at, p.hashes = page, r.Bytes(txs, lo, min(lo+segments.PageSize, r.Len(txs)))
	}
	at := int(ordinal%pageHashes) * hashSize
	if at+hashSize > len(p.hashes) {
		panic(r.Damaged("transactions: number %d of %d", ordinal, r.Counts[txs]))
	}
	copy(h[:], p.hashes[at:])
	return h
}

// sums returns where the sums of a heavy wallet begin and end; false of any other.
func (r segment) sums(wallet int32) (at, next heavyAt, ok bool) {
	i := r.firstHeavy(wallet)
	if i >= int(r.Counts[heavy])-1 {
		return at, next, false
	}
	at, next = r.heavy(i), r.heavy(i+1)
	return at, next, at.wallet == uint64(wallet)
}
