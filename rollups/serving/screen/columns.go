// Package screen keeps the figures of all markets as columns, filters them, picks the first ones in
// any order and sums them up. Columns are immutable: the next ones share what did not change.
package screen

import (
	"encoding/binary"
	"maps"
	"math"
	"reflect"
	"slices"
	"strconv"
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

// Null is the value of a figure that is not known. It is in no range, and after all others in both
// directions.
const Null = math.MinInt64

// Class is what a market is classified by, except for tags. Markets share classes.
type Class struct {
	Category string // "" unknown
	Status   string
	NegRisk  *bool // nil: unknown
}

// Row is one market's row of the columns.
type Row struct {
	Condition data.Hash
	Values    [Fields]int64
	Class     Class
	Tags      []string // sorted, each once
}

// A column is copied by the chunk, and a filter skips whole chunks. With fewer rows, memory access
// slows down reading; with more, copying takes longer.
const (
	chunkBits = 11
	chunkRows = 1 << chunkBits
	// The columns are the fields and these.
	classColumn     = int(Fields)
	tagsColumn      = int(Fields) + 1
	conditionColumn = int(Fields) + 2
)

type (
	column     [chunkRows]int64
	names      [chunkRows]int32
	conditions [chunkRows]uint64
)

// chunk is chunkRows markets with neighbouring ids.
type chunk struct {
	values     [Fields]*column
	least      [Fields]int64 // of the known values; math.MaxInt64: none
	most       [Fields]int64 // Null: none
	nulls      [Fields]bool  // some value is not known
	class      *names        // in Columns.classes; 0: there is no such market
	tags       *names        // in Columns.tagSets
	conditions *conditions   // the first 8 bytes, big-endian
	rows       int
}

// Columns are the figures of all markets at one time. They never change.
type Columns struct {
	chunks  []*chunk
	classes []Class
	tagSets [][]string
	tagged  map[string][]int32 // the tagSets that hold a tag
	rows    int
}

// Len is how many markets there are.
func (c *Columns) Len() int {
	if c == nil {
		return 0
	}
	return c.rows
}

// Categories lists the categories that markets have, or had while these columns
// were kept up to date, in alphabetical order.
func (c *Columns) Categories() []string {
	if c == nil {
		return nil
	}
	seen := map[string]bool{}
	for i := range c.classes {
		if name := c.classes[i].Category; name != "" {
			seen[name] = true
		}
	}
	return slices.Sorted(maps.Keys(seen))
}

// Bytes is about how much memory the columns take.
func (c *Columns) Bytes() int64 { return c.UnsharedBytes(&Columns{}) }

// UnsharedBytes is about how much of that is not shared with o.
func (c *Columns) UnsharedBytes(o *Columns) int64 {
	n := int64(0)
	for i, mine := range c.chunks {
		other := &chunk{}
		if i < len(o.chunks) {
			other = o.chunks[i]
		}
		if mine == other {
			continue
		}
		for f := range mine.values {
			if mine.values[f] != other.values[f] {
				n += 8 * chunkRows
			}
		}
		if mine.class != other.class {
			n += 4 * chunkRows
		}
		if mine.tags != other.tags {
			n += 4 * chunkRows
		}
		if mine.conditions != other.conditions {
			n += 8 * chunkRows
		}
	}
	return n
}

// Value is a figure of a market, which must exist.
func (c *Columns) Value(id int32, f Field) int64 {
	return c.chunks[id>>chunkBits].values[f][id&(chunkRows-1)]
}

// Equal reports whether a market is the same in c and o, or in neither.
func (c *Columns) Equal(o *Columns, id int32) bool {
	a, b := c.class(id), o.class(id)
	if a == nil || b == nil {
		return a == b
	}
	i := id & (chunkRows - 1)
	x, y := c.chunks[id>>chunkBits], o.chunks[id>>chunkBits]
	for f := range Fields {
		if x.values[f][i] != y.values[f][i] {
			return false
		}
	}
	return x.conditions[i] == y.conditions[i] && reflect.DeepEqual(a, b) &&
		slices.Equal(c.tagSets[x.tags[i]], o.tagSets[y.tags[i]])
}

// class returns the class of a market; nil if there is none.
func (c *Columns) class(id int32) *Class {
	if c == nil || int(id>>chunkBits) >= len(c.chunks) {
		return nil
	}
	class := c.chunks[id>>chunkBits].class[id&(chunkRows-1)]
	if class == 0 {
		return nil
	}
	return &c.classes[class]
}

// Builder makes successive Columns at a cost proportional to what changed. It belongs to one
// goroutine.
type Builder struct {
	chunks  []*chunk
	owned   []uint32 // by chunk: bits of the columns that no Columns has yet
	touched []int    // chunks that own something
	classes []Class
	tagSets [][]string
	tagged  map[string][]int32 // the newest Columns has it too
	fresh   bool               // tagged is ours alone
	known   map[string]int32   // classes and tag sets by their keys
	rows    int
}

// NewBuilder returns a Builder of no markets.
func NewBuilder() *Builder {
	return &Builder{classes: make([]Class, 1), tagSets: make([][]string, 1), tagged: map[string][]int32{}, known: map[string]int32{}}
}

// Set sets the row of market id.
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
	if tags := b.tagsOf(r.Tags); b.chunks[n].tags[i] != tags {
		b.own(n, tagsColumn).tags[i] = tags
	}
	if first := conditionPrefix(r.Condition); b.chunks[n].conditions[i] != first {
		b.own(n, conditionColumn).conditions[i] = first
	}
}

func conditionPrefix(h data.Hash) uint64 { return binary.BigEndian.Uint64(h[:]) }

func emptyChunk() *chunk {
	c := &chunk{class: &names{}, tags: &names{}, conditions: &conditions{}}
	for f := range c.values {
		c.values[f] = &column{}
		for i := range c.values[f] {
			c.values[f][i] = Null
		}
		c.least[f], c.most[f], c.nulls[f] = math.MaxInt64, Null, true
	}
	return c
}

// own returns chunk n with column col made writable.
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
	case tagsColumn:
		copied := *c.tags
		c.tags = &copied
	case conditionColumn:
		copied := *c.conditions
		c.conditions = &copied
	default:
		copied := *c.values[col]
		c.values[col] = &copied
	}
	return c
}

// classOf returns the place of a class, which is kept from its first use on.
func (b *Builder) classOf(c *Class) int32 {
	risk := "?"
	if c.NegRisk != nil {
		risk = strconv.FormatBool(*c.NegRisk)
	}
	key := "class\x00" + c.Category + "\x00" + c.Status + "\x00" + risk
	id, ok := b.known[key]
	if !ok {
		id = int32(len(b.classes))
		b.classes, b.known[key] = append(b.classes, *c), id
	}
	return id
}

// tagsOf returns the place of a set of tags, which is kept from its first use on.
func (b *Builder) tagsOf(tags []string) int32 {
	if len(tags) == 0 {
		return 0
	}
	key := "tags\x00" + strings.Join(tags, "\x00")
	if id, ok := b.known[key]; ok {
		return id
	}
	if !b.fresh {
		b.tagged, b.fresh = maps.Clone(b.tagged), true
	}
	id := int32(len(b.tagSets))
	b.tagSets, b.known[key] = append(b.tagSets, slices.Clone(tags)), id
	for _, tag := range tags {
		b.tagged[tag] = append(b.tagged[tag], id)
	}
	return id
}

// Seal returns the columns as they are now.
func (b *Builder) Seal() *Columns {
	for _, n := range b.touched {
		for f := range Fields {
			if b.owned[n]&(1<<f) != 0 {
				b.chunks[n].measure(f)
			}
		}
		b.owned[n] = 0
	}
	b.touched, b.fresh = b.touched[:0], false
	return &Columns{chunks: slices.Clone(b.chunks), classes: b.classes, tagSets: b.tagSets, tagged: b.tagged, rows: b.rows}
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
