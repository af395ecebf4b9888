package ingest

import (
	"cmp"
	"encoding/binary"
	"math"
	"math/bits"
	"slices"

	"pmx/data"
)

// mostOfGroup is the maximum number of rows of the same time that are compared with each other in memory.
const mostOfGroup = 1 << 16

// repeats numbers equal rows of a file in order of time: they have the same time, so few rows are compared with each
// other. It also finds rows with the same log, if the rows of a transaction have the same time.
type repeats struct {
	round        uint32 // of this group
	slots        []repeatSlot
	transactions keySet // of rows with a log index
}

// repeatSlot belongs to a row of the group of that round.
type repeatSlot struct {
	round uint32
	row   int32
}

// number numbers the rows of one time. It returns false if two of them have the same log, if two equal ones may be of several files, if
// there are too many equal ones, or if rows of one of their transactions had another time: statements then have to decide.
func (r *repeats) number(group []plainRow) bool {
	if len(group) == 0 {
		return true
	}
	r.round++
	if len(group) == 1 {
		return r.addTransaction(&group[0])
	}
	if size := 1 << bits.Len(uint(4*len(group))); size > len(r.slots) {
		r.slots = make([]repeatSlot, size) // their rounds are before this one
	}
	equal, sameLog := false, false
	for i := range group {
		row := &group[i]
		if (i == 0 || row.tx != group[i-1].tx || group[i-1].log == data.NoIndex) && !r.addTransaction(row) {
			return false
		}
		equal = r.add(group, i, hashOfFill(row), (*plainRow).sameFill) || equal
		if row.log != data.NoIndex {
			sameLog = r.add(group, i, hashOfLog(row), sameLogOf) || sameLog
		}
	}
	if sameLog || equal && group[0].member != group[len(group)-1].member {
		return false
	}
	return !equal || numberEqual(group)
}

// bytes is how much memory the transactions take.
func (r *repeats) bytes() int64 { return 16 * int64(len(r.transactions.slots)) }

// addTransaction notes that rows of this time have the transaction, and reports whether none of another time has.
func (r *repeats) addTransaction(row *plainRow) bool {
	return row.log == data.NoIndex || r.transactions.add(binary.LittleEndian.Uint64(row.tx[:]), r.round)
}

// add adds a row, and reports whether one that is the same was added before.
func (r *repeats) add(group []plainRow, i int, hash uint64, same func(a, b *plainRow) bool) bool {
	mask := uint64(len(r.slots) - 1)
	for at := hash & mask; ; at = (at + 1) & mask {
		s := &r.slots[at]
		if s.round != r.round {
			*s = repeatSlot{r.round, int32(i)}
			return false
		}
		if int(s.row) != i && same(&group[s.row], &group[i]) {
			return true
		}
	}
}

func sameLogOf(a, b *plainRow) bool { return a.log == b.log && a.log != data.NoIndex && a.tx == b.tx }

func hashOfFill(row *plainRow) uint64 {
	return data.Mix(binary.LittleEndian.Uint64(row.tx[:]) ^ data.Mix(uint64(row.wallet)<<32|uint64(uint32(row.token))) ^ data.Mix(uint64(row.shares)^uint64(row.usd)<<20))
}

func hashOfLog(row *plainRow) uint64 {
	return data.Mix(binary.LittleEndian.Uint64(row.tx[8:]) ^ uint64(row.log)<<1)
}

// numberEqual is the statement NumberRepeats. It returns false if a number does not fit.
func numberEqual(group []plainRow) bool {
	order := make([]int32, len(group))
	for i := range order {
		order[i] = int32(i)
	}
	slices.SortFunc(order, func(a, b int32) int { return cmp.Or(compareRows(&group[a], &group[b]), cmp.Compare(a, b)) })
	for i := 1; i < len(order); i++ {
		if row, last := &group[order[i]], &group[order[i-1]]; row.sameFill(last) {
			if last.repeat == math.MaxInt16 {
				return false
			}
			row.repeat = last.repeat + 1
		}
	}
	return true
}

// compareRows brings equal fills together, in the order in which they are numbered: see the statements NumberRepeats
// and UnknownOrder.
func compareRows(a, b *plainRow) int {
	last := func(r *plainRow) int64 {
		if r.log == data.NoIndex {
			return 1 << 32
		}
		return int64(r.log)
	}
	role := func(r *plainRow) int { return [...]int{1, 0, 2}[r.role] }
	negative := func(r *plainRow) int { return -int(uint64(r.fee) >> 63) }
	return cmp.Or(slices.Compare(a.tx[:], b.tx[:]), cmp.Compare(a.ts, b.ts), cmp.Compare(a.wallet, b.wallet), cmp.Compare(a.token, b.token), cmp.Compare(a.side, b.side),
		cmp.Compare(a.shares, b.shares), cmp.Compare(a.usd, b.usd),
		cmp.Compare(last(a), last(b)), cmp.Compare(role(a), role(b)), cmp.Compare(negative(a), negative(b)), -cmp.Compare(max(a.fee, -a.fee), max(b.fee, -b.fee)),
		cmp.Compare(a.row, b.row))
}

// keySet has keys, each with the round in which it was added, which is its mark.
type keySet struct{ hashTable }

// add adds a key, and reports whether it is new or was added in the same round.
func (s *keySet) add(key uint64, round uint32) bool {
	slot := s.hashTable.add(data.Mix(key)) // a bijection
	if slot.mark == 0 {
		slot.mark = round
	}
	return slot.mark == round
}
