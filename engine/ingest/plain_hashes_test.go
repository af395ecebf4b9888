package ingest

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"strings"
	"testing"

	"pmx/data"
	"pmx/engine"
)

// TestHashesStandForOneTextEach: a file is not read by hashes if two of its texts have the same one, if a text is not
// plain, if they do not fit into memory, or if a row has one that no text has.
func TestHashesStandForOneTextEach(t *testing.T) {
	ctx := context.Background()
	db, err := engine.Open(ctx, engine.Options{Dir: engine.Dir(t.TempDir()), Threads: 1, MemoryLimit: "256MB"})
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = db.Close() }()
	wallet := func(n int) string { return fmt.Sprintf("('0x%040d', %d)", n, n) }
	token := func(n int, condition string) string {
		return fmt.Sprintf("('%d', '%s', 0::TINYINT, %d)", n, condition, n)
	}
	condition := "0x" + strings.Repeat("c", 64)
	for name, c := range map[string]struct {
		wallets, tokens []string
		room            int64
		plain           bool
	}{
		"two of each":              {[]string{wallet(1), wallet(2)}, []string{token(1, ""), token(2, condition)}, 2*hashedWallet + 2*hashedToken, true},
		"a byte less":              {[]string{wallet(1), wallet(2)}, []string{token(1, ""), token(2, condition)}, 2*hashedWallet + 2*hashedToken - 1, false},
		"wallets of one hash":      {[]string{wallet(1), "('0x" + strings.Repeat("a", 40) + "', 1)"}, []string{token(1, "")}, 1 << 20, false},
		"tokens of one hash":       {[]string{wallet(1)}, []string{token(1, ""), "('7', '', 0::TINYINT, 1)"}, 1 << 20, false},
		"a wallet that is none":    {[]string{wallet(1), "('0x12', 2)"}, []string{token(1, "")}, 1 << 20, false},
		"a row without a wallet":   {[]string{wallet(1), "('', 2)"}, []string{token(1, "")}, 1 << 20, false},
		"a token that is none":     {[]string{wallet(1)}, []string{token(1, ""), "('0x7', '', 0::TINYINT, 2)"}, 1 << 20, false},
		"a condition that is none": {[]string{wallet(1)}, []string{token(1, ""), token(2, "0xcc")}, 1 << 20, false},
		"an outcome out of range":  {[]string{wallet(1)}, []string{token(1, ""), "('2', '', -2::TINYINT, 2)"}, 1 << 20, false},
	} {
		p := newReader(ctx)
		p.left = c.room
		rows := &data.PlainRows{Mixed: "SELECT true AS mixed", Wallets: "SELECT text, hash::BIGINT AS hash FROM (VALUES " + strings.Join(c.wallets, ", ") + ") AS v (text, hash)",
			Tokens: "SELECT token, condition, outcome, hash::BIGINT AS hash FROM (VALUES " + strings.Join(c.tokens, ", ") + ") AS v (token, condition, outcome, hash)"}
		var hashes *plainHashes
		err := db.Read(ctx, func(conn *sql.Conn) (err error) {
			hashes, err = p.readHashes(conn, rows)
			return err
		})
		p.ascending = true
		mixed := db.Read(ctx, func(conn *sql.Conn) (err error) {
			_, err = p.readHashes(conn, rows)
			return err
		})
		if !errors.Is(mixed, errNotPlain) {
			t.Errorf("%s: a file of which some rows have a log index can be appended: %v", name, mixed)
		}
		p.ascending = false
		if c.plain && err != nil || !c.plain && !errors.Is(err, errNotPlain) {
			t.Errorf("%s: %v", name, err)
		}
		if !c.plain {
			continue
		}
		p.left = 1 << 20
		row := func(wallet, token int64) hashedRow {
			return hashedRow{fill: data.PlainFill{TS: firstTime, LogIndex: data.NoIndex}, wallet: wallet, token: token}
		}
		if err := p.addHashed(hashes, []hashedRow{row(2, 2), row(2, 1), row(1, 2)}); err != nil {
			t.Errorf("%s: %v", name, err)
		}
		if len(p.fresh) != 2 || p.fresh[0][19] != 2 || p.named[0] != "2" || p.group[0].wallet != 0 || p.group[2].wallet != 1 || p.group[1].token != 1 {
			t.Errorf("%s: the ids are not in the order of the rows: %v, %v", name, p.fresh, p.named)
		}
		for _, unknown := range [][2]int64{{3, 1}, {1, 3}} {
			if err := p.addHashed(hashes, []hashedRow{row(1, 1), row(unknown[0], unknown[1])}); !errors.Is(err, errNotPlain) {
				t.Errorf("a hash that no text has: %v", err)
			}
		}
	}
}
