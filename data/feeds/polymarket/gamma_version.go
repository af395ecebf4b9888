package polymarket

import (
	"math/big"
	"strings"

	"pmx/data"
	"pmx/data/feeds/shape"
)

// protocol moves tokens and oracle status of protocol V2 to the fields of V1. The field version
// decides, because records of either version may have both; the default is V1. An unknown version,
// or tokens of V2 that do not belong to the condition, are a *shape.RowError.
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

// checkPositions returns a *shape.RowError if a token is not the one that V2 derives from the
// condition: the first 31 bytes of its id, followed by the index of the outcome.
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
			return shape.Bad("bad_token", "position %d does not belong to the market's condition", i)
		}
	}
	return nil
}
