package query

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"pmx/data"
	"pmx/rollups/serving"
)

// Lake says where the fills of a database are that has only rollups.
type Lake struct {
	Days            map[int64]string  // path of the fills of each day since 1970; nil: there is no lake to read
	Wallets, Tokens map[int64][]Shard // by day, if it has shards: the fills of the day's block, by wallet and by token
}

// Shard is a file of the fills of a block of days whose wallets begin with a text, or whose token ids end in some digits.
type Shard struct{ Prefix, Suffix, Path string }

// day returns the path of the fills of a day.
func (l *Lake) day(day int64) (string, error) {
	path, ok := l.Days[day]
	if !ok {
		return "", fmt.Errorf("the lake has no fills of day %d, but the rollups do", day)
	}
	return path, nil
}

// ofShards returns the files with the fills of some days; for days with shards, the shards that has
// accepts.
func (l *Lake) ofShards(days []int64, shards map[int64][]Shard, has func(Shard) bool) (paths []string, err error) {
	seen := map[string]bool{}
	for _, day := range days {
		var of []string
		for _, s := range shards[day] {
			if has(s) {
				of = append(of, s.Path)
			}
		}
		if len(shards[day]) == 0 {
			path, err := l.day(day)
			if err != nil {
				return nil, err
			}
			of = []string{path}
		}
		if len(of) == 0 {
			return nil, fmt.Errorf("the lake has no shard of day %d with fills that are in the rollups", day)
		}
		for _, path := range of {
			if !seen[path] {
				seen[path] = true
				paths = append(paths, path)
			}
		}
	}
	return paths, nil
}

// fillsOfWallet is a table of the fills of a wallet on some of its days, given newest first. A shard also has other days,
// which are not read: equal fills are of one day, so their numbers are the same without them.
func (l *Lake) fillsOfWallet(days []int64, address string) (string, error) {
	paths, err := l.ofShards(days, l.Wallets, func(s Shard) bool { return strings.HasPrefix(address, s.Prefix) })
	if err != nil {
		return "", err
	}
	return table("LakeFills", paths, "f.wallet = "+quoted(address)+" AND "+ofDays(days)), nil
}

// fillsOfTokens is a table of the fills of tokens.
func (l *Lake) fillsOfTokens(days []int64, tokens []string) (string, error) {
	paths, err := l.ofShards(days, l.Tokens, func(s Shard) bool {
		return slices.ContainsFunc(tokens, func(token string) bool { return strings.HasSuffix("0"+token, s.Suffix) })
	})
	if err != nil {
		return "", err
	}
	ids := make([]string, len(tokens))
	for i, token := range tokens {
		ids[i] = quoted(token)
	}
	return table("LakeFills", paths, "f.token IN ("+strings.Join(ids, ", ")+") AND "+ofDays(days)), nil
}

// ofDays is the condition that a fill is between the first and last of some days, given newest first.
func ofDays(days []int64) string {
	return fmt.Sprintf("f.us >= %d AND f.us < %d", days[len(days)-1]*dayLength, (days[0]+1)*dayLength)
}

// lake says where the fills are; nil: in the database.
func (r *Reader) lake() *Lake {
	if r.Lake == nil {
		return nil
	}
	return r.Lake.Load()
}

// dayFills is a row of statements that find days.
type dayFills struct {
	Day   int64 `sql:"day"`
	Fills int64 `sql:"fills"`
}

// lakeWalletFills is WalletFills from the lake: it reads the days that, by the wallet's daily figures, have
// enough fills.
func (r *Reader) lakeWalletFills(ctx context.Context, l *Lake, dst []serving.Fill, wallet data.WalletID, batch int64, after *serving.Fill,
	n int) ([]serving.Fill, error) {
	first := int64(maxDay)
	if after != nil {
		first = after.TS / dayLength
	}
	var days []int64
	behind := int64(0) // fills of days that come entirely after the place
	err := each(ctx, r, "WalletDaysBehind", func(row *dayFills) {
		if behind >= int64(n) {
			return
		}
		days = append(days, row.Day)
		if row.Day != first {
			behind += row.Fills
		}
	}, "@wallet", strconv.Itoa(int(wallet)), "@first", strconv.FormatInt(first, 10))
	if err != nil || len(days) == 0 {
		return dst, err
	}
	var address data.Address
	if err := each(ctx, r, "WalletAddress", func(row *walletAddress) { address = row.Address }, "@wallet", strconv.Itoa(int(wallet))); err != nil {
		return dst, err
	}
	if l.Days == nil {
		return dst, data.ErrElsewhere
	}
	fills, err := l.fillsOfWallet(days, address.String())
	if err != nil {
		return dst, err
	}
	err = each(ctx, r, "WalletFills", func(row *FillRow) { dst = append(dst, row.Fill()) },
		append(append(of(wallet, batch), place(after, n)...), "@fills", fills)...)
	return dst, err
}

// maxDay is later than any day of a fill.
const maxDay = 1 << 30

// lakeMarketFills is MarketFills from the lake: it reads the last days on which the tokens were
// traded.
func (r *Reader) lakeMarketFills(ctx context.Context, l *Lake, dst []serving.Fill, q fillQuery, f *serving.Figures) ([]serving.Fill, error) {
	days, _, err := q.days(ctx, f.FirstTS, int64(q.n))
	if err != nil || len(days) == 0 {
		return dst, err
	}
	var tokens []string
	type tokenName struct {
		TokenID string `sql:"token_id"`
	}
	err = each(ctx, r, "TokenNames", func(row *tokenName) { tokens = append(tokens, row.TokenID) }, "@which", q.which)
	if err != nil {
		return dst, err
	}
	if l.Days == nil {
		return dst, data.ErrElsewhere
	}
	text, err := l.fillsOfTokens(days, tokens)
	if err != nil {
		return dst, err
	}
	fills, err := q.read(ctx, statements.Get("FillsOf", "@fills", text))
	return append(dst, fills...), err
}

// read is a table made by a statement from the lake's files of some days.
func (l *Lake) read(name string, days []int64, which string) (string, error) {
	if l.Days == nil {
		return "", data.ErrElsewhere
	}
	paths := make([]string, len(days))
	for i, day := range days {
		var err error
		if paths[i], err = l.day(day); err != nil {
			return "", err
		}
	}
	return table(name, paths, which), nil
}

// table is a table made by a statement from files.
func table(name string, paths []string, which string) string {
	files := make([]string, len(paths))
	for i, path := range paths {
		files[i] = quoted(path)
	}
	return "(" + statements.Get(name, "@files", strings.Join(files, ", "), "@which", which) + ")"
}

// sumsBetween is a table of all fills after one time in unix µs and up to another, with the columns that sums
// need.
func (l *Lake) sumsBetween(after, upTo int64) (string, error) {
	var days []int64
	for day := range l.Days {
		if day >= after/dayLength && day <= upTo/dayLength {
			days = append(days, day)
		}
	}
	if l.Days != nil && len(days) == 0 {
		return "fills", nil // which has none either
	}
	slices.Sort(days)
	return l.read("LakeSums", days, fmt.Sprintf("f.us > %d AND f.us <= %d", after, upTo))
}

func quoted(text string) string { return "'" + strings.ReplaceAll(text, "'", "''") + "'" }
