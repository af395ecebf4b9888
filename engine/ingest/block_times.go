package ingest

import (
	"context"
	"database/sql"
	"time"

	"pmx/data"
)

// dateByBlocks gives staged rows the time of their block: named, where rows name it, undated,
// where some say no time; late, of all of its transactions that have a time of it which does not stand. apart: rows
// that may be equal then say different times, or only some say one.
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

// saidTime is what tells rows apart that got one time of their block.
func (j *fileImport) saidTime() string {
	if j.apart {
		return "said"
	}
	return "NULL::BIGINT"
}

// noteBlocks notes the blocks that staged rows name with the known rows that are equal to them:
// the staged ones may be taken for these.
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

// moveLate returns the fills that have a later time of their block the one that stands. What they
// are equal to, or contradict, is found as if they came with it.
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
