package openapi

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"reflect"
	"strings"
)

// comments are the comments on types ("Type") and fields ("Type.Field").
type comments map[string]string

// of returns the comment on a field of t, or on t itself if field is empty; "" if there is none.
func (c comments) of(t reflect.Type, field string) string {
	name, _, _ := strings.Cut(t.Name(), "[")
	if field != "" {
		name += "." + field
	}
	return c[name]
}

// readComments reads the comments on every struct in the Go files of dir.
func readComments(dir fs.ReadDirFS) (comments, error) {
	entries, err := dir.ReadDir(".")
	if err != nil {
		return nil, fmt.Errorf("read wire types: %w", err)
	}
	c := comments{}
	for _, e := range entries {
		if strings.HasSuffix(e.Name(), "_test.go") {
			continue
		}
		text, err := fs.ReadFile(dir, e.Name())
		if err != nil {
			return nil, fmt.Errorf("read wire types: %w", err)
		}
		file, err := parser.ParseFile(token.NewFileSet(), e.Name(), text, parser.ParseComments|parser.SkipObjectResolution)
		if err != nil {
			return nil, fmt.Errorf("read wire types: %w", err)
		}
		for _, d := range file.Decls {
			if types, ok := d.(*ast.GenDecl); ok {
				c.read(types)
			}
		}
	}
	return c, nil
}

func (c comments) read(types *ast.GenDecl) {
	for _, spec := range types.Specs {
		t, ok := spec.(*ast.TypeSpec)
		if !ok {
			continue
		}
		doc := t.Doc
		if doc == nil {
			doc = types.Doc
		}
		c[t.Name.Name] = sentence(strings.TrimPrefix(plain(doc), t.Name.Name+" "))
		s, ok := t.Type.(*ast.StructType)
		if !ok {
			continue
		}
		for _, f := range s.Fields.List {
			text := plain(f.Doc)
			if text == "" {
				text = plain(f.Comment)
			}
			for _, name := range f.Names {
				c[t.Name.Name+"."+name.Name] = text
			}
		}
	}
}

// plain returns the text of a comment as one line.
func plain(g *ast.CommentGroup) string {
	return strings.Join(strings.Fields(g.Text()), " ")
}

// sentence makes a sentence of its own from the predicate of a comment.
func sentence(s string) string {
	for _, verb := range []string{"is ", "are "} {
		s = strings.TrimPrefix(s, verb)
	}
	if s == "" {
		return ""
	}
	return strings.ToUpper(s[:1]) + s[1:]
}
