package e2e_test

import (
	"bytes"
	"encoding/json"
	"flag"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"testing"

	"pmx/http/api"
	"pmx/http/openapi"
	"pmx/http/wire"

	"pmx/data/testfiles"
)

var update = flag.Bool("update", false, "rewrite the examples of the OpenAPI document")

// examplesFile has the replies that the OpenAPI document shows.
var examplesFile = filepath.Join(testfiles.Root(), "http", "openapi", "examples.json")

// epoch matches the epoch of a reply, which depends on the number of imported files and is not
// shown.
var epoch = regexp.MustCompile(`"epoch":\d+`)

// The examples of the document are responses for the sample venue, with lists cut to show their
// shape. A route without an example, because its parameters have no values here, needs a value in
// newPicker.
func TestExamplesAreRepliesOfTheSampleVenue(t *testing.T) {
	if !*update {
		testfiles.InLong(t, "TestGoldenCopyIsCurrent compares the document with the stored one, and FuzzEveryRoute requests each route")
	}
	v := readSample(t)
	pick := newPicker(v)
	examples := map[string]openapi.Example{}
	for _, route := range api.Routes() {
		if route.Method != "GET" || route.Reply == nil || route.Section == wire.Export {
			continue // a job has another id and other times every time
		}
		path, ok := pick.path(&route)
		if !ok {
			t.Errorf("%s: no value is known for a parameter: add one to newPicker", route.Path)
			continue
		}
		res := v.ask(route.Method, path, "")
		if res.StatusCode() != 200 {
			t.Errorf("%s: status = %d, body = %s", path, res.StatusCode(), res.Body())
			continue
		}
		examples[openapi.OperationID(route.Method, route.Path)] = openapi.Example{Path: path, Reply: shortened(t, res.Body())}
	}
	text := epoch.ReplaceAll(oneLineEach(examples), []byte(`"epoch":9`))
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

// shownRows is the number of list elements in an example.
const shownRows = 2

// shortened cuts lists, at any depth, to shownRows elements, except those of the envelope. Members
// keep their order.
func shortened(t *testing.T, reply []byte) []byte {
	t.Helper()
	d := json.NewDecoder(bytes.NewReader(reply))
	d.UseNumber()
	var out bytes.Buffer
	if err := shorten(&out, d, 0); err != nil {
		t.Fatal(err)
	}
	return out.Bytes()
}

// shorten writes the next value of d. depth is the number of enclosing objects and lists.
func shorten(out *bytes.Buffer, d *json.Decoder, depth int) error {
	token, err := d.Token()
	if err != nil {
		return err
	}
	delim, nested := token.(json.Delim)
	if !nested {
		return plain(out, token)
	}
	out.WriteRune(rune(delim))
	for n := 0; d.More(); n++ {
		to := out
		if delim == '[' && n >= shownRows {
			to = &bytes.Buffer{} // read and left out
		} else if n > 0 {
			to.WriteByte(',')
		}
		if delim == '{' {
			name, err := d.Token()
			if err != nil {
				return err
			}
			if err := plain(to, name); err != nil {
				return err
			}
			to.WriteByte(':')
			if depth == 0 && slices.Contains([]any{"available_sections", "locked_sections"}, any(name)) {
				var whole json.RawMessage
				if err := d.Decode(&whole); err != nil {
					return err
				}
				to.Write(whole)
				continue
			}
		}
		if err := shorten(to, d, depth+1); err != nil {
			return err
		}
	}
	end, err := d.Token()
	if err == nil {
		out.WriteRune(rune(end.(json.Delim)))
	}
	return err
}

// plain writes a value that contains no other.
func plain(out *bytes.Buffer, v any) error {
	e := json.NewEncoder(out)
	e.SetEscapeHTML(false)
	if err := e.Encode(v); err != nil {
		return err
	}
	out.Truncate(out.Len() - 1) // the line break
	return nil
}

// mostExamples is the maximum size of all examples together: they only show shapes.
const mostExamples = 80_000

func TestExamplesAreShort(t *testing.T) {
	text, err := os.ReadFile(examplesFile)
	if err != nil {
		t.Fatal(err)
	}
	if len(text) > mostExamples {
		t.Errorf("http/openapi/examples.json has %d bytes, at most %d are meant", len(text), mostExamples)
	}
	got := shortened(t, []byte(`{"available_sections":["a","b","c"],"data":[{"n":1.50,"s":["<",2,3],"o":{"x":null}},[],3]}`))
	if want := `{"available_sections":["a","b","c"],"data":[{"n":1.50,"s":["<",2],"o":{"x":null}},[]]}`; string(got) != want {
		t.Errorf("got %s\nwant %s", got, want)
	}
}

// oneLineEach returns the examples sorted by name, one per line.
func oneLineEach(examples map[string]openapi.Example) []byte {
	var b bytes.Buffer
	for i, id := range slices.Sorted(maps.Keys(examples)) {
		fmt.Fprintf(&b, "%s\n%q: {\"path\": %q, \"reply\": %s}", []string{"{", ","}[min(i, 1)], id, examples[id].Path, examples[id].Reply)
	}
	b.WriteString("\n}\n")
	return b.Bytes()
}
