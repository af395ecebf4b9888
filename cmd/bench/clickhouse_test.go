package main

import (
	"slices"
	"testing"
)

// ClickHouse derives the same tables as the bare statements, so that all of them are compared.
func TestClickHouseDerivesTheTablesOfTheBareStatements(t *testing.T) {
	for _, name := range slices.Concat(clickhouseTables(), rivalMacros) {
		if clickhouseStatements[name] == "" {
			t.Errorf("ClickHouse has no statement for %s", name)
		}
	}
	for name := range clickhouseStatements {
		if !slices.Contains(slices.Concat(clickhouseTables(), rivalMacros, []string{"legs", "spans", "create_facts", "copy_facts", "derive", "table_sums"}), name) {
			t.Errorf("ClickHouse has a statement %s that is never run", name)
		}
	}
}
