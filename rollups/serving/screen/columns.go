// Package screen keeps the figures of all markets as columns, filters them, picks
// the first of any order and adds them up. Columns are immutable: the next ones
// share what did not change.
package screen

import (
	"encoding/binary"
	"math"
	"slices"
	"strings"

	"pmx/data"
)

// Field is a figure of a market that can be filtered and sorted by.
type Field uint8

// The fields. Money, prices and their changes are in millionths, times in unix µs.
const (
	Volume24h Field = iota
	Volume7d
	Volume30d
	Volume // lifetime
	Liquidity
	Traders24h
	Traders
	Trades
	Price
	PriceChange24h
	WhaleFlow24h
	Spread
	CreatedAt
	EndDate
	ResolvedAt
	LastTradeAt
	Fields // how many there are
)

// Null is the value of a figure that is not known. It lies in no range, and
// behind all others in both orders.
const Null = math.MinInt64

// Class is all that is told of a market in words. Markets share classes.
type Class struct {
	Category string // "" unknown
	Status   string
	NegRisk  *bool    // nil: unknown
	Tags     []string // sorted, each once
}

// Row is what the columns hold of one market.
type Row struct {
	Condition data.Hash
	Values    [Fields]int64
	Class     Class
}

// A column is copied by the chunk, and a chunk is what is passed over as a whole.
// With fewer rows reading is slowed down by memory, with more copying is.
const (
	chunkBits = 11
	chunkRows = 1 << chunkBits
	// The columns are the fields and these two.
	classColumn     = int(Fields)
	conditionColumn = int(Fields) + 1
)

type (
	column     [chunkRows]int64
	classes    [chunkRows]int32
	conditions [chunkRows]uint64
)

// chunk is chunkRows markets with neighbouring ids.
type chunk struct {
	values     [Fields]*column
	least      [Fields]int64 // of the values that are known; math.MaxInt64: none is
	most       [Fields]int64 // Null: none is known
	nulls      [Fields]bool  // some value is not known
	class      *classes      // in Columns.classes; 0: there is no such market
	conditions *conditions   // the first 8 bytes, big-endian
	rows       int
}

// Columns are the figures of all markets at one time. They never change.
type Columns struct {
	chunks   []*chunk
	classes  []Class
	rows     int
	replaced int64
}

// Len is how many markets there are.
func (c *Columns) Len() int {
	if c == nil {
		return 0
	}
	return c.rows
}

const chunkBytes = (int64(Fields)*8 + 4 + 8) * chunkRows

// Bytes is about how much memory the columns take.
func (c *Columns) Bytes() int64 { return int64(len(c.chunks)) * chunkBytes }

// Replaced is how many bytes were given up for newer ones up to these columns:
// what older ones keep alive on their own is at most the difference.
func (c *Columns) Replaced() int64 { return c.replaced }

// Value is a figure of a market that is there.
func (c *Columns) Value(id int32, f Field) int64 {
	return c.chunks[id>>chunkBits].values[f][id&(chunkRows-1)]
}

// Builder makes successive Columns at a cost in proportion to what changed. It
// belongs to one goroutine.
type Builder struct {
	chunks   []*chunk
	owned    []uint32 // by chunk: bits of the columns that no Columns has yet
	touched  []int    // chunks that own something
	classes  []Class
	known    map[string]int32 // classes by their key
	rows     int
	replaced int64
}

// NewBuilder gives a Builder of no markets.
func NewBuilder() *Builder {
	return &Builder{classes: make([]Class, 1), known: map[string]int32{}}
}

// Set gives the market of id its row.
func (b *Builder) Set(id int32, r *Row) {
	n, i := int(id)>>chunkBits, int(id)&(chunkRows-1)
	for n >= len(b.chunks) {
		b.touched = append(b.touched, len(b.chunks))
		b.chunks, b.owned = append(b.chunks, emptyChunk()), append(b.owned, math.MaxUint32)
	}
	for f, v := range r.Values {
		if b.chunks[n].values[f][i] != v {
			b.own(n, f).values[f][i] = v
		}
	}
	if class := b.classOf(&r.Class); b.chunks[n].class[i] != class {
		c := b.own(n, classColumn)
		if c.class[i] == 0 {
			c.rows++
			b.rows++
		}
		c.class[i] = class
	}
	if first := beginning(r.Condition); b.chunks[n].conditions[i] != first {
		b.own(n, conditionColumn).conditions[i] = first
	}
}

func beginning(h data.Hash) uint64 { return binary.BigEndian.Uint64(h[:]) }

func emptyChunk() *chunk {
	c := &chunk{class: &classes{}, conditions: &conditions{}}
	for f := range c.values {
		c.values[f] = &column{}
		for i := range c.values[f] {
			c.values[f][i] = Null
		}
		c.least[f], c.most[f], c.nulls[f] = math.MaxInt64, Null, true
	}
	return c
}

// own gives chunk n with a column that may be written.
func (b *Builder) own(n, col int) *chunk {
	if b.owned[n] == 0 {
		copied := *b.chunks[n]
		b.chunks[n] = &copied
		b.touched = append(b.touched, n)
	}
	c := b.chunks[n]
	if b.owned[n]&(1<<col) != 0 {
		return c
	}
	b.owned[n] |= 1 << col
	switch col {
	case classColumn:
		copied := *c.class
		c.class = &copied
		b.replaced += 4 * chunkRows
	case conditionColumn:
		copied := *c.conditions
		c.conditions = &copied
		b.replaced += 8 * chunkRows
	default:
		copied := *c.values[col]
		c.values[col] = &copied
		b.replaced += 8 * chunkRows
	}
	return c
}

// classOf gives the place of a class, which is kept from its first use on.
func (b *Builder) classOf(c *Class) int32 {
	key := make([]byte, 0, 128)
	key = append(append(append(key, c.Category...), 0), c.Status...)
	switch {
	case c.NegRisk == nil:
		key = append(key, 0, '?')
	case *c.NegRisk:
		key = append(key, 0, '+')
	default:
		key = append(key, 0, '-')
	}
	for _, tag := range c.Tags {
		key = append(append(key, 0), tag...)
	}
	if id, ok := b.known[string(key)]; ok {
		return id
	}
	id := int32(len(b.classes))
	b.classes = append(b.classes, Class{Category: c.Category, Status: c.Status, NegRisk: c.NegRisk, Tags: slices.Clone(c.Tags)})
	b.known[strings.Clone(string(key))] = id
	return id
}

// Seal gives the columns as they are now.
func (b *Builder) Seal() *Columns {
	for _, n := range b.touched {
		for f := range Fields {
			if b.owned[n]&(1<<f) != 0 {
				b.chunks[n].measure(f)
			}
		}
		b.owned[n] = 0
	}
	b.touched = b.touched[:0]
	return &Columns{chunks: slices.Clone(b.chunks), classes: slices.Clip(b.classes), rows: b.rows, replaced: b.replaced}
}

// measure finds the bounds of a column.
func (c *chunk) measure(f Field) {
	least, most, nulls := int64(math.MaxInt64), int64(Null), false
	for _, v := range c.values[f] {
		if v == Null {
			nulls = true
			continue
		}
		least, most = min(least, v), max(most, v)
	}
	c.least[f], c.most[f], c.nulls[f] = least, most, nulls
}
