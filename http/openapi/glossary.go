package openapi

import (
	_ "embed"
	"strings"

	"pmx/data/reference"
)

// glossaryText explains fields that have the same meaning everywhere, one per line. A comment on
// the field itself takes precedence.
//
//go:embed glossary.txt
var glossaryText string

// readGlossary returns the meaning of every name in the glossary.
func readGlossary() map[string]string {
	all := map[string]string{}
	for line := range strings.Lines(strings.ReplaceAll(glossaryText, "{categories}", reference.CategoryList())) {
		name, meaning, _ := strings.Cut(strings.TrimSpace(line), ": ")
		all[name] = meaning
	}
	return all
}
