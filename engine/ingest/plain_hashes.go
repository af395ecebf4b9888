package ingest

import (
	"database/sql"
	"fmt"
	"strings"
	"time"

	"pmx/data"
	"pmx/data/feeds/shape"
	"pmx/engine"
)

// plainHashes is what the hashes in the rows of a file stand for. Ids are given in the order of rows, so a hash has none
// before its first row.
type plainHashes struct {
	wallets, tokens hashIDs
	addresses       []data.Address // in the order of wallets
	mappings        []tokenMapping // in the order of tokens
}

type tokenMapping struct {
	token string
	plainMapping
}

const noID = -1

// plainAtMost is how long helper threads are held off while a file is read. Longer work only takes more processor time.
const plainAtMost = time.Hour

// readHashes reads what the hashes stand for. It fails with errNotPlain for a text that is not plain, if two have the
// same hash, if they are too many to keep in memory, and for a file that add would refuse at a later row.
func (p *plainReader) readHashes(conn *sql.Conn, rows *data.PlainRows) (h *plainHashes, err error) {
	h = &plainHashes{}
	var mixed bool
	if err := conn.QueryRowContext(p.ctx, rows.Mixed).Scan(&mixed); err != nil {
		return h, fmt.Errorf("log indexes: %w", err)
	}
	if mixed && p.ascending {
		return h, errNotPlain
	}
	err = engine.StreamRows(p.ctx, conn, rows.Wallets, func(row *data.PlainWallet) error {
		var address data.Address
		if p.left -= hashedWallet; !h.wallets.add(row.Hash) || p.left < 0 || !shape.PlainHex(address[:], []byte(row.Text)) {
			return errNotPlain
		}
		h.addresses = append(h.addresses, address)
		return nil
	})
	if err != nil {
		return h, fmt.Errorf("wallets: %w", err)
	}
	err = engine.StreamRows(p.ctx, conn, rows.Tokens, func(row *data.PlainToken) error {
		t := tokenMapping{token: strings.Clone(row.Token), plainMapping: plainMapping{text: strings.Clone(row.Condition), outcome: row.Outcome}}
		if p.left -= hashedToken; !h.tokens.add(row.Hash) || p.left < 0 || t.outcome < data.NoIndex || !shape.PlainToken([]byte(t.token)) ||
			t.text != "" && !shape.PlainHex(t.condition[:], []byte(t.text)) {
			return errNotPlain
		}
		h.mappings = append(h.mappings, t)
		return nil
	})
	if err != nil {
		return h, fmt.Errorf("tokens: %w", err)
	}
	return h, nil
}

// hashedRow is a row with the hashes of its texts.
type hashedRow struct {
	fill          data.PlainFill
	wallet, token int64
}

// hashedRows are how many rows are looked up together: so the processor waits for the memory of several slots at once.
const hashedRows = 64

// addHashed adds rows with the hashes of their texts.
func (p *plainReader) addHashed(h *plainHashes, rows []hashedRow) error {
	var wallets, tokens [hashedRows]*hashSlot
	for i := range rows {
		wallets[i] = h.wallets.find(rows[i].wallet)
	}
	for i := range rows {
		tokens[i] = h.tokens.find(rows[i].token)
	}
	for i := range rows {
		if wallets[i] == nil || tokens[i] == nil { // the file is another one now
			return errNotPlain
		}
		if err := p.addFound(h, &rows[i].fill, wallets[i], tokens[i]); err != nil {
			return err
		}
	}
	return nil
}

// addFound adds a row with the slots of its hashes.
func (p *plainReader) addFound(h *plainHashes, f *data.PlainFill, w, t *hashSlot) error {
	if w.id == noID {
		w.id = p.walletOf(h.addresses[w.mark-1])
	}
	if t.id == noID {
		said := &h.mappings[t.mark-1]
		t.id = p.tokenOf([]byte(said.token))
		said.row = f.Row
		if !p.say(t.id, &said.plainMapping) {
			return errNotPlain
		}
	}
	return p.addRow(f, w.id, t.id)
}

// say notes what rows say about the market of their token, by its id. A token of which rows say different things is left to the
// statements.
func (p *plainReader) say(token int32, said *plainMapping) bool {
	for int(token) >= len(p.said) {
		p.said = append(p.said, nil)
	}
	if m := p.said[token]; m != nil {
		return m.text == said.text && (m.outcome == said.outcome || m.text == "")
	}
	p.said[token] = said
	p.conditions = p.conditions || said.text != ""
	return true
}

// readHashed reads the rows, of which hashes has the texts.
func (p *plainReader) readHashed(conn *sql.Conn, rows *data.PlainRows, hashes *plainHashes) error {
	var ahead [hashedRows]hashedRow
	n := 0
	err := engine.StreamRows(p.ctx, conn, rows.Select, func(row *data.PlainRow) error {
		next := &ahead[n]
		if !rows.Fill(row, &next.fill) {
			return errNotPlain
		}
		next.wallet, next.token = row.Wallet, row.Token
		if n++; n < hashedRows {
			return nil
		}
		n = 0
		return p.addHashed(hashes, ahead[:])
	})
	if err != nil {
		return err
	}
	return p.addHashed(hashes, ahead[:n])
}

// readRows returns a func that reads a file by DuckDB, on another connection than the one that appends.
func (p *plainReader) readRows(j *fileImport, rows *data.PlainRows) func() (bool, error) {
	return func() (plain bool, err error) {
		ran, err := j.im.DB.BesideUsual(p.ctx, func(conn *sql.Conn) error {
			hashes, err := p.readHashes(conn, rows)
			if err != nil {
				return err
			}
			defer j.im.DB.AloneBesideOne(plainAtMost)() // not before: all threads list texts
			return p.readHashed(conn, rows, hashes)
		})
		if err == nil && ran {
			err = p.end()
		}
		switch {
		case p.ctx.Err() != nil:
			return false, p.ctx.Err()
		case err != nil: // staging says what is wrong with the file
			return false, nil
		}
		return ran, nil
	}
}
