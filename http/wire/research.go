package wire

import "time"

// Catalogue is the response of GET /research/datasets.
type Catalogue struct {
	Envelope
	AsOf *time.Time `json:"as_of"` // time up to which the data is complete; null if the database is empty
	Data []Dataset  `json:"data"`  // the datasets
}

// Dataset is one table that can be exported as a file.
type Dataset struct {
	ID              string          `json:"id" enum:"markets,trader_leaderboard,wallet_pnl,oracle_accuracy"` // `dataset` of an export job
	Title           string          `json:"title"`                                                           // name of the dataset
	Description     string          `json:"description"`                                                     // what the dataset contains
	MaxRows         int             `json:"max_rows"`                                                        // maximum number of rows in a file; if there are more, the file has the first ones in `order`
	Formats         []string        `json:"formats" enum:"csv,parquet"`                                      // available file formats
	Periods         []string        `json:"periods" enum:"all"`                                              // available periods
	Order           string          `json:"order"`                                                           // how the rows are ordered
	ApproximateRows int64           `json:"approximate_rows"`                                                // approximate number of rows at present, before max_rows applies
	Method          string          `json:"method"`                                                          // how the figures are defined
	Usage           []DatasetUsage  `json:"usage"`                                                           // code that reads a file exported now, one entry per format
	Columns         []DatasetColumn `json:"columns"`                                                         // columns, in the order of the file
}

// DatasetUsage is code that reads a file of a dataset, to be run in its folder. The code for the file of a finished job is in the job's `usage`.
type DatasetUsage struct {
	Format   string `json:"format" enum:"csv,parquet"` // file format
	FileName string `json:"file_name"`                 // file name that the download of a job created now would suggest
	DuckDB   string `json:"duckdb"`                    // one line of DuckDB SQL
	Pandas   string `json:"pandas"`                    // one line of Python with pandas
}

// DatasetColumn is one column of a dataset.
type DatasetColumn struct {
	Name    string  `json:"name"`                                                                    // name of the column, the same as in the API
	Type    string  `json:"type" enum:"text,list of text,integer,decimal,list of decimal,timestamp"` // type of the values
	Unit    *string `json:"unit" enum:"usd,shares,count,ratio,percent,utc"`                          // unit of the numbers; null if the values are not numbers
	Meaning string  `json:"meaning"`                                                                 // what the values mean
}
