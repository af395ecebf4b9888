package export

import (
	"fmt"
	"path/filepath"
	"strconv"
	"strings"
)

// shardRows and tokenShardRows are the average numbers of fills of a block's shards above which
// addresses, or token ids, are divided by one more digit. A shard with a busy wallet or token has
// more. Shards by token may be larger, because few row groups are read for a market, and because
// writing each shard reads the fills of all days.
var shardRows, tokenShardRows = int64(100_000), int64(1_000_000)

const (
	// ShardDays is the number of days of a block of shards. The first day of a block is a multiple
	// of it, in days since 1970.
	ShardDays = 16
	// ShardDigits is the maximum number of digits of the address, or of the token id, by which
	// shards are divided.
	ShardDigits = 2
	// shardGroup is the number of fills of a row group of a shard, whose fills are in order of
	// wallet or token.
	shardGroup = 10_240
	// shardVersion changes if blocks are divided into shards differently.
	shardVersion = 2
)

// ShardBlock returns the first day of a day's block, and whether the block is over, that is,
// whether the newest day with fills is in a later one.
func ShardBlock(day, newest int64) (first int64, over bool) {
	first = day - day%ShardDays
	return first, first+ShardDays <= newest
}

// The datasets of shards: the fills of a block by wallet, and the same by token.
const (
	WalletShards = "shards"
	TokenShards  = "token_shards"
)

// IsShard reports whether a dataset has fills that are also in files by day.
func IsShard(dataset string) bool { return dataset == WalletShards || dataset == TokenShards }

// lakeBlock is a block of days before it is written.
type lakeBlock struct {
	first int64 // day
	rows  int64
	print string
}

// date is the date of the first day, whether or not that day has fills.
func (b lakeBlock) date() string { return dateOf(b.first) }

func (b lakeBlock) span() []string {
	return lakeSpan(b.first, b.first+ShardDays)
}

// digits returns the number of digits, in the given base, by which the block's fills are divided if
// a shard may have most of them. It assumes an equal distribution.
func (b lakeBlock) digits(most, base int64) int {
	n := 0
	for rows := b.rows; rows > most && n < ShardDigits; rows /= base {
		n++
	}
	return n
}

// lakeBlocks returns the blocks that are over, which depends only on the facts.
func lakeBlocks(days []lakeDay) (blocks []lakeBlock) {
	for _, d := range days {
		first, over := ShardBlock(d.Day, days[len(days)-1].Day)
		if !over {
			break
		}
		if n := len(blocks); n == 0 || blocks[n-1].first != first {
			blocks = append(blocks, lakeBlock{first: first, print: fmt.Sprintf("%d.%d", LakeVersion, shardVersion)})
		}
		b := &blocks[len(blocks)-1]
		b.rows += d.Fills
		b.print += fmt.Sprintf(" %d-%d-%d", d.Day, d.Fills, d.Last)
	}
	return blocks
}

// shards writes the fills of blocks by the first digits of the address, and by the last of the token id.
func (w *lakeWriter) shards(blocks []lakeBlock, known map[string]string) error {
	for i, b := range blocks {
		done := w.ofDays + (1-w.ofDays)*float64(i+1)/float64(len(blocks))
		step := LakeStep{File: LakeFile{Dataset: WalletShards, From: b.date()}, Print: b.print, Last: true, Done: done}
		if known[step.File.From] == b.print {
			if err := w.done(step); err != nil {
				return err
			}
			continue
		}
		if err := w.block(b, step); err != nil {
			return err
		}
	}
	return nil
}

const (
	hexDigits     = "0123456789abcdef"
	decimalDigits = "0123456789"
	// addressDigits is the number of digits of an address.
	addressDigits = 40
)

// textsOf returns all texts of n digits.
func textsOf(n int, digits string) []string {
	list := []string{""}
	for range n {
		var longer []string
		for _, p := range list {
			for _, d := range digits {
				longer = append(longer, p+string(d))
			}
		}
		list = longer
	}
	return list
}

// block writes the shards of a block.
func (w *lakeWriter) block(b lakeBlock, step LakeStep) error {
	left := 2 * b.rows
	for _, prefix := range textsOf(b.digits(shardRows, 16), hexDigits) {
		rest := addressDigits - len(prefix)
		step.File.Prefix = "0x" + prefix
		where := statements.Get("FillsOfWallets", append(b.span(), "@least", prefix+strings.Repeat("0", rest), "@most", prefix+strings.Repeat("f", rest))...)
		if err := w.shard(step, where, &left); err != nil {
			return err
		}
	}
	if left != b.rows {
		return fmt.Errorf("the shards by wallet of the days from %s lack %d of %d fills", b.date(), left-b.rows, b.rows)
	}
	step.File.Dataset, step.File.Prefix = TokenShards, ""
	for _, suffix := range textsOf(b.digits(tokenShardRows, 10), decimalDigits) {
		step.File.Suffix = suffix
		where := statements.Get("FillsOfTokens", append(b.span(), "@suffix", suffix, "@digits", strconv.Itoa(len(suffix)))...)
		if err := w.shard(step, where, &left); err != nil {
			return err
		}
	}
	if left != 0 {
		return fmt.Errorf("the shards by token of the days from %s lack %d of %d fills", b.date(), left, b.rows)
	}
	return nil
}

// shard writes a file of a block, and subtracts its fills from left.
func (w *lakeWriter) shard(step LakeStep, where string, left *int64) error {
	return w.file(step, lakeFills("")+"\n"+where, func(p LakeStep) error {
		*left -= p.File.Rows
		p.Last = *left == 0
		return w.done(p)
	})
}

// folder returns the folder of a file in the lake.
func (f LakeFile) folder() string {
	switch {
	case f.Day != "":
		return f.Dataset + "/day=" + f.Day
	case f.Dataset == TokenShards:
		return f.Dataset + "/from=" + f.From + "/ends=" + f.Suffix
	case f.From != "":
		return f.Dataset + "/from=" + f.From + "/" + f.Prefix
	}
	return f.Dataset
}

// name returns the name of a file, with its SHA-256.
func (f LakeFile) name() string {
	return filepath.ToSlash(filepath.Join(f.folder(), f.SHA256[:16], f.Dataset+".parquet"))
}
