package rollups

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"strconv"
	"unsafe"

	"pmx/data"
	"pmx/engine"
	"pmx/engine/guard"
)

// A rebuild sums up positions and candles here, and not by their definitions: both have a row for some two facts, so DuckDB
// groups nearly as many rows as there are facts, in tables of hashes that fit into no cache, and then sorts them. Here facts are gathered
// in stretches of few tokens, each of which is sorted within a cache, and the rows come out in the order of the bases. The
// definitions make what pmx verify compares with, and the rows of stretches with more facts than memory allows.

// stretchTokens is how many ids of tokens a stretch has. The base of positions is in such stretches.
const stretchTokens = 256

// stretchFill is a row of StretchFills.
type stretchFill struct {
	TS     int64         `sql:"ts"`
	Shares data.Micro    `sql:"shares"`
	USD    data.Micro    `sql:"usd"`
	Fee    data.Micro    `sql:"fee"`
	Wallet data.WalletID `sql:"wallet"`
	Token  data.TokenID  `sql:"token"`
	Log    int32         `sql:"log_index"`
	Side   data.Side     `sql:"side"`
	Role   data.Role     `sql:"role"`
}

// stretch is a row of TokenStretches.
type stretch struct {
	Number int64 `sql:"stretch"`
	Fills  int64 `sql:"fills"`
}

// stretchGroup are consecutive stretches that are read at once.
type stretchGroup struct {
	keyRange // of their tokens
	list     []stretch
	fills    int64
}

// groupStretches divides stretches into groups of at most so many facts. A stretch of more than alone facts has a group to itself.
func groupStretches(all []stretch, most, alone int64) (groups []stretchGroup) {
	open := false // the last group takes more stretches
	for _, s := range all {
		if n := len(groups); !open || s.Fills > alone || groups[n-1].fills+s.Fills > most {
			groups = append(groups, stretchGroup{keyRange: keyRange{lo: s.Number * stretchTokens}})
		}
		last := &groups[len(groups)-1]
		last.list, last.fills, last.hi = append(last.list, s), last.fills+s.Fills, (s.Number+1)*stretchTokens-1
		open = s.Fills <= alone
	}
	return groups
}

// Bytes of memory for a fact that is read, and beside it for one of the longest stretch: two keys, a position, a candle and their classes, twice, because
// one stretch is summed up while another is appended.
const (
	stretchFillBytes = int64(unsafe.Sizeof(stretchFill{}))
	summedFillBytes  = 2 * int64(2*unsafe.Sizeof(uint64(0))+unsafe.Sizeof(positionRow{})+unsafe.Sizeof(stretchCandle{})+2)
)

// stretchSorter makes the rollups. It lives for one rebuild.
type stretchSorter struct {
	*rebuilder
	db       *engine.DB
	borrowed *engine.BorrowedMemory
	most     int64    // facts at once, for tests; 0: as many as memory allows
	alone    int64    // a stretch with more facts is left to the definitions
	cutter   *chunker // cuts such a stretch

	fills []stretchFill  // of a group, stretch by stretch
	rows  [2]stretchRows // of the stretch that is being appended, and of the next one
	made  bool           // both rollups are made

	factsMade bool // ofFacts are made
}

// rebuild makes positions, and with them candles and ofFacts. false: it makes no such rollup, or memory is too short for it now. After an error
// what is borrowed has to be given back.
func (s *stretchSorter) rebuild(t table) (done bool, err error) {
	switch t.name {
	case "position":
	case "candle":
		return s.made, nil
	default:
		return s.factsMade && ofFacts[t.name], nil
	}
	rest := s.db.MemoryLimit() / 2
	if rest < leastBeside {
		return false, nil
	}
	if s.borrowed, err = s.db.BorrowMemory(s.ctx, s.conn, rest); s.borrowed == nil || err != nil {
		return false, err
	}
	if err := s.beside(func() error { return s.rebuildIn(s.borrowed.Bytes, t, candleTable()) }); err != nil {
		return false, err
	}
	s.made = true
	return true, s.borrowed.GiveBack(s.ctx, s.conn)
}

// leastBeside is what DuckDB needs while it reads the facts and appends rows, in bytes.
const leastBeside = 192_000_000

func (s *stretchSorter) rebuildIn(bytes int64, tables ...table) error {
	var all []stretch
	err := engine.EachRow(s.ctx, s.conn, statements.Get("TokenStretches", "@tokens", strconv.Itoa(stretchTokens)), func(x *stretch) error {
		all = append(all, *x)
		return nil
	})
	if err != nil {
		return fmt.Errorf("TokenStretches: %w", err)
	}
	if s.cutter, err = newChunker(s.ctx, s.conn, s.most); err != nil { // by the lower limit
		return err
	}
	most := bytes / 2 / stretchFillBytes
	s.alone = min(bytes/4/summedFillBytes, 1<<placeBits)
	if s.most > 0 {
		most, s.alone = s.most, s.most
	}
	groups := groupStretches(all, most, s.alone)
	free, err := s.allocate(groups)
	if err != nil {
		return err
	}
	defer free()
	return engine.InTx(s.ctx, s.conn, func() error {
		for _, t := range tables {
			if err := t.makeNew(s.ctx, s.conn); err != nil {
				return err
			}
		}
		for i := range groups {
			if err := s.add(&groups[i], tables); err != nil {
				return err
			}
		}
		return nil
	})
}

// tooLong reports whether a group is one stretch that is left to the definitions.
func (s *stretchSorter) tooLong(g *stretchGroup) bool { return len(g.list) == 1 && g.fills > s.alone }

// allocate gets memory for the largest group and the longest stretch.
func (s *stretchSorter) allocate(groups []stretchGroup) (free func(), err error) {
	var fills, longest int64
	for i := range groups {
		if g := &groups[i]; !s.tooLong(g) {
			fills = max(fills, g.fills)
			for _, x := range g.list {
				longest = max(longest, x.Fills)
			}
		}
	}
	var frees []func()
	free = func() {
		for _, f := range frees {
			f()
		}
	}
	s.fills, err = unmanaged[stretchFill](fills, &frees, err)
	for i := range s.rows {
		if err == nil {
			s.rows[i], err = allocateRows(longest, &frees)
		}
	}
	if err != nil {
		free()
	}
	return free, err
}

// unmanaged is engine.Unmanaged after one without an error.
func unmanaged[T any](n int64, frees *[]func(), before error) ([]T, error) {
	if before != nil {
		return nil, before
	}
	values, free, err := engine.Unmanaged[T](int(n))
	if err == nil {
		*frees = append(*frees, free)
	}
	return values, err
}

// add makes the rows of a group.
func (s *stretchSorter) add(g *stretchGroup, tables []table) error {
	if s.tooLong(g) {
		return s.define(g, tables)
	}
	if err := s.read(g); err != nil {
		return fmt.Errorf("StretchFills: %w", err)
	}
	return s.conn.Raw(func(dc any) error { return s.append(dc, g, tables) })
}

// errOverflow is returned for sums that do not fit.
var errOverflow = errors.New("a sum is out of range of 64 bits")

// define makes the rows of a group by their definitions.
func (s *stretchSorter) define(g *stretchGroup, tables []table) error {
	for _, t := range tables {
		ranges, err := s.cutter.rangesBySource(t.by, s.suffix)
		if err != nil {
			return err
		}
		for _, r := range ranges {
			r = keyRange{max(r.lo, g.lo), min(r.hi, g.hi)}
			if r.lo > r.hi {
				continue
			}
			if err := t.newBase().fill(s.ctx, s.conn, s.chunk(t, r).query); err != nil {
				return err
			}
		}
	}
	return nil
}

// read reads the facts of a group.
func (s *stretchSorter) read(g *stretchGroup) error {
	first := g.list[0].Number
	places := make([]struct{ next, end int64 }, g.list[len(g.list)-1].Number-first+1)
	at := int64(0)
	for _, x := range g.list {
		p := &places[x.Number-first]
		p.next, p.end = at, at+x.Fills
		at = p.end
	}
	read := int64(0)
	err := engine.StreamRows(s.ctx, s.conn, statements.Get("StretchFills", "@among", g.of("token")), func(f *stretchFill) error {
		if f.Token < 0 || f.Wallet < 0 || f.TS < 0 || f.TS >= hourLength<<secondBits || f.Side < data.Buy || f.Side > data.Sell {
			return fmt.Errorf("a fact is out of range: %+v", *f)
		}
		p := &places[int64(f.Token)/stretchTokens-first]
		if p.next == p.end {
			return errOtherFacts
		}
		s.fills[p.next] = *f
		p.next++
		read++
		return nil
	})
	if err == nil && read != g.fills {
		err = errOtherFacts
	}
	return err
}

// errOtherFacts cannot happen within a transaction.
var errOtherFacts = errors.New("there are not the facts that were counted")

// append appends the rows of a group. A goroutine sums up the next stretch meanwhile, on the other processor.
func (s *stretchSorter) append(dc any, g *stretchGroup, tables []table) (err error) {
	to := make([]*engine.ChunkAppender, len(tables))
	for i, t := range tables {
		if to[i], err = engine.TableChunkAppender(dc, t.newBase().name); err != nil {
			return err
		}
		defer func() { err = errors.Join(err, to[i].Close()) }()
	}
	free, summed := make(chan *stretchRows, len(s.rows)), make(chan *stretchRows, len(s.rows))
	for i := range s.rows {
		free <- &s.rows[i]
	}
	ctx, stop := context.WithCancel(s.ctx)
	done := guard.Start(func() error {
		defer close(summed)
		return s.sumEach(ctx, g, free, summed)
	})
	defer func() { // whatever happened here: nobody uses the memory any more
		stop()
		err = cmp.Or(err, guard.Repanic(<-done))
	}()
	for rows := range summed {
		if err := rows.append(to[0], to[1]); err != nil {
			return err
		}
		free <- rows
	}
	return nil
}

// sumEach sums up each stretch of a group in rows that are free, and passes them on, until ctx ends.
func (s *stretchSorter) sumEach(ctx context.Context, g *stretchGroup, free <-chan *stretchRows, summed chan<- *stretchRows) error {
	at := int64(0)
	for _, x := range g.list {
		var rows *stretchRows
		select {
		case rows = <-free:
		case <-ctx.Done():
		}
		if err := ctx.Err(); err != nil {
			return err
		}
		rows.sum(s.fills[at : at+x.Fills])
		at += x.Fills
		if rows.overflowed {
			return errOverflow
		}
		summed <- rows
	}
	return nil
}
