package ingest

import (
	"fmt"
	"strconv"

	"pmx/data"
)

// stageTexts stages the fills with their ids, by the texts of wallets and tokens. It returns false
// if that is not possible, or if a row of the file may be unusable: the file is then staged as
// usual.
func (j *fileImport) stageTexts(t *data.Texts) (staged bool, err error) {
	rows, err := j.count("(" + t.Fills + ") AS q")
	if err != nil || j.im.Directory != nil && rows <= memoryRows {
		return false, err
	}
	var wallet, token, lateBlocks int64
	if err := j.conn.QueryRowContext(j.ctx, statements.Get("FirstIDs")).Scan(&wallet, &token, &lateBlocks); err != nil || lateBlocks > 0 {
		return false, err
	}
	if err := j.exec("WalletTexts", "@first", strconv.FormatInt(wallet, 10), "@query", t.Wallets); err != nil {
		return false, err
	}
	if err := j.exec("SaidTexts", "@query", t.Tokens); err != nil {
		return false, err
	}
	if err := j.exec("TokenTexts", "@first", strconv.FormatInt(token, 10)); err != nil {
		return false, err
	}
	var usable bool
	if err := j.conn.QueryRowContext(j.ctx, statements.Get("TextsUsable")).Scan(&usable, &j.conditions); err != nil || !usable {
		return false, err
	}
	if err := j.exec("FillsOfTexts", "@reason", j.reason(), "@query", t.Fills); err != nil {
		return false, err
	}
	var fine int64
	s := &textsStaged{query: t.Fills, rows: rows, wallet: wallet, token: token}
	if err := j.conn.QueryRowContext(j.ctx, statements.Get("FillsOfTextsCount")).Scan(&fine, &s.blocks); err != nil || fine < rows {
		return false, err
	}
	if err := j.conn.QueryRowContext(j.ctx, statements.Get("NamesInTexts", "@query", t.Fills)).Scan(&j.names); err != nil {
		return false, err
	}
	j.texts = s
	return true, nil
}

// textsStaged has properties of fills that were staged by texts: all are usable, have their time
// and name their token.
type textsStaged struct {
	query         string // reads the rows once more
	rows, blocks  int64  // fills, and those with their block
	wallet, token int64  // the first ids of new ones
	numbered      bool   // equal ones have their numbers
}

// internTexts adds new wallets and tokens.
func (j *fileImport) internTexts() error {
	if err := j.exec("AddWallets", "@first", strconv.FormatInt(j.texts.wallet, 10)); err != nil {
		return err
	}
	return j.exec("AddTokens", "@first", strconv.FormatInt(j.texts.token, 10))
}

// said returns the table with tokens, conditions and outcomes as in the rows of the file.
func (j *fileImport) said() (string, error) {
	if j.held.only && !j.made["s_said"] {
		if err := j.saidOfHeld(); err != nil {
			return "", err
		}
	}
	if j.texts != nil || j.held.only {
		return "s_said", nil
	}
	return "s_raw", nil
}

// named returns the replacements of a statement that reads the names of users.
func (j *fileImport) named() []string {
	if j.texts != nil {
		return []string{"@named", fmt.Sprintf("(%s)", j.texts.query), "@wallets", "s_wallet", "@key", "text"}
	}
	return []string{"@named", "s_raw", "@wallets", "wallets", "@key", "address"}
}
