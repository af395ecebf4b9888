package main

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io/fs"
	"math"
	"os"
	"path/filepath"
	"slices"
	"time"

	_ "github.com/duckdb/duckdb-go/v2"
	"github.com/rs/zerolog"
	"golang.org/x/sync/errgroup"

	"pmx/data/feeds"
	"pmx/data/sample"
	"pmx/engine"
	"pmx/rollups/keeper"
	"pmx/rollups/serving"
)

// open opens a data directory; if serve is set, as the server does.
func open(ctx context.Context, dir string, serve bool) (*keeper.Keeper, error) {
	return openTraced(ctx, dir, serve, nil)
}

// openTraced is open with a function that is called with every statement.
func openTraced(ctx context.Context, dir string, serve bool, onStatement func(text string)) (*keeper.Keeper, error) {
	return keeper.Open(ctx, settings(dir, serve, onStatement))
}

func settings(dir string, serve bool, onStatement func(text string)) keeper.Config {
	return keeper.Config{
		Engine: engine.Options{Dir: engine.Dir(dir), OnStatement: onStatement},
		Feeds:  feeds.Catalog{},
		Log:    zerolog.New(os.Stderr).Level(zerolog.WarnLevel),
		Serve:  serve,
	}
}

func importFiles(ctx context.Context, k *keeper.Keeper, paths ...string) (keeper.Result, error) {
	res, err := k.Import(ctx, keeper.Request{Paths: paths}, nil)
	if err == nil && len(res.Failed) > 0 {
		err = errors.New(res.Failed[0].Error)
	}
	return res, err
}

// venue makes a data directory with a sample venue of n fills, once.
func (b *bench) venue(name string, n int64) error {
	dir, files := b.path(name), b.path(name+"-files")
	if _, err := os.Stat(filepath.Join(dir, "ready")); err == nil {
		return nil
	}
	if err := errors.Join(os.RemoveAll(dir), os.RemoveAll(files)); err != nil {
		return err
	}
	fill := b.fillWhole
	if n >= b.Pieces {
		fill = b.fillInPieces
	}
	k, err := open(b.ctx, dir, false)
	if err != nil {
		return err
	}
	if err := errors.Join(fill(k, files, n), k.Close()); err != nil {
		return err
	}
	return os.WriteFile(filepath.Join(dir, "ready"), nil, 0o644)
}

// fillWhole writes all files of a venue and then imports them.
func (b *bench) fillWhole(k *keeper.Keeper, files string, n int64) error {
	made, err := timed(func() error {
		_, err := sample.Write(b.ctx, sample.Config{Fills: n}, files, nil)
		return err
	})
	if err != nil {
		return err
	}
	took, err := timed(func() error { return b.importVenue(k, files) })
	if err == nil && n == b.Fills {
		b.add("write the sample venue as CSV", perSecond(n, made), "", "", "≥ 500k/s")
		b.add("import it: CSV to facts and all rollups", perSecond(n, took), "", "", "")
	}
	return err
}

// fillInPieces imports each file of fills while the next one is written, and removes it. Markets
// and weather come last, since the venue writes them last; then all rollups are computed.
func (b *bench) fillInPieces(k *keeper.Keeper, files string, n int64) error {
	k.FactsOnly()
	var imported, rebuilt time.Duration
	work, ctx := errgroup.WithContext(b.ctx)
	paths := make(chan string)
	work.Go(func() error {
		defer close(paths)
		_, err := sample.WriteEach(ctx, sample.Config{Fills: n}, files, nil, func(path string) error {
			select {
			case paths <- path:
				return nil
			case <-ctx.Done():
				return ctx.Err()
			}
		})
		return err
	})
	work.Go(func() error {
		for path := range paths {
			took, err := timed(func() error {
				_, err := importFiles(ctx, k, path)
				return errors.Join(err, os.Remove(path))
			})
			if err != nil {
				return err
			}
			imported += took
			fmt.Fprintf(os.Stderr, "  %s in %s\n", filepath.Base(path), took.Round(time.Second))
		}
		return nil
	})
	if err := work.Wait(); err != nil {
		return err
	}
	took, err := timed(func() error { return b.importVenue(k, files) })
	if err != nil {
		return err
	}
	imported += took
	resetPeak()
	if rebuilt, err = timed(func() error { return k.Refresh(b.ctx, nil) }); err != nil {
		return err
	}
	b.add("import it, CSV to facts, while it is written", perSecond(n, imported), "", "", "")
	b.add("compute all rollups of it", rebuilt.Round(time.Second).String(), fmt.Sprintf("peak memory %.1f GiB", float64(peakMemory())/(1<<30)), "", "")
	return nil
}

// importVenue imports the files of a venue in a folder, and then removes the folder.
func (b *bench) importVenue(k *keeper.Keeper, files string) error {
	paths, err := filepath.Glob(filepath.Join(files, "orderFilled*.csv"))
	if err != nil {
		return err
	}
	slices.Sort(paths)
	others, err := filepath.Glob(filepath.Join(files, "*"))
	if err != nil {
		return err
	}
	others = slices.DeleteFunc(others, func(path string) bool { // the markets come first, the weather last
		return slices.Contains(paths, path) || slices.Contains([]string{sample.EventsName, sample.ManifestName}, filepath.Base(path))
	})
	if _, err := importFiles(b.ctx, k, slices.Concat([]string{filepath.Join(files, sample.EventsName)}, paths, others)...); err != nil {
		return err
	}
	return os.RemoveAll(files)
}

func (b *bench) prepareSmall() error { return b.venue("small", b.Small) }
func (b *bench) prepareLarge() error { return b.venue("large", b.Fills) }

// duck opens a separate DuckDB database without any table of pmx.
func duck(path string, memory string) (*sql.DB, error) {
	db, err := sql.Open("duckdb", path+"?memory_limit="+memory)
	if err != nil {
		return nil, err
	}
	db.SetMaxOpenConns(1)
	return db, nil
}

func execAll(ctx context.Context, db *sql.DB, stmts ...string) error {
	for _, s := range stmts {
		if _, err := db.ExecContext(ctx, s); err != nil {
			return fmt.Errorf("%.60s…: %w", s, err)
		}
	}
	return nil
}

// storage measures bytes per fill, of the facts and of everything.
func (b *bench) storage() error {
	path := b.path("large", "pmx.duckdb")
	st, err := os.Stat(path)
	if err != nil {
		return err
	}
	db, err := duck("", "4GB")
	if err != nil {
		return err
	}
	defer func() { _ = db.Close() }()
	if err := execAll(b.ctx, db, "ATTACH '"+path+"' AS p (READ_ONLY)", "USE p"); err != nil {
		return err
	}
	var stored int64
	err = db.QueryRowContext(b.ctx, duckStatements.Get("FactBytes")).Scan(&stored)
	if err != nil {
		return err
	}
	var rows int64
	if err := db.QueryRowContext(b.ctx, duckStatements.Get("CountFills")).Scan(&rows); err != nil {
		return err
	}
	b.add("bytes per fill, facts", fmt.Sprintf("%.1f B", float64(stored)/float64(rows)), "", "", "≤ 30 B")
	b.keep(b.Fills, "bytes_per_fill", math.Round(float64(st.Size())/float64(rows)*10)/10)
	b.add("bytes per fill, everything", fmt.Sprintf("%.1f B", float64(st.Size())/float64(rows)), "", "", "≤ 90 B")
	return nil
}

// start measures opening a database until the first snapshot is there.
func (b *bench) start() error {
	image := engine.Dir(b.path("large")).Image()
	if err := os.Remove(image); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	engine.ReturnMemory() // releases what earlier measurements hold
	before := anonymousMemory()
	k, took, err := b.openLarge("start: open, build the snapshot")
	if err != nil {
		return err
	}
	b.keep(b.Fills, "start_ms", milliseconds(took))
	k.Settle()
	engine.ReturnMemory()
	if after := anonymousMemory(); after > before {
		b.keep(b.Fills, "memory_mb", float64((after-before)>>20))
		b.add("memory of a settled server, without pages of files", fmt.Sprintf("%d MB", (after-before)>>20), "", "", "≤ 2.5 GB")
	}
	snapshot := k.Snapshot()
	took, spent, err := timedBoth(k.Close)
	if err != nil {
		return err
	}
	written, err := os.Stat(image)
	if errors.Is(err, fs.ErrNotExist) { // there are too few wallets
		return nil
	}
	if err != nil {
		return err
	}
	b.add("stop, with an image for the next start", took.Round(time.Millisecond).String(), fmt.Sprintf("%d MB, %d wallets, %d markets", written.Size()>>20, snapshot.Wallets(), snapshot.Catalog.Len()),
		"of processor time "+spent.Round(time.Millisecond).String(), "")
	return b.startFromImage()
}

// startFromImage measures opening a database until wallets can be shown, and until the first snapshot is there, after a stop.
func (b *bench) startFromImage() error {
	engine.ReturnMemory()
	k, _, err := b.openLarge("start from the image")
	if err != nil {
		return err
	}
	return k.Close()
}

// openLarge opens the large venue until the first snapshot is there, and adds a row of what that took. If wallets can be shown before
// that, there is a row for them too.
func (b *bench) openLarge(what string) (k *keeper.Keeper, took time.Duration, err error) {
	cfg := settings(b.path("large"), true, nil)
	cfg.Later = true
	began, before := time.Now(), processorTime()
	took, spent, err := timedBoth(func() (err error) {
		if k, err = keeper.Open(b.ctx, cfg); err != nil {
			return err
		}
		return k.Begin(b.ctx, func(*serving.Snapshot) {
			b.add(what+": leaderboards of traders, statistics of wallets", time.Since(began).Round(time.Millisecond).String(), "",
				"of processor time "+(processorTime()-before).Round(time.Millisecond).String(), "≤ 2 s at 100M")
		})
	})
	if err != nil {
		if k != nil {
			err = errors.Join(err, k.Close())
		}
		return nil, 0, err
	}
	b.add(what, took.Round(time.Millisecond).String(), "", "of processor time "+spent.Round(time.Millisecond).String(), "")
	return k, took, nil
}

// timedBoth is timed, with the processor time that the process took meanwhile.
func timedBoth(f func() error) (took, spent time.Duration, err error) {
	before := processorTime()
	took, err = timed(f)
	return took, processorTime() - before, err
}
