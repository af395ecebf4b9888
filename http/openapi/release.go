package openapi

import (
	"bytes"
	_ "embed"
	"encoding/json"
	"errors"
	"fmt"

	"pmx/http/api"
)

// Example is a request that was made and the reply to it.
type Example struct {
	Path  string          `json:"path"` // below wire.Base, with the query
	Reply json.RawMessage `json:"reply"`
}

// examplesText holds examples of the sample venue by operation id.
//
//go:embed examples.json
var examplesText []byte

// Examples are what the sample venue was asked and answered, by operation id.
func Examples() (map[string]Example, error) {
	var all map[string]Example
	if err := json.Unmarshal(examplesText, &all); err != nil {
		return nil, fmt.Errorf("read examples: %w", err)
	}
	return all, nil
}

// Current is the document of this program: its routes with their examples.
func Current() (*Document, error) {
	examples, err := Examples()
	if err != nil {
		return nil, err
	}
	return Build(api.Routes(), examples)
}

// ErrVersion says that the document changed and its version did not.
var ErrVersion = errors.New("the OpenAPI document changed: raise DocVersion in http/openapi/document.go")

// Release returns the text of d, which is to follow the document old. It fails with ErrVersion if
// they differ in more than examples and d has the version of old. Without an old document any d
// will do.
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

// contract is what a document promises, in one form: all but its version and its
// examples.
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
