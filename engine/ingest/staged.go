package ingest

import (
	"bytes"
	"cmp"
	"encoding/binary"
	"hash/maphash"
	"slices"
	"strings"

	"pmx/data"
)

// Bounds of staged fills, the same as in the statement Reason: a test compares the two at each
// bound.
const (
	firstTime  = 1_577_836_800_000_000 // 2020-01-01, unix µs
	mostAmount = 1_000_000_000_000_000
	dayLength  = 86_400_000_000
)

// stagedFills has properties of the fills of a feed that is read in Go, so that statements about
// the rows just staged are not needed. It exists for few rows, or for many in order of their logs,
// that are all usable, have their time and name their token. For others statements have to be run,
// and there is no stagedFills. It is dropped when a statement changes the rows.
type stagedFills struct {
	latest            int64 // no fill is after this, unix µs
	rows, blocks      int64 // fills, and those with their block
	conditions, names bool  // some fill has one
	indexed           int64 // fills that are identified by their log
	oneLog, equal     bool  // some fills have the same log; may be equal except for role, fee and log
	minTS, maxTS      int64
	bought, sold      int64
	days              map[int64]bool
	day               int64        // the last of them, if there are many
	byLog             *loggedFills // distinguishes the logs of many; nil for few, which have the rest
	wallets           firstRows[data.Address]
	tokens            firstRows[string]
	logs              map[stagedLog]bool
	unhashed          bool            // some fill has no transaction
	hashes            map[uint64]bool // of transactions: see transactionKey
	seed              maphash.Seed
	fills             map[uint64]bool // fingerprints of fills; set if another one has the same
}

// firstRows has keys with the first row of each.
type firstRows[K comparable] struct {
	rows    map[K]int64
	keys    []K   // in order of appearance
	last    int64 // row
	ordered bool  // rows came in ascending order, and none twice with different keys: keys are in the order of byFirstRow
}

type stagedLog struct {
	tx    data.Hash
	index int32
}

// stagedFill has the values that are equal for two fills that repeat each other.
type stagedFill struct {
	tx          data.Hash
	ts          int64
	wallet      data.Address
	token       string
	side        data.Side
	shares, usd data.Micro
}

func newStagedFills(latest int64) *stagedFills {
	return &stagedFills{latest: latest, days: map[int64]bool{}, wallets: newFirstRows[data.Address](), tokens: newFirstRows[string](),
		logs: map[stagedLog]bool{}, hashes: map[uint64]bool{}, seed: maphash.MakeSeed(), fills: map[uint64]bool{}}
}

// newManyStagedFills is newStagedFills for any number of rows in order of their logs.
func newManyStagedFills(latest int64) *stagedFills {
	return &stagedFills{latest: latest, days: map[int64]bool{}, byLog: &loggedFills{seen: map[uint64]bool{}}}
}

// add adds a fill, and returns nil if statements have to be run.
func (s *stagedFills) add(row int64, f *data.Fill) *stagedFills {
	if s == nil || !s.takes(f) || s.byLog == nil && s.rows == fewRows || s.byLog != nil && !s.byLog.add(f) {
		return nil
	}
	if f.Block > 0 {
		s.blocks++
	}
	s.conditions = s.conditions || !f.Condition.IsZero() && f.Outcome != data.NoIndex
	s.names = s.names || f.Name != ""
	if s.rows == 0 || f.TS < s.minTS {
		s.minTS = f.TS
	}
	s.rows, s.maxTS = s.rows+1, max(s.maxTS, f.TS)
	if f.Side == data.Buy {
		s.bought += int64(f.USD)
	} else {
		s.sold += int64(f.USD)
	}
	if s.byLog != nil {
		s.noteMany(f)
		return s
	}
	s.days[f.TS/dayLength] = true
	s.wallets.note(f.Wallet, row)
	s.tokens.note(f.TokenID, row)
	if f.LogIndex != data.NoIndex && !f.Tx.IsZero() {
		s.indexed++
		s.oneLog = addKey(s.logs, stagedLog{f.Tx, f.LogIndex}) || s.oneLog
	}
	s.unhashed = s.unhashed || f.Tx.IsZero()
	s.hashes[transactionKey(&f.Tx)] = true
	print := s.fingerprint(f)
	_, known := s.fills[print]
	s.fills[print], s.equal = known, s.equal || known
	return s
}

// fingerprint is the same for fills that are equal except for role, fee and log, and practically never for others.
func (s *stagedFills) fingerprint(f *data.Fill) uint64 {
	return maphash.Comparable(s.seed, stagedFill{f.Tx, f.TS, f.Wallet, f.TokenID, f.Side, f.Shares, f.USD})
}

// noteMany adds a fill if there are many.
func (s *stagedFills) noteMany(f *data.Fill) {
	if day := f.TS / dayLength; s.rows == 1 || day != s.day {
		s.day, s.days[day] = day, true
	}
	s.indexed, s.equal = s.rows, len(s.byLog.repeats) > 0
}

// takes reports whether a fill is usable. It may be stricter than the statement Reason, which then
// decides.
func (s *stagedFills) takes(f *data.Fill) bool {
	return isUsable(f.TS, s.latest, f.Side, f.Shares, f.USD, f.Fee) && !strings.HasPrefix(f.TokenID, "c:") && !strings.HasPrefix(f.TokenID, "g:")
}

// isUsable reports whether the values of a fill are within the bounds, and not after latest.
func isUsable(ts, latest int64, side data.Side, shares, usd, fee data.Micro) bool {
	within := func(m data.Micro) bool { return m >= 0 && m <= mostAmount }
	return ts >= firstTime && ts <= latest && within(shares) && within(usd) &&
		(side == data.Buy && within(max(fee, -fee)) || side == data.Sell && within(fee))
}

func newFirstRows[K comparable]() firstRows[K] {
	return firstRows[K]{rows: map[K]int64{}, ordered: true}
}

// note keeps the smallest row of a key.
func (f *firstRows[K]) note(key K, row int64) {
	was, known := f.rows[key]
	if !known {
		f.ordered = f.ordered && (len(f.keys) == 0 || row > f.last)
		f.keys, f.last = append(f.keys, key), row
	}
	if f.ordered = f.ordered && row >= f.last; !known || row < was {
		f.rows[key] = row
	}
}

// addKey adds a key, and reports whether it was there before.
func addKey[K comparable](all map[K]bool, key K) (known bool) {
	known = all[key]
	all[key] = true
	return known
}

// byFirstRow returns the keys in the order in which new ones get their ids: by the first row of each,
// and for equal rows by key.
func (f *firstRows[K]) byFirstRow(compare func(a, b K) int) []K {
	if !f.ordered {
		slices.SortFunc(f.keys, func(a, b K) int { return cmp.Or(cmp.Compare(f.rows[a], f.rows[b]), compare(a, b)) })
		f.ordered = true
	}
	return f.keys
}

// addresses returns the wallets like the statement StagedWallets.
func (s *stagedFills) addresses() []data.Address {
	return s.wallets.byFirstRow(func(a, b data.Address) int { return bytes.Compare(a[:], b[:]) })
}

// tokenIDs returns the tokens like the statement StagedTokens.
func (s *stagedFills) tokenIDs() []string { return s.tokens.byFirstRow(strings.Compare) }

// dayRanges is the statement DayRanges.
func (s *stagedFills) dayRanges() (ranges [][2]int64) {
	for _, day := range s.touchedDays() {
		if last := len(ranges) - 1; last >= 0 && ranges[last][1] == day*dayLength {
			ranges[last][1] += dayLength
		} else {
			ranges = append(ranges, [2]int64{day * dayLength, (day + 1) * dayLength})
		}
	}
	return ranges
}

// loggedFills finds fills that are equal except for their log. Fills come transaction by
// transaction, and within each in order of their logs, so no two have the same log.
type loggedFills struct {
	seen    map[uint64]bool // transactions by their first bytes; two with the same first bytes count as one
	tx      data.Hash
	fills   []loggedFill // fills of this transaction so far
	repeats []loggedRepeat
}

type loggedFill struct {
	stagedFill
	index int32
}

// loggedRepeat is the number of equal fills so far including this one, as in NumberRepeats.
type loggedRepeat struct {
	tx     data.Hash
	index  int32
	repeat int16
}

// mostOfTransaction is the maximum number of fills of a transaction that are compared with each
// other.
const mostOfTransaction = 256

// add adds a fill, and reports whether it is in order of its log.
func (l *loggedFills) add(f *data.Fill) bool {
	if f.Tx.IsZero() || f.LogIndex == data.NoIndex {
		return false
	}
	if f.Tx != l.tx {
		if addKey(l.seen, binary.BigEndian.Uint64(f.Tx[:])) {
			return false
		}
		l.tx, l.fills = f.Tx, l.fills[:0]
	}
	n := len(l.fills)
	if n == mostOfTransaction || n > 0 && f.LogIndex <= l.fills[n-1].index {
		return false
	}
	next, repeat := loggedFill{stagedFill{f.Tx, f.TS, f.Wallet, f.TokenID, f.Side, f.Shares, f.USD}, f.LogIndex}, int16(1)
	for i := range l.fills {
		if l.fills[i].stagedFill == next.stagedFill {
			repeat++
		}
	}
	if repeat > 1 {
		l.repeats = append(l.repeats, loggedRepeat{f.Tx, f.LogIndex, repeat})
	}
	l.fills = append(l.fills, next)
	return true
}
