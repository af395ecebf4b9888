package ingest

import (
	"encoding/json"
	"fmt"
	"strconv"
	"time"

	"pmx/data"
)

func roleRank(role string) string { return statements.Get("RoleRank", "@role", role) }

func betterFee(a, b string) string { return statements.Get("BetterFee", "@a", a, "@b", b) }

func bestFee(over string) string { return statements.Get("BestFee", "@over", over) }

func logSaid(of string) string { return statements.Get("LogSaid", "@f", of) }

func logContent(of string) string { return statements.Get("LogContent", "@f", of) }

// mergeLogs merges rows of the file with the same log.
func (j *fileImport) mergeLogs() error {
	var equal, other, differ int64
	if s := j.staged; s != nil && !s.oneLog {
		j.indexed, j.allIndexed, j.allHashed = s.indexed > 0, s.indexed == s.rows, s.indexed == s.rows || s.byLog == nil && !s.unhashed
		return nil
	}
	j.staged = nil
	err := j.conn.QueryRowContext(j.ctx, statements.Get("LogIndexes")).Scan(&j.indexed, &j.allIndexed)
	j.allHashed = j.allIndexed
	if err != nil || !j.indexed {
		return err
	}
	if err := j.exec("SuspectLogs"); err != nil {
		return err
	}
	if suspects, err := j.count("s_suspect"); err != nil || suspects == 0 {
		return err
	}
	j.allIndexed, j.allHashed = false, false // nothing is assumed about a file with contradictions or repeats
	if err := j.aloneIf(true); err != nil {
		return err
	}
	if err := j.exec("Logs", "@bestfee", bestFee(" OVER same"), "@rank", roleRank("s.role"), "@content", logContent("s"), "@said", logSaid("s")); err != nil {
		return err
	}
	if err := j.conn.QueryRowContext(j.ctx, statements.Get("LogFigures")).Scan(&equal, &other, &differ); err != nil {
		return err
	}
	if other+differ > 0 {
		if err := j.contested("ContestsInFile"); err != nil {
			return err
		}
	}
	j.lost = other > 0
	j.receipt.Identical += equal
	j.receipt.Superseded += other
	if err := j.exec("MergeLogs", "@rank", roleRank("k.rank")); err != nil {
		return err
	}
	return j.exec("DropRepeatedLogs")
}

// knownLogs removes the staged fills whose log is known, except for those that have more details or
// take precedence. already is the number of those with nothing new.
func (j *fileImport) knownLogs() (already int64, err error) {
	if !j.indexed {
		return 0, j.exec("NoKnownLogs")
	}
	if err := j.exec("KnownLogs", "@fee", betterFee("s.fee", "e.fee"), "@srank", roleRank("s.role"), "@erank", roleRank("e.role")); err != nil {
		return 0, err
	}
	var other, differ, lost, won int64
	if err := j.conn.QueryRowContext(j.ctx, statements.Get("KnownFigures")).Scan(&other, &differ); err != nil {
		return 0, err
	}
	if other > 0 {
		if err := j.exec("KnownOther", "@ncontent", logContent("s"), "@ocontent", logContent("e"), "@srank", roleRank("s.role")); err != nil {
			return 0, err
		}
	}
	if other+differ > 0 {
		if err := j.contested("ContestsWithKnown"); err != nil {
			return 0, err
		}
		if err := j.conn.QueryRowContext(j.ctx, statements.Get("KnownLost")).Scan(&lost, &won); err != nil {
			return 0, err
		}
	}
	if lost > 0 {
		if err := j.exec("LoseToKnown"); err != nil {
			return 0, err
		}
	}
	j.receipt.Superseded += lost
	j.lost = j.lost || lost+won > 0
	j.ousted = j.ousted || won > 0
	return j.changed("DropKnownLogs", nil)
}

// keepLost stores fills that lost their log: an equal fill without a log index is the same fill,
// whichever came first.
func (j *fileImport) keepLost() error {
	if !j.lost {
		return nil
	}
	if err := j.exec("Lost", "@bestfee", bestFee(""), "@bestrole", roleRank("max("+roleRank("role")+")")); err != nil {
		return err
	}
	if err := j.execAll("DropLost", "AddLost"); err != nil {
		return err
	}
	err := j.conn.QueryRowContext(j.ctx, statements.Get("Absorbed")).Scan(&j.absorbed)
	j.ousted = j.ousted || j.absorbed > 0
	return err
}

// contested adds the rows that a statement returns to those in conflict.
func (j *fileImport) contested(name string) error {
	if j.moving { // the conflict is that of the block, or was reported when the rows came
		return nil
	}
	if err := j.aloneIf(true); err != nil {
		return err
	}
	if !j.contest {
		if err := j.exec("ContestsEmpty"); err != nil {
			return err
		}
		j.contest = true
	}
	return j.exec(name, "@nsaid", logSaid("s"), "@osaid", logSaid("e"))
}

// contests stores the rows in conflict, and counts and lists their logs.
func (j *fileImport) contests() error {
	if !j.contest {
		return nil
	}
	rows := j.pages(statements.Get("Contests"), "row, tx, log_index, known")
	next := func() (b badRow, more bool, err error) {
		var (
			tx                   []byte
			index                int64
			equal, stands, first bool
			said, known          string
		)
		more, err = rows.next(&b.row, &tx, &index, &equal, &stands, &said, &known, &first)
		if err != nil || !more {
			return b, more, err
		}
		hash := hexed(tx)
		if first {
			if j.receipt.Conflicts++; len(j.receipt.ConflictFills) < namedConflicts {
				j.receipt.ConflictFills = append(j.receipt.ConflictFills, hash+":"+strconv.FormatInt(index, 10))
			}
		}
		if b.raw, err = canonicalFill(said, hash, index); err == nil && known != "" {
			known, err = canonicalFill(known, hash, index)
		}
		b.conflict = contestDetail(known, equal, stands)
		return b, more, err
	}
	return rows.during(func() error { return j.locateBadRows(next) })
}

// contestDetail says what a row in conflict contradicts, and which of the two is used.
func contestDetail(known string, equal, stands bool) string {
	which := "that is used"
	switch {
	case equal:
		which = "maker takes precedence over taker, a fee in dollars over one in tokens, and the larger fee over the smaller"
	case stands:
		which = "this row is used"
	}
	if known == "" {
		return "another row of this file has different values for this log: " + which
	}
	return fmt.Sprintf("this log is known as %s: %s", known, which)
}

// canonicalFill returns the values of LogSaid as a row of pmx's own files.
func canonicalFill(said, tx string, index int64) (string, error) {
	var f struct {
		TS, Shares, USD, Fee int64
		Address, Token       string
		Side                 data.Side
		Role                 data.Role
	}
	if err := json.Unmarshal([]byte(said), &f); err != nil {
		return "", fmt.Errorf("fill %q: %w", said, err)
	}
	side := "BUY"
	if f.Side == data.Sell {
		side = "SELL"
	}
	fee, in := data.FeeUSD(f.Side, data.Micro(f.Fee)), "usd"
	if shares := data.FeeShares(f.Side, data.Micro(f.Fee)); shares > 0 {
		fee, in = shares, "shares"
	}
	text, err := json.Marshal(struct {
		TS      string `json:"ts"`
		Address string `json:"address"`
		Token   string `json:"token_id"`
		Side    string `json:"side"`
		Shares  string `json:"shares"`
		USD     string `json:"usd"`
		Role    string `json:"role,omitempty"`
		Fee     string `json:"fee"`
		In      string `json:"fee_asset"`
		Tx      string `json:"transaction_hash"`
		Log     int64  `json:"log_index"`
	}{instant(time.UnixMicro(f.TS)), "0x" + f.Address, f.Token, side, data.Micro(f.Shares).String(), data.Micro(f.USD).String(),
		map[data.Role]string{data.Maker: "maker", data.Taker: "taker"}[f.Role], fee.String(), in, tx, index})
	return string(text), err
}
