// Package ledger records which ranges of blocks are in the facts. A range is committed in the
// transaction of its rows, so blocks that no range covers are missing, and no gap goes unnoticed.
package ledger

import (
	"bytes"
	"context"
	"database/sql"
	"embed"
	"errors"
	"fmt"
	"math"
	"time"

	"pmx/data"
	"pmx/engine/statement"
)

//go:embed sql/*.sql
var sqlFiles embed.FS

var statements = statement.MustLoad(sqlFiles)

// Filter says what a range was fetched with: one version of a source's filter of logs. Ranges of
// different filters are independent.
type Filter struct {
	Source  string
	Version int
}

// Range is a range of blocks whose logs are in the facts, both ends included.
type Range struct {
	From, To  int64
	Parent    data.Hash // hash of the block before From; zero: not known
	End       data.Hash // of To
	EndTime   int64     // of To, unix seconds
	Logs      int64
	Fills     int64
	Digest    uint64 // of its logs; the digest of two ranges together is the sum of theirs
	Provider  string // the one that answered, the last of several
	FetchedAt time.Time
}

// ErrOverlap is returned for a range some of which is committed already.
var ErrOverlap = errors.New("the range overlaps one that is committed")

// ErrFork is returned for a range whose hashes do not match a committed one next to it: one of the
// two is not on the chain.
var ErrFork = errors.New("the range and the one next to it are from different chains")

// Commit adds a range, within the transaction that conn is in. It is merged with its neighbours if
// their hashes link up.
func Commit(ctx context.Context, conn *sql.Conn, f Filter, r Range) error {
	if r.From < 0 || r.To < r.From || r.End.IsZero() {
		return fmt.Errorf("range %d–%d is empty, or its end is not known", r.From, r.To)
	}
	near, err := load(ctx, conn, f, r.From-1, r.To+1)
	if err != nil {
		return err
	}
	whole := r
	low, high := r.From, r.To // the rows that the new one replaces
	for _, n := range near {
		switch {
		case n.To >= r.From && n.From <= r.To:
			return fmt.Errorf("%w: %d–%d and %d–%d", ErrOverlap, r.From, r.To, n.From, n.To)
		case n.To == r.From-1 && !r.Parent.IsZero():
			if n.End != r.Parent {
				return fmt.Errorf("%w: block %d", ErrFork, n.To)
			}
			whole, low = n.join(whole), n.From
		case n.From == r.To+1 && !n.Parent.IsZero():
			if n.Parent != r.End {
				return fmt.Errorf("%w: block %d", ErrFork, r.To)
			}
			whole, high = whole.join(n), n.To
		}
	}
	if low != r.From || high != r.To {
		if _, err := conn.ExecContext(ctx, statements.Get("DropRanges"), f.Source, f.Version, low, high); err != nil {
			return err
		}
	}
	var parent any
	if !whole.Parent.IsZero() {
		parent = bytes.Clone(whole.Parent[:]) // the driver cannot bind part of a struct
	}
	_, err = conn.ExecContext(ctx, statements.Get("AddRange"), f.Source, f.Version, whole.From, whole.To, parent, bytes.Clone(whole.End[:]), whole.EndTime,
		whole.Logs, whole.Fills, int64(whole.Digest), whole.Provider, whole.FetchedAt.UnixMicro())
	return err
}

// join is r together with the range right after it.
func (r Range) join(next Range) Range {
	out := next
	out.From, out.Parent = r.From, r.Parent
	out.Logs, out.Fills, out.Digest = r.Logs+next.Logs, r.Fills+next.Fills, r.Digest+next.Digest
	if r.FetchedAt.After(next.FetchedAt) {
		out.Provider, out.FetchedAt = r.Provider, r.FetchedAt
	}
	return out
}

// Ranges are the committed ranges of a filter, in order. They do not overlap.
type Ranges []Range

// Load returns the committed ranges of a filter.
func Load(ctx context.Context, conn *sql.Conn, f Filter) (Ranges, error) {
	return load(ctx, conn, f, 0, math.MaxInt64)
}

// load returns the ranges that have a block in from … to.
func load(ctx context.Context, conn *sql.Conn, f Filter, from, to int64) (out Ranges, err error) {
	rows, err := conn.QueryContext(ctx, statements.Get("Ranges"), f.Source, f.Version, from, to)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, rows.Close()) }()
	for rows.Next() {
		var r Range
		var parent, end []byte
		var digest, fetched int64
		if err := rows.Scan(&r.From, &r.To, &parent, &end, &r.EndTime, &r.Logs, &r.Fills, &digest, &r.Provider, &fetched); err != nil {
			return nil, err
		}
		if len(end) != len(r.End) || len(parent) != 0 && len(parent) != len(r.Parent) {
			return nil, fmt.Errorf("range %d–%d has an invalid hash", r.From, r.To)
		}
		copy(r.Parent[:], parent)
		copy(r.End[:], end)
		r.Digest, r.FetchedAt = uint64(digest), time.UnixMicro(fetched).UTC()
		out = append(out, r)
	}
	return out, rows.Err()
}

// Gap is a range of blocks that is not committed, both ends included.
type Gap struct{ From, To int64 }

// Blocks is how many blocks are in the gap.
func (g Gap) Blocks() int64 { return g.To - g.From + 1 }

// Gaps are the blocks start … end that no range covers.
func (rs Ranges) Gaps(start, end int64) (gaps []Gap) {
	for _, r := range rs {
		if r.To < start {
			continue
		}
		if r.From > end {
			break
		}
		if r.From > start {
			gaps = append(gaps, Gap{start, r.From - 1})
		}
		start = r.To + 1
	}
	if start <= end {
		gaps = append(gaps, Gap{start, end})
	}
	return gaps
}

// Prefix returns the range up to whose end no block from start on is missing; false if start itself
// is missing.
func (rs Ranges) Prefix(start int64) (last Range, ok bool) {
	for _, r := range rs {
		if r.To < start {
			continue
		}
		if r.From > start {
			break
		}
		last, ok, start = r, true, r.To+1
	}
	return last, ok
}

// Ending returns the range that ends with a block.
func (rs Ranges) Ending(block int64) (Range, bool) {
	for _, r := range rs {
		if r.To == block {
			return r, true
		}
	}
	return Range{}, false
}

// Cursor returns what a source stored with SetCursor, "" if nothing.
func Cursor(ctx context.Context, conn *sql.Conn, source string) (state string, err error) {
	err = conn.QueryRowContext(ctx, statements.Get("Cursor"), source).Scan(&state)
	if errors.Is(err, sql.ErrNoRows) {
		return "", nil
	}
	return state, err
}

// SetCursor stores what a source has to remember, replacing what it stored before, within the
// transaction that conn is in.
func SetCursor(ctx context.Context, conn *sql.Conn, source, state string) error {
	if _, err := conn.ExecContext(ctx, statements.Get("DropCursor"), source); err != nil {
		return err
	}
	_, err := conn.ExecContext(ctx, statements.Get("AddCursor"), source, state)
	return err
}

// NewestFill is the time of the newest fill in the facts, in unix µs; 0 if there is none.
func NewestFill(ctx context.Context, conn *sql.Conn) (ts int64, err error) {
	err = conn.QueryRowContext(ctx, statements.Get("NewestFill")).Scan(&ts)
	return ts, err
}
