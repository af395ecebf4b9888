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
	"pmx/rollups/serving"
	"pmx/rollups/walletrun"
)

// spanFills is about how many facts are read at once for a wallet run.
const spanFills = 500_000

// LastBatch is the last import there was; −1: none.
func LastBatch(ctx context.Context, conn *sql.Conn) (batch int64, err error) {
	err = conn.QueryRowContext(ctx, statements.Get("LastBatch")).Scan(&batch)
	return batch, err
}

// WalletBatch gives what the batch merged last on conn changed, as a wallet run
// takes it in.
func WalletBatch(ctx context.Context, conn *sql.Conn) (walletrun.Batch, error) {
	b := walletrun.Batch{Fills: map[int32][]serving.Fill{}}
	var err error
	if b.Number, err = LastBatch(ctx, conn); err != nil {
		return b, err
	}
	err = engine.Each(ctx, conn, statements.Get("WalletBatch"), func(row []driver.Value) error {
		wallet, f := walletFill(row)
		if engine.Int(row[11]) < 0 {
			b.Replaced = append(b.Replaced, wallet)
			return nil
		}
		b.Fills[wallet] = append(b.Fills[wallet], f)
		return nil
	})
	if err != nil {
		return b, fmt.Errorf("WalletBatch: %w", err)
	}
	return b, nil
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

// WalletLedger is the fingerprint of the imports up to batch.
func WalletLedger(ctx context.Context, conn *sql.Conn, batch int64) (sum uint64, err error) {
	var n int64
	err = conn.QueryRowContext(ctx, statements.Get("WalletLedger", "@batch", whole(batch))).Scan(&n)
	return uint64(n), err
}

// WalletCount is how many facts came with the imports after one and up to another.
func WalletCount(ctx context.Context, conn *sql.Conn, after, upTo int64) (n int64, err error) {
	err = conn.QueryRowContext(ctx, statements.Get("WalletCount", "@after", whole(after), "@batch", whole(upTo))).Scan(&n)
	return n, err
}

// WalletFits tells whether a run is of this database and still holds its facts.
func WalletFits(ctx context.Context, conn *sql.Conn, c walletrun.Covers) (bool, error) {
	last, err := LastBatch(ctx, conn)
	if err != nil || last < c.Batch {
		return false, err
	}
	ledger, err := WalletLedger(ctx, conn, c.Batch)
	if err != nil || ledger != c.Ledger {
		return false, err
	}
	n, err := WalletCount(ctx, conn, -1, c.Batch)
	return n == c.Fills, err
}

// WalletFacts hands every fact of a plan to add, with the batch it came with.
func WalletFacts(ctx context.Context, conn *sql.Conn, p walletrun.Plan, add func(wallet int32, batch int64, f *serving.Fill) error) error {
	which := "batch > " + whole(p.After)
	if len(p.Again) > 0 {
		ids := make([]string, len(p.Again))
		for i, wallet := range p.Again {
			ids[i] = whole(int64(wallet))
		}
		which += " OR wallet IN (" + strings.Join(ids, ", ") + ")"
	}
	args := []string{"@batch", whole(p.Batch), "@which", which}
	spans, err := walletSpans(ctx, conn, args)
	if err != nil {
		return fmt.Errorf("WalletHours: %w", err)
	}
	for _, s := range spans {
		query := statements.Get("WalletFacts", append([]string{"@lo", whole(s[0]), "@hi", whole(s[1])}, args...)...)
		err := engine.Each(ctx, conn, query, func(row []driver.Value) error {
			wallet, f := walletFill(row)
			return add(wallet, engine.Int(row[11]), &f)
		})
		if err != nil {
			return fmt.Errorf("WalletFacts: %w", err)
		}
	}
	return nil
}

// WalletBatches gives the imports after one and up to another as a wallet run
// takes them in, oldest first.
func WalletBatches(ctx context.Context, conn *sql.Conn, after, upTo int64) ([]walletrun.Batch, error) {
	found := map[int64]map[int32][]serving.Fill{upTo: {}}
	err := WalletFacts(ctx, conn, walletrun.Plan{Batch: upTo, After: after}, func(wallet int32, batch int64, f *serving.Fill) error {
		if found[batch] == nil {
			found[batch] = map[int32][]serving.Fill{}
		}
		found[batch][wallet] = append(found[batch][wallet], *f)
		return nil
	})
	if err != nil {
		return nil, err
	}
	out := make([]walletrun.Batch, 0, len(found))
	for _, number := range slices.Sorted(maps.Keys(found)) {
		out = append(out, walletrun.Batch{Number: number, Fills: found[number]})
	}
	return out, nil
}

// walletSpans cuts time into spans of about spanFills facts.
func walletSpans(ctx context.Context, conn *sql.Conn, args []string) (spans [][2]int64, err error) {
	const hour = 3_600_000_000
	facts := int64(0)
	err = engine.Each(ctx, conn, statements.Get("WalletHours", args...), func(row []driver.Value) error {
		lo, n := engine.Int(row[0])*hour, engine.Int(row[1])
		if len(spans) == 0 || facts+n > spanFills {
			spans, facts = append(spans, [2]int64{lo, lo}), 0
		}
		spans[len(spans)-1][1] = lo + hour
		facts += n
		return nil
	})
	return spans, err
}

func whole(n int64) string { return strconv.FormatInt(n, 10) }
