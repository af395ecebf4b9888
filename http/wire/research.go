package wire

import "time"

// Catalogue is the answer of GET /research/datasets.
type Catalogue struct {
	Envelope
	AsOf *time.Time `json:"as_of"` // time up to which the data is complete; null on an empty database
	Data []Dataset  `json:"data"`  // the datasets
}

// Dataset is one table that can be exported as a file.
type Dataset struct {
	ID              string          `json:"id" enum:"markets,trader_leaderboard,wallet_pnl,oracle_accuracy"` // `dataset` of an export job
	Title           string          `json:"title"`                                                           // what it is called
	Description     string          `json:"description"`                                                     // what it holds
	MaxRows         int             `json:"max_rows"`                                                        // most rows of a file; of more, the first in order
	Formats         []string        `json:"formats" enum:"csv,parquet"`                                      // formats of a file
	Periods         []string        `json:"periods" enum:"all"`                                              // periods of the data
	Order           string          `json:"order"`                                                           // how the rows are ordered
	ApproximateRows int64           `json:"approximate_rows"`                                                // about how many rows there are now, before max_rows
	Method          string          `json:"method"`                                                          // how the figures are defined
	Columns         []DatasetColumn `json:"columns"`                                                         // in the order of the file
}

// DatasetColumn is one column of a dataset.
type DatasetColumn struct {
	Name    string  `json:"name"`                                                                    // as the API names the field
	Type    string  `json:"type" enum:"text,list of text,integer,decimal,list of decimal,timestamp"` // what the values are
	Unit    *string `json:"unit" enum:"usd,shares,count,ratio,percent,utc"`                          // what a number counts; null for what is no number
	Meaning string  `json:"meaning"`                                                                 // what it says
}
