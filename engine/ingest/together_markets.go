package ingest

import (
	"strconv"

	"pmx/data"
)

// nextOfFiles is nextMarkets for several files of fills, of which named rows of n_map come; all is the number of rows of
// m_raw and n_map. It is as if each file were imported after those before it, because what a file says about a token
// changes nothing if an earlier one has said the same: so files that say different things are imported one by one, and
// those that say more of a market than its condition.
func (j *fileImport) nextOfFiles(named, all int64) (stubs int64, err error) {
	if err := j.aloneIf(named < all); err != nil {
		return 0, err
	}
	row := "row"
	if j.texts != nil {
		row = "first_row"
	}
	if _, err := j.execSaid("FirstToSay", "@row", row, "@shift", strconv.Itoa(data.FileShift)); err != nil {
		return 0, err
	}
	var differ bool
	if err := j.conn.QueryRowContext(j.ctx, statements.Get("FilesDiffer")).Scan(&differ); err != nil {
		return 0, err
	}
	if err := j.aloneIf(differ); err != nil {
		return 0, err
	}
	if stubs, err = j.changed("StubsOfFiles", nil); err != nil {
		return stubs, err
	}
	if stubs > 0 {
		_, err = j.mergeStubs()
	} else {
		err = j.empty("MarketsNextNone", "NoPayouts")
	}
	if err != nil {
		return stubs, err
	}
	if err := j.nextTokens(named, false); err != nil {
		return stubs, err
	}
	return stubs, j.countMarkets()
}

// countMarkets sets the numbers of new markets and mapped tokens of each file.
func (j *fileImport) countMarkets() error {
	var member int
	var n int64
	err := j.byMember("MarketsByMember", func() error {
		j.receiptOf(member).MarketsNew = n
		return nil
	}, &member, &n)
	if err != nil {
		return err
	}
	return j.byMember("TokensByMember", func() error {
		j.receiptOf(member).TokensMapped = n
		return nil
	}, &member, &n)
}
