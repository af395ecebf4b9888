package engine

import (
	"fmt"
	"io/fs"
	"strings"
)

// Statements are named SQL statements of one package's .sql files.
type Statements map[string]string

// LoadStatements reads every *.sql file of fsys. A statement starts at a line
// "-- name: Name" and ends at the next one; names are unique.
func LoadStatements(fsys fs.FS) (Statements, error) {
	files, err := fs.Glob(fsys, "sql/*.sql")
	if err != nil {
		return nil, err
	}
	all := Statements{}
	for _, file := range files {
		text, err := fs.ReadFile(fsys, file)
		if err != nil {
			return nil, err
		}
		for i, part := range strings.Split("\n"+string(text), "\n-- name: ") {
			if i == 0 {
				continue
			}
			name, body, _ := strings.Cut(part, "\n")
			name = strings.TrimSpace(name)
			if _, twice := all[name]; twice {
				return nil, fmt.Errorf("%s: statement %s is there twice", file, name)
			}
			all[name] = strings.TrimSuffix(strings.TrimSpace(withoutComments(body)), ";")
		}
	}
	return all, nil
}

// withoutComments drops whole-line comments: a statement may become part of a line
// of another.
func withoutComments(body string) string {
	lines := strings.Split(body, "\n")
	kept := lines[:0]
	for _, line := range lines {
		if !strings.HasPrefix(strings.TrimSpace(line), "--") {
			kept = append(kept, line)
		}
	}
	return strings.Join(kept, "\n")
}

// MustStatements is LoadStatements for embedded files, which a test proves whole.
func MustStatements(fsys fs.FS) Statements {
	all, err := LoadStatements(fsys)
	if err != nil {
		panic(err)
	}
	return all
}

// Get gives the statement with each pair of replacements (old, new) applied. An
// unknown name is a programming error and panics.
func (s Statements) Get(name string, replace ...string) string {
	text, ok := s[name]
	if !ok {
		panic("no SQL statement named " + name)
	}
	return strings.NewReplacer(replace...).Replace(text)
}
