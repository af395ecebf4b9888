package cluster

import (
	"crypto/sha256"
	"embed"
	"encoding/hex"
	"fmt"
	"strings"
)

//go:embed statements/*.sql
var files embed.FS

// Kind is how an engine runs a statement.
type Kind int

// The kinds, by the first digit of the file's name.
const (
	View  Kind = iota // of the facts, made again for each part
	Part              // reads the facts of a stretch of time alone, and adds up with its other parts by key
	Whole             // reads other tables
)

// Statement is a table as SQL. The same text runs on DuckDB, Spark and Sail.
type Statement struct {
	Name string
	Kind Kind
	SQL  string
}

// Fingerprint is that of all statements: rollups with another one follow other definitions.
func Fingerprint() (string, error) {
	entries, err := files.ReadDir("statements")
	if err != nil {
		return "", err
	}
	h := sha256.New()
	for _, e := range entries {
		text, err := files.ReadFile("statements/" + e.Name())
		if err != nil {
			return "", err
		}
		_, _ = fmt.Fprintf(h, "%s\n%s", e.Name(), text)
	}
	return hex.EncodeToString(h.Sum(nil)), nil
}

// Statements gives all of them, each behind those that it reads.
func Statements() ([]Statement, error) {
	entries, err := files.ReadDir("statements")
	if err != nil {
		return nil, err
	}
	all := make([]Statement, 0, len(entries))
	for _, e := range entries {
		number, name, ok := strings.Cut(strings.TrimSuffix(e.Name(), ".sql"), "_")
		if !ok || len(number) != 2 {
			return nil, fmt.Errorf("%s is no name of a statement", e.Name())
		}
		text, err := files.ReadFile("statements/" + e.Name())
		if err != nil {
			return nil, err
		}
		all = append(all, Statement{name, min(Kind(number[0]-'0'), Whole), string(text)})
	}
	return all, nil
}
