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
// are assigned and joined, but nothing is checked, matched or derived. With inTimeOrder the rows are
// stored in the order in which pmx stores facts; otherwise those of one thread follow those of another.
var rivalLoad = []string{"LoadWallets", "LoadTokens", "LoadEmpty", "LoadFills"}

const inTimeOrder = "ORDER BY f.ts"

// load measures the import of a Parquet file against loading it with DuckDB, in time order and in any.
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
	var ours, rival, anyOrder []time.Duration
	for range 3 {
		o, err := b.loadOurs(file)
		if err != nil {
			return err
		}
		r, err := b.loadRival(file, inTimeOrder)
		if err != nil {
			return err
		}
		a, err := b.loadRival(file, "")
		if err != nil {
			return err
		}
		ours, rival, anyOrder = append(ours, o), append(rival, r), append(anyOrder, a)
	}
	o, r, a := median(ours), median(rival), median(anyOrder)
	b.add("import Parquet to facts, "+count(n)+" fills", perSecond(n, o), "DuckDB's own load in time order "+perSecond(n, r),
		ratio(r.Seconds(), o.Seconds()), "≥ 0.80")
	b.add("the same", perSecond(n, o), "DuckDB's own load in any order "+perSecond(n, a), ratio(a.Seconds(), o.Seconds()), "")
	return errors.Join(os.RemoveAll(b.path("load")), os.RemoveAll(b.path("load-ours")))
}

// parquet exports the fills of a venue as one canonical file.
func (b *bench) parquet(name string) (path string, err error) {
	k, err := open(b.ctx, b.path(name), false)
	if err != nil {
		return "", err
	}
	path, _, err = k.Exporter().WriteFacts(b.ctx, k.DB().Dir().Exports(), "fills", data.Parquet, nil)
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

func (b *bench) loadRival(file, order string) (time.Duration, error) {
	path := b.path("rival.duckdb")
	defer func() { _ = os.Remove(path) }()
	db, err := duck(path, "8GB")
	if err != nil {
		return 0, err
	}
	took, err := timed(func() error {
		return execAll(b.ctx, db, append(texts(duckStatements, rivalLoad, "@file", file, "@order", order), "CHECKPOINT")...)
	})
	return took, errors.Join(err, db.Close())
}
