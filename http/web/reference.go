package web

import (
	"bytes"
	"encoding/json"
	"fmt"
	"html/template"
	"regexp"
	"strconv"
	"strings"

	"pmx/http/openapi"
	"pmx/http/wire"
)

// section is one of the sections with its endpoints.
type section struct {
	Name, About string
	Endpoints   []endpoint
}

// mostParams is the maximum number of parameters that a page shows without unfolding.
const mostParams = 16

// endpoint is one operation as shown on its page.
type endpoint struct {
	ID, Method, Path, Section string
	Summary                   string
	Doc                       template.HTML
	Public                    bool
	Params, Further           []param // Further are folded
	Body                      []openapi.Field
	BodyOptional              bool
	BodySample                string
	Fields                    []openapi.Field
	Media                     []string // if the response is a file
	Example                   string
	At                        string // the address in samples
	Samples                   []sample
	Problems                  []wire.ProblemKind
}

// param is a parameter with its input in the form.
type param struct {
	openapi.Parameter
	Takes, Default, Hint string
	Choices              []string
	Many                 bool
}

// reference is everything the pages say about the API.
type reference struct {
	doc      *openapi.Document
	examples map[string]openapi.Example
	sections []section
}

func newReference() (*reference, error) {
	doc, err := openapi.Current()
	if err != nil {
		return nil, err
	}
	examples, err := openapi.Examples()
	if err != nil {
		return nil, err
	}
	r := &reference{doc: doc, examples: examples}
	for _, tag := range doc.Tags {
		s := section{Name: tag.Name, About: tag.Description}
		for _, item := range doc.Paths {
			for _, op := range item.Value {
				if op.Value.Tags[0] != tag.Name {
					continue
				}
				e, err := r.endpoint(strings.ToUpper(op.Name), item.Name, op.Value)
				if err != nil {
					return nil, fmt.Errorf("reference of %s %s: %w", op.Name, item.Name, err)
				}
				s.Endpoints = append(s.Endpoints, e)
			}
		}
		if len(s.Endpoints) > 0 {
			r.sections = append(r.sections, s)
		}
	}
	return r, nil
}

func (r *reference) endpoint(method, path string, op *openapi.Operation) (endpoint, error) {
	e := endpoint{
		ID: op.OperationID, Method: method, Path: path, Section: op.Tags[0],
		Summary: op.Summary, Public: len(op.Security) > 0,
	}
	var err error
	if e.Doc, err = markdown(op.Description); err != nil {
		return e, err
	}
	example := r.examples[op.OperationID]
	for i := range op.Parameters {
		if p := &op.Parameters[i]; p.Ref == "" {
			e.Params = append(e.Params, paramOf(p, path, example.Path))
		}
	}
	if len(e.Params) > mostParams {
		e.Params, e.Further = e.Params[:mostParams/2], e.Params[mostParams/2:]
	}
	if op.RequestBody != nil {
		schema := op.RequestBody.Content[0].Value.Schema
		e.Body, e.BodyOptional = r.doc.Fields(schema), !op.RequestBody.Required
		e.BodySample = sampleBody(e.Body)
	}
	for _, content := range op.Responses[0].Value.Content {
		if content.Value.Schema == nil {
			e.Media = append(e.Media, content.Name)
			continue
		}
		e.Fields = r.doc.Fields(content.Value.Schema)
	}
	e.Problems = r.problems(method, path, op)
	e.At = sampleAddress(&e, example.Path)
	e.Samples = samples(&e)
	if len(example.Reply) > 0 {
		if e.Example, err = pretty(example.Reply); err != nil {
			return e, fmt.Errorf("example: %w", err)
		}
	}
	return e, nil
}

// paramOf describes p; example is the address of an actual request for pattern.
func paramOf(p *openapi.Parameter, pattern, example string) param {
	out := param{Parameter: *p, Takes: p.Takes(), Default: p.Default(), Many: p.Schema.Items != nil}
	values := p.Schema.Enum
	if out.Many {
		values = p.Schema.Items.Enum
	}
	for _, v := range values {
		out.Choices = append(out.Choices, fmt.Sprint(v))
	}
	out.Hint = out.Default
	if p.In == "path" {
		out.Hint = pathValue(p.Name, pattern, example)
	}
	if out.Many {
		out.Choices = nil
		out.Hint = "several, separated by commas"
	}
	return out
}

// pathValue returns the value of a path parameter in path; "" if there is no path.
func pathValue(name, pattern, path string) string {
	path, _, _ = strings.Cut(path, "?")
	have := strings.Split(path, "/")
	for i, segment := range strings.Split(pattern, "/") {
		if segment == "{"+name+"}" && i < len(have) {
			return have[i]
		}
	}
	return ""
}

// sampleBody returns a body with the first choice of every member that has choices.
func sampleBody(fields []openapi.Field) string {
	var members []string
	for _, f := range fields {
		if len(f.Enum) > 0 {
			members = append(members, strconv.Quote(f.Name)+": "+strconv.Quote(f.Enum[0]))
		}
	}
	return "{" + strings.Join(members, ", ") + "}"
}

// problems returns the problems of op, by status.
func (r *reference) problems(method, path string, op *openapi.Operation) []wire.ProblemKind {
	var all []wire.ProblemKind
	for _, response := range op.Responses {
		_, place := r.doc.Response(method, path, response.Name)
		codes := strings.Split(place[strings.LastIndexByte(place, '/')+1:], "-")
		for _, code := range codes[1:] {
			if kind, ok := wire.KindOf(code); ok {
				all = append(all, kind)
			}
		}
	}
	return all
}

// plainList matches a list of values without lists or objects in it, as written by json.Indent.
var plainList = regexp.MustCompile(`\[\n\s+(?:[^"\[\]{}]|"(?:[^"\\\\]|\\\\.)*")*?\n\s*\]`)

// pretty indents JSON; a list of plain values stays on one line.
func pretty(text []byte) (string, error) {
	var out bytes.Buffer
	if err := json.Indent(&out, text, "", "  "); err != nil {
		return "", err
	}
	return plainList.ReplaceAllStringFunc(out.String(), func(list string) string {
		lines := strings.Split(list, "\n")
		for i := range lines {
			lines[i] = strings.TrimSpace(lines[i])
		}
		return "[" + strings.Join(lines[1:len(lines)-1], " ") + "]"
	}), nil
}
