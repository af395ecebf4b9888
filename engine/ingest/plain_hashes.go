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

// addHashed adds a row with the hashes of its texts.
func (p *plainReader) addHashed(h *plainHashes, f *data.PlainFill, wallet, token int64) error {
	w, t := h.wallets.find(wallet), h.tokens.find(token)
	if w == nil || t == nil { // the file is another one now
		return errNotPlain
	}
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

// readRows returns a func that reads a file by DuckDB, on another connection than the one that appends.
func (p *plainReader) readRows(j *fileImport, rows *data.PlainRows) func() (bool, error) {
	return func() (plain bool, err error) {
		ran, err := j.im.DB.BesideUsual(p.ctx, func(conn *sql.Conn) error {
			hashes, err := p.readHashes(conn, rows)
			if err != nil {
				return err
			}
			defer j.im.DB.AloneBesideOne(plainAtMost)() // not before: all threads list texts
			var fill data.PlainFill
			return engine.StreamRows(p.ctx, conn, rows.Select, func(row *data.PlainRow) error {
				if !rows.Fill(row, &fill) {
					return errNotPlain
				}
				return p.addHashed(hashes, &fill, row.Wallet, row.Token)
			})
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
