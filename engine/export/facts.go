// Package export writes what the database holds into files.
package export

import (
	"context"
	"database/sql"
	"embed"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"pmx/data"
	"pmx/engine"
)

//go:embed sql/*.sql
var sqlFiles embed.FS

var statements = engine.MustStatements(sqlFiles)

// Facts are the canonical datasets: what pmx import reads back. The conditions
// are the markets with all that their sources said.
var Facts = []string{"fills", "conditions", "resolutions", "forecasts", "actuals", "observations", "normals"}

// FactsVersion is the version of the facts' columns: another number, other columns or
// another form of one. Files by day of another version are written again.
const FactsVersion = "2"

// Formats are the formats a dataset can be written in.
var Formats = []data.Format{data.Parquet, data.CSV, data.NDJSON}

// ErrUnknown is returned for a dataset or format that does not exist.
var ErrUnknown = errors.New("unknown")

// WriteFacts writes a canonical dataset to a new file in dir, which must lie
// below the data directory, and gives its path and how many rows it holds. The
// file is complete when WriteFacts returns without an error. It gives way to
// requests.
func (e *Exporter) WriteFacts(ctx context.Context, dir, dataset string, format data.Format) (path string, rows int64, err error) {
	err = e.DB.ReadAside(ctx, func(conn *sql.Conn) error {
		path, rows, err = writeFacts(ctx, conn, dir, dataset, format)
		return err
	})
	if err != nil {
		return "", 0, explain(err)
	}
	return path, rows, nil
}

func writeFacts(ctx context.Context, conn *sql.Conn, dir, dataset string, format data.Format) (path string, rows int64, err error) {
	if !slices.Contains(Facts, dataset) {
		return "", 0, fmt.Errorf("%w dataset %q: there are %s", ErrUnknown, dataset, strings.Join(Facts, ", "))
	}
	if !slices.Contains(Formats, format) {
		return "", 0, fmt.Errorf("%w format %q: there are parquet, csv and ndjson", ErrUnknown, format)
	}
	f, err := os.CreateTemp(dir, "export-*."+string(format))
	if err != nil {
		return "", 0, err
	}
	path = f.Name()
	defer func() {
		if err != nil {
			_ = os.Remove(path)
		}
	}()
	if err := f.Close(); err != nil {
		return path, 0, err
	}
	res, err := conn.ExecContext(ctx, fmt.Sprintf("COPY (%s) TO '%s' (%s)",
		factsQuery(dataset, format), strings.ReplaceAll(filepath.ToSlash(path), "'", "''"), copyOptions[format]))
	if err != nil {
		return path, 0, fmt.Errorf("export %s: %w", dataset, err)
	}
	rows, err = res.RowsAffected()
	return path, rows, err
}

var copyOptions = map[data.Format]string{
	data.Parquet: "FORMAT parquet, COMPRESSION zstd, ROW_GROUP_SIZE 250000",
	data.CSV:     "FORMAT csv, HEADER true",
	data.NDJSON:  "FORMAT json",
}

// factsQuery writes times and amounts as the format can carry them exactly.
func factsQuery(dataset string, format data.Format) string {
	amount := func(col string) string {
		if format == data.Parquet {
			return exactDecimal(col) + "::DECIMAL(18, 6)"
		}
		return exactDecimal(col) + "::VARCHAR"
	}
	stamp := func(col string) string {
		if format == data.Parquet {
			return fmt.Sprintf("make_timestamp(%s)", col)
		}
		return rfc3339(col)
	}
	if unit := celsius[dataset]; unit != "" {
		return weatherQuery(dataset, unit, stamp)
	}
	replace := []string{"@ts", stamp("f.ts")}
	for _, c := range []string{"shares", "usd", "fee"} {
		replace = append(replace, "@"+c, amount("f."+c))
	}
	for _, c := range []string{"best_bid", "best_ask", "last_price", "liquidity", "reported_volume"} {
		replace = append(replace, "@"+c, amount(c))
	}
	for _, c := range []string{"created_at", "start_at", "end_at", "closed_at", "game_start_at", "updated_at", "payout_at", "payout_version"} {
		replace = append(replace, "@"+c, stamp(c))
	}
	return statements.Get(dataset, replace...)
}

// celsius tells, for each dataset of the weather, of which rows every temperature
// has two decimals on that scale; those of all others have on the other.
var celsius = map[string]string{
	"forecasts":    "value % 9 = 0 AND coalesce(list_bool_and(list_transform(members, x -> x % 9 = 0)), true)",
	"actuals":      "value % 9 = 0",
	"observations": "value % 9 = 0",
	"normals":      "value % 9 = 0 AND coalesce(deviation, 0) % 9 = 0 AND coalesce(p10, 0) % 9 = 0 AND coalesce(p90, 0) % 9 = 0",
}

func weatherQuery(dataset, unit string, stamp func(string) string) string {
	degrees := func(col string) string { return statements.Get("degrees", "@v", col) }
	replace := []string{"@unit", statements.Get("unit", "@all", unit), "@value", degrees("value"), "@member", degrees("x"),
		"@p10", degrees("p10"), "@p90", degrees("p90"), "@deviation", statements.Get("difference", "@v", "deviation")}
	for _, c := range []string{"issued_at", "run_at", "seen_at", "ts"} {
		replace = append(replace, "@"+c, stamp("w."+c))
	}
	return statements.Get(dataset, replace...)
}
