package ingest

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"

	"pmx/data"
	"pmx/engine"
	"pmx/engine/guard"
)

const (
	plainBytes = 8 << 20 // the default of Importer.PlainBytes
	plainLine  = 250     // bytes that a line has, nearly always a few more
)

// stagePlain stages the fills of a CSV file that is plain: see data.Query.Plain. It returns false, and has staged
// nothing, for any other file.
func (j *fileImport) stagePlain(src data.Source) (staged bool, err error) {
	if src.Format != data.CSV || src.Size < j.plainFrom() {
		return false, nil
	}
	query, err := j.src.feed.Query(src, j.src.head)
	if err != nil || query.Plain == nil {
		return false, err
	}
	var late int64 // with later times of blocks, it is not staged
	if err := j.conn.QueryRowContext(j.ctx, statements.Get("LateBlocks")).Scan(&late); err != nil || late > 0 {
		return false, err
	}
	defer j.reportProgress(src.Size)()
	ctx, stop := context.WithCancel(j.ctx)
	defer stop()
	p, err := j.newPlainReader(ctx)
	if err != nil || p == nil {
		return false, err
	}
	if err := j.exec("PlainFills"); err != nil {
		return false, err
	}
	plain, err := j.readPlain(p, stop, j.plainText(src, p, query.Plain), stageRows, j.appending("s_fill"))
	if err == nil && plain && (j.im.Directory == nil || p.rows > memoryRows) { // others are staged as usual
		staged, err = true, j.plainNames(p)
	}
	if err != nil || !staged {
		return false, errors.Join(err, j.exec("DropStaged", "@table", "s_fill"))
	}
	j.texts = p.staged()
	j.receipt.Lines = Lines{Total: p.rows + 1, Records: p.rows, Header: 1}
	return true, nil
}

// plainFrom is the size in bytes from which on a file may be read as a plain one. With a Directory, files of few rows
// are staged otherwise: reading them here would be in vain.
func (j *fileImport) plainFrom() int64 {
	from := cmp.Or(j.im.PlainBytes, plainBytes)
	if j.im.Directory != nil {
		from = max(from, memoryRows*plainLine)
	}
	return from
}

// plainText returns a func that reads a file of lines.
func (j *fileImport) plainText(src data.Source, p *plainReader, read func(r io.Reader, each func(*data.PlainFill) error) (bool, error)) func() (bool, error) {
	return func() (plain bool, err error) {
		file, err := data.OpenRegular(src.Path)
		if err != nil {
			return false, err
		}
		defer func() { err = errors.Join(err, file.Close()) }()
		defer j.im.DB.AloneBesideOne(plainAtMost)()
		return p.readText(guard.Reader(p.ctx, file), read)
	}
}

// insertRows adds the rows that next writes to a table, a chunk at a time, until it writes none.
type insertRows func(next func(to *engine.ChunkRows) error) error

// readPlain appends the rows of a file to a table, and reports whether the file is plain. One goroutine reads, in a server at low priority, and
// this one appends; stop ends the other.
func (j *fileImport) readPlain(p *plainReader, stop func(), read func() (bool, error), add func(*engine.ChunkRows, []plainRow) error, insert insertRows) (plain bool, err error) {
	start := guard.StartThread // beside other programs a command would take ten times as long at low priority
	if j.im.Directory != nil {
		start = engine.StartLowPriority
	}
	done := start(func() (err error) {
		defer close(p.full)
		plain, err = read()
		return err
	})
	// The statement begins with the first batch: until then who reads needs DuckDB's helper threads, of which one would wait for rows here.
	if b, more := <-p.full; more {
		err = insert(func(to *engine.ChunkRows) error {
			if b == nil {
				if b = <-p.full; b == nil {
					return nil
				}
			}
			err := add(to, b.rows[:b.n])
			p.free <- b
			b = nil
			return err
		})
	}
	if err != nil { // nothing more is appended
		stop()
	}
	for range p.full {
	}
	if fault := guard.Repanic(<-done); err == nil {
		err = fault
	}
	return plain && err == nil, err
}

// appending adds rows to a temporary table.
func (j *fileImport) appending(table string) insertRows {
	return func(next func(to *engine.ChunkRows) error) error {
		return j.appendTo(table, func(to *engine.ChunkAppender) error { return to.Chunks(next) })
	}
}

// inserting adds rows to a table of the database.
func (j *fileImport) inserting(table string) insertRows {
	return func(next func(to *engine.ChunkRows) error) error {
		return engine.InsertRows(j.ctx, j.conn, table, next)
	}
}

// appendTo calls f with an appender to a temporary table.
func (j *fileImport) appendTo(table string, f func(to *engine.ChunkAppender) error) error {
	return j.conn.Raw(func(dc any) error {
		to, err := engine.TempChunkAppender(dc, table)
		if err != nil {
			return err
		}
		return errors.Join(f(to), to.Close())
	})
}

// stageRows adds rows to s_fill.
func stageRows(to *engine.ChunkRows, rows []plainRow) error {
	for i := range rows {
		stageColumns(to, &rows[i])
		to.Bytes(1, rows[i].tx[:])
		if err := to.EndRow(); err != nil {
			return err
		}
	}
	return nil
}

// stageColumns sets all columns of s_fill except for the transaction.
func stageColumns(to *engine.ChunkRows, row *plainRow) {
	to.Int64(0, row.row)
	if row.log != data.NoIndex {
		to.Int32(2, row.log)
	}
	to.Int64(3, row.ts)
	to.Int32(4, row.wallet)
	to.Int32(5, row.token)
	to.Int8(6, row.side)
	to.Int8(7, row.role)
	to.Int64(8, row.shares)
	to.Int64(9, row.usd)
	to.Int64(10, row.fee)
	to.Int16(11, row.repeat)
	if row.block >= 0 {
		to.Int64(12, row.block)
	}
	to.Bool(13, false) // it has not lost its log
}

// plainNames fills s_wallet and s_token with the new wallets and tokens, and s_said with what the file says about tokens.
func (j *fileImport) plainNames(p *plainReader) error {
	if err := j.execAll("MemoryEmpty", "MemoryTokensEmpty", "PlainSaid"); err != nil {
		return err
	}
	if err := j.stageWallets(p.wallet, p.fresh); err != nil {
		return err
	}
	if err := j.stageTokens(p.token, p.named); err != nil {
		return err
	}
	var said []string
	for token, id := range p.tokens {
		if int(id) < len(p.said) && p.said[id] != nil {
			said = append(said, token)
		}
	}
	return j.appendEach("s_said", len(said), func(to *engine.ChunkAppender, i int) {
		to.Text(0, said[i])
		m := p.said[p.tokens[said[i]]]
		if m.text == "" {
			return
		}
		to.Bytes(1, m.condition[:])
		if m.outcome != data.NoIndex {
			to.Int8(2, m.outcome)
		}
		to.Int64(3, m.row)
	})
}

// stageWallets adds new wallets to s_wallet, of which the first has the id first.
func (j *fileImport) stageWallets(first int32, wallets []data.Address) error {
	return j.appendEach("s_wallet", len(wallets), func(to *engine.ChunkAppender, i int) {
		to.Int32(0, first+int32(i))
		to.Bytes(1, wallets[i][:])
	})
}

// stageTokens adds new tokens to s_token, of which the first has the id first.
func (j *fileImport) stageTokens(first int32, tokens []string) error {
	return j.appendEach("s_token", len(tokens), func(to *engine.ChunkAppender, i int) {
		to.Int32(0, first+int32(i))
		to.Text(1, tokens[i])
	})
}

// appendEach appends n rows to a temporary table; set sets the columns of row i.
func (j *fileImport) appendEach(table string, n int, set func(to *engine.ChunkAppender, i int)) error {
	return j.appendTo(table, func(to *engine.ChunkAppender) error {
		for i := range n {
			set(to, i)
			if err := to.EndRow(); err != nil {
				return fmt.Errorf("%s: %w", table, err)
			}
		}
		return nil
	})
}

// staged returns what is known of the rows.
func (p *plainReader) staged() *textsStaged {
	return &textsStaged{rows: p.rows, blocks: p.blocks, wallet: int64(p.wallet), token: int64(p.token), numbered: !p.unordered}
}
