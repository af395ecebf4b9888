package rollups

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"pmx/data"
	"pmx/engine"
	"pmx/rollups/segments"
	"pmx/rollups/segments/fillseg"
	"pmx/rollups/serving"
)

// factsPerRead is about how many facts are read at once.
const factsPerRead = 500_000

// NewestFills is how many of a token's fills are kept in a segment: as many
// as an overview of its market shows.
const NewestFills = 20

// LastBatch is the last import there was; −1: none.
func LastBatch(ctx context.Context, conn *sql.Conn) (batch int64, err error) {
	err = conn.QueryRowContext(ctx, statements.Get("LastBatch")).Scan(&batch)
	return batch, err
}

// SegmentBatch gives what the batch merged last on conn changed, as segments by wallet and by
// token take it in.
func SegmentBatch(ctx context.Context, conn *sql.Conn) (byWallet, byToken fillseg.Batch, err error) {
	byWallet.Fills = map[int32][]serving.Fill{}
	if byWallet.Number, err = LastBatch(ctx, conn); err != nil {
		return byWallet, byToken, err
	}
	var replaced []int32
	err = engine.Each(ctx, conn, statements.Get("SegmentBatch"), func(row []driver.Value) error {
		wallet, f := walletFill(row)
		if engine.Int(row[11]) < 0 {
			byWallet.Replaced, replaced = append(byWallet.Replaced, wallet), append(replaced, f.Token)
			return nil
		}
		byWallet.Fills[wallet] = append(byWallet.Fills[wallet], f)
		return nil
	})
	if err != nil {
		return byWallet, byToken, fmt.Errorf("SegmentBatch: %w", err)
	}
	return byWallet, ByToken(byWallet, replaced), nil
}

// MissedImport tells whether an import that brought anything lies between the one after
// which all is to be known and the last.
func MissedImport(ctx context.Context, conn *sql.Conn, after int64) (passed bool, err error) {
	err = conn.QueryRowContext(ctx, statements.Get("MissedImport", "@after", itoa(after))).Scan(&passed)
	return passed, err
}

func walletFill(row []driver.Value) (int32, serving.Fill) {
	f := serving.Fill{TS: engine.Int(row[1]), LogIndex: data.NoIndex, Token: int32(engine.Int(row[4])),
		Side: data.Side(engine.Int(row[5])), Role: data.Role(engine.Int(row[6])), Repeat: int16(engine.Int(row[7])),
		Shares: data.Micro(engine.Int(row[8])), USD: data.Micro(engine.Int(row[9])), Fee: data.Micro(engine.Int(row[10]))}
	if tx, known := row[2].([]byte); known {
		copy(f.Tx[:], tx)
	}
	if row[3] != nil {
		f.LogIndex = int32(engine.Int(row[3]))
	}
	return int32(engine.Int(row[0])), f
}

// ByToken gives what a batch changed by token in the place of wallet; the field Token
// of a fill then names the wallet.
func ByToken(b fillseg.Batch, replaced []int32) fillseg.Batch {
	out := fillseg.Batch{Number: b.Number, Fills: map[int32][]serving.Fill{}, Replaced: replaced}
	for wallet, fills := range b.Fills {
		for _, f := range fills {
			token := f.Token
			f.Token = wallet
			out.Fills[token] = append(out.Fills[token], f)
		}
	}
	return out
}

// ImportLogHash is the fingerprint of the imports up to batch.
func ImportLogHash(ctx context.Context, conn *sql.Conn, batch int64) (sum uint64, err error) {
	var n int64
	err = conn.QueryRowContext(ctx, statements.Get("ImportLogHash", "@batch", itoa(batch))).Scan(&n)
	return uint64(n), err
}

// FactCount is how many facts came with the imports after one and up to another.
func FactCount(ctx context.Context, conn *sql.Conn, after, upTo int64) (n int64, err error) {
	err = conn.QueryRowContext(ctx, statements.Get("FactCount", "@after", itoa(after), "@batch", itoa(upTo))).Scan(&n)
	return n, err
}

// sameHistory tells whether a file was made from this database's imports.
func sameHistory(ctx context.Context, conn *sql.Conn, c segments.Coverage) (bool, error) {
	last, err := LastBatch(ctx, conn)
	if err != nil || last < c.Batch {
		return false, err
	}
	ledger, err := ImportLogHash(ctx, conn, c.Batch)
	return ledger == c.ImportLogHash, err
}

// FillSegmentFits tells whether a segment is of this database and still holds its facts.
func FillSegmentFits(ctx context.Context, conn *sql.Conn, c segments.Coverage) (bool, error) {
	if ours, err := sameHistory(ctx, conn, c); !ours || err != nil {
		return false, err
	}
	n, err := FactCount(ctx, conn, -1, c.Batch)
	return n == c.Facts, err
}

// FactQuery says which facts are to be read.
type FactQuery struct {
	Batch, After    int64   // those of imports after the one and up to the other,
	Wallets, Tokens []int32 // and all up to Batch of these
}

// QueryFor puts together what plans of segments by wallet and by token ask for.
func QueryFor(byWallet, byToken fillseg.Plan) FactQuery {
	return FactQuery{Batch: max(byWallet.Batch, byToken.Batch), After: min(byWallet.After, byToken.After),
		Wallets: byWallet.Reread, Tokens: byToken.Reread}
}

func (w *FactQuery) args() []string {
	which := "batch > " + itoa(w.After)
	for column, ids := range map[string][]int32{"wallet": w.Wallets, "token": w.Tokens} {
		list := make([]string, len(ids))
		for i, id := range ids {
			list[i] = itoa(int64(id))
		}
		if len(list) > 0 {
			which += " OR " + column + " IN (" + strings.Join(list, ", ") + ")"
		}
	}
	return []string{"@batch", itoa(w.Batch), "@which", which}
}

// EachFact hands every fact that is wanted to add, with the batch it came with: the
// newest spans of time first, within one in no order.
func EachFact(ctx context.Context, conn *sql.Conn, want FactQuery, add func(wallet int32, batch int64, f *serving.Fill) error) error {
	args := want.args()
	spans, err := factSpans(ctx, conn, args)
	if err != nil {
		return fmt.Errorf("FactHours: %w", err)
	}
	for _, s := range spans {
		query := statements.Get("FactRange", append([]string{"@lo", itoa(s[0]), "@hi", itoa(s[1])}, args...)...)
		err := engine.Each(ctx, conn, query, func(row []driver.Value) error {
			wallet, f := walletFill(row)
			return add(wallet, engine.Int(row[11]), &f)
		})
		if err != nil {
			return fmt.Errorf("FactRange: %w", err)
		}
	}
	return nil
}

// WalletBatches gives the imports after one and up to another as a segment by wallet
// takes them in, oldest first.
func WalletBatches(ctx context.Context, conn *sql.Conn, after, upTo int64) ([]fillseg.Batch, error) {
	found := map[int64]map[int32][]serving.Fill{upTo: {}}
	err := EachFact(ctx, conn, FactQuery{Batch: upTo, After: after}, func(wallet int32, batch int64, f *serving.Fill) error {
		if found[batch] == nil {
			found[batch] = map[int32][]serving.Fill{}
		}
		found[batch][wallet] = append(found[batch][wallet], *f)
		return nil
	})
	if err != nil {
		return nil, err
	}
	out := make([]fillseg.Batch, 0, len(found))
	for _, number := range slices.Sorted(maps.Keys(found)) {
		out = append(out, fillseg.Batch{Number: number, Fills: found[number]})
	}
	return out, nil
}

// factSpans cuts time into spans of about factsPerRead facts, the newest first.
func factSpans(ctx context.Context, conn *sql.Conn, args []string) (spans [][2]int64, err error) {
	const hour = 3_600_000_000
	facts := int64(0)
	err = engine.Each(ctx, conn, statements.Get("FactHours", args...), func(row []driver.Value) error {
		lo, n := engine.Int(row[0])*hour, engine.Int(row[1])
		if len(spans) == 0 || facts+n > factsPerRead {
			spans, facts = append(spans, [2]int64{lo, lo + hour}), 0
		}
		spans[len(spans)-1][0] = lo
		facts += n
		return nil
	})
	return spans, err
}

func itoa(n int64) string { return strconv.FormatInt(n, 10) }
