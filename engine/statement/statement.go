// Package statement keeps SQL apart from Go: each package has its statements in .sql files, by name.
package statement

import (
	"fmt"
	"io/fs"
	"strings"
)

// Set is the named SQL statements of one package's .sql files.
type Set map[string]string

// Load reads every *.sql file of fsys. A statement starts at a line
// "-- name: Name" and ends at the next one; names are unique.
func Load(fsys fs.FS) (Set, error) {
	files, err := fs.Glob(fsys, "sql/*.sql")
	if err != nil {
		return nil, err
	}
	all := Set{}
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
				return nil, fmt.Errorf("%s: statement %s is defined twice", file, name)
			}
			all[name] = strings.TrimSuffix(strings.TrimSpace(withoutComments(body)), ";")
		}
	}
	return all, nil
}

// withoutComments drops whole-line comments: a statement may be inserted into a line of another.
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

// MustLoad is Load for embedded files, which a test checks.
func MustLoad(fsys fs.FS) Set {
	all, err := Load(fsys)
	if err != nil {
		panic(err)
	}
	return all
}

// Get returns the statement with each pair of replacements (old, new) applied, the first one that
// matches at each place. An unknown name, or an old without a new, is a programming error and
// panics.
func (s Set) Get(name string, replace ...string) string {
	text, ok := s[name]
	if !ok {
		panic("no SQL statement named " + name)
	}
	for i := 0; i < len(replace); i += 2 {
		if !strings.HasPrefix(replace[i], "@") || i+1 == len(replace) {
			return strings.NewReplacer(replace...).Replace(text)
		}
	}
	return replaced(text, replace)
}

// replaced is what a strings.Replacer would return for pairs whose old texts begin with @. A
// Replacer takes longer to make than to use, and a small import uses hundreds of statements.
func replaced(text string, pairs []string) string {
	var b strings.Builder
	done := 0
	for at := 0; ; {
		next := strings.IndexByte(text[at:], '@')
		if next < 0 {
			break
		}
		at += next
		i := 0
		for i < len(pairs) && !strings.HasPrefix(text[at:], pairs[i]) {
			i += 2
		}
		if i == len(pairs) {
			at++
			continue
		}
		b.WriteString(text[done:at])
		b.WriteString(pairs[i+1])
		at += len(pairs[i])
		done = at
	}
	if done == 0 {
		return text
	}
	b.WriteString(text[done:])
	return b.String()
}
