// Package polymarket reads the data of the venue's own services: trades and resolutions of the data
// API, markets and events of Gamma, markets of the CLOB.
package polymarket

import (
	"pmx/data"
)

// Feeds returns the feeds of this package.
func Feeds() []data.Feed {
	return []data.Feed{trades(), tradesCSV(), gammaMarkets(), gammaEvents(), marketList(), clobMarkets(), resolutions()}
}

func first[T ~string](texts ...T) T {
	for _, t := range texts {
		if t != "" {
			return t
		}
	}
	return ""
}
