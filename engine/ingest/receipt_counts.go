package ingest

// describedRows counts rows of a file that describe markets or payouts, map tokens, or give times
// of blocks; rows of fills, which may also do so, are not included.
type describedRows struct {
	markets, mappings, blocks int64
}

// distinctCounts counts the distinct markets, tokens and blocks of those rows, and the new blocks.
type distinctCounts struct {
	describedRows
	newBlocks int64
}

// countDistinct counts the staged rows, before anything is derived from them.
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

// balanceReceipt makes the fields of the receipt add up to the rows read: each row makes its
// market, token or block new or changed, repeats another row of the file, or has nothing new. stubs
// is the number of new markets that only a mapping names.
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
