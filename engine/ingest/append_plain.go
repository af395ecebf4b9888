package ingest

import (
	"context"
	"database/sql"
	"errors"
	"strconv"

	"pmx/data"
	"pmx/engine"
)

// plainParquet is the number of rows from which on a Parquet file may be appended: for fewer, reading all wallets and
// tokens first costs more than staging.
const plainParquet = 50_000

// errStage is the error of a file whose fills cannot be appended to the facts while it is read: they have to be staged.
var errStage = errors.New("the fills have to be staged")

// plainTail is the state of the facts to which the fills of a plain file are appended.
type plainTail struct {
	facts  int64
	newest int64 // time of the newest fact, unix µs; 0: there is none
	stale  bool  // the rollups are rebuilt anyway
}

// mayAppend reports whether the fills of the file may be appended to the facts while they are read, and returns the
// state of the facts. That is so for a plain file in order of time whose fills are not before the newest day, with so
// many fills that the rollups are rebuilt: merging needs the batch. It depends on the fills, too, whether they are.
func (j *fileImport) mayAppend() (t plainTail, query data.Query, may bool, err error) {
	src := j.src.plain
	rows := j.src.rows()
	many := src.Format == data.CSV && src.Size >= j.plainFrom() || src.Format == data.Parquet && rows >= j.plainFromRows()
	if !many || j.src.read != nil || j.src.feed.Query == nil || j.src.feed.Identity != data.KeepRepeats {
		return t, query, false, nil
	}
	if query, err = j.src.feed.Query(src, j.src.head); err != nil || query.Plain == nil && query.PlainRows == nil {
		return t, query, false, err
	}
	var late, lost int64
	if err := j.conn.QueryRowContext(j.ctx, statements.Get("PlainTail")).Scan(&t.facts, &t.newest, &late, &lost, &t.stale); err != nil {
		return t, query, false, err
	}
	if src.Format == data.CSV {
		rows = int64(j.expectedRows(src.Size) * plainRowsAtLeast)
	}
	return t, query, late+lost == 0 && (t.stale || j.bulky(rows, rows, t.facts)), nil
}

// plainRowsAtLeast is what share of the lines that its first ones let expect a file has at least.
const plainRowsAtLeast = 0.95

// plainFromRows is plainFrom for Parquet files.
func (j *fileImport) plainFromRows() int64 {
	if j.im.PlainBytes > 0 {
		return (j.im.PlainBytes + plainLine - 1) / plainLine
	}
	return plainParquet
}

// appendPlain imports a plain file in one transaction: its rows become facts while it is read. The error is errStage if
// that is not possible, and then nothing has happened.
func (j *fileImport) appendPlain(t plainTail, query data.Query) error {
	j.helped()
	j.progress("reading", 0, 0)
	if err := j.empty("MarketsEmpty", "SpareEmpty", "MapEmpty", "BlocksEmpty"); err != nil {
		return err
	}
	return engine.InTx(j.ctx, j.conn, func() (err error) {
		if j.batch, err = j.im.nextBatch(j.ctx, j.conn); err != nil {
			return err
		}
		if err := j.exec("AppendedFills", "@batch", strconv.FormatInt(j.batch, 10), "@shift", strconv.Itoa(data.FileShift)); err != nil {
			return err
		}
		if err := j.empty("NoNames"); err != nil {
			return err
		}
		j.receipt.RebuildNeeded = true
		if err := j.im.Rollups.Postpone(j.ctx, j.conn, func() error { return j.appendRows(t, query) }); err != nil {
			return err
		}
		if err := j.prepareWeather(); err != nil {
			return err
		}
		return j.endTx()
	})
}

// appendRows appends the rows to the facts, and adds the wallets, tokens and markets that they name.
func (j *fileImport) appendRows(t plainTail, query data.Query) error {
	ctx, stop := context.WithCancel(j.ctx)
	defer stop()
	p, err := j.newPlainReader(ctx)
	if err != nil || p == nil {
		return errors.Join(err, errStage)
	}
	p.ascending, p.from = true, t.newest/dayLength*dayLength
	read := p.readRows(j, query.PlainRows)
	if query.PlainRows == nil {
		read = j.plainText(j.src.plain, p, query.Plain)
	}
	end := j.reportProgress(j.src.plain.Size)
	plain, err := j.readPlain(p, stop, read, j.addFacts, j.inserting("fills"))
	end()
	switch {
	case err != nil:
		return err
	case !plain, p.rows == 0, !j.isWhole(p):
		return errStage
	}
	if t.newest > 0 && p.minTS/dayLength == t.newest/dayLength {
		var known bool
		args := []string{"@batch", strconv.FormatInt(j.batch, 10), "@lo", strconv.FormatInt(p.from, 10), "@hi", strconv.FormatInt(p.from+dayLength, 10)}
		if err := j.conn.QueryRowContext(j.ctx, statements.Get("AppendedKnown", args...)).Scan(&known); err != nil || known {
			return errors.Join(err, errStage)
		}
	}
	j.noteAppended(p)
	if !t.stale && !j.bulky(p.rows, p.rows, t.facts) {
		return errStage
	}
	if err := j.plainNames(p); err != nil {
		return err
	}
	if err := j.internTexts(); err != nil {
		return err
	}
	if query.Markets != "" {
		if err := j.stageStubs(query.Markets); err != nil {
			return err
		}
	}
	if err := j.prepareMarkets(); err != nil {
		return err
	}
	return j.applyMarkets(strconv.FormatInt(j.batch, 10))
}

// addFacts adds rows to fills.
func (j *fileImport) addFacts(to *engine.ChunkRows, rows []plainRow) error {
	n := len(rows)
	seconds, micros := engine.ChunkNumbers[int64](to, 0, n), engine.ChunkNumbers[int32](to, 1, n)
	wallets, tokens := engine.ChunkNumbers[int32](to, 2, n), engine.ChunkNumbers[int32](to, 3, n)
	sides, roles := engine.ChunkNumbers[int8](to, 4, n), engine.ChunkNumbers[int8](to, 5, n)
	shares, usd, fees := engine.ChunkNumbers[int64](to, 6, n), engine.ChunkNumbers[int64](to, 7, n), engine.ChunkNumbers[int64](to, 8, n)
	repeats, batches := engine.ChunkNumbers[int16](to, 11, n), engine.ChunkNumbers[int32](to, 12, n)
	for i := range rows {
		row := &rows[i]
		seconds[i], micros[i] = row.ts/1_000_000, int32(row.ts%1_000_000)
		wallets[i], tokens[i], sides[i], roles[i] = row.wallet, row.token, row.side, row.role
		shares[i], usd[i], fees[i] = row.shares, row.usd, row.fee
		repeats[i], batches[i] = row.repeat, int32(j.batch)+row.member
		to.Bytes(9, row.tx[:])
		if row.log != data.NoIndex {
			to.Int32(10, row.log)
		}
		if row.block >= 0 {
			to.Int64(13, row.block)
		}
		if err := to.EndRow(); err != nil {
			return err
		}
	}
	return nil
}

// isWhole reports whether as many rows were read as a Parquet file says that it has.
func (j *fileImport) isWhole(p *plainReader) bool {
	if !j.together() {
		return j.src.plain.Format != data.Parquet || p.rows == j.src.head.Rows
	}
	for i, m := range j.src.members {
		if i >= len(p.members) && m.rows > 0 || i < len(p.members) && m.rows != p.members[i].rows {
			return false
		}
	}
	return len(p.members) <= len(j.src.members)
}

// noteAppended sets the figures of the receipts.
func (j *fileImport) noteAppended(p *plainReader) {
	j.texts, j.conditions, j.fresh = p.staged(), p.conditions, true
	for i, m := range p.members {
		r := j.receiptOf(i)
		r.Read += m.rows
		r.Lines = Lines{Records: m.rows}
		if j.src.plain.Format == data.CSV {
			r.Lines = Lines{Total: m.rows + 1, Records: m.rows, Header: 1}
		}
		first, last := sql.NullInt64{Int64: m.minTS, Valid: m.rows > 0}, sql.NullInt64{Int64: m.maxTS, Valid: m.rows > 0}
		j.noteFigures(r, m.rows, 0, m.bought, m.sold, first, last)
	}
	if j.together() {
		j.receipt.Read, j.receipt.Lines.Records = p.rows, p.rows
	}
	j.im.known.forget()
}
