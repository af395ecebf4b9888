package main

import (
	"regexp"
	"slices"
	"testing"
)

// ClickHouse derives the tables that the bare statements do, so that each can be compared.
func TestClickHouseDerivesTheTablesOfTheBareStatements(t *testing.T) {
	var want, got []string
	for _, text := range rivalRebuild {
		if m := regexp.MustCompile(`^CREATE TABLE (\w+) AS`).FindStringSubmatch(text); m != nil {
			want = append(want, m[1])
		}
	}
	for _, table := range clickhouseRebuild {
		got = append(got, table.table)
	}
	if len(want) == 0 || !slices.Equal(got, want) {
		t.Errorf("ClickHouse derives %v, the bare statements %v", got, want)
	}
}
