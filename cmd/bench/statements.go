package main

import (
	"embed"

	"pmx/engine/statement"
)

//go:embed sql/duckdb.sql
var duckFiles embed.FS

// duckStatements are run by DuckDB, on a database of pmx or on a separate one.
var duckStatements = statement.MustLoad(duckFiles)

//go:embed sql/postgres.sql
var postgresFiles embed.FS

var postgresStatements = statement.MustLoad(postgresFiles)

// texts returns the statements of some names, each with the same replacements.
func texts(of statement.Set, names []string, replace ...string) []string {
	all := make([]string, len(names))
	for i, name := range names {
		all[i] = of.Get(name, replace...)
	}
	return all
}
