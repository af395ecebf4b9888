package ingest

// rows is how many rows of a file describe markets or payouts, map tokens, or date
// blocks; rows of fills, and what they say in passing, are not among them.
type rows struct {
	markets, mappings, blocks int64
}

// given is how many different markets, tokens and blocks those rows name, and how
// many of the blocks are new.
type given struct {
	rows
	newBlocks int64
}

// given counts what was staged, before anything else is derived from it.
func (j *job) given() (g given, err error) {
	if j.rows == (rows{}) {
		return g, nil
	}
	err = j.conn.QueryRowContext(j.ctx, statements.Get("Given")).Scan(&g.markets, &g.mappings, &g.blocks, &g.newBlocks)
	if err == nil && j.rows.blocks > 0 {
		err = j.blockConflicts()
	}
	return g, err
}

// account makes the parts of the receipt add up to the rows read: each row is the
// one that its market, token or block is new or changed by, repeats another of the
// file, or says nothing new. stubs are the new markets that only a mapping names.
func (j *job) account(g given, stubs int64) {
	r := &j.receipt
	r.Blocks = g.newBlocks
	r.Identical += j.rows.markets - g.markets + j.rows.mappings - g.mappings + j.rows.blocks - g.blocks
	r.AlreadyThere += g.blocks - g.newBlocks
	if j.rows.markets > 0 {
		r.AlreadyThere += g.markets - (r.MarketsNew - stubs) - r.MarketsChanged
	}
	if j.rows.mappings > 0 {
		r.AlreadyThere += g.mappings - r.TokensMapped
	}
}
