package sample

import (
	"time"

	"pmx/data"
)

// Generator names this program in manifests.
const Generator = "pmx sample venue"

// Version is raised whenever the bytes that a Config gives change.
const Version = 2

// File is one written file.
type File struct {
	Name   string `json:"name"`
	Rows   int64  `json:"rows"` // records, without the header
	Bytes  int64  `json:"bytes"`
	SHA256 string `json:"sha256"` // lower-case hex
}

// Manifest describes a venue: it has the numbers that an import of it must report.
type Manifest struct {
	Generator string    `json:"generator"`
	Version   int       `json:"version"`
	Seed      uint64    `json:"seed"`
	Start     time.Time `json:"start"` // all fills are at or after it
	End       time.Time `json:"end"`   // all fills are before it

	Fills   int64 `json:"fills"`   // rows of all fill files
	Matches int64 `json:"matches"` // transactions: one taker row each
	Wallets int64 `json:"wallets"` // wallets with a fill of their own
	Whales  int64 `json:"whales"`  // taker orders of 10,000 dollars or more

	Events        int64 `json:"events"`
	Markets       int64 `json:"markets"`
	Traded        int64 `json:"traded_markets"` // with at least one fill
	Open          int64 `json:"open"`           // markets not closed
	Unresolved    int64 `json:"unresolved"`     // closed, result proposed or disputed
	Resolved      int64 `json:"resolved"`       // closed and paid out, including splits
	Split         int64 `json:"split"`          // resolved 50-50
	WeatherEvents int64 `json:"weather_events"`

	// TakerUSD is what takers paid and received, and MakerUSD what makers did. They differ by the
	// minted and merged sets, in which each side has a token of its own.
	TakerUSD data.Micro `json:"taker_usd"`
	MakerUSD data.Micro `json:"maker_usd"`
	Minted   data.Micro `json:"minted"` // full sets made in matches
	Merged   data.Micro `json:"merged"` // full sets merged in matches

	FillFiles  []File `json:"fill_files"`
	EventsFile File   `json:"events_file"`

	// WeatherFiles are the weather of the desk's cities; Rows counts their records.
	WeatherFiles []File `json:"weather_files,omitempty"`
}

// count adds the listed events to the manifest.
func (s *Manifest) count(events []*event) {
	for _, e := range events {
		s.Events++
		if e.category == weather {
			s.WeatherEvents++
		}
		for _, m := range e.markets {
			s.Markets++
			if m.fills > 0 {
				s.Traded++
			}
			switch e.stage {
			case trading, ended:
				s.Open++
			case proposed, disputed:
				s.Unresolved++
			case resolved:
				s.Resolved++
				if m.result == split {
					s.Split++
				}
			}
		}
	}
}
