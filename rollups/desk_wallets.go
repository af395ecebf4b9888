package rollups

import (
	"context"
	"database/sql"
	"fmt"
	"strconv"
)

// deskTraderVertical keeps what each wallet did on the weather desk's markets. It comes after
// deskVertical, which says which markets those are.
func deskTraderVertical() vertical {
	return vertical{
		tables: []table{deskWalletTable()},
		before: func(m *merge) error {
			if !m.has(withMarkets) {
				return nil
			}
			return m.exec("DeskMapped")
		},
		after:     deskWalletAfter,
		holdings:  deskHoldings,
		temporary: []string{"desk_held"},
		section:   func() section { return &deskTraders{} },
	}
}

// deskHoldings makes desk_held: what all wallets hold of the desk's markets adds to their figures.
func deskHoldings(b *rebuilder) error {
	if err := b.exec(statements.Get("DeskHeldAllEmpty")); err != nil {
		return err
	}
	return b.eachWallets("held_all", func(held string) error {
		return b.exec(statements.Get("DeskHeldAll", "@held", contribution("1", statements.Get("OfDesk", "@held", held))))
	})
}

func deskWalletTable() table {
	return table{name: "desk_wallet", delta: "DeltaDeskWallet", by: eachWallet, with: withFills | withHolders | withMarkets, rebuild: "RebuildDeskWallet", extremes: true, keys: []string{"wallet"},
		sums: []string{"fills", "buy_usd", "sell_usd", "fee_usd", "redemption", "markets", "resolved_markets", "winning_markets"}}
}

// deskFigures is the definition: the figures of every wallet over all markets of the
// desk, from positions, the facts that meet a condition, and held, what the positions are worth.
func deskFigures(positions, facts, held string) string {
	return statements.Get("DeskWalletOf", "@positions", positions, "@which", statements.Get("DeskTokensNow"), "@span", facts, "@held", held)
}

// heldOf values the holdings of some tokens: which is a list or a subquery.
func heldOf(positions, which string) string {
	some := statements.Get("PositionsOf", "@positions", positions, "@which", which)
	legs := statements.Get("HeldLegs", "@positions", some, "@among", "true")
	return contribution("1", "("+statements.Get("Holdings", "@legs", "("+legs+")")+") AS k")
}

// rebuildDeskWallets computes every wallet's figures from scratch, in the caller's transaction: a
// wallet's first and last trade cannot be subtracted.
func rebuildDeskWallets(ctx context.Context, conn *sql.Conn) error {
	t := deskWalletTable()
	positions := statements.Get("PositionsNow")
	figures := deskFigures(positions, "true", heldOf(positions, statements.Get("DeskTokensNow")))
	err := t.replace(ctx, conn, t.counting(t.typed(figures)))
	if err != nil {
		return fmt.Errorf("traders of the weather desk: %w", err)
	}
	return nil
}

// deskMoves says what came to the desk or left it and had been traded before.
type deskMoves struct {
	lost, gained int64 // tokens
	first, last  int64 // when they were traded
}

// deskMoves leaves the tokens in n_desk_token.
func (m *merge) deskMoves() (d deskMoves, err error) {
	if err := m.exec("DeskTokensNone"); err != nil || !m.has(withMarkets) {
		return d, err
	}
	var may int64
	if err := m.conn.QueryRowContext(m.ctx, statements.Get("DeskMayMove")).Scan(&may); err != nil || may == 0 {
		return d, err
	}
	if err := m.exec("DeskTokens"); err != nil {
		return d, err
	}
	err = m.conn.QueryRowContext(m.ctx, statements.Get("DeskTokenCount")).Scan(&d.lost, &d.gained, &d.first, &d.last)
	return d, err
}

// deskWalletAfter leaves in n_desk_wallet what the batch adds to the figures. If a market or token
// that was traded leaves the desk, all are recomputed, and the batch adds nothing.
func deskWalletAfter(m *merge) error {
	if m.sums != nil { // the desk does not change
		return nil
	}
	moves, err := m.deskMoves()
	if err != nil || !m.has(withFills|withHolders|withMarkets) {
		return err
	}
	concerned, err := m.keep("n_desk_batch", statements.Get("DeskBatch"))
	if err != nil {
		return err
	}
	if moves.lost > 0 {
		if err := m.exec("DeskWalletNone"); err != nil {
			return err
		}
		return rebuildDeskWallets(m.ctx, m.conn)
	}
	if concerned == 0 && m.touched > 0 {
		if err := m.conn.QueryRowContext(m.ctx, statements.Get("DeskRevalued")).Scan(&concerned); err != nil {
			return err
		}
	}
	if concerned+moves.gained == 0 {
		return m.exec("DeskWalletNone")
	}
	notGained, notJoined, gained := "", "", "" // without such tokens nothing is left out
	if moves.gained > 0 {
		figures, err := m.deskGained(moves)
		if err != nil {
			return err
		}
		notGained, gained = " "+statements.Get("DeskNotGained"), statements.Get("DeskGained", "@figures", figures)
		notJoined = " " + statements.Get("DeskNotJoined", "@joined", statements.Get("DeskJoinedMarkets"))
	}
	return m.exec("DeskWalletBatch", "@notgained", notGained, "@gained", gained, "@pairs", statementIf(m.firsts > 0, "DeskPairs", "@notjoined", notJoined),
		"@held", statementIf(m.touched > 0, "DeskHeld", "@after", contribution("1", statements.Get("DeskHeldNow")),
			"@before", contribution("-1", statements.Get("DeskHeldThen"))))
}

// deskGained returns the figures of tokens that came to the desk after being traded, including the
// batch's fills of them.
func (m *merge) deskGained(moves deskMoves) (string, error) {
	which, _, err := m.few(statements.Get("DeskTokensGained"))
	if err != nil {
		return "", err
	}
	valued, _, err := m.few(statements.Get("TokensOfMarkets", "@markets", statements.Get("DeskJoinedMarkets")))
	if err != nil {
		return "", err
	}
	positions := statements.Get("PositionsNow")
	span := statements.Get("FillsBetween", "@lo", strconv.FormatInt(moves.first, 10), "@hi", strconv.FormatInt(moves.last, 10))
	return statements.Get("DeskWalletOf", "@positions", positions, "@which", which, "@span", span, "@held", heldOf(positions, valued)), nil
}
