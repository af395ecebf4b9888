package openapi

import (
	"bytes"
	_ "embed"
	"encoding/json"
	"errors"
	"fmt"

	"pmx/http/api"
)

// Example is a request and the actual reply to it.
type Example struct {
	Path  string          `json:"path"` // below wire.Base, with the query
	Reply json.RawMessage `json:"reply"`
}

// examplesText holds examples of the sample venue by operation id.
//
//go:embed examples.json
var examplesText []byte

// Examples returns the examples of the sample venue by operation id.
func Examples() (map[string]Example, error) {
	var all map[string]Example
	if err := json.Unmarshal(examplesText, &all); err != nil {
		return nil, fmt.Errorf("read examples: %w", err)
	}
	return all, nil
}

// Current returns the document of this program: its routes with their examples.
func Current() (*Document, error) {
	examples, err := Examples()
	if err != nil {
		return nil, err
	}
	return Build(api.Routes(), examples)
}

// ErrVersion means that the document changed and its version did not.
var ErrVersion = errors.New("the OpenAPI document changed: raise DocVersion in http/openapi/document.go")

// Release returns the text of d, which replaces the document old. It returns ErrVersion if they
// differ in more than examples but have the same version. old may be empty.
func Release(old []byte, d *Document) ([]byte, error) {
	text, err := d.JSON()
	if err != nil || len(old) == 0 {
		return text, err
	}
	before, had, err := contract(old)
	if err != nil {
		return nil, err
	}
	after, has, err := contract(text)
	if err != nil {
		return nil, err
	}
	if had == has && !bytes.Equal(before, after) {
		return nil, fmt.Errorf("%w (it is %s)", ErrVersion, had)
	}
	return text, nil
}

// contract returns everything in a document except for its version and examples, in a canonical
// form, and the version.
func contract(text []byte) (promised []byte, version string, err error) {
	var doc map[string]any
	d := json.NewDecoder(bytes.NewReader(text))
	d.UseNumber()
	if err := d.Decode(&doc); err != nil {
		return nil, "", fmt.Errorf("read OpenAPI document: %w", err)
	}
	if info, ok := doc["info"].(map[string]any); ok {
		version, _ = info["version"].(string)
		delete(info, "version")
	}
	dropExamples(doc)
	promised, err = json.Marshal(doc)
	return promised, version, err
}

func dropExamples(node any) {
	switch n := node.(type) {
	case []any:
		for _, child := range n {
			dropExamples(child)
		}
	case map[string]any:
		delete(n, "example")
		for _, child := range n {
			dropExamples(child)
		}
	}
}
