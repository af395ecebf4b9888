package main

import (
	"context"
	"database/sql"
	"fmt"
	"runtime"
)

// VersionCmd shows versions.
type VersionCmd struct{}

// Help is the longer help.
func (VersionCmd) Help() string {
	return `  pmx version`
}

// Run prints the versions of pmx, DuckDB and Go.
func (VersionCmd) Run(ctx context.Context, std stdio) error {
	db, err := sql.Open("duckdb", "")
	if err != nil {
		return err
	}
	defer func() { _ = db.Close() }()
	var duck string
	if err := db.QueryRowContext(ctx, "SELECT version()").Scan(&duck); err != nil {
		return err
	}
	_, err = fmt.Fprintf(std.out, "pmx %s\nDuckDB %s\n%s %s/%s\n", version, duck, runtime.Version(), runtime.GOOS, runtime.GOARCH)
	return err
}
