package ingest

import (
	"context"
	"database/sql"
	"time"

	"pmx/data"
)

// dateByBlocks sets the times of staged rows to those of their blocks. named: some rows have a
// block; undated: some have no time; late: some facts have a time of their block that no longer
// applies. apart is set if rows that may be equal then had different times, or only some had one.
func (j *fileImport) dateByBlocks(named, undated, late, apart bool) error {
	j.inBlocks = named
	j.apart = apart && !j.release && j.src.feed.Identity != data.CollapseRepeats
	if j.apart {
		if err := j.exec("KeepSaid"); err != nil {
			return err
		}
	}
	if named && undated {
		if err := j.exec("BlockTimes"); err != nil {
			return err
		}
	}
	if !late {
		return nil
	}
	j.receipt.late = true
	if err := j.exec("LateTimes"); err != nil {
		return err
	}
	if err := j.exec("LateTransactions", "@staged", statements.Get("LateStaged")); err != nil {
		return err
	}
	return j.exec("DateStaged")
}

// saidTime is the column of a row's original time, which distinguishes rows that got the same time
// of their block.
func (j *fileImport) saidTime() string {
	if j.apart {
		return "said"
	}
	return "NULL::BIGINT"
}

// noteBlocks stores the blocks of staged rows with the known rows that are equal to them: the
// staged rows may be considered the same fills.
func (j *fileImport) noteBlocks() error {
	if !j.inBlocks {
		return nil
	}
	if err := j.exec("InBlocks"); err != nil {
		return err
	}
	if found, err := j.count("s_block_of"); err != nil || found == 0 {
		return err
	}
	for table, rid := range map[string]string{"fills": "fills.rowid", "lost_fills": "-1 - lost_fills.rowid", "e_fill": "e_fill.rid"} {
		if err := j.exec("NoteBlocks", "@table", table, "@rid", rid); err != nil {
			return err
		}
	}
	return nil
}

// moveLate sets fills whose block has an earlier time to that time. Equal or contradicting rows are
// found as if the fills had come with it.
func (im *Importer) moveLate(ctx context.Context, conn *sql.Conn, at time.Time) (Receipt, error) {
	return im.again(ctx, conn, at, "fills whose block has an earlier time", func(j *fileImport) error {
		j.moving, j.ousted = true, true
		if err := j.exec("LateTimes"); err != nil {
			return err
		}
		if err := j.exec("LateTransactions", "@staged", ""); err != nil {
			return err
		}
		return j.execAll("Late", "DropLate", "StageLate")
	}, func(*fileImport) error { return nil })
}
