package export

import (
	"fmt"
	"path/filepath"
	"strconv"
	"strings"
)

// shardRows is how many fills the shards of a block may have on average before addresses are told apart by one digit more. One with a busy wallet has more.
var shardRows = int64(100_000)

const (
	// ShardDays is how many days a block of shards is of. The first of them is a multiple of it since 1970.
	ShardDays = 16
	// ShardDigits is by how many digits of the address they are told apart at most.
	ShardDigits = 2
	// shardGroup is how many fills of a shard, which are in order of wallet, are a row group.
	shardGroup = 10_240
)

// ShardBlock gives the first day of the block that a day is of, and whether the block is over: whether the newest day with fills is of a later one.
func ShardBlock(day, newest int64) (first int64, over bool) {
	first = day - day%ShardDays
	return first, first+ShardDays <= newest
}

// shards is the name of the dataset.
const shards = "shards"

// lakeBlock is a block of days before it is written.
type lakeBlock struct {
	first int64 // day
	rows  int64
	print string
}

// date is that of the first day, whether or not it has fills.
func (b lakeBlock) date() string { return lakeDay{day: b.first}.date() }

func (b lakeBlock) span() []string {
	return lakeSpan(b.first, b.first+ShardDays)
}

// digits is by how many digits of the address its fills are told apart, as if each had as many: wallets are not counted.
func (b lakeBlock) digits() int {
	n := 0
	for rows := b.rows; rows > shardRows && n < ShardDigits; rows /= 16 {
		n++
	}
	return n
}

// lakeBlocks are the blocks that are over, which is a matter of the facts alone.
func lakeBlocks(days []lakeDay) (blocks []lakeBlock) {
	for _, d := range days {
		first, over := ShardBlock(d.day, days[len(days)-1].day)
		if !over {
			break
		}
		if n := len(blocks); n == 0 || blocks[n-1].first != first {
			blocks = append(blocks, lakeBlock{first: first, print: strconv.Itoa(LakeVersion)})
		}
		b := &blocks[len(blocks)-1]
		b.rows += d.rows
		b.print += fmt.Sprintf(" %d-%d-%d", d.day, d.rows, d.last)
	}
	return blocks
}

// shards writes the fills of blocks by the first digits of the address.
func (w *lakeWriter) shards(blocks []lakeBlock, known map[string]string) error {
	for i, b := range blocks {
		done := w.ofDays + (1-w.ofDays)*float64(i+1)/float64(len(blocks))
		part := LakePart{File: LakeFile{Dataset: shards, From: b.date()}, Print: b.print, Last: true, Done: done}
		if known[part.File.From] == b.print {
			if err := w.done(part); err != nil {
				return err
			}
			continue
		}
		if err := w.block(b, part); err != nil {
			return err
		}
	}
	return nil
}

const (
	hexDigits = "0123456789abcdef"
	// addressDigits is how many of them an address has.
	addressDigits = 40
)

// prefixes are those of a block: texts of so many digits.
func prefixes(digits int) []string {
	list := []string{""}
	for range digits {
		var longer []string
		for _, p := range list {
			for _, d := range hexDigits {
				longer = append(longer, p+string(d))
			}
		}
		list = longer
	}
	return list
}

// block writes the shards of a block.
func (w *lakeWriter) block(b lakeBlock, part LakePart) error {
	left := b.rows
	for _, prefix := range prefixes(b.digits()) {
		rest := addressDigits - len(prefix)
		query := lakeFills("") + "\n" + statements.Get("FillsOfWallets", append(b.span(), "@least", prefix+strings.Repeat("0", rest), "@most", prefix+strings.Repeat("f", rest))...)
		part.File.Prefix = "0x" + prefix
		err := w.file(part, query, func(p LakePart) error {
			left -= p.File.Rows
			p.Last = left == 0
			return w.done(p)
		})
		if err != nil {
			return err
		}
	}
	if left != 0 {
		return fmt.Errorf("the shards of the days from %s lack %d of %d fills", b.date(), left, b.rows)
	}
	return nil
}

// folder is where a file of the lake lies.
func (f LakeFile) folder() string {
	switch {
	case f.Day != "":
		return f.Dataset + "/day=" + f.Day
	case f.From != "":
		return f.Dataset + "/from=" + f.From + "/" + f.Prefix
	}
	return f.Dataset
}

// name is that of a file with its SHA-256.
func (f LakeFile) name() string {
	return filepath.ToSlash(filepath.Join(f.folder(), f.SHA256[:16], f.Dataset+".parquet"))
}
