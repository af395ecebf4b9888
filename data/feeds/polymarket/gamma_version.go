package polymarket

import (
	"math/big"
	"strings"

	"pmx/data"
	"pmx/data/feeds/shape"
)

// protocol puts the tokens and the oracle's status where those of protocol V1 are. The
// field version says which of them a record means, and not which of them are there:
// records of either kind may have all of them. Without a version they are those of V1.
// Another version, and tokens of V2 that are none of the condition's, are a
// *shape.RowError.
func (g *Gamma) protocol(condition data.Hash) error {
	switch version := strings.ToLower(g.Version.Trim()); version {
	case "", "v1":
		return nil
	case "v2":
		g.ClobTokenIDs, g.UMAResolutionStatus = g.PositionIDs, g.ResolutionStatus
		return g.checkPositions(condition)
	}
	return shape.Bad("bad_version", "the version %q of the protocol is neither v1 nor v2", g.Version.Trim())
}

// checkPositions gives a *shape.RowError where a token is not the one that V2 computes from
// the condition: its 31 bytes, and the place of the outcome behind them.
func (g *Gamma) checkPositions(condition data.Hash) error {
	for i, s := range g.ClobTokenIDs {
		if shape.Text(s).Trim() == "" {
			continue // not known
		}
		want := condition
		if want[len(want)-1] != 0 || i > 255 {
			return shape.Bad("bad_condition", "a condition id of protocol V2 ends in 00")
		}
		want[len(want)-1] = byte(i)
		if id, ok := shape.TokenID(s); ok && id != new(big.Int).SetBytes(want[:]).String() {
			return shape.Bad("bad_token", "the position at place %d does not belong to the market's condition", i)
		}
	}
	return nil
}
