package ingest

import (
	"context"
	"errors"
	"fmt"
	"io"
	"runtime/debug"

	"pmx/data"
	"pmx/engine"
)

const (
	plainRows = 2048 // of a batch: as many as in a chunk of DuckDB
	// plainAhead is how many batches are read ahead of those that are appended: one and a half row groups, because DuckDB compresses
	// and writes a row group at once.
	plainAhead = 90

	// How many bytes a wallet, a token, and what has the hash of a wallet or of a token and its market take at most while a file is read, and
	// what share of the memory that Go does not use all of them may take.
	plainWallet, plainToken   = 70, 250
	hashedWallet, hashedToken = 120, 480
	plainDivisor              = 2
)

// errNotPlain ends the reading of a file that has to be read in another way.
var errNotPlain = errors.New("not a plain file")

// plainReader gives the rows of a plain file their ids and numbers of repeats, and passes them on in batches.
type plainReader struct {
	ctx context.Context
	// Wallets and tokens with their ids, those of the database and new ones.
	wallets   map[data.Address]int32
	tokens    map[string]int32
	wallet    int32           // the first id of a new one
	token     int32           // the same
	fresh     []data.Address  // new wallets, in the order of their ids
	named     []string        // new tokens
	said      []*plainMapping // by token; only of a file that says what the markets are
	left      int64           // bytes that more of them may take
	latest    int64           // no fill is after this, unix µs
	from      int64           // no fill is before this
	ascending bool            // a file that is not in order of time is refused, and one of which only some rows have a log index

	group        []plainRow // rows of the same time, so far
	groups       repeats
	unordered    bool           // rows are not in order of time, so nothing is known of repeats
	plainFigures                // of all rows
	blocks       int64          // rows with their block
	indexed      int64          // rows with a log index
	members      []plainFigures // of each file, if several are read as one; else one
	conditions   bool           // of some row

	batch *plainBatch
	full  chan *plainBatch
	free  chan *plainBatch // has room for all: to give a batch back never waits, also once nobody reads any more
}

// plainFigures are figures of rows.
type plainFigures struct{ rows, bought, sold, minTS, maxTS int64 }

// plainMapping is what rows say about the market of their token.
type plainMapping struct {
	text      string // of the condition; "": the file does not say
	condition data.Hash
	outcome   int8
	row       int64 // the first one that says it
}

// plainBatch has rows of a plain file.
type plainBatch struct {
	n    int
	rows [plainRows]plainRow
}

type plainRow struct {
	row                  int64 // its number in the file, from 1
	tx                   data.Hash
	ts, shares, usd, fee int64
	block                int64 // data.NoIndex: not known
	wallet, token        int32
	log                  int32 // data.NoIndex: not known
	repeat               int16
	side, role           int8
	member               int32 // index of its file
}

// sameFill reports whether two rows are equal except for role, fee, log and block.
func (row *plainRow) sameFill(o *plainRow) bool {
	return row.wallet == o.wallet && row.token == o.token && row.shares == o.shares && row.usd == o.usd && row.side == o.side && row.ts == o.ts && row.tx == o.tx
}

// newPlainReader returns a reader with the wallets and tokens of the database; nil if they are too many to keep in
// memory.
func (j *fileImport) newPlainReader(ctx context.Context) (*plainReader, error) {
	var wallets, tokens int64
	p := &plainReader{ctx: ctx, left: max(debug.SetMemoryLimit(-1)-engine.LiveHeap(), 0) / plainDivisor, latest: j.latest(), batch: &plainBatch{},
		full: make(chan *plainBatch, plainAhead), free: make(chan *plainBatch, plainAhead+1)}
	if err := j.conn.QueryRowContext(j.ctx, statements.Get("PlainKnown")).Scan(&p.wallet, &p.token, &wallets, &tokens); err != nil {
		return nil, err
	}
	if p.left -= wallets*plainWallet + tokens*plainToken; p.left < 0 {
		return nil, nil
	}
	p.wallets, p.tokens = make(map[data.Address]int32, wallets), make(map[string]int32, tokens)
	type wallet struct {
		ID      int32        `sql:"wallet"`
		Address data.Address `sql:"address"`
	}
	err := engine.StreamRows(j.ctx, j.conn, statements.Get("PlainWallets"), func(row *wallet) error { p.wallets[row.Address] = row.ID; return nil })
	if err != nil {
		return nil, fmt.Errorf("wallets: %w", err)
	}
	type token struct {
		ID   int32  `sql:"token"`
		Text string `sql:"token_id"`
	}
	err = engine.StreamRows(j.ctx, j.conn, statements.Get("PlainTokens"), func(row *token) error { p.tokens[row.Text] = row.ID; return nil })
	if err != nil {
		return nil, fmt.Errorf("tokens: %w", err)
	}
	if len(p.wallets) != int(wallets) || len(p.tokens) != int(tokens) { // an id would be given twice
		return nil, fmt.Errorf("%d of %d wallets and %d of %d tokens were read", len(p.wallets), wallets, len(p.tokens), tokens)
	}
	for range plainAhead {
		p.free <- &plainBatch{}
	}
	return p, nil
}

// latest is the time after which no fill may be, unix µs.
func (j *fileImport) latest() int64 { return j.started.Add(clockSlack).UnixMicro() }

// readText reads a file of lines, and reports whether it is plain.
func (p *plainReader) readText(r io.Reader, read func(r io.Reader, each func(*data.PlainFill) error) (bool, error)) (plain bool, err error) {
	plain, err = read(r, p.add)
	if err == nil && plain {
		err = p.end()
	}
	if errors.Is(err, errNotPlain) {
		return false, nil
	}
	return plain && err == nil, err
}

// end passes on the last rows.
func (p *plainReader) end() error {
	if err := p.endGroup(); err != nil {
		return err
	}
	return p.pass()
}

// add adds a row with its texts.
func (p *plainReader) add(f *data.PlainFill) error {
	return p.addRow(f, p.walletOf(f.Wallet), p.tokenOf(f.Token))
}

// addRow adds a row. It may be stricter than the statement Reason, which then decides.
func (p *plainReader) addRow(f *data.PlainFill, wallet, token int32) error {
	if f.TS < p.from || !isUsable(f.TS, p.latest, f.Side, f.Shares, f.USD, f.Fee) {
		return errNotPlain
	}
	if len(p.group) > 0 && f.TS != p.group[0].ts || p.unordered {
		if err := p.endGroup(); err != nil {
			return err
		}
	}
	if p.rows > 0 && f.TS < p.maxTS {
		if p.ascending {
			return errNotPlain
		}
		p.unordered = true
	}
	member, ordered := p.count(f)
	if !ordered || p.ascending && p.indexed > 0 && p.indexed < p.rows {
		return errNotPlain
	}
	row := plainRow{row: p.rows, tx: f.Tx, ts: f.TS, shares: int64(f.Shares), usd: int64(f.USD), fee: int64(f.Fee), block: f.Block,
		wallet: wallet, token: token, log: f.LogIndex, repeat: 1, side: int8(f.Side), role: int8(f.Role), member: member}
	if p.left < p.groups.bytes() || len(p.group) == mostOfGroup {
		return errNotPlain
	}
	p.group = append(p.group, row)
	return nil
}

// count counts a row, and returns the index of its file. It reports whether it is the next one of that, or the first one of a later one.
func (p *plainReader) count(f *data.PlainFill) (member int32, ordered bool) {
	p.plainFigures.add(f)
	if f.Block >= 0 {
		p.blocks++
	}
	if f.LogIndex != data.NoIndex {
		p.indexed++
	}
	member = int32(f.Row >> data.FileShift)
	if int(member) < len(p.members)-1 {
		return member, false
	}
	for int(member) >= len(p.members) {
		p.members = append(p.members, plainFigures{})
	}
	m := &p.members[member]
	m.add(f)
	return member, f.Row == 0 || f.Row&(1<<data.FileShift-1) == m.rows
}

func (m *plainFigures) add(f *data.PlainFill) {
	if m.rows == 0 || f.TS < m.minTS {
		m.minTS = f.TS
	}
	m.rows, m.maxTS = m.rows+1, max(m.maxTS, f.TS)
	if f.Side == data.Buy {
		m.bought += int64(f.USD)
	} else {
		m.sold += int64(f.USD)
	}
}

func (p *plainReader) walletOf(address data.Address) int32 {
	id, known := p.wallets[address]
	if !known {
		id = p.wallet + int32(len(p.fresh))
		p.wallets[address], p.fresh = id, append(p.fresh, address)
		p.left -= plainWallet
	}
	return id
}

func (p *plainReader) tokenOf(token []byte) int32 {
	id, known := p.tokens[string(token)]
	if !known {
		id = p.token + int32(len(p.named))
		text := string(token)
		p.tokens[text], p.named = id, append(p.named, text)
		p.left -= plainToken
	}
	return id
}

// endGroup numbers the rows of the same time and passes them on.
func (p *plainReader) endGroup() error {
	if !p.unordered && !p.groups.number(p.group) {
		return errNotPlain
	}
	for i := range p.group {
		p.batch.rows[p.batch.n] = p.group[i]
		if p.batch.n++; p.batch.n < plainRows {
			continue
		}
		if err := p.pass(); err != nil {
			return err
		}
	}
	p.group = p.group[:0]
	return nil
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
