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

// markets collects the markets of a file, one per condition; the records of a market are merged in
// the order of the file. Up to a limit, markets are kept in memory. Beyond it they, and all records
// that follow, go to a spill, which returns them market by market.
type markets struct {
	index  map[data.Hash]int
	list   []gathered
	bytes  int // approximate size of the list
	budget int
	seen   int64 // records so far

	dir     string
	spilled *spill.Sorter // by condition; nil while all are in the list
	lost    *spill.Sorter // resolutions that lost against another with equal source and version, by the record that showed it
	buffer  []byte
}

// gathered is the merged record of a market so far, or a spilled record.
type gathered struct {
	Market      data.Market
	Line        int64 // of the record whose payouts are used; of the first record if none has any
	Contradicts bool  // the file has contradicting payouts
	Record      int64 // number of the record in the file, from 1
	// Others are the best payouts of other lengths than the used ones: which fit is decided when
	// the outcomes are known.
	Others []*data.Resolution
}

// lostResolution is a resolution of a file that lost against another one of the file.
type lostResolution struct {
	Line       int64
	First      bool // condition of its market
	Resolution data.Resolution
}

// newMarkets returns an empty markets that keeps up to budget bytes in memory, 0 for spill.Budget,
// and writes the rest to files in dir.
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

// add adds the next record of the file.
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

// spill moves all markets to the spill.
func (m *markets) spill() error {
	m.spilled = spill.New(m.dir, m.budget)
	for i := range m.list {
		if err := m.spillRecord(&m.list[i]); err != nil {
			return err
		}
		m.list[i] = gathered{} // free its texts
	}
	m.index, m.list, m.bytes = nil, nil, 0
	return nil
}

func (m *markets) spillRecord(g *gathered) error {
	m.buffer = encode(m.buffer[:0], reflect.ValueOf(g).Elem())
	return m.spilled.Add(g.Market.Condition[:], m.buffer)
}

// fold merges the next record of a market into g. A resolution that loses against another with
// equal source and version is stored separately; a file with contradicting resolutions of a market
// cannot correct anything.
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

// byLength merges payouts separately for each length.
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

// each calls f with every market once.
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

// eachSpilled merges the spilled records, market by market.
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

// eachLost calls f with the resolutions that lost, in the order of the file. It must be called
// after each.
func (m *markets) eachLost(f func(lostResolution) error) error {
	return m.lost.Each(func(_, value []byte) error {
		var lost lostResolution
		if err := decode(value, &lost); err != nil {
			return err
		}
		return f(lost)
	})
}

// bytesPerMarket is the size of a market in the list and its index, without what marketBytes
// counts.
const bytesPerMarket = int(2*unsafe.Sizeof(gathered{})) + 64

// marketBytes is the approximate size of the texts and lists of a market.
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
