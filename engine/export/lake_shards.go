package export

import (
	"fmt"
	"path/filepath"
	"strconv"
	"strings"
)

// shardRows and tokenShardRows are how many fills the shards of a block may have on average before addresses, or token ids, are told apart by one digit more.
// One with a busy wallet or token has more. Of a market few row groups are read, so that its shards may be larger: each reads the fills of all days when it is written.
var shardRows, tokenShardRows = int64(100_000), int64(1_000_000)

const (
	// ShardDays is how many days a block of shards is of. The first of them is a multiple of it since 1970.
	ShardDays = 16
	// ShardDigits is by how many digits of the address, or of the token id, they are told apart at most.
	ShardDigits = 2
	// shardGroup is how many fills of a shard, which are in order of wallet or token, are a row group.
	shardGroup = 10_240
	// shardVersion changes if a block has other shards than before.
	shardVersion = 2
)

// ShardBlock returns the first day of the block that a day is of, and whether the block is over: whether the newest day with fills is of a
// later one.
func ShardBlock(day, newest int64) (first int64, over bool) {
	first = day - day%ShardDays
	return first, first+ShardDays <= newest
}

// The datasets of shards: the fills of a block by wallet, and the same by token.
const (
	WalletShards = "shards"
	TokenShards  = "token_shards"
)

// IsShard reports whether a dataset has fills that are among those of days.
func IsShard(dataset string) bool { return dataset == WalletShards || dataset == TokenShards }

// lakeBlock is a block of days before it is written.
type lakeBlock struct {
	first int64 // day
	rows  int64
	print string
}

// date is that of the first day, whether or not it has fills.
func (b lakeBlock) date() string { return dateOf(b.first) }

func (b lakeBlock) span() []string {
	return lakeSpan(b.first, b.first+ShardDays)
}

// digits is by how many digits, of which there are so many, its fills are told apart if a shard may have so many of them: as if wallets and
// tokens had as many each.
func (b lakeBlock) digits(most, base int64) int {
	n := 0
	for rows := b.rows; rows > most && n < ShardDigits; rows /= base {
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
			blocks = append(blocks, lakeBlock{first: first, print: fmt.Sprintf("%d.%d", LakeVersion, shardVersion)})
		}
		b := &blocks[len(blocks)-1]
		b.rows += d.rows
		b.print += fmt.Sprintf(" %d-%d-%d", d.day, d.rows, d.last)
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
	// addressDigits is how many of them an address has.
	addressDigits = 40
)

// textsOf are all texts of so many digits.
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
		return fmt.Errorf("the shards of the days from %s by wallet lack %d of %d fills", b.date(), left-b.rows, b.rows)
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
		return fmt.Errorf("the shards of the days from %s by token lack %d of %d fills", b.date(), left, b.rows)
	}
	return nil
}

// shard writes one of the files of a block, which still lacks so many fills.
func (w *lakeWriter) shard(step LakeStep, where string, left *int64) error {
	return w.file(step, lakeFills("")+"\n"+where, func(p LakeStep) error {
		*left -= p.File.Rows
		p.Last = *left == 0
		return w.done(p)
	})
}

// folder is where a file of the lake lies.
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

// name is that of a file with its SHA-256.
func (f LakeFile) name() string {
	return filepath.ToSlash(filepath.Join(f.folder(), f.SHA256[:16], f.Dataset+".parquet"))
}
