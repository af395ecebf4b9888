package openapi

import (
	"fmt"
	"reflect"
	"strings"
	"time"

	"pmx/data"
	"pmx/http/wire"
)

// Schema is a JSON Schema of draft 2020-12, as far as the document uses it.
type Schema struct {
	Ref                  string           `json:"$ref,omitempty"`
	Description          string           `json:"description,omitempty"`
	Type                 any              `json:"type,omitempty"` // string or []string
	Format               string           `json:"format,omitempty"`
	Pattern              string           `json:"pattern,omitempty"`
	Enum                 []any            `json:"enum,omitempty"`
	Const                any              `json:"const,omitempty"`
	Default              any              `json:"default,omitempty"`
	Minimum              any              `json:"minimum,omitempty"`
	Maximum              any              `json:"maximum,omitempty"`
	MinLength            *int64           `json:"minLength,omitempty"`
	MaxLength            *int64           `json:"maxLength,omitempty"`
	Items                *Schema          `json:"items,omitempty"`
	MinItems             int              `json:"minItems,omitempty"`
	MaxItems             int              `json:"maxItems,omitempty"`
	Properties           ordered[*Schema] `json:"properties,omitempty"`
	AdditionalProperties any              `json:"additionalProperties,omitempty"` // *Schema or false
	Required             []string         `json:"required,omitempty"`
	AllOf                []*Schema        `json:"allOf,omitempty"`
	AnyOf                []*Schema        `json:"anyOf,omitempty"`
	Deprecated           bool             `json:"deprecated,omitempty"`
}

const schemaPrefix = "#/components/schemas/"

// decimal is the format of numbers with at most 6 decimals.
const decimal = "decimal"

// reflector converts wire types to schemas. Each struct becomes one component.
type reflector struct {
	comments   comments
	glossary   map[string]string
	components map[string]*Schema
	types      map[string]reflect.Type // by component
	responses  map[string]*Response    // of problems, by component
}

func newReflector() (*reflector, error) {
	c, err := readComments(wire.Source())
	if err != nil {
		return nil, err
	}
	return &reflector{
		comments: c, glossary: readGlossary(),
		components: map[string]*Schema{}, types: map[string]reflect.Type{}, responses: map[string]*Response{},
	}, nil
}

// of returns the schema of t; for a struct, a reference.
func (r *reflector) of(t reflect.Type) (*Schema, error) {
	switch t {
	case reflect.TypeFor[data.Micro](), reflect.TypeFor[wire.Degrees]():
		return &Schema{Type: "number", Format: decimal}, nil
	case reflect.TypeFor[time.Time]():
		return &Schema{Type: "string", Format: "date-time"}, nil
	case reflect.TypeFor[wire.Section]():
		s := &Schema{Type: "string"}
		for _, section := range wire.Sections() {
			s.Enum = append(s.Enum, string(section))
		}
		return s, nil
	}
	switch t.Kind() {
	case reflect.Bool:
		return &Schema{Type: "boolean"}, nil
	case reflect.String:
		return &Schema{Type: "string"}, nil
	case reflect.Int, reflect.Int8, reflect.Int16, reflect.Int32, reflect.Int64,
		reflect.Uint, reflect.Uint8, reflect.Uint16, reflect.Uint32, reflect.Uint64:
		return integer(t), nil
	case reflect.Float64:
		return &Schema{Type: "number", Format: "double"}, nil
	case reflect.Pointer:
		s, err := r.of(t.Elem())
		return nullable(s), err
	case reflect.Slice, reflect.Array:
		items, err := r.of(t.Elem())
		return &Schema{Type: "array", Items: items}, err
	case reflect.Map:
		values, err := r.of(t.Elem())
		return &Schema{Type: "object", AdditionalProperties: values}, err
	case reflect.Struct:
		return r.component(t)
	}
	return nil, fmt.Errorf("type %s has no schema", t)
}

func integer(t reflect.Type) *Schema {
	s := &Schema{Type: "integer", Format: "int64"}
	if t.Kind() >= reflect.Uint {
		s.Minimum = 0
	}
	return s
}

// nullable allows s to be null too.
func nullable(s *Schema) *Schema {
	switch {
	case s == nil:
		return nil
	case s.Ref != "":
		return &Schema{AnyOf: []*Schema{s, {Type: "null"}}}
	}
	s.Type = []string{s.Type.(string), "null"}
	if s.Enum != nil {
		s.Enum = append(s.Enum, nil)
	}
	return s
}

// component returns a reference to the schema of struct t, which it makes at the first use.
func (r *reflector) component(t reflect.Type) (*Schema, error) {
	name := componentName(t)
	ref := &Schema{Ref: schemaPrefix + name}
	if known := r.types[name]; known != nil {
		if known != t {
			return nil, fmt.Errorf("types %s and %s would both be schema %s", known, t, name)
		}
		return ref, nil
	}
	s := &Schema{}
	r.types[name], r.components[name] = t, s
	made, err := r.object(t)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	*s = *made
	s.Description = r.comments.of(t, "")
	return ref, nil
}

// componentName returns the name of t without its package. A type argument is put before it:
// Page[Fill] becomes FillPage.
func componentName(t reflect.Type) string {
	name, argument, generic := strings.Cut(t.Name(), "[")
	if !generic {
		return name
	}
	argument = strings.TrimSuffix(argument, "]")
	return argument[strings.LastIndexByte(argument, '.')+1:] + name
}

// object returns the schema of struct t itself. Embedded structs are replaced by their fields,
// except for the envelope, which is referred to.
func (r *reflector) object(t reflect.Type) (*Schema, error) {
	s := &Schema{Type: "object"}
	enveloped := false
	if err := r.fields(t, s, &enveloped, false); err != nil {
		return nil, err
	}
	if !enveloped {
		return s, nil
	}
	envelope, err := r.component(reflect.TypeFor[wire.Envelope]())
	return &Schema{AllOf: []*Schema{envelope, s}}, err
}

// fields adds the fields of t to s. If whole is true, all fields are required; the tag whole:"true"
// does the same for an embedded struct.
func (r *reflector) fields(t reflect.Type, s *Schema, enveloped *bool, whole bool) error {
	for i := range t.NumField() {
		f := t.Field(i)
		switch {
		case f.Anonymous && f.Type == reflect.TypeFor[wire.Envelope]():
			*enveloped = true
			continue
		case f.Anonymous && f.Tag.Get("json") == "":
			if err := r.fields(f.Type, s, enveloped, whole || f.Tag.Get("whole") == "true"); err != nil {
				return err
			}
			continue
		}
		name, options, _ := strings.Cut(f.Tag.Get("json"), ",")
		if name == "" || name == "-" {
			return fmt.Errorf("field %s has no JSON name", f.Name)
		}
		field, err := r.field(t, f)
		if err != nil {
			return fmt.Errorf("field %s: %w", name, err)
		}
		s.Properties.add(name, field)
		if whole || !strings.Contains(options, "omitempty") && f.Tag.Get("optional") != "true" {
			s.Required = append(s.Required, name)
		}
	}
	return nil
}

// field returns the schema of one field with its comment and tags: enum lists the allowed texts,
// format sets the format of a text, null:"true" allows a list to be null, and optional:"true" marks
// a member that a parameter can leave out.
func (r *reflector) field(t reflect.Type, f reflect.StructField) (*Schema, error) {
	s, err := r.of(f.Type)
	if err != nil {
		return nil, err
	}
	if format := f.Tag.Get("format"); format != "" {
		s.Format = format
	}
	if list := f.Tag.Get("enum"); list != "" {
		held := s
		if s.Items != nil {
			held = s.Items
		}
		held.Enum = nil
		for text := range strings.SplitSeq(list, ",") {
			held.Enum = append(held.Enum, text)
		}
		if f.Type.Kind() == reflect.Pointer {
			held.Enum = append(held.Enum, nil)
		}
	}
	if f.Tag.Get("null") == "true" {
		s = nullable(s)
	}
	s.Description = r.meaning(t, f)
	return s, nil
}

// meaning returns the description of a field. If its comment is missing or only says when the field
// is null, that is the one in the glossary.
func (r *reflector) meaning(t reflect.Type, f reflect.StructField) string {
	comment := r.comments.of(t, f.Name)
	name, _, _ := strings.Cut(f.Tag.Get("json"), ",")
	if shared := r.glossary[name]; shared != "" && (comment == "" || strings.HasPrefix(comment, "null")) {
		return shared
	}
	return comment
}
