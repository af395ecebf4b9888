package main

import (
	"errors"
	"os"
	"time"

	"pmx/data"
)

// loadRows is the number of fills for measuring the import.
const loadRows = 5_000_000

// rivalLoad are the statements that read the same file into the same columns with DuckDB alone: ids
// are assigned and joined, but nothing is checked, matched or derived.
var rivalLoad = []string{"LoadWallets", "LoadTokens", "LoadEmpty", "LoadFills"}

// load measures the import of a Parquet file against loading it with DuckDB.
func (b *bench) load() error {
	n := min(b.Fills, loadRows)
	if err := b.venue("load", n); err != nil {
		return err
	}
	file, err := b.parquet("load")
	if err != nil {
		return err
	}
	defer func() { _ = os.Remove(file) }()
	var ours, rival []time.Duration
	for range 3 {
		o, err := b.loadOurs(file)
		if err != nil {
			return err
		}
		r, err := b.loadRival(file)
		if err != nil {
			return err
		}
		ours, rival = append(ours, o), append(rival, r)
	}
	o, r := median(ours), median(rival)
	b.add("import Parquet to facts, "+count(n)+" fills", perSecond(n, o), "DuckDB's own load "+perSecond(n, r),
		ratio(r.Seconds(), o.Seconds()), "≥ 0.80")
	return errors.Join(os.RemoveAll(b.path("load")), os.RemoveAll(b.path("load-ours")))
}

// parquet exports the fills of a venue as one canonical file.
func (b *bench) parquet(name string) (path string, err error) {
	k, err := open(b.ctx, b.path(name), false)
	if err != nil {
		return "", err
	}
	path, _, err = k.Exporter().WriteFacts(b.ctx, k.DB().Dir().Exports(), "fills", data.Parquet)
	if err := errors.Join(err, k.Close()); err != nil {
		return "", err
	}
	return path, nil
}

// loadOurs imports into an empty database, only as facts: the rollups are left to the rebuild,
// which is measured separately.
func (b *bench) loadOurs(file string) (time.Duration, error) {
	dir := b.path("load-ours")
	if err := os.RemoveAll(dir); err != nil {
		return 0, err
	}
	k, err := open(b.ctx, dir, false)
	if err != nil {
		return 0, err
	}
	k.FactsOnly()
	took, err := timed(func() error {
		if _, err := importFiles(b.ctx, k, file); err != nil {
			return err
		}
		return k.DB().Checkpoint(b.ctx)
	})
	return took, errors.Join(err, k.Close())
}

func (b *bench) loadRival(file string) (time.Duration, error) {
	path := b.path("rival.duckdb")
	defer func() { _ = os.Remove(path) }()
	db, err := duck(path, "8GB")
	if err != nil {
		return 0, err
	}
	took, err := timed(func() error {
		return execAll(b.ctx, db, append(texts(duckStatements, rivalLoad, "@file", file), "CHECKPOINT")...)
	})
	return took, errors.Join(err, db.Close())
}
