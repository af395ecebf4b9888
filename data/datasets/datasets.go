// Package datasets describes the research datasets: the columns of each table and their meaning.
// Both the files and the catalogue in the API are made from this description.
package datasets

import "slices"

// MaxRows is the maximum number of rows in the file of a dataset.
const MaxRows = 2_000_000

// Type is the type of a column's values.
type Type string

// The types of columns. A decimal has at most six places. It is a double in Parquet and exact in
// CSV.
const (
	Text      Type = "text"
	Texts     Type = "list of text"
	Integer   Type = "integer"
	Decimal   Type = "decimal"
	Decimals  Type = "list of decimal"
	Timestamp Type = "timestamp"
)

// The types that only columns of facts have.
const (
	Boolean      Type = "boolean"
	Date         Type = "date"
	Temperature  Type = "temperature" // with at most two decimals
	Temperatures Type = "list of temperature"
)

// Unit is the unit of a number; "" for other types.
type Unit string

// The units of columns. A ratio is on a scale of 1.
const (
	USD     Unit = "usd"
	Shares  Unit = "shares"
	Count   Unit = "count"
	Ratio   Unit = "ratio"
	Percent Unit = "percent"
	UTC     Unit = "utc"
	Seconds Unit = "seconds"
)

// Column is one column of a dataset, named as the API names the field.
type Column struct {
	Name    string
	Type    Type
	Unit    Unit
	Meaning string
}

// Dataset is one table that can be exported as a file.
type Dataset struct {
	ID          string
	Title       string
	Description string
	Order       string // the order of the rows, a total one
	Method      string // how the figures are defined
	Formats     []string
	Periods     []string
	Columns     []Column
}

// All lists the datasets.
func All() []Dataset {
	all := []Dataset{markets(), traderLeaderboard(), walletPnL(), oracleAccuracy()}
	for i := range all {
		all[i].Formats = []string{"csv", "parquet"}
		all[i].Periods = []string{"all"}
	}
	return all
}

// Find returns the dataset with that id; false if there is none.
func Find(id string) (Dataset, bool) {
	all := All()
	i := slices.IndexFunc(all, func(d Dataset) bool { return d.ID == id })
	if i < 0 {
		return Dataset{}, false
	}
	return all[i], true
}
