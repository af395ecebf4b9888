package ingest

// describedRows is how many rows of a file describe markets or payouts, map tokens, or date
// blocks; rows of fills, and what they say in passing, are not among them.
type describedRows struct {
	markets, mappings, blocks int64
}

// distinctCounts is how many different markets, tokens and blocks those rows name, and how
// many of the blocks are new.
type distinctCounts struct {
	describedRows
	newBlocks int64
}

// countDistinct counts what was staged, before anything else is derived from it.
func (j *fileImport) countDistinct() (g distinctCounts, err error) {
	if j.described == (describedRows{}) {
		return g, nil
	}
	err = j.conn.QueryRowContext(j.ctx, statements.Get("DistinctCounts")).Scan(&g.markets, &g.mappings, &g.blocks, &g.newBlocks)
	if err == nil && j.described.blocks > 0 {
		err = j.blockConflicts()
	}
	return g, err
}

// balanceReceipt makes the fields of the receipt add up to the rows read: each row is the
// one that its market, token or block is new or changed by, repeats another of the
// file, or says nothing new. stubs are the new markets that only a mapping names.
func (j *fileImport) balanceReceipt(g distinctCounts, stubs int64) {
	r := &j.receipt
	r.Blocks = g.newBlocks
	r.Identical += j.described.markets - g.markets + j.described.mappings - g.mappings + j.described.blocks - g.blocks
	r.AlreadyThere += g.blocks - g.newBlocks
	if j.described.markets > 0 {
		r.AlreadyThere += g.markets - (r.MarketsNew - stubs) - r.MarketsChanged
	}
	if j.described.mappings > 0 {
		r.AlreadyThere += g.mappings - r.TokensMapped
	}
}
