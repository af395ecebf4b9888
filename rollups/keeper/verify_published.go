package keeper

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	"pmx/data"
	"pmx/rollups"
	"pmx/rollups/cluster"
)

// VerifyAgainst compares the rollups that another engine published in dir with those of the database,
// row by row, in both directions. A file that does not match its manifest is an error.
func (k *Keeper) VerifyAgainst(ctx context.Context, dir string, step Step) (checks []rollups.Check, err error) {
	m, err := cluster.ReadRollups(dir)
	if err != nil {
		return nil, err
	}
	inside, err := os.MkdirTemp(k.db.Dir().Tmp(), "against-*")
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(inside)) }()
	paths := map[string][]string{}
	for i, f := range m.Files {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		if err := cluster.CheckFile(dir, f, true); err != nil {
			return nil, err
		}
		path := filepath.Join(inside, fmt.Sprintf("%06d.parquet", i))
		if err := linkOrCopy(filepath.Join(dir, filepath.FromSlash(f.Name)), path); err != nil {
			return nil, err
		}
		paths[f.Dataset] = append(paths[f.Dataset], parquetPath(path))
	}
	p := rollups.Published{AsOf: m.AsOf, WhaleMin: m.WhaleMin, Tables: m.Tables, Days: cluster.Days(m.Facts), Rows: func(table string) string {
		if len(paths[table]) == 0 {
			return ""
		}
		return "FROM read_parquet([" + strings.Join(paths[table], ", ") + "])"
	}}
	if err := k.work.Lock(ctx); err != nil {
		return nil, err
	}
	defer k.work.Unlock()
	err = k.db.Write(ctx, func(conn *sql.Conn) error {
		checks, err = rollups.Against(ctx, conn, p, step)
		return err
	})
	return checks, err
}

// parquetPath is a path as DuckDB reads it in a statement.
func parquetPath(path string) string {
	return "'" + strings.ReplaceAll(filepath.ToSlash(path), "'", "''") + "'"
}

// linkOrCopy makes a file appear below the data directory: DuckDB may read nothing else.
func linkOrCopy(from, to string) error {
	if real, err := filepath.EvalSymlinks(from); err == nil && os.Link(real, to) == nil {
		return nil
	}
	r, err := data.OpenRegular(from)
	if err != nil {
		return err
	}
	defer func() { _ = r.Close() }()
	w, err := data.CreateRegular(to)
	if err != nil {
		return err
	}
	_, err = io.Copy(w, r)
	return errors.Join(err, w.Close())
}
