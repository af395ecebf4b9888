package shape

import (
	"fmt"
	"slices"
	"strings"

	"pmx/data"
)

// FillSQL has the SQL expressions of the columns of a fill; an empty one is NULL.
type FillSQL struct {
	Tx, LogIndex, Block, TS, Wallet, Role, Token, Condition, Outcome, Side, Shares, USD, Fee, Name string

	// Given has the columns that may be empty, as they are in the file.
	Given Given

	// Row is the record's number; empty: NULL, which means the position in the result.
	Row string
	// Bad is the condition under which the whole record is unusable; empty: never.
	Bad string
	// BadReason is the reject reason of such a record; empty: bad_row.
	BadReason string
	// From is what follows FROM.
	From string

	texts  bool // wallet and token are texts
	hashes bool // wallet and token are hashes of texts, and tx is a text
}

// Given has the columns of optional values; "" for those that the feed does not have. If such a
// field is present but cannot be parsed, the row is rejected: without its value the fill could be
// taken for a different one.
type Given struct{ Tx, LogIndex, Block, TS, Taker, Condition, Outcome, Fee string }

// field is an optional value: the expression of the column, that of the value, and the reject
// reason.
type field struct{ name, given, value, reason string }

// The taker is needed only for the role, so its length is checked and no more: parsing it would
// cost as much as parsing the wallet.
func (g Given) fields() []field {
	all := []field{
		{"tx", g.Tx, "tx", "bad_hash"}, {"log_index", g.LogIndex, "log_index", "bad_log_index"},
		{"block", g.Block, "block", "bad_block"}, {"ts", g.TS, "ts", "bad_time"},
		{"taker", g.Taker, "CASE WHEN strlen(given_taker) IN (40, 42) THEN true END", "bad_address"}, {"condition", g.Condition, "condition", "bad_condition"},
		{"outcome", g.Outcome, "outcome", "bad_outcome"}, {"fee", g.Fee, "fee", "bad_amount"},
	}
	return slices.DeleteFunc(all, func(f field) bool { return f.given == "" || strings.HasPrefix(f.given, "NULL::") })
}

// absent is SQL that reports whether trimmed text is one of the words that sources write for a
// missing value; see Text.Trim.
func absent(text string) string {
	return Among(text, "''", "'nan'", "'NaN'", "'NA'", "'None'", "'null'", "'NULL'")
}

// String returns a SELECT of data.FillColumns, with a reject reason for every invalid record.
func (q FillSQL) String() string {
	exprs := []string{"", q.Tx, q.LogIndex, q.Block, q.TS, q.Wallet, q.Role, q.Token, q.Condition, q.Outcome,
		q.Side, q.Shares, q.USD, q.Fee, q.Name}
	inner := []string{orElse(q.Bad, "false") + " AS bad"}
	outer := []string{"NULL::BIGINT AS row"}
	if q.Row != "" {
		outer[0] = "row"
		inner = append(inner, q.Row+" AS row")
	}
	for i, col := range data.FillColumns[1 : len(data.FillColumns)-1] {
		e := orElse(exprs[i+1], "NULL")
		kind := col[1]
		switch {
		case q.texts && col[0] == "wallet", q.hashes && col[0] == "tx":
			kind = "VARCHAR"
		case q.hashes && (col[0] == "wallet" || col[0] == "token"):
			kind = "BIGINT"
		}
		inner = append(inner, fmt.Sprintf("(%s)::%s AS %s", e, kind, col[0]))
		outer = append(outer, col[0])
	}
	for _, f := range q.Given.fields() {
		inner = append(inner, fmt.Sprintf("(%s) AS given_%s", f.given, f.name))
	}
	outer = append(outer, rejectSQL(q.Given.fields(), orElse(q.BadReason, "bad_row"))+" AS reject")
	return fmt.Sprintf("SELECT %s\nFROM (SELECT %s\n  FROM %s)",
		strings.Join(outer, ", "), strings.Join(inner, ",\n    "), q.From)
}

// Texts returns q in parts. wallet, token and condition are columns of texts, and outcome is one of
// whole numbers; "" if there is none.
func (q FillSQL) Texts(wallet, token, condition, outcome string) *data.Texts {
	from := fmt.Sprintf("min(%s) AS first_row\n  FROM %s\n  GROUP BY ALL", q.Row, q.From)
	tokens := fmt.Sprintf("SELECT text, %s AS token, %s AS condition, CASE WHEN said_outcome BETWEEN 0 AND 127 THEN said_outcome END::TINYINT AS outcome,\n"+
		"  (said IS NULL OR condition IS NOT NULL) AND (said_outcome IS NULL OR outcome IS NOT NULL) AND token IS NOT NULL AS usable, first_row\n"+
		"FROM (SELECT %s AS text, %s AS said, %s AS said_outcome, %s)",
		Token("text"), Condition("said"), token, condition, orElse(outcome, "NULL::TINYINT"), from)
	fills := q
	fills.texts, fills.Wallet, fills.Token = true, wallet, token
	fills.Condition, fills.Outcome, fills.Given.Condition, fills.Given.Outcome = "", "", "", ""
	return &data.Texts{
		Wallets: fmt.Sprintf("SELECT text, %s AS address, first_row\nFROM (SELECT %s AS text, %s)", Hex("text", 20), wallet, from),
		Tokens:  tokens,
		Fills:   fills.String(),
	}
}

func orElse(s, other string) string {
	if s == "" {
		return other
	}
	return s
}

// rejectSQL is Check in SQL, plus the checks of optional fields. Nearly every row meets the first
// condition, so the others need not be evaluated.
func rejectSQL(fields []field, bad string) string {
	fine, unread := "", ""
	for _, f := range fields {
		fine += fmt.Sprintf(" AND (given_%s IS NULL OR %s IS NOT NULL)", f.name, f.value)
		unread += fmt.Sprintf(" WHEN NOT %s AND %s IS NULL THEN '%s'", absent("trim(given_"+f.name+"::VARCHAR)"), f.value, f.reason)
	}
	return fmt.Sprintf("CASE WHEN NOT bad AND ts BETWEEN %[1]d AND %[2]d AND wallet IS NOT NULL AND token IS NOT NULL "+
		"AND side IS NOT NULL AND shares >= 0 AND usd BETWEEN 0 AND shares%[3]s THEN NULL "+
		"WHEN bad THEN '%[5]s' WHEN ts IS NULL AND block IS NULL OR ts NOT BETWEEN %[1]d AND %[2]d THEN 'bad_time' "+
		"WHEN wallet IS NULL THEN 'bad_address' WHEN token IS NULL THEN 'bad_token' WHEN side IS NULL THEN 'bad_side' "+
		"WHEN shares IS NULL OR usd IS NULL OR shares < 0 OR usd < 0 THEN 'bad_amount' "+
		"WHEN usd - shares > shares // 100 + 20000 THEN 'bad_price'%[4]s END", int64(FirstMicro), int64(LastMicro), fine, unread, bad)
}
