package openapi

import (
	"fmt"
	"slices"
	"strings"
)

// Field is one member of a response for the reference pages: the document's schemas with their
// references resolved.
type Field struct {
	Name    string // of the member; "" for the elements of a list
	Depth   int    // 0 for a member of the response
	Type    string // in words: "decimal", "list of text", "object or null"
	Enum    []string
	Meaning string
}

// maxDepth is the maximum depth of the listed members.
const maxDepth = 6

// Fields returns the members of s and of the schemas within it, in their order, without those of
// the envelope.
func (d *Document) Fields(s *Schema) []Field { return d.fields(nil, s, 0) }

func (d *Document) fields(all []Field, s *Schema, depth int) []Field {
	s = d.resolve(s)
	for _, part := range s.AllOf {
		if part.Ref != schemaPrefix+"Envelope" {
			all = d.fields(all, part, depth)
		}
	}
	for _, p := range s.Properties {
		inner, kind := d.typeText(p.Value)
		f := Field{Name: p.Name, Depth: depth, Type: kind, Meaning: p.Value.Description, Enum: choices(inner)}
		all = append(all, f)
		if len(inner.Properties) > 0 && depth < maxDepth {
			all = d.fields(all, inner, depth+1)
		}
	}
	return all
}

// Envelope returns the members that every response has.
func (d *Document) Envelope() []Field { return d.Fields(&Schema{Ref: schemaPrefix + "Envelope"}) }

// resolve returns the schema that s refers to, or s itself.
func (d *Document) resolve(s *Schema) *Schema {
	if name, isRef := strings.CutPrefix(s.Ref, schemaPrefix); isRef {
		if found, ok := d.Components.Schemas.get(name); ok {
			return found
		}
	}
	return s
}

// typeText returns the type of s in words, and the schema of its elements or of its value that is
// not null.
func (d *Document) typeText(s *Schema) (inner *Schema, text string) {
	s = d.resolve(s)
	for _, option := range s.AnyOf {
		if option.Type != "null" {
			inner, text = d.typeText(option)
			return inner, text + " or null"
		}
	}
	kind, _ := s.Type.(string)
	null := ""
	if types, several := s.Type.([]string); several {
		kind = types[0]
		if slices.Contains(types, "null") {
			null = " or null"
		}
	}
	switch {
	case kind == "array":
		inner, text = d.typeText(s.Items)
		return inner, "list of " + text + null
	case kind == "object" && s.values() != nil:
		inner, text = d.typeText(s.values())
		return inner, "map of " + text + null
	case kind == "number" && s.Format == decimal:
		kind = "decimal"
	case kind == "string":
		kind = map[string]string{"date-time": "time", "date": "day"}[s.Format]
		if kind == "" {
			kind = "text"
		}
	case kind == "boolean":
		kind = "true or false"
	case kind == "":
		kind = "anything"
	}
	return s, kind + null
}

// values returns the schema of the members of a map; nil for any other object.
func (s *Schema) values() *Schema {
	v, _ := s.AdditionalProperties.(*Schema)
	return v
}

func choices(s *Schema) []string {
	var all []string
	for _, v := range s.Enum {
		if v != nil {
			all = append(all, fmt.Sprint(v))
		}
	}
	return all
}

// Takes describes in words which values a parameter accepts.
func (p *Parameter) Takes() string {
	s, most := p.Schema, 0
	if s.Items != nil {
		s, most = s.Items, p.Schema.MaxItems
	}
	var text string
	switch {
	case len(s.Enum) > 0:
		text = strings.Join(choices(s), ", ")
	case s.Minimum != nil:
		text = fmt.Sprintf("%v to %v", s.Minimum, s.Maximum)
		if s.Type == "integer" {
			text = "whole number, " + text
		}
	case s.MaxLength != nil && s.MinLength != nil:
		text = fmt.Sprintf("text of %d to %d characters", *s.MinLength, *s.MaxLength)
	case strings.Contains(s.Pattern, "{40}"):
		text = "0x and 40 hexadecimal digits"
	case strings.Contains(s.Pattern, "{64}"):
		text = "0x and 64 hexadecimal digits, or 62 if the last two are 00"
	case len(s.AnyOf) > 0:
		text = "UTC time or day"
	case s.Format == "date":
		text = "day as YYYY-MM-DD"
	default:
		text = "text"
	}
	if most > 1 {
		text += fmt.Sprintf("; up to %d times", most)
	}
	return text
}

// Default returns the default value of a parameter; "" if there is none.
func (p *Parameter) Default() string {
	if p.Schema == nil || p.Schema.Default == nil {
		return ""
	}
	return fmt.Sprint(p.Schema.Default)
}
