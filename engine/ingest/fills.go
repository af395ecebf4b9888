package ingest

import (
	"database/sql"
	"database/sql/driver"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"

	"pmx/data"
	"pmx/engine"
)

// fewRows is the number of rows up to which the cost of a statement is that of planning it.
const fewRows = 20_000

// maxRanges is the maximum number of separate ranges of days; a batch that touches more is compared
// with the whole span.
const maxRanges = 32

// prepareFills makes n_fill from s_raw: with ids and without repeats and known fills.
func (j *fileImport) prepareFills() error {
	if !j.src.hasFills() {
		return errors.Join(j.exec("NoFills"), j.empty("NoNames"))
	}
	if err := j.resolveStaged(); err != nil {
		return err
	}
	j.came = j.staged
	if err := j.intern(); err != nil {
		return err
	}
	numbered := j.dropRepeats
	if j.release || j.apart { // numbered on arrival, or by the times in their rows
		numbered = j.dropNumberedTwice
	}
	if err := j.countMembers(nil); err != nil {
		return err
	}
	if err := numbered(); err != nil {
		return err
	}
	if err := j.countMembers(func(r *Receipt) *int64 { return &r.Identical }); err != nil {
		return err
	}
	if err := j.dropKnown(); err != nil {
		return err
	}
	if err := j.countMembers(j.goneAsKnown); err != nil {
		return err
	}
	if err := j.contests(); err != nil {
		return err
	}
	if err := j.figures(); err != nil {
		return err
	}
	j.holdTransactions()
	return nil
}

// resolveStaged sets times and references, and stores fills that have to wait.
func (j *fileImport) resolveStaged() error {
	var rows, blocks, references, late, undated int64
	if err := j.countStaged(&rows, &blocks, &references, &late, &undated); err != nil {
		return err
	}
	apart := late > 0 || blocks > 0 && undated > 0 && undated < rows
	if err := j.aloneIf(apart || references > 0); err != nil {
		return err
	}
	if err := j.dateByBlocks(blocks > 0, undated > 0, late > 0, apart); err != nil {
		return err
	}
	if references > 0 {
		if err := j.exec("ResolveReferences"); err != nil {
			return err
		}
	}
	if err := j.rejectBadRows(); err != nil {
		return err
	}
	if references == 0 {
		return nil
	}
	waiting, err := j.changed("DropWaiting", func() error {
		return j.exec("Wait", "@time", j.saidTime(), "@collapse", strconv.FormatBool(j.src.feed.Identity == data.CollapseRepeats))
	})
	j.receipt.Waiting = waiting
	return err
}

// countStaged counts the staged fills, those with a block, those that refer to their token by its
// market, those without a time, and known blocks with later times.
func (j *fileImport) countStaged(rows, blocks, references, late, undated *int64) error {
	if s := j.texts; s != nil {
		*rows, *blocks = s.rows, s.blocks
		return nil
	}
	if j.staged == nil {
		return j.conn.QueryRowContext(j.ctx, statements.Get("RawCount")).Scan(rows, blocks, references, late, undated, &j.conditions, &j.names)
	}
	*rows, *blocks, j.conditions, j.names = j.staged.rows, j.staged.blocks, j.staged.conditions, j.staged.names
	err := j.conn.QueryRowContext(j.ctx, statements.Get("LateBlocks")).Scan(late)
	if *late > 0 {
		j.staged = nil // the times of fills may change
		err = errors.Join(err, j.stageHeld())
	}
	return err
}

// changed runs before, then a named statement, and returns how many rows the statement changed.
func (j *fileImport) changed(name string, before func() error, replace ...string) (int64, error) {
	if before != nil {
		if err := before(); err != nil {
			return 0, err
		}
	}
	res, err := j.conn.ExecContext(j.ctx, j.text(name, replace...))
	if err != nil {
		return 0, fmt.Errorf("%s: %w", name, err)
	}
	return res.RowsAffected()
}

func (j *fileImport) intern() error {
	done, err := j.texts != nil, error(nil)
	if done {
		err = j.internTexts()
	} else if done, err = j.internHeld(); !done && err == nil {
		done, err = j.internFromMemory()
	}
	if err != nil {
		return err
	}
	if !done {
		if err := j.execAll("NewWallets", "NewTokens"); err != nil {
			return err
		}
		if err := j.exec("Interned", "@time", j.saidTime(), "@wallets", "wallets", "@tokens", "tokens"); err != nil {
			return err
		}
	}
	if !j.names {
		return j.empty("NoNames")
	}
	if err := j.exec("Names", j.named()...); err != nil {
		return err
	}
	return j.execAll("DropOldNames", "ReplaceNames", "AddNames")
}

// dropRepeats numbers equal rows of this file, or removes them if the feed's pages overlap.
func (j *fileImport) dropRepeats() error {
	if err := j.mergeLogs(); err != nil {
		return err
	}
	switch s := j.staged; {
	case s != nil && (!s.equal || j.held.numbered):
		return nil
	case s != nil && s.byLog != nil:
		return j.numberLogged(s.byLog.repeats)
	}
	if j.texts != nil && j.texts.numbered && j.src.feed.Identity == data.KeepRepeats {
		return nil
	}
	j.staged = nil
	var suspects int64 // a query: as a command it would not return the number of rows
	if err := j.conn.QueryRowContext(j.ctx, j.text("SuspectRepeats")).Scan(&suspects); err != nil || suspects == 0 {
		return err
	}
	if err := j.aloneIfEqual(); err != nil {
		return err
	}
	repeats, err := j.changed("NumberRepeats", nil, "@order", statements.Get("UnknownOrder"))
	if err != nil || repeats == 0 || j.src.feed.Identity != data.CollapseRepeats {
		return err
	}
	n, err := j.changed("DropRepeats", func() error {
		return j.exec("MergeEqual", "@bestfee", bestFee(""), "@repeat", "", "@same", "", "@among", statements.Get("Suspect"))
	})
	j.receipt.Identical += n
	return err
}

// numberLogged is NumberRepeats for fills that all have a log.
func (j *fileImport) numberLogged(repeats []loggedRepeat) error {
	if err := j.exec("RepeatsEmpty"); err != nil {
		return err
	}
	err := engine.AppendTemp(j.conn, "s_repeat", len(repeats), func(i int) []driver.Value {
		r := &repeats[i]
		return []driver.Value{r.tx[:], r.index, r.repeat}
	})
	if err != nil {
		return err
	}
	return j.exec("NumberLogged")
}

// dropKnown compares the staged fills with the facts of the days they touch.
func (j *fileImport) dropKnown() error {
	ranges, err := j.knownRanges()
	if err != nil {
		return err
	}
	known, err := j.anyKnown(ranges)
	if err != nil {
		return err
	}
	if fresh := !known && !j.lost && !j.moving; fresh || j.together() {
		mixed, err := j.mixed()
		if err := errors.Join(err, j.aloneIf(mixed && !fresh)); err != nil {
			return err
		}
		if fresh && !mixed {
			j.fresh = true
			return j.exec("SignedFresh")
		}
	}
	if err := errors.Join(j.knownMade(), j.noteBlocks()); err != nil {
		return err
	}
	logs, err := j.knownLogs()
	if err != nil {
		return err
	}
	newLogs := statements.Get("NewLogs")
	if err := j.exec("Replacing", "@newlogs", newLogs); err != nil {
		return err
	}
	rest, err := j.changed("DropKnown", func() error { return j.exec("ReplacingRoles", "@fee", betterFee("s.fee", "o.fee")) }, "@newlogs", newLogs)
	if err != nil {
		return err
	}
	if j.receipt.AlreadyThere = logs; known {
		j.receipt.AlreadyThere += rest
	} else { // they are equal to logs in the same file
		j.receipt.Identical += rest
	}
	if err := j.keepLost(); err != nil {
		return err
	}
	if err := j.exec("SignedReplacing", "@rank", roleRank("k.rank")); err != nil {
		return err
	}
	if j.moving {
		if err := j.exec("RetractLate"); err != nil {
			return err
		}
	}
	if err := j.retractProvisional(known); err != nil {
		return err
	}
	return j.exec("SignedView")
}

// knownMade creates the table of facts that may be staged fills, if it was known that there are none.
func (j *fileImport) knownMade() error {
	if j.made["e_fill"] {
		return nil
	}
	return j.exec("NoneKnown")
}

// retractProvisional removes provisional facts that are replaced; known is set if there may be any.
func (j *fileImport) retractProvisional(known bool) error {
	if j.src.instead == "" || !known {
		return nil
	}
	gone, err := j.changed("RetractProvisional", nil)
	j.ousted = j.ousted || gone > 0
	return err
}

// knownProvisional adds the provisional facts of the staged fills' transactions to the facts that
// may be the same fills.
func (j *fileImport) knownProvisional(ranges string) error {
	if err := j.exec("Provisional", "@ranges", ranges, "@name", "'"+strings.ReplaceAll(j.src.instead, "'", "''")+"'"); err != nil {
		return err
	}
	return j.exec("KnownProvisional")
}

// dropNumberedTwice is dropRepeats for fills that waited or whose time changes, which were numbered
// on arrival, separately for each file; and for fills of one file whose several times are now
// equal, which were numbered separately for each time. The largest of the counts of equal fills is
// used.
func (j *fileImport) dropNumberedTwice() error {
	var err error
	if j.release {
		err = j.exec("ReleaseRepeats")
	} else if err = j.exec("SuspectRepeats"); err == nil {
		err = j.exec("NumberApart", "@order", statements.Get("UnknownOrder"))
	}
	if err != nil {
		return err
	}
	if err := j.mergeLogs(); err != nil {
		return err
	}
	if err := j.exec("MergeEqual", "@bestfee", bestFee(""), "@repeat", ", repeat", "@same", " AND k.repeat = s_fill.repeat", "@among", ""); err != nil {
		return err
	}
	n, err := j.changed("DropNumberedTwice", nil)
	if !j.release {
		j.receipt.Identical += n
	}
	return err
}

// anyKnown collects the facts that may be the same fill as a staged one, if the touched days have
// any.
func (j *fileImport) anyKnown(ranges string) (bool, error) {
	few := j.receipt.Read <= fewRows
	if !few { // for fewer, comparing with no facts costs no more than counting them
		facts, err := j.count("(" + ranges + ")")
		if err != nil {
			return false, err
		}
		if facts == 0 {
			return false, j.exec("NoneKnown")
		}
	}
	which := "Known"
	if j.allHashed {
		which = "KnownOfTransactions"
	}
	if j.allHashed && !j.lost && !j.moving { // a fact of another transaction is another fill
		if none, err := j.noneHeld(); err != nil || none {
			return false, err
		}
		var some bool
		if err := j.conn.QueryRowContext(j.ctx, statements.Get("AnyOfTransactions", "@ranges", ranges)).Scan(&some); err != nil || !some {
			return false, err
		}
	}
	if err := j.exec(which, "@ranges", ranges); err != nil {
		return false, err
	}
	if j.moving {
		if err := j.exec("ForgetLate"); err != nil {
			return false, err
		}
	}
	if j.src.instead != "" {
		if err := j.knownProvisional(ranges); err != nil {
			return false, err
		}
	}
	known, err := j.count("e_fill")
	return known > 0, err
}

// mixed reports whether the file may have equal rows with and without a log index.
func (j *fileImport) mixed() (mixed bool, err error) {
	if j.allIndexed || !j.indexed {
		return false, nil
	}
	var some, all bool
	err = j.conn.QueryRowContext(j.ctx, statements.Get("LogIndexes")).Scan(&some, &all)
	return some && !all, err
}

// timeRange is a row of DayRanges, in microseconds; both ends belong to it.
type timeRange struct {
	Lo int64 `sql:"lo"`
	Hi int64 `sql:"hi"`
}

// dayRanges returns the days of the staged fills as closed ranges without gaps.
func (j *fileImport) dayRanges() (bounds [][2]int64, err error) {
	if j.staged != nil {
		return j.staged.dayRanges(), nil
	}
	err = engine.EachRow(j.ctx, j.conn, statements.Get("DayRanges"), func(row *timeRange) error {
		bounds = append(bounds, [2]int64{row.Lo, row.Hi})
		return nil
	})
	return bounds, err
}

func (j *fileImport) knownRanges() (string, error) {
	bounds, err := j.dayRanges()
	if err != nil {
		return "", err
	}
	if len(bounds) > maxRanges {
		bounds = [][2]int64{{bounds[0][0], bounds[len(bounds)-1][1]}}
	}
	if len(bounds) == 0 {
		bounds = [][2]int64{{0, 0}}
	}
	parts := make([]string, len(bounds), len(bounds)+1)
	for i, b := range bounds {
		parts[i] = statements.Get("KnownRange", "@lo", strconv.FormatInt(b[0], 10), "@hi", strconv.FormatInt(b[1], 10))
	}
	parts = append(parts, statements.Get("LostRange"))
	return strings.Join(parts, " UNION ALL "), nil
}

// figures sets the figures of the receipt for the remaining fills.
func (j *fileImport) figures() error {
	var (
		member                           int
		inserted, replaced, bought, sold int64
		first, last                      sql.NullInt64
	)
	note := func() error {
		j.noteFigures(j.receiptOf(member), inserted, replaced, bought, sold, first, last)
		return nil
	}
	if s := j.staged; s != nil && j.fresh { // the batch is exactly what was staged
		inserted, bought, sold = s.rows, s.bought, s.sold
		first, last = sql.NullInt64{Int64: s.minTS, Valid: s.rows > 0}, sql.NullInt64{Int64: s.maxTS, Valid: s.rows > 0}
		return note()
	}
	return j.byMember("BatchFigures", note, &member, &inserted, &replaced, &first, &last, &bought, &sold)
}

// noteFigures sets figures of a receipt.
func (j *fileImport) noteFigures(r *Receipt, inserted, replaced, bought, sold int64, first, last sql.NullInt64) {
	r.Inserted, r.Replaced, r.Merged, r.BuyUSD, r.SellUSD = inserted, replaced-j.absorbed, j.absorbed, data.Micro(bought), data.Micro(sold)
	if j.moving {
		r.Merged = replaced - inserted
	}
	if first.Valid {
		r.minTS, r.maxTS = first.Int64, last.Int64
		r.From = time.UnixMicro(first.Int64).UTC().Format(time.RFC3339)
		r.To = time.UnixMicro(last.Int64).UTC().Format(time.RFC3339)
	}
	j.sum(r)
}

// recordImport records the file and its receipt in the import log.
func (j *fileImport) recordImport() error {
	if j.src.hasFills() {
		var member int
		var unmapped int64
		count := "UnmappedInBatch"
		if j.made["n_first"] {
			count = "UnmappedOfFiles"
		}
		err := j.byMember(count, func() error {
			j.receiptOf(member).Unmapped = unmapped
			return nil
		}, &member, &unmapped)
		if err != nil {
			return err
		}
	}
	j.finish()
	record, err := j.conn.PrepareContext(j.ctx, statements.Get("RecordImport"))
	if err != nil {
		return err
	}
	for i := range max(len(j.src.members), 1) {
		r := j.receiptOf(i)
		text, err := j.logText(r)
		if err == nil {
			_, err = record.ExecContext(j.ctx, j.batch+int64(i), r.File, r.Feed, j.started.UnixMicro(), r.minTS, r.maxTS, r.Inserted,
				r.MarketsNew+r.MarketsChanged, text)
		}
		if err != nil {
			return errors.Join(err, record.Close())
		}
	}
	return record.Close()
}
