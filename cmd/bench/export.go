package main

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"path/filepath"
	"time"

	"pmx/cmd/bench/load"
	"pmx/data"
	"pmx/engine/export"
)

// crowd are the statements that insert many wallets with lifetime figures but without fills.
var crowd = []string{"CrowdWallets", "CrowdTotals", "CrowdState"}

// export measures an export with the maximum number of rows against a COPY, its memory, and its
// effect on readers.
func (b *bench) export() error {
	s, err := b.crowded()
	if err != nil {
		return err
	}
	return errors.Join(b.exportRates(s), b.exportReaders(s), s.close())
}

// crowded serves a venue with a crowd.
func (b *bench) crowded() (*service, error) {
	k, err := open(b.ctx, b.path("crowd"), false)
	if err != nil {
		return nil, err
	}
	err = k.DB().Write(b.ctx, func(conn *sql.Conn) error {
		var there int64
		if err := conn.QueryRowContext(b.ctx, duckStatements.Get("CountWallets")).Scan(&there); err != nil || there > 0 {
			return err
		}
		for _, text := range texts(duckStatements, crowd, "@crowd", fmt.Sprint(b.Crowd)) {
			if _, err := conn.ExecContext(b.ctx, text); err != nil {
				return err
			}
		}
		return nil
	})
	if err := errors.Join(err, k.Close()); err != nil {
		return nil, err
	}
	return b.serve("crowd")
}

func (b *bench) exportRates(s *service) error {
	for _, f := range []struct {
		format  data.Format
		options string
		bar     string
	}{{data.Parquet, "FORMAT parquet, COMPRESSION zstd, ROW_GROUP_SIZE 122880", "≤ 1.15"}, {data.CSV, "FORMAT csv, HEADER true", ""}} {
		var ours, bare []time.Duration
		peak, before := int64(0), int64(0)
		for range 3 {
			d, err := b.bareExport(s, f.options)
			if err != nil {
				return err
			}
			resetPeak()
			before = peakMemory()
			o, err := timed(func() error { return b.exportOnce(b.ctx, s, f.format) })
			if err != nil {
				return err
			}
			ours, bare, peak = append(ours, o), append(bare, d), max(peak, peakMemory()-before)
		}
		o, r := median(ours), median(bare)
		b.add(fmt.Sprintf("export %s rows as %s", count(min(b.Crowd, export.MaxRows)), f.format), fmt.Sprintf("%s, peak +%d MB", o.Round(10*time.Millisecond), peak>>20),
			"a bare COPY "+r.Round(10*time.Millisecond).String(), ratio(o.Seconds(), r.Seconds()), f.bar)
	}
	return nil
}

func (b *bench) exportOnce(ctx context.Context, s *service, format data.Format) error {
	e := export.Exporter{DB: s.keeper.DB()}
	_, err := e.Write(ctx, "trader_leaderboard", format, filepath.Join(s.keeper.DB().Dir().Exports(), "bench."+string(format)), nil)
	return err
}

func (b *bench) bareExport(s *service, options string) (took time.Duration, err error) {
	file := filepath.Join(s.keeper.DB().Dir().Exports(), "bare")
	err = s.keeper.DB().Read(b.ctx, func(conn *sql.Conn) error {
		took, err = timed(func() error {
			_, err := conn.ExecContext(b.ctx, duckStatements.Get("BareCopy", "@file", file, "@options", options))
			return err
		})
		return err
	})
	return took, err
}

// exportReaders requests stats of random wallets, idle and while one export follows another.
func (b *bench) exportReaders(s *service) error {
	paths := walletPaths(s)
	run := func() (load.Result, error) { return s.ask(b.ctx, paths) }
	quiet, err := run()
	if err != nil {
		return err
	}
	ctx, cancel := context.WithCancel(b.ctx)
	done := make(chan error, 1)
	go func() {
		var err error
		for ctx.Err() == nil && err == nil {
			err = b.exportOnce(ctx, s, data.Parquet)
		}
		done <- err
	}()
	busy, err := run()
	cancel()
	if ended := <-done; !errors.Is(ended, context.Canceled) {
		err = errors.Join(err, ended)
	}
	if err != nil {
		return err
	}
	b.add("stats of random wallets while an export runs", fmt.Sprintf("p99 %s, %s/s", short(busy.P99), count(int64(busy.PerSecond))),
		fmt.Sprintf("quiet p99 %s, %s/s", short(quiet.P99), count(int64(quiet.PerSecond))), ratio(busy.P99.Seconds(), quiet.P99.Seconds()), "≤ 2")
	return nil
}
