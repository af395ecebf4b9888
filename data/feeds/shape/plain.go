package shape

import (
	"encoding/hex"
	"fmt"
	"math"
	"unsafe"

	"pmx/data"
)

// PlainNumber returns a number from 0 to most without a sign or leading zeros.
func PlainNumber(text []byte, most int64) (n int64, ok bool) {
	if len(text) == 0 || len(text) > 18 || text[0] == '0' && len(text) > 1 { // of 19 digits some do not fit
		return 0, false
	}
	for _, c := range text {
		if c < '0' || c > '9' {
			return 0, false
		}
		n = n*10 + int64(c-'0')
	}
	return n, n <= most
}

// PlainMicro is PlainNumber for an amount in millionths.
func PlainMicro(text []byte) (data.Micro, bool) {
	n, ok := PlainNumber(text, math.MaxInt64)
	return data.Micro(n), ok
}

// PlainHex reads 0x and two digits for each byte of into.
func PlainHex(into, text []byte) bool {
	if len(text) != 2+2*len(into) || text[0] != '0' || text[1] != 'x' {
		return false
	}
	_, err := hex.Decode(into, text[2:])
	return err == nil
}

// PlainToken reports whether a token is as shape.Token returns it.
func PlainToken(text []byte) bool {
	if len(text) == 0 || len(text) > 78 || text[0] == '0' {
		return false
	}
	for _, c := range text {
		if c < '0' || c > '9' {
			return false
		}
	}
	return true
}

// PlainRows returns q for rows in their plainest form. tx, wallet, token and condition are columns of texts, and outcome
// is one of whole numbers; "" if there is none.
func (q FillSQL) PlainRows(tx, wallet, token, condition, outcome string) *data.PlainRows {
	const walletHash, tokenHash = "(hash(%s) >> 1)::BIGINT", "(hash(%s, %s, %s) >> 1)::BIGINT"
	outcome = orElse(outcome, "NULL::TINYINT")
	wallets := fmt.Sprintf("SELECT coalesce(text, '') AS text, "+walletHash+" AS hash\nFROM (SELECT DISTINCT %s AS text\n  FROM %s)", "text", wallet, q.From)
	tokens := fmt.Sprintf("SELECT coalesce(token, '') AS token, coalesce(condition, '') AS condition, "+tokenHash+" AS hash,\n"+
		"  CASE WHEN outcome BETWEEN 0 AND 127 THEN outcome WHEN outcome IS NOT NULL THEN %d ELSE %d END::TINYINT AS outcome\n"+
		"FROM (SELECT DISTINCT %s AS token, %s AS condition, %s AS outcome\n  FROM %s)",
		"token", "condition", "outcome", data.NoIndex-1, data.NoIndex, token, condition, outcome, q.From)
	q.hashes = true
	q.Tx, q.Wallet, q.Token = tx, fmt.Sprintf(walletHash, wallet), fmt.Sprintf(tokenHash, token, condition, outcome)
	q.Condition, q.Outcome, q.Given.Tx, q.Given.Condition, q.Given.Outcome = "", "", "", "", ""
	mixed := fmt.Sprintf("SELECT count(log) BETWEEN 1 AND count(*) - 1 AS mixed\nFROM (SELECT %s AS log\n  FROM %s)", orElse(q.LogIndex, "NULL"), q.From)
	return &data.PlainRows{Wallets: wallets, Tokens: tokens, Mixed: mixed, Fill: plainFill,
		Select: fmt.Sprintf("SELECT coalesce(row, 0) AS row, coalesce(tx, '') AS tx, coalesce(log_index, %[1]d) AS log_index, coalesce(block, %[1]d) AS block, "+
			"coalesce(ts, 0) AS ts, wallet, role, token, coalesce(side, %[1]d)::TINYINT AS side, coalesce(shares, %[1]d) AS shares, coalesce(usd, %[1]d) AS usd, "+
			"coalesce(fee, 0) AS fee, reject IS NOT NULL OR coalesce(name, '') <> '' AS odd\nFROM (%[2]s)", data.NoIndex, q.String())}
}

// plainFill is data.PlainRows.Fill. It may be stricter than the conversions in FillSQL.
func plainFill(row *data.PlainRow, f *data.PlainFill) bool {
	if row.Odd || row.Side < 0 || row.Shares < 0 || row.USD < 0 || row.Row < 1 || !PlainHex(f.Tx[:], bytesOf(row.Tx)) {
		return false
	}
	f.Row, f.LogIndex, f.Block, f.TS, f.Role, f.Side = row.Row, row.LogIndex, row.Block, row.TS, data.Role(row.Role), data.Side(row.Side)
	f.Shares, f.USD, f.Fee = data.Micro(row.Shares), data.Micro(row.USD), data.Micro(row.Fee)
	return true
}

// bytesOf returns the bytes of s, which must not be changed.
func bytesOf(s string) []byte { return unsafe.Slice(unsafe.StringData(s), len(s)) }
