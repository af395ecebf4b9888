package ingest

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"runtime/debug"

	"pmx/data"
	"pmx/engine"
	"pmx/engine/guard"
)

const (
	plainBytes = 8 << 20 // the default of Importer.PlainBytes
	plainLine  = 250     // bytes that a line has, nearly always a few more
	plainRows  = 2048    // of a batch: as many as in a chunk of DuckDB
	plainAhead = 4       // batches that are read ahead of those that are appended

	// How much memory a distinct wallet and token take at most while a file is read, and what share of Go's memory
	// all of them may take.
	plainWallet, plainToken = 100, 250
	plainDivisor            = 8
)

// stagePlain stages the fills of a CSV file that is plain: see data.Query.Plain. It returns false, and has staged
// nothing, for any other file, and for one that stageTexts does not stage.
func (j *fileImport) stagePlain(src data.Source) (staged bool, err error) {
	if src.Format != data.CSV || src.Size < j.plainFrom() {
		return false, nil
	}
	query, err := j.src.feed.Query(src, j.src.head)
	if err != nil || query.Plain == nil {
		return false, err
	}
	var late int64 // with later times of blocks, stageTexts stages no file
	if err := j.conn.QueryRowContext(j.ctx, statements.Get("LateBlocks")).Scan(&late); err != nil || late > 0 {
		return false, err
	}
	defer j.reportProgress(src.Size)()
	if err := j.execAll("PlainEmpty", "PlainWalletsEmpty", "PlainTokensEmpty"); err != nil {
		return false, err
	}
	rows, plain, err := j.readPlain(src, query.Plain)
	if err == nil && plain {
		staged, err = j.stageTexts(&data.Texts{Wallets: statements.Get("PlainWallets"), Tokens: statements.Get("PlainTokens"), Fills: statements.Get("PlainFills")})
	}
	if staged {
		j.receipt.Lines = Lines{Total: rows + 1, Records: rows, Header: 1}
	}
	for _, table := range []string{"s_plain", "s_plain_wallet", "s_plain_token"} { // they are as large as what follows
		if err == nil {
			err = j.exec("DropStaged", "@table", table)
		}
	}
	return staged, err
}

// plainFrom is the size in bytes from which on a file may be read as a plain one. With a Directory, stageTexts leaves files of few rows
// to it: reading them here would be in vain.
func (j *fileImport) plainFrom() int64 {
	from := cmp.Or(j.im.PlainBytes, plainBytes)
	if j.im.Directory != nil {
		from = max(from, memoryRows*plainLine)
	}
	return from
}

// readPlain reads a file and appends its rows, wallets and tokens. One goroutine reads, at low priority, and this one
// appends.
func (j *fileImport) readPlain(src data.Source, read func(r io.Reader, each func(*data.PlainFill) error) (bool, error)) (rows int64, plain bool, err error) {
	file, err := data.OpenRegular(src.Path)
	if err != nil {
		return 0, false, err
	}
	defer func() { err = errors.Join(err, file.Close()) }()
	ctx, stop := context.WithCancel(j.ctx)
	defer stop()
	p := newPlainReader(ctx)
	done := engine.StartLowPriority(func() (err error) {
		defer close(p.full)
		plain, err = p.read(&cancelReader{ctx: ctx, r: file}, read)
		return err
	})
	err = j.appendTo("s_plain", func(to *engine.ChunkAppender) error {
		for b := range p.full {
			if err := b.appendTo(to); err != nil {
				return err
			}
			rows += int64(b.n)
			p.free <- b
		}
		return nil
	})
	stop() // if nothing more is appended
	for range p.full {
	}
	if fault := guard.Repanic(<-done); err == nil {
		err = fault
	}
	if err != nil || !plain {
		return 0, false, err
	}
	return rows, true, j.appendNames(p)
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

// appendNames appends the wallets and tokens of a file.
func (j *fileImport) appendNames(p *plainReader) error {
	err := j.appendTo("s_plain_wallet", func(to *engine.ChunkAppender) error {
		for i := range p.known {
			to.Int32(0, int32(i))
			to.Bytes(1, p.known[i][:])
			if err := to.EndRow(); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		return fmt.Errorf("wallets: %w", err)
	}
	return j.appendTo("s_plain_token", func(to *engine.ChunkAppender) error {
		for i, token := range p.named {
			to.Int32(0, int32(i))
			to.Text(1, token)
			if err := to.EndRow(); err != nil {
				return err
			}
		}
		return nil
	})
}

// plainReader numbers the wallets and tokens of a plain file in the order in which they appear, and passes on its
// rows in batches.
type plainReader struct {
	ctx     context.Context
	wallets map[data.Address]int32
	tokens  map[string]int32
	known   []data.Address // by number
	named   []string       // tokens, by number
	left    int64          // bytes that more of them may take

	batch *plainBatch
	full  chan *plainBatch
	free  chan *plainBatch // has room for all: to give a batch back never waits, also once nobody reads any more
}

// plainBatch has rows of a plain file, with the numbers of their wallets and tokens.
type plainBatch struct {
	n    int
	rows [plainRows]plainRow
}

type plainRow struct {
	tx              data.Hash
	ts, shares, usd int64
	wallet, token   int32
	side, role      int8
}

func newPlainReader(ctx context.Context) *plainReader {
	p := &plainReader{ctx: ctx, wallets: map[data.Address]int32{}, tokens: map[string]int32{}, batch: &plainBatch{},
		left: debug.SetMemoryLimit(-1) / plainDivisor, full: make(chan *plainBatch, plainAhead), free: make(chan *plainBatch, plainAhead+1)}
	for range plainAhead {
		p.free <- &plainBatch{}
	}
	return p
}

// errManyNames ends the reading of a file with too many wallets and tokens to keep them in memory.
var errManyNames = errors.New("too many wallets and tokens")

func (p *plainReader) read(r io.Reader, read func(r io.Reader, each func(*data.PlainFill) error) (bool, error)) (plain bool, err error) {
	plain, err = read(r, p.add)
	switch {
	case errors.Is(err, errManyNames):
		return false, nil
	case err != nil || !plain:
		return false, err
	}
	return true, p.pass()
}

func (p *plainReader) add(f *data.PlainFill) error {
	wallet, seen := p.wallets[f.Wallet]
	if !seen {
		wallet = int32(len(p.known))
		p.wallets[f.Wallet], p.known = wallet, append(p.known, f.Wallet)
		p.left -= plainWallet
	}
	token, seen := p.tokens[string(f.Token)]
	if !seen {
		token = int32(len(p.named))
		name := string(f.Token)
		p.tokens[name], p.named = token, append(p.named, name)
		p.left -= plainToken
	}
	if p.left < 0 {
		return errManyNames
	}
	p.batch.rows[p.batch.n] = plainRow{tx: f.Tx, ts: f.TS, shares: int64(f.Shares), usd: int64(f.USD), wallet: wallet, token: token, side: int8(f.Side), role: int8(f.Role)}
	if p.batch.n++; p.batch.n < plainRows {
		return nil
	}
	return p.pass()
}

// pass passes the batch on, and waits until there is room for another.
func (p *plainReader) pass() error {
	select {
	case p.full <- p.batch:
	case <-p.ctx.Done():
		return p.ctx.Err()
	}
	select {
	case p.batch = <-p.free:
	case <-p.ctx.Done():
		return p.ctx.Err()
	}
	p.batch.n = 0
	return nil
}

// appendTo appends the rows to s_plain.
func (b *plainBatch) appendTo(to *engine.ChunkAppender) error {
	for i := range b.rows[:b.n] {
		row := &b.rows[i]
		to.Bytes(0, row.tx[:])
		to.Int64(1, row.ts)
		to.Int32(2, row.wallet)
		to.Int8(3, row.role)
		to.Int32(4, row.token)
		to.Int8(5, row.side)
		to.Int64(6, row.shares)
		to.Int64(7, row.usd)
		if err := to.EndRow(); err != nil {
			return err
		}
	}
	return nil
}
