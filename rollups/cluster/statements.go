package cluster

import (
	"crypto/sha256"
	"embed"
	"encoding/hex"
	"fmt"
	"regexp"
	"strconv"
	"strings"
)

//go:embed statements/*.sql
var files embed.FS

// Kind is how an engine runs a statement.
type Kind int

// The kinds, by the first digit of the file's name.
const (
	View    Kind = iota // of the facts, created for each part
	Partial             // reads only the facts of an interval of time; the partial sums of several are added up by key
	Whole               // reads other tables
)

// Statement is a table as SQL. The same text runs on DuckDB, Spark, Sail and Trino.
type Statement struct {
	Name string
	Kind Kind
	SQL  string
	// Touched is a query of the cohorts that changed since the previous run. The table that assigns tokens to cohorts has
	// it.
	Touched string
	// Source is the table that this one is computed from, cohort by cohort; "" if it is not divided into cohorts.
	Source string
}

// Internal reports whether the table is an intermediate one, which is not published.
func (s Statement) Internal() bool { return strings.HasPrefix(s.SQL, "-- Internal") }

var (
	dayLine    = regexp.MustCompile(`(?m)^-- Day: (\w+)(?: / (\d+))?$`)
	cohortLine = regexp.MustCompile(`(?m)^-- By cohort, from (\w+)\.$`)
)

// OfDays returns the condition that a row b of a part belongs to one of some days since 1970.
func (s Statement) OfDays(days []int64) (string, error) {
	line := dayLine.FindStringSubmatch(s.SQL)
	if line == nil {
		return "", fmt.Errorf("%s does not say to which day its rows belong", s.Name)
	}
	units := int64(1)
	if line[2] != "" {
		var err error
		if units, err = strconv.ParseInt(line[2], 10, 64); err != nil {
			return "", err
		}
	}
	ranges := []string{"b." + line[1] + " IS NULL"}
	for _, day := range days {
		ranges = append(ranges, fmt.Sprintf("b.%[1]s >= %[2]d AND b.%[1]s < %[3]d", line[1], day*units, (day+1)*units))
	}
	return strings.Join(ranges, " OR "), nil
}

// Fingerprint is the fingerprint of all statements: rollups with another one follow other
// definitions.
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

// Statements returns all statements, each after those that it reads.
func Statements() ([]Statement, error) {
	entries, err := files.ReadDir("statements")
	if err != nil {
		return nil, err
	}
	all := make([]Statement, 0, len(entries))
	for _, e := range entries {
		number, name, ok := strings.Cut(strings.TrimSuffix(e.Name(), ".sql"), "_")
		if !ok || len(number) != 2 {
			return nil, fmt.Errorf("%s is not the name of a statement", e.Name())
		}
		text, err := files.ReadFile("statements/" + e.Name())
		if err != nil {
			return nil, err
		}
		s := Statement{Name: name, Kind: min(Kind(number[0]-'0'), Whole)}
		s.SQL, s.Touched, _ = strings.Cut(string(text), "\n-- Touched")
		_, s.Touched, _ = strings.Cut(s.Touched, "\n")
		if line := cohortLine.FindStringSubmatch(s.SQL); line != nil {
			s.Source = line[1]
		}
		all = append(all, s)
	}
	return all, nil
}
