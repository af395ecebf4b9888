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

// errNothingWaits ends a release that found nothing to let in.
var errNothingWaits = errors.New("no waiting fill is known by now")

// release lets in the fills that named their market by condition or Gamma id
// before anybody had described it, and whose market is known now. They pass the
// same way as any file, in a transaction of their own: one that is cut short is
// made up for by the next import.
func (im *Importer) release(ctx context.Context, conn *sql.Conn, at time.Time) (r Receipt, err error) {
	var waiting int64
	if err := conn.QueryRowContext(ctx, statements.Get("WaitingCount")).Scan(&waiting); err != nil || waiting == 0 {
		return r, err
	}
	src := &source{name: "fills that waited for their market",
		feed: data.Feed{Name: "waiting", Kind: data.KindFills, Identity: data.KeepRepeats}}
	j := &fileImport{im: im, ctx: ctx, conn: conn, src: src, started: at, release: true,
		rejects: newRejects(im.DB.Dir(), src.name, at)}
	j.receipt = Receipt{File: src.name, Feed: src.feed.Name}
	defer j.cleanup()
	defer j.rejects.discard()
	if err := j.execAll("MarketsEmpty", "MapEmpty", "BlocksEmpty"); err != nil {
		return r, err
	}
	err = engine.InTx(ctx, conn, func() error {
		if err := j.exec("Releasable"); err != nil {
			return err
		}
		if err := conn.QueryRowContext(ctx, "SELECT count(*) FROM s_raw").Scan(&j.receipt.Read); err != nil {
			return err
		}
		if j.receipt.Read == 0 {
			return errNothingWaits
		}
		if err := j.transact(); err != nil {
			return err
		}
		return j.exec("DropReleased")
	})
	if errors.Is(err, errNothingWaits) {
		return r, nil
	}
	if err != nil {
		return r, fmt.Errorf("release waiting fills: %w", err)
	}
	return j.receipt, errors.Join(j.rejects.publish(), j.follow())
}
