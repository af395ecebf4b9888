package ingest

import (
	"encoding/binary"
	"errors"
	"reflect"
	"slices"
	"unsafe"

	"pmx/data"
	"pmx/data/feeds/spill"
)

// markets gathers the markets of one file, one per condition: the records of each are
// put together in the order of the file. Up to a number of bytes the markets are kept in
// memory. Beyond it they, and every record that follows, go to a spill, which gives them
// back market by market.
type markets struct {
	index  map[data.Hash]int
	list   []gathered
	bytes  int // of the list, about
	budget int
	seen   int64 // records so far

	dir     string
	spilled *spill.Sorter // by condition; nil as long as the list is all
	lost    *spill.Sorter // words that gave way to another of equal source and version, by the record that showed it
	buffer  []byte
}

// gathered is what a file says of one market so far, or a record that was put aside.
type gathered struct {
	Market      data.Market
	Line        int64 // of the record whose payouts stand, of a market without any of its first
	Contradicts bool  // the file says two things of its payouts
	Record      int64 // which of the file it is, from 1
	// Others are the best payouts of each other length than those that stand: what fits the
	// outcomes is seen when these are known.
	Others []*data.Resolution
}

// lostResolution is a word of a file that gave way to another word of it.
type lostResolution struct {
	Line       int64
	First      bool // of its market
	Resolution data.Resolution
}

// newMarkets gathers in memory what has up to budget bytes, 0 for spill.Budget, and puts
// the rest into files below dir.
func newMarkets(dir string, budget int) *markets {
	m := &markets{index: map[data.Hash]int{}, dir: dir, budget: budget, lost: spill.New(dir, budget)}
	if m.budget == 0 {
		m.budget = spill.Budget
	}
	return m
}

func (m *markets) close() error {
	err := m.lost.Close()
	if m.spilled != nil {
		err = errors.Join(err, m.spilled.Close())
	}
	return err
}

// add takes the next record of the file.
func (m *markets) add(line int64, next data.Market) error {
	m.seen++
	record := gathered{Market: next, Line: line, Record: m.seen}
	if m.spilled != nil {
		return m.spillRecord(&record)
	}
	i, seen := m.index[next.Condition]
	if !seen {
		m.index[next.Condition] = len(m.list)
		m.list = append(m.list, record)
		m.bytes += marketBytes(&next) + bytesPerMarket
	} else {
		before := marketBytes(&m.list[i].Market)
		if err := m.fold(&m.list[i], &record); err != nil {
			return err
		}
		m.bytes += marketBytes(&m.list[i].Market) - before
	}
	if m.bytes <= m.budget {
		return nil
	}
	return m.spill()
}

// spill puts all that was gathered aside.
func (m *markets) spill() error {
	m.spilled = spill.New(m.dir, m.budget)
	for i := range m.list {
		if err := m.spillRecord(&m.list[i]); err != nil {
			return err
		}
		m.list[i] = gathered{} // let go of its texts
	}
	m.index, m.list, m.bytes = nil, nil, 0
	return nil
}

func (m *markets) spillRecord(g *gathered) error {
	m.buffer = encode(m.buffer[:0], reflect.ValueOf(g).Elem())
	return m.spilled.Add(g.Market.Condition[:], m.buffer)
}

// fold puts the next record of a market into what was gathered of it. A word that gives
// way to another of equal source and version is kept apart, and a file that says two
// things of a market has no word that could correct anything.
func (m *markets) fold(g, next *gathered) error {
	old := g.Market.Resolution
	g.Market = mergeMarket(g.Market, next.Market)
	g.byLength(old, next)
	switch {
	case next.Market.Resolution == nil:
		return nil
	case old == nil:
		g.Line = next.Line
		return nil
	}
	lost, found := g.addResolution(next.Line, old, next.Market.Resolution)
	if !found {
		return nil
	}
	lost.First = !g.Contradicts
	g.Contradicts = true
	m.buffer = encode(m.buffer[:0], reflect.ValueOf(&lost).Elem())
	return m.lost.Add(binary.BigEndian.AppendUint64(nil, uint64(next.Record)), m.buffer)
}

// byLength puts what was said of payouts of each length together by itself.
func (g *gathered) byLength(old *data.Resolution, next *gathered) {
	said := next.Market.Resolution
	if len(g.Others)+len(next.Others) == 0 && (old == nil || said == nil || len(old.Payouts) == len(said.Payouts)) {
		return
	}
	var best []*data.Resolution
	for _, r := range slices.Concat(g.Others, next.Others, []*data.Resolution{old, said}) {
		if r == nil {
			continue
		}
		if i := slices.IndexFunc(best, func(b *data.Resolution) bool { return len(b.Payouts) == len(r.Payouts) }); i >= 0 {
			best[i] = betterResolution(best[i], r)
		} else {
			best = append(best, r)
		}
	}
	slices.SortFunc(best, func(a, b *data.Resolution) int { return compareResolutions(b, a) })
	g.Market.Resolution, g.Others = best[0], best[1:]
}

// each gives every market once.
func (m *markets) each(f func(*gathered) error) error {
	if m.spilled != nil {
		return m.eachSpilled(f)
	}
	for i := range m.list {
		if err := f(&m.list[i]); err != nil {
			return err
		}
	}
	return nil
}

// eachSpilled puts the records of one market after another together.
func (m *markets) eachSpilled(f func(*gathered) error) error {
	var g *gathered
	err := m.spilled.Each(func(_, value []byte) error {
		next := &gathered{}
		if err := decode(value, next); err != nil {
			return err
		}
		if g != nil && g.Market.Condition == next.Market.Condition {
			return m.fold(g, next)
		}
		done := g
		g = next
		if done == nil {
			return nil
		}
		return f(done)
	})
	if err != nil || g == nil {
		return err
	}
	return f(g)
}

// eachLost gives the words that gave way, in the order of the file; each must have been
// called before.
func (m *markets) eachLost(f func(lostResolution) error) error {
	return m.lost.Each(func(_, value []byte) error {
		var lost lostResolution
		if err := decode(value, &lost); err != nil {
			return err
		}
		return f(lost)
	})
}

// bytesPerMarket is what a market takes in the list and its index besides what marketBytes counts.
const bytesPerMarket = int(2*unsafe.Sizeof(gathered{})) + 64

// marketBytes is about how many bytes the texts and lists of a market take.
func marketBytes(m *data.Market) int {
	n := 0
	for _, s := range []string{m.GammaID, m.QuestionID, m.Question, m.Slug, m.Description, m.ResolutionSource,
		m.GroupItemTitle, m.GroupItemThreshold, m.Icon, m.EventID, m.EventSlug, m.EventTitle, m.SeriesSlug, m.NegRiskMarketID,
		m.Category, m.CategorySource} {
		n += len(s)
	}
	for _, list := range [][]string{m.Tags, m.Outcomes, m.TokenIDs} {
		for _, s := range list {
			n += len(s) + int(unsafe.Sizeof(s))
		}
	}
	n += 8 * (len(m.Prices) + len(m.Versions))
	for _, t := range m.Mapped {
		n += len(t.TokenID) + len(t.Label) + int(unsafe.Sizeof(t))
	}
	if m.Resolution != nil {
		n += int(unsafe.Sizeof(*m.Resolution)) + 8*len(m.Resolution.Payouts)
	}
	return n
}
