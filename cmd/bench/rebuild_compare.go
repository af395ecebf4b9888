package main

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"slices"
	"strings"

	"pmx/rollups"
)

// rivalNear are columns that the rival computes in floating point, where pmx rounds exactly: its
// values may be off by one.
var rivalNear = map[string]string{"index_snapshot": "composite"}

// compareTables returns an error if a table of the rival does not have the rows of the one of pmx, which is attached as p: as many, and
// with the same sum of hashes over all columns, in the types of pmx.
func compareTables(ctx context.Context, db *sql.DB) error {
	for _, table := range rivalTables {
		if slices.Contains(rivalOwn, table) {
			continue
		}
		of := "p." + table
		columns, err := columnsOf(ctx, db, "p", withColumns(table))
		if err != nil {
			return err
		}
		near, hashed := rivalNear[table], make([]string, 0, len(columns))
		for _, c := range columns {
			if c.name != near {
				hashed = append(hashed, c.hashed())
			}
		}
		var rows [2]int64
		var sums [2]string
		for i, from := range []string{of, table} {
			if err := db.QueryRowContext(ctx, duckStatements.Get("TableHash", "@columns", strings.Join(hashed, ", "), "@table", from)).Scan(&rows[i], &sums[i]); err != nil {
				return fmt.Errorf("compare %s: %w", from, err)
			}
		}
		if rows[0] != rows[1] || sums[0] != sums[1] {
			return fmt.Errorf("%s: pmx has %d rows, bare SQL %d; %s", table, rows[0], rows[1], differences(ctx, db, of, table, columns))
		}
		if near == "" {
			continue
		}
		var off int64
		query := duckStatements.Get("RowsNotNear", "@table", table, "@key", columns[0].name, "@near", near)
		if err := db.QueryRowContext(ctx, query).Scan(&off); err != nil {
			return fmt.Errorf("compare %s of %s: %w", near, table, err)
		}
		if off > 0 {
			return fmt.Errorf("%s: in %d rows, %s differs in bare SQL", table, off, near)
		}
	}
	return nil
}

// withColumns is a table of pmx with only the columns of table that are compared: a packed one has others, too.
func withColumns(table string) string {
	if rollups.Packed(table) {
		return table + "_delta"
	}
	return table
}

type column struct{ name, kind string }

// hashed is the column in its type of pmx.
func (c column) hashed() string { return fmt.Sprintf("%q::%s", c.name, c.kind) }

// columnsOf returns the columns of a table in the database p, which is that of pmx, or in rival.
func columnsOf(ctx context.Context, db *sql.DB, database, table string) (columns []column, err error) {
	rows, err := db.QueryContext(ctx, duckStatements.Get("ColumnsOf"), table, database, database)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, rows.Close()) }()
	for rows.Next() {
		var c column
		if err := rows.Scan(&c.name, &c.kind); err != nil {
			return nil, err
		}
		columns = append(columns, c)
	}
	if err := rows.Err(); err != nil {
		return nil, err
	}
	if len(columns) == 0 {
		return nil, fmt.Errorf("there is no table %s in %s", table, database)
	}
	return columns, nil
}

// differences says which columns have another sum of hashes.
func differences(ctx context.Context, db *sql.DB, of, table string, columns []column) string {
	var names []string
	for _, c := range columns {
		var same bool
		query := duckStatements.Get("SameColumn", "@column", c.hashed(), "@of", of, "@table", table)
		if err := db.QueryRowContext(ctx, query).Scan(&same); err != nil {
			return err.Error()
		}
		if !same {
			names = append(names, c.name)
		}
	}
	return "columns " + strings.Join(names, ", ") + " differ"
}
