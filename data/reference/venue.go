package reference

import (
	_ "embed"
	"encoding/csv"
	"fmt"
	"strings"
	"sync"

	"pmx/data"
)

// VenueWallet is an address of the venue itself. It holds or moves tokens, but is not a trader.
type VenueWallet struct {
	Address data.Address
	Name    string
	Kind    string // exchange, adapter, tokens, collateral or none
}

//go:embed venue_wallets.csv
var venueCSV string

var venueTable = sync.OnceValues(func() ([]VenueWallet, error) { return parseVenue(venueCSV) })

// VenueWallets returns the venue's own addresses on Polygon: all generations of its exchanges, the
// NegRisk adapter, the token contract and the collateral (ctf-exchange and neg-risk-ctf-adapter
// deployments). The slice is new.
func VenueWallets() []VenueWallet {
	all, err := venueTable()
	if err != nil {
		panic(err) // the embedded table is broken: a build fault the tests catch
	}
	return append([]VenueWallet(nil), all...)
}

// Exchanges returns the addresses that are the taker in the OrderFilled event of the taker's own
// order.
func Exchanges() []data.Address {
	var out []data.Address
	for _, w := range VenueWallets() {
		if w.Kind == "exchange" {
			out = append(out, w.Address)
		}
	}
	return out
}

// IsExchange reports whether a is one of Exchanges.
func IsExchange(a data.Address) bool {
	all, err := venueTable()
	for _, w := range all {
		if err == nil && w.Kind == "exchange" && w.Address == a {
			return true
		}
	}
	return false
}

func parseVenue(text string) ([]VenueWallet, error) {
	rows, err := csv.NewReader(strings.NewReader(text)).ReadAll()
	if err != nil {
		return nil, fmt.Errorf("venue_wallets.csv: %w", err)
	}
	out := make([]VenueWallet, 0, len(rows))
	for i, r := range rows[1:] {
		a, err := data.ParseAddress(r[0])
		if err != nil {
			return nil, fmt.Errorf("venue_wallets.csv: line %d: %w", i+2, err)
		}
		out = append(out, VenueWallet{Address: a, Name: r[1], Kind: r[2]})
	}
	return out, nil
}
