package e2e_test

import (
	"bytes"
	"flag"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"pmx/http/api"
	"pmx/http/openapi"
	"pmx/http/wire"
)

var update = flag.Bool("update", false, "write the examples of the OpenAPI document anew")

// examplesFile holds the replies that the OpenAPI document shows.
var examplesFile = filepath.Join("..", "http", "openapi", "examples.json")

// The examples of the document are what the sample venue answers. A route that
// has none because its parameters are not known here needs a value in newPicker.
func TestExamplesAreRepliesOfTheSampleVenue(t *testing.T) {
	v := newSample(t)
	pick := newPicker(v)
	examples := map[string]openapi.Example{}
	for _, route := range api.Routes() {
		if route.Method != "GET" || route.Reply == nil || route.Section == wire.Export {
			continue // a job has another id and other times every time
		}
		path, ok := pick.path(&route)
		if !ok {
			t.Errorf("%s: no value is known for a parameter: teach newPicker", route.Path)
			continue
		}
		res := v.ask(route.Method, path, "")
		if res.StatusCode() != 200 {
			t.Errorf("%s: %d %s", path, res.StatusCode(), res.Body())
			continue
		}
		examples[openapi.OperationID(route.Method, route.Path)] = openapi.Example{Path: path, Reply: bytes.Clone(res.Body())}
	}
	text := oneLineEach(examples)
	if *update {
		if err := os.WriteFile(examplesFile, text, 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	kept, err := os.ReadFile(examplesFile)
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(kept, text) {
		t.Error("http/openapi/examples.json is not what the sample venue answers: run go generate ./http/openapi and commit")
	}
}

// oneLineEach writes the examples in the order of their names, each on its line.
func oneLineEach(examples map[string]openapi.Example) []byte {
	var b bytes.Buffer
	for i, id := range slices.Sorted(maps.Keys(examples)) {
		fmt.Fprintf(&b, "%s\n%q: {\"path\": %q, \"reply\": %s}", []string{"{", ","}[min(i, 1)], id, examples[id].Path, examples[id].Reply)
	}
	b.WriteString("\n}\n")
	return b.Bytes()
}
