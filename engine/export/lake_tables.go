package export

import (
	"crypto/sha256"
	"fmt"
	"strconv"
	"strings"

	"pmx/data"
)

// lakeTables are the datasets of a lake other than fills, with the tables that they are read from.
// Datasets of facts can be imported.
var lakeTables = []struct {
	dataset string
	from    []string
}{
	{"days", nil}, // which are in the query
	{"tokens", []string{"tokens", "markets", "desk_market"}},
	{"wallets", []string{"wallets", "wallet_names"}},
	{"settings", []string{"whale_rule"}},
	{"conditions", []string{"markets", "tokens"}},
	{"resolutions", []string{"markets"}},
	{"forecasts", []string{"weather_issue"}},
	{"actuals", []string{"weather_report"}},
	{"observations", []string{"weather_obs"}},
	{"normals", []string{"weather_normal"}},
}

// tablesOf returns the tables that a dataset is read from.
func tablesOf(dataset string) []string {
	for _, t := range lakeTables {
		if t.dataset == dataset {
			return t.from
		}
	}
	return nil
}

// tables writes the datasets without days whose print is not known. A dataset without rows has no
// file and no print.
func (w *lakeWriter) tables(days []lakeDay, venue string, known map[string]string) error {
	sums := map[string]string{}
	for _, t := range lakeTables {
		query := tableQuery(t.dataset, days, venue)
		print, err := w.tablePrint(query+lakeOptions(t.dataset), t.from, sums)
		if err != nil {
			return err
		}
		step := LakeStep{File: LakeFile{Dataset: t.dataset}, Print: print, Done: 1}
		if known[t.dataset] == print {
			err = w.done(step)
		} else {
			err = w.file(step, query, w.done)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// tablePrint returns a fingerprint of a statement and of all rows of the tables that it reads; sums
// has fingerprints of tables that were computed already. Computing it takes a twentieth of the time
// of writing.
func (w *lakeWriter) tablePrint(text string, from []string, sums map[string]string) (string, error) {
	print := fmt.Sprintf("%.8x", sha256.Sum256([]byte(text)))
	for _, table := range from {
		if sums[table] == "" {
			var rows, sum int64
			if err := w.conn.QueryRowContext(w.ctx, statements.Get("TableSum", "@table", table)).Scan(&rows, &sum); err != nil {
				return "", err
			}
			sums[table] = fmt.Sprintf(" %d-%x", rows, sum)
		}
		print += sums[table]
	}
	return print, nil
}

// tableQuery returns the query of a dataset without days.
func tableQuery(dataset string, days []lakeDay, venue string) string {
	f := factForm(data.Parquet)
	switch dataset {
	case "days":
		numbers := make([]string, len(days))
		for i, d := range days {
			numbers[i] = strconv.FormatInt(d.Day, 10)
		}
		return statements.Get("lake_days", "@days", strings.Join(numbers, ", "))
	case "tokens":
		return statements.Get("lake_tokens", "@payout", exactDecimal("m.payouts[t.outcome + 1]")+"::DECIMAL(7, 6)", "@resolved_at", f.moment("m.resolved_at"))
	case "wallets":
		return statements.Get("lake_wallets", "@named_at", f.moment("n.ts"), "@venue", venue)
	case "settings":
		return statements.Get("lake_settings", "@version", strconv.Itoa(LakeVersion), "@method", Method)
	}
	return factsQuery(dataset, data.Parquet)
}
