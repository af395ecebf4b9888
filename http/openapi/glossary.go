package openapi

import (
	_ "embed"
	"strings"

	"pmx/data/reference"
)

// glossaryText explains, a name a line, fields that mean the same wherever they
// stand. A comment on the field itself goes before it.
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
