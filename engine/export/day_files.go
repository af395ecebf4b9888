package export

import (
	"context"
	"database/sql"
	"errors"
	"os"

	"golang.org/x/sync/errgroup"

	"pmx/data"
	"pmx/engine"
	"pmx/engine/guard"
)

// dayFiles writes the fills of days, each to a file, over one or more connections that see the same state.
type dayFiles struct {
	conns []*sql.Conn
	dir   string
	known map[string]Partition
	done  func(p Partition, path string, share float64) error

	texts fillTexts
}

// What a connection needs in memory for each wallet, each token, and each fill of a day, in bytes; and the number of
// days from which on tables of wallets and tokens are made for all of them.
const (
	dayWallet, dayToken, dayFill = 120, 300, 400
	manyDays                     = 4
)

// write passes all days to done, in order. Those whose print is known are not written. Connections may use half of the
// memory, in bytes.
func (f *dayFiles) write(ctx context.Context, days []fillDay, memory int64, state *PartitionState) error {
	var changed []fillDay
	most := int64(0)
	for _, d := range days {
		if !f.unchanged(d) {
			changed, most = append(changed, d), max(most, d.Rows)
		}
	}
	tables := state.Names.Known*dayWallet + state.Tokens.Known*dayToken
	many := len(changed) >= manyDays
	if !many || (tables+most*dayFill)*int64(len(f.conns)) > memory/2 {
		f.conns = f.conns[:1]
	}
	f.texts = storedTexts()
	if !many || tables+most*dayFill > memory/2 {
		return f.writeAll(ctx, days, changed)
	}
	return f.withTables(ctx, func() error { return f.writeAll(ctx, days, changed) })
}

func (f *dayFiles) unchanged(d fillDay) bool { return f.known[d.Name].Fingerprint == d.Fingerprint }

// withTables calls write while each connection has temporary tables of wallets and tokens, so that their texts are made
// once and not for each day. After an error the transactions are rolled back, and the tables with them.
func (f *dayFiles) withTables(ctx context.Context, write func() error) error {
	wallets, tokens := f.texts.rows()
	made := map[string]string{"x_wallet": wallets, "x_token": tokens}
	each := func(name string) error {
		for _, conn := range f.conns {
			for table, rows := range made {
				if _, err := conn.ExecContext(ctx, statements.Get(name, "@table", table, "@rows", rows)); err != nil {
					return err
				}
			}
		}
		return nil
	}
	if err := each("FillTable"); err != nil {
		return err
	}
	f.texts = madeTexts("x_wallet", "x_token")
	if err := write(); err != nil {
		return err
	}
	return each("DropFillTable")
}

// dayFile is a written file.
type dayFile struct {
	Partition
	path string
}

// writeAll writes the changed ones of days, on each connection every second one, and passes all days on.
func (f *dayFiles) writeAll(ctx context.Context, days, changed []fillDay) error {
	group, ctx := errgroup.WithContext(ctx)
	ready := make([]chan dayFile, len(f.conns))
	for i, conn := range f.conns {
		ready[i] = make(chan dayFile, 1)
		guard.InGroup(group, func() error {
			defer close(ready[i])
			return engine.LowPriority(func() error {
				for n := i; n < len(changed); n += len(f.conns) {
					if err := f.writeDay(ctx, conn, changed[n], ready[i]); err != nil {
						return err
					}
				}
				return nil
			})
		})
	}
	guard.InGroup(group, func() error { return f.passAll(days, ready) })
	err := group.Wait()
	for _, left := range ready { // because passing on failed
		for file := range left {
			if file.path != "" {
				err = errors.Join(err, os.Remove(file.path))
			}
		}
	}
	return err
}

// writeDay writes a day and sends the file.
func (f *dayFiles) writeDay(ctx context.Context, conn *sql.Conn, d fillDay, to chan<- dayFile) error {
	p := d.Partition
	path, err := writeFile(ctx, conn, f.dir, &p, f.texts.query(data.Parquet)+d.where(), copyOptions("fills", data.Parquet))
	if err != nil {
		return err
	}
	select {
	case to <- dayFile{p, path}:
		return nil
	case <-ctx.Done():
		if path != "" {
			err = os.Remove(path)
		}
		return errors.Join(ctx.Err(), err)
	}
}

// passAll passes all days on, in order, with the files of those that are written.
func (f *dayFiles) passAll(days []fillDay, ready []chan dayFile) error {
	behind, total, n := int64(0), int64(1), 0
	for _, d := range days {
		total += d.Rows
	}
	for _, d := range days {
		behind += d.Rows
		share := float64(behind) / float64(total)
		if f.unchanged(d) {
			if err := f.done(d.Partition, "", share); err != nil {
				return err
			}
			continue
		}
		file, ok := <-ready[n%len(ready)]
		if !ok {
			return nil // its writer failed and reports why
		}
		if n++; file.path == "" {
			continue
		}
		if err := passOn(file.Partition, file.path, func(p Partition, path string) error { return f.done(p, path, share) }); err != nil {
			return err
		}
	}
	return nil
}
