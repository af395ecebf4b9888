// Package export writes the contents of the database to files.
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
	"time"

	"pmx/data"
	catalogue "pmx/data/datasets"
	"pmx/engine/guard"
	"pmx/engine/statement"
)

//go:embed sql/*.sql
var sqlFiles embed.FS

var statements = statement.MustLoad(sqlFiles)

// Facts are the canonical datasets, which pmx import can read back. conditions has the markets with
// everything that their sources said.
var Facts = []string{"fills", "conditions", "resolutions", "forecasts", "actuals", "observations", "normals"}

// FactsVersion is the version of the facts' columns. It changes with the columns and their form.
// Files by day of another version are written again.
const FactsVersion = "6"

// Formats are the formats of datasets.
var Formats = []data.Format{data.Parquet, data.CSV, data.NDJSON}

// ErrUnknown is returned for a dataset or format that does not exist.
var ErrUnknown = errors.New("unknown")

// WriteFacts writes a canonical dataset to a new file in dir, which must be below the data
// directory, and returns its path and number of rows. The file is complete when WriteFacts returns
// without an error. Requests have priority. If written is not nil, it is called now and then, on
// another goroutine, with the size of the unfinished file.
func (e *Exporter) WriteFacts(ctx context.Context, dir, dataset string, format data.Format, written func(bytes int64)) (path string, rows int64, err error) {
	if e.NoFills && dataset == "fills" {
		return "", 0, data.ErrElsewhere
	}
	err = e.DB.ReadLowPriority(ctx, func(conn *sql.Conn) error {
		path, rows, err = writeFacts(ctx, conn, dir, dataset, format, written)
		return err
	})
	if err != nil {
		return "", 0, explain(err)
	}
	return path, rows, nil
}

func writeFacts(ctx context.Context, conn *sql.Conn, dir, dataset string, format data.Format, written func(int64)) (path string, rows int64, err error) {
	if !slices.Contains(Facts, dataset) {
		return "", 0, fmt.Errorf("%w dataset %q: use one of %s", ErrUnknown, dataset, strings.Join(Facts, ", "))
	}
	if !slices.Contains(Formats, format) {
		return "", 0, fmt.Errorf("%w format %q: use parquet, csv or ndjson", ErrUnknown, format)
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
	query, options := "", copyOptions(dataset, format)
	if dataset == "fills" {
		query, options, err = allFills(ctx, conn, format, options)
	} else {
		query = factsQuery(dataset, format)
	}
	if err != nil {
		return path, 0, err
	}
	if written != nil {
		defer watchSize(path, written)()
	}
	if rows, err = copyTo(ctx, conn, path, query, options); err != nil {
		return path, 0, fmt.Errorf("export %s: %w", dataset, err)
	}
	return path, rows, nil
}

// sizeEvery is how often the size of an unfinished file is reported.
const sizeEvery = 250 * time.Millisecond

// watchSize reports the size of a file whenever it has grown, until stop is called.
func watchSize(path string, report func(bytes int64)) (stop func()) {
	end := make(chan struct{})
	done := guard.Start(func() error {
		ticks := time.NewTicker(sizeEvery)
		defer ticks.Stop()
		last := int64(0)
		for {
			select {
			case <-end:
				return nil
			case <-ticks.C:
			}
			if st, err := os.Stat(path); err == nil && st.Size() > last {
				last = st.Size()
				report(last)
			}
		}
	})
	return func() {
		close(end)
		_ = guard.Repanic(<-done) // it returns no error
	}
}

// copyTo writes the rows of a query to a file and returns their number.
func copyTo(ctx context.Context, conn *sql.Conn, path, query, options string) (int64, error) {
	res, err := conn.ExecContext(ctx, statements.Get("CopyTo", "@rows", query, "@path", strings.ReplaceAll(filepath.ToSlash(path), "'", "''"),
		"@options", options))
	if err != nil {
		return 0, err
	}
	return res.RowsAffected()
}

// allFills returns the query for all fills, which does not sort them, and the options of COPY with which a single
// file has them in the order of the table. DuckDB keeps that order only if it is told to, and then uses all
// threads only for row groups of its own size.
func allFills(ctx context.Context, conn *sql.Conn, format data.Format, options string) (query, keeping string, err error) {
	var few bool
	if err := conn.QueryRowContext(ctx, statements.Get("FillsAreFew")).Scan(&few); err != nil {
		return "", "", err
	}
	query = textsOnce().query(format)
	if few {
		query = storedTexts().query(format) + " ORDER BY f.rowid"
	}
	return query, strings.Replace(options, rowGroupOption, "", 1) + ", PRESERVE_ORDER true", nil
}

// rowGroupOption is the size of row groups in files of facts.
const rowGroupOption = ", ROW_GROUP_SIZE 250000"

// copyOptions returns the options of COPY for a file of facts. A Parquet file has the meanings of
// its columns but not its time of writing, so equal facts give equal bytes.
func copyOptions(dataset string, format data.Format) string {
	switch format {
	case data.CSV:
		return "FORMAT csv, HEADER true"
	case data.NDJSON:
		return "FORMAT json"
	}
	meta := append([][2]string{{"generator", "pmx"}, {"dataset", dataset}, {"schema_version", FactsVersion}}, catalogue.Meanings(dataset)...)
	pairs := make([]string, len(meta))
	for i, pair := range meta {
		pairs[i] = quoted(pair[0]) + ": " + quoted(pair[1])
	}
	return "FORMAT parquet, COMPRESSION zstd" + rowGroupOption + ", KV_METADATA {" + strings.Join(pairs, ", ") + "}"
}

// quoted is text as a SQL literal.
func quoted(text string) string { return "'" + strings.ReplaceAll(text, "'", "''") + "'" }
