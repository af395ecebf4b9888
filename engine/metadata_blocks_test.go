package engine

import (
	"bytes"
	"context"
	"database/sql"
	"fmt"
	"slices"
	"strings"
	"testing"
)

// The metadata blocks that are read from the file are those that DuckDB has.
func TestMetadataBlocksAreThoseOfDuckDB(t *testing.T) {
	for _, version := range []string{storageVersion, olderVersion} {
		t.Run(version, func(t *testing.T) { compareMetadata(t, version) })
	}
}

func compareMetadata(t *testing.T, version string) {
	t.Helper()
	ctx, dir := t.Context(), Dir(t.TempDir())
	emptyDatabase(t, dir, version)
	db, err := Open(ctx, Options{Dir: dir, Threads: 1})
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = db.Close() }()
	for round := range 3 {
		err = db.Write(ctx, func(conn *sql.Conn) error {
			for i := range 40 {
				if _, err := conn.ExecContext(ctx, fmt.Sprintf("CREATE TABLE t%d_%d AS SELECT range AS i, range::VARCHAR AS s FROM range(%d)", round, i, 100*i)); err != nil {
					return err
				}
			}
			_, err := conn.ExecContext(ctx, "CHECKPOINT")
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
		var want []string
		if err := metadataOfDuckDB(ctx, db, &want); err != nil {
			t.Fatal(err)
		}
		file := contentsOf(t, dir.Database())
		h, err := parseHead(file)
		if err != nil {
			t.Fatal(err)
		}
		blocks, err := h.metadataBlocks(bytes.NewReader(file))
		if err != nil {
			t.Fatal(err)
		}
		slices.SortFunc(blocks, func(a, b metadataBlock) int { return int(a.id) - int(b.id) })
		var got []string
		for _, b := range blocks {
			var free []string
			for i := range metadataParts {
				if b.free>>i&1 == 1 {
					free = append(free, fmt.Sprint(i))
				}
			}
			got = append(got, fmt.Sprintf("%d: %s", b.id, strings.Join(free, " ")))
		}
		if !slices.Equal(got, want) {
			t.Errorf("round %d:\n%s\nwant\n%s", round, strings.Join(got, "\n"), strings.Join(want, "\n"))
		}
	}
}

// metadataOfDuckDB lists DuckDB's metadata blocks with their free parts.
func metadataOfDuckDB(ctx context.Context, db *DB, lines *[]string) error {
	return db.Read(ctx, func(conn *sql.Conn) error {
		rows, err := conn.QueryContext(ctx, "SELECT block_id || ': ' || array_to_string(free_list, ' ') FROM pragma_metadata_info() ORDER BY block_id")
		if err != nil {
			return err
		}
		defer func() { _ = rows.Close() }()
		for rows.Next() {
			var line string
			if err := rows.Scan(&line); err != nil {
				return err
			}
			*lines = append(*lines, line)
		}
		return rows.Err()
	})
}
