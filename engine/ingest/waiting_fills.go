package ingest

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"time"

	"pmx/data"
	"pmx/engine"
)

// errNothingToDo ends a pass over known rows that found none.
var errNothingToDo = errors.New("no rows are affected")

// release imports waiting fills, which name their market by condition or Gamma id, if their market
// is known now.
func (im *Importer) release(ctx context.Context, conn *sql.Conn, at time.Time) (r Receipt, err error) {
	var waiting int64
	if err := conn.QueryRowContext(ctx, statements.Get("WaitingCount")).Scan(&waiting); err != nil || waiting == 0 {
		return r, err
	}
	return im.again(ctx, conn, at, "fills that waited for their market", func(j *fileImport) error { return j.exec("Releasable") },
		func(j *fileImport) error { return j.exec("DropReleased") })
}

// again imports known rows of fills again, like those of a file and in a separate transaction. If
// it is interrupted, the next import repeats it. stage fills s_raw; after is called when the rows
// are imported.
func (im *Importer) again(ctx context.Context, conn *sql.Conn, at time.Time, name string, stage, after func(*fileImport) error) (r Receipt, err error) {
	src := &source{name: name, feed: data.Feed{Name: "waiting", Kind: data.KindFills, Identity: data.KeepRepeats}}
	j := &fileImport{im: im, ctx: ctx, conn: conn, src: src, started: at, release: true,
		rejects: newRejects(im.DB.Dir(), src.name, at)}
	j.receipt = Receipt{File: src.name, Feed: src.feed.Name}
	defer j.cleanup()
	defer j.rejects.discard()
	if err := j.empty("MarketsEmpty", "SpareEmpty", "MapEmpty", "BlocksEmpty"); err != nil {
		return r, err
	}
	err = engine.InTx(ctx, conn, func() error {
		if err := stage(j); err != nil {
			return err
		}
		if j.receipt.Read, err = j.count("s_raw"); err != nil {
			return err
		}
		if j.receipt.Read == 0 {
			return errNothingToDo
		}
		if err := j.transact(); err != nil {
			return err
		}
		return after(j)
	})
	if errors.Is(err, errNothingToDo) {
		return r, nil
	}
	if err != nil {
		return r, fmt.Errorf("%s: %w", name, err)
	}
	return j.receipt, errors.Join(j.rejects.publish(), j.follow())
}
