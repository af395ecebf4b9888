package main

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"slices"
	"strings"
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
		columns, err := columnsOf(ctx, db, "p", table)
		if err != nil {
			return err
		}
		near, hashed := rivalNear[table], make([]string, 0, len(columns))
		for _, c := range columns {
			if c.name != near {
				hashed = append(hashed, fmt.Sprintf("%q::%s", c.name, c.kind))
			}
		}
		summary := "SELECT count(*), coalesce(SUM(hash(" + strings.Join(hashed, ", ") + ")), 0)::VARCHAR FROM "
		var rows [2]int64
		var sums [2]string
		for i, from := range []string{"p." + table, table} {
			if err := db.QueryRowContext(ctx, summary+from).Scan(&rows[i], &sums[i]); err != nil {
				return fmt.Errorf("compare %s: %w", from, err)
			}
		}
		if rows[0] != rows[1] || sums[0] != sums[1] {
			return fmt.Errorf("%s: pmx has %d rows, bare SQL %d; %s", table, rows[0], rows[1], differences(ctx, db, table, columns))
		}
		if near == "" {
			continue
		}
		var off int64
		query := fmt.Sprintf("SELECT count(*) FROM p.%[1]s AS o JOIN %[1]s AS r ON r.%[2]s = o.%[2]s WHERE (o.%[3]s IS NULL) <> (r.%[3]s IS NULL) OR abs(o.%[3]s - r.%[3]s) > 1",
			table, columns[0].name, near)
		if err := db.QueryRowContext(ctx, query).Scan(&off); err != nil {
			return fmt.Errorf("compare %s of %s: %w", near, table, err)
		}
		if off > 0 {
			return fmt.Errorf("%s: in %d rows, %s differs in bare SQL", table, off, near)
		}
	}
	return nil
}

type column struct{ name, kind string }

// columnsOf returns the columns of a table in the database p, which is that of pmx, or in rival.
func columnsOf(ctx context.Context, db *sql.DB, database, table string) (columns []column, err error) {
	rows, err := db.QueryContext(ctx, "SELECT column_name, data_type FROM duckdb_columns() WHERE table_name = ? AND (database_name = ? OR ? = 'rival' AND database_name = 'temp') ORDER BY column_index", table, database, database)
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
func differences(ctx context.Context, db *sql.DB, table string, columns []column) string {
	var names []string
	for _, c := range columns {
		sum := fmt.Sprintf("(SELECT coalesce(SUM(hash(%q::%s)), 0) FROM %%s)", c.name, c.kind)
		var same bool
		query := "SELECT " + fmt.Sprintf(sum, "p."+table) + " = " + fmt.Sprintf(sum, table)
		if err := db.QueryRowContext(ctx, query).Scan(&same); err != nil {
			return err.Error()
		}
		if !same {
			names = append(names, c.name)
		}
	}
	return "columns " + strings.Join(names, ", ") + " differ"
}
