package ingest

import (
	"bytes"
	"cmp"
	"encoding/binary"
	"maps"
	"slices"
	"strings"

	"pmx/data"
)

// Fills that are staged are within these bounds, as statement Reason has them: a test holds one to
// the other at each bound.
const (
	firstTime  = 1_577_836_800_000_000 // 2020-01-01, unix µs
	mostAmount = 1_000_000_000_000_000
	dayLength  = 86_400_000_000
)

// stagedFills is what a feed that is read row by row tells of its fills, so that the database
// need not be asked about rows which it was given a moment before. It is kept of few rows, or of
// many that come by their logs, all of which are usable as they are, say their time and name their
// token: of others the statements must be run, and there is no stagedFills. None stays once a
// statement has changed the rows.
type stagedFills struct {
	latest            int64 // no fill lies after this, unix µs
	rows, blocks      int64 // fills, and those that name their block
	conditions, names bool  // some fill has one
	indexed           int64 // fills that are told apart by their log
	oneLog, equal     bool  // some fills are of one log; are equal but for role, fee and log
	minTS, maxTS      int64
	bought, sold      int64
	days              map[int64]bool
	day               int64                  // the last one of them that was noted of many
	byLog             *loggedFills           // what tells the logs of many apart; nil of few, which have the rest
	wallets           map[data.Address]int64 // by the first row of each
	tokens            map[string]int64
	logs              map[stagedLog]bool
	fills             map[stagedFill]bool
}

type stagedLog struct {
	tx    data.Hash
	index int32
}

// stagedFill is what two fills have in common that are repeats of each other.
type stagedFill struct {
	tx          data.Hash
	ts          int64
	wallet      data.Address
	token       string
	side        data.Side
	shares, usd data.Micro
}

func newStagedFills(latest int64) *stagedFills {
	return &stagedFills{latest: latest, days: map[int64]bool{}, wallets: map[data.Address]int64{}, tokens: map[string]int64{},
		logs: map[stagedLog]bool{}, fills: map[stagedFill]bool{}}
}

// newManyStagedFills is newStagedFills of any number of rows that come by their logs.
func newManyStagedFills(latest int64) *stagedFills {
	return &stagedFills{latest: latest, days: map[int64]bool{}, byLog: &loggedFills{seen: map[uint64]bool{}}}
}

// add takes a fill in, and returns nil where statements must be run.
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
	noteRow(s.wallets, f.Wallet, row)
	noteRow(s.tokens, f.TokenID, row)
	if f.LogIndex != data.NoIndex && !f.Tx.IsZero() {
		s.indexed++
		s.oneLog = addKey(s.logs, stagedLog{f.Tx, f.LogIndex}) || s.oneLog
	}
	s.equal = addKey(s.fills, stagedFill{f.Tx, f.TS, f.Wallet, f.TokenID, f.Side, f.Shares, f.USD}) || s.equal
	return s
}

// noteMany notes what is known of many.
func (s *stagedFills) noteMany(f *data.Fill) {
	if day := f.TS / dayLength; s.rows == 1 || day != s.day {
		s.day, s.days[day] = day, true
	}
	s.indexed, s.equal = s.rows, len(s.byLog.repeats) > 0
}

// takes reports whether a fill is usable as it is. It may be stricter than statement Reason, which
// then decides.
func (s *stagedFills) takes(f *data.Fill) bool {
	within := func(m data.Micro) bool { return m >= 0 && m <= mostAmount }
	return f.TS >= firstTime && f.TS <= s.latest && within(f.Shares) && within(f.USD) &&
		(f.Side == data.Buy && within(max(f.Fee, -f.Fee)) || f.Side == data.Sell && within(f.Fee)) &&
		!strings.HasPrefix(f.TokenID, "c:") && !strings.HasPrefix(f.TokenID, "g:")
}

// noteRow notes the smallest row of a key.
func noteRow[K comparable](rows map[K]int64, key K, row int64) {
	if was, known := rows[key]; !known || row < was {
		rows[key] = row
	}
}

// addKey adds a key, and reports whether it was there.
func addKey[K comparable](all map[K]bool, key K) (known bool) {
	known = all[key]
	all[key] = true
	return known
}

// byFirstRow returns keys in the order in which new ones get their ids: by the first row of each,
// and of equal ones by the keys.
func byFirstRow[K comparable](rows map[K]int64, compare func(a, b K) int) []K {
	return slices.SortedFunc(maps.Keys(rows), func(a, b K) int { return cmp.Or(cmp.Compare(rows[a], rows[b]), compare(a, b)) })
}

// addresses are the wallets as statement StagedWallets gives them.
func (s *stagedFills) addresses() []data.Address {
	return byFirstRow(s.wallets, func(a, b data.Address) int { return bytes.Compare(a[:], b[:]) })
}

// tokenIDs are the tokens as statement StagedTokens gives them.
func (s *stagedFills) tokenIDs() []string { return byFirstRow(s.tokens, strings.Compare) }

// dayRanges is statement DayRanges.
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

// loggedFills tells fills of many that are equal except for their log. They come transaction by
// transaction, and those of each in the order of their logs: no two are of one log.
type loggedFills struct {
	seen    map[uint64]bool // transactions, by their first bytes: two that share these are taken for one
	tx      data.Hash
	fills   []loggedFill // of this transaction so far
	repeats []loggedRepeat
}

type loggedFill struct {
	stagedFill
	index int32
}

// loggedRepeat is how often an equal fill came before, and once more: as NumberRepeats has it.
type loggedRepeat struct {
	tx     data.Hash
	index  int32
	repeat int16
}

// mostOfTransaction is how many fills of one transaction are compared with each other.
const mostOfTransaction = 256

// add reports whether a fill comes by its log.
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
