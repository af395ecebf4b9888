package ingest

import (
	"errors"
	"strconv"

	"pmx/data"
	"pmx/engine"
	"pmx/engine/guard"
)

// heldFill is a staged fill, and the number of its row.
type heldFill struct {
	row int64
	data.Fill
}

// heldFills are staged fills in memory.
type heldFills struct {
	rows      []heldFill
	only      bool // the staged fills are only here, and not in s_raw
	numbered  bool // they are in s_fill, where equal ones have their numbers
	backwards bool // of these, some are before the previous one
}

// holding reports whether the fills that were staged so far, the last of which is described by staged, are few and usable: they
// are then kept in memory, because they may not have to be in s_raw at all.
func (s *stagedFills) holding() bool { return s != nil && s.byLog == nil }

// putRaw sets the columns of a row of s_raw.
func putRaw(to *engine.ChunkAppender, row int64, f *data.Fill) {
	to.Int64(rowAt, row)
	if !f.Tx.IsZero() {
		to.Bytes(txAt, f.Tx[:])
	}
	if f.LogIndex != data.NoIndex {
		to.Int32(logIndexAt, f.LogIndex)
	}
	if f.Block > 0 {
		to.Int64(blockAt, f.Block)
	}
	if f.TS != 0 || f.Block <= 0 {
		to.Int64(tsAt, f.TS)
	}
	if !f.Condition.IsZero() && f.Outcome != data.NoIndex {
		to.Bytes(conditionAt, f.Condition[:])
		to.Int8(outcomeAt, int8(f.Outcome))
	}
	to.Bytes(walletAt, f.Wallet[:])
	to.Int8(roleAt, int8(f.Role))
	to.Text(tokenAt, f.TokenID)
	to.Int8(sideAt, int8(f.Side))
	to.Int64(sharesAt, int64(f.Shares))
	to.Int64(usdAt, int64(f.USD))
	to.Int64(feeAt, int64(f.Fee))
	if f.Name != "" {
		to.Text(nameAt, f.Name)
	}
}

// stageHeld moves the held fills to s_raw, for the statements that read it.
func (j *fileImport) stageHeld() error {
	if !j.held.only {
		return nil
	}
	if err := j.rawEmpty(); err != nil {
		return err
	}
	held := j.held.rows
	j.held = heldFills{}
	return j.appendEach("s_raw", len(held), func(to *engine.ChunkAppender, i int) { putRaw(to, held[i].row, &held[i].Fill) })
}

// internHeld writes the held fills to s_fill, with their ids and the numbers of equal ones. Otherwise it moves them to s_raw and
// returns false: if the Directory does not know all wallets and tokens, or statements have to choose among fills.
func (j *fileImport) internHeld() (bool, error) {
	if !j.held.only {
		return false, nil
	}
	s := j.staged
	if j.names || s.oneLog || s.equal && j.src.feed.Identity != data.KeepRepeats {
		return false, j.stageHeld()
	}
	wallets, tokens, current, err := j.inDirectory()
	if err != nil || !current {
		return false, errors.Join(err, j.stageHeld())
	}
	walletIDs, freshWallets := idsOf(s.addresses(), wallets, j.im.Directory.Wallet)
	tokenIDs, freshTokens := idsOf(s.tokenIDs(), tokens, j.im.Directory.Token)
	rows, backwards := make([]plainRow, len(j.held.rows)), false
	for i := range j.held.rows {
		f := &j.held.rows[i]
		row := plainRow{row: f.row, tx: f.Tx, ts: f.TS, shares: int64(f.Shares), usd: int64(f.USD), fee: int64(f.Fee), block: data.NoIndex,
			wallet: int32(walletIDs[f.Wallet]), token: int32(tokenIDs[f.TokenID]), log: f.LogIndex, repeat: 1, side: int8(f.Side), role: int8(f.Role)}
		if f.Block > 0 {
			row.block = f.Block
		}
		if f.Tx.IsZero() { // without its transaction it does not identify a log
			row.log = data.NoIndex
		}
		backwards = backwards || i > 0 && f.TS < rows[i-1].ts
		rows[i] = row
	}
	if s.equal && !j.numberHeld(rows) {
		return false, j.stageHeld()
	}
	if err := j.addIDs(freshWallets, freshTokens, wallets, tokens); err != nil {
		return false, err
	}
	if err := j.exec("PlainFills"); err != nil {
		return false, err
	}
	j.held.numbered, j.held.backwards = true, backwards
	return true, j.appendEach("s_fill", len(rows), func(to *engine.ChunkAppender, i int) {
		stageColumns(&to.ChunkRows, &rows[i])
		if tx := &rows[i].tx; !tx.IsZero() {
			to.Bytes(1, tx[:])
		}
	})
}

// numberHeld numbers the rows of held fills that are equal. It returns false if a number does not fit.
func (j *fileImport) numberHeld(rows []plainRow) bool {
	var among []plainRow
	var places []int
	for i := range rows {
		if j.staged.fills[j.staged.fingerprint(&j.held.rows[i].Fill)] {
			among, places = append(among, rows[i]), append(places, i)
		}
	}
	fit := numberEqual(among)
	for n, i := range places {
		rows[i].repeat = among[n].repeat
	}
	return fit
}

// inDirectory returns how many wallets and tokens there are; current is set if the Directory has all of them.
func (j *fileImport) inDirectory() (wallets, tokens int, current bool, err error) {
	if j.im.Directory == nil {
		return 0, 0, false, nil
	}
	err = j.conn.QueryRowContext(j.ctx, statements.Get("DimensionCounts")).Scan(&wallets, &tokens)
	knownWallets, knownTokens := j.im.Directory.Known()
	return wallets, tokens, knownWallets == wallets && knownTokens == tokens, err
}

// idsOf returns the ids of names, and those that have none: these get the next ids, from next on, in their order.
func idsOf[K comparable, ID ~int32](names []K, next int, find func(K) (ID, bool)) (ids map[K]ID, fresh []K) {
	ids = make(map[K]ID, len(names))
	for _, name := range names {
		id, known := find(name)
		if !known {
			id = ID(next + len(fresh))
			fresh = append(fresh, name)
		}
		ids[name] = id
	}
	return ids, fresh
}

// addIDs adds new wallets and tokens, of which the first get the ids wallet and token.
func (j *fileImport) addIDs(wallets []data.Address, tokens []string, wallet, token int) error {
	if len(wallets) > 0 {
		if err := j.exec("MemoryEmpty"); err != nil {
			return err
		}
		if err := j.stageWallets(int32(wallet), wallets); err != nil {
			return err
		}
		if err := j.exec("AddWallets", "@first", strconv.Itoa(wallet)); err != nil {
			return err
		}
	}
	if len(tokens) == 0 {
		return nil
	}
	if err := j.exec("MemoryTokensEmpty"); err != nil {
		return err
	}
	if err := j.stageTokens(int32(token), tokens); err != nil {
		return err
	}
	return j.exec("AddTokens", "@first", strconv.Itoa(token))
}

// saidOfHeld makes s_said of the held fills: see said.
func (j *fileImport) saidOfHeld() error {
	if err := j.exec("PlainSaid"); err != nil {
		return err
	}
	return j.appendEach("s_said", len(j.held.rows), func(to *engine.ChunkAppender, i int) {
		f := &j.held.rows[i]
		to.Text(0, f.TokenID)
		if !f.Condition.IsZero() && f.Outcome != data.NoIndex {
			to.Bytes(1, f.Condition[:])
			to.Int8(2, int8(f.Outcome))
		}
	})
}

// holdPlain reads a CSV file of few rows as fills that are held, if it is plain: see data.Query.Plain. It returns false, and
// holds nothing, for any other file, and without a Directory, which alone has the ids of few without reading all.
func (j *fileImport) holdPlain(src data.Source) (held bool, err error) {
	if src.Format != data.CSV || j.im.Directory == nil || j.expectedRows(src.Size) > fewRows {
		return false, nil
	}
	query, err := j.src.feed.Query(src, j.src.head)
	if err != nil || query.Plain == nil || query.Markets != "" {
		return false, err
	}
	file, err := data.OpenRegular(src.Path)
	if err != nil {
		return false, err
	}
	defer func() { err = errors.Join(err, file.Close()) }()
	j.staged, j.held = newStagedFills(j.latest()), heldFills{only: true}
	names := map[string]string{}
	plain, err := query.Plain(guard.Reader(j.ctx, file), func(p *data.PlainFill) error {
		token, known := names[string(p.Token)]
		if !known {
			token = string(p.Token)
			names[token] = token
		}
		f := data.Fill{Tx: p.Tx, LogIndex: p.LogIndex, TS: p.TS, Block: max(p.Block, 0), Wallet: p.Wallet, Role: p.Role, TokenID: token, Side: p.Side,
			Shares: p.Shares, USD: p.USD, Fee: p.Fee, Outcome: data.NoIndex}
		row := int64(len(j.held.rows) + 1)
		if j.staged = j.staged.add(row, &f); j.staged == nil || p.Tx.IsZero() {
			return errNotPlain
		}
		j.held.rows = append(j.held.rows, heldFill{row, f})
		return nil
	})
	if errors.Is(err, errNotPlain) {
		plain, err = false, nil
	}
	if err != nil || !plain {
		j.staged, j.held = nil, heldFills{}
		return false, err
	}
	j.onlyFills = true
	rows := int64(len(j.held.rows))
	j.receipt.Lines = Lines{Total: rows + 1, Records: rows, Header: 1}
	return true, nil
}
