package web

import (
	"bytes"
	"fmt"
	"html/template"
	"regexp"
	"strings"

	"github.com/yuin/goldmark"
	"github.com/yuin/goldmark/extension"
	"github.com/yuin/goldmark/parser"
)

// markdown turns our own texts into HTML. HTML within them is left out.
func markdown(text string) (template.HTML, error) {
	var out bytes.Buffer
	md := goldmark.New(goldmark.WithExtensions(extension.Table), goldmark.WithParserOptions(parser.WithAutoHeadingID()))
	if err := md.Convert([]byte(text), &out); err != nil {
		return "", fmt.Errorf("render Markdown: %w", err)
	}
	return template.HTML(out.String()), nil
}

// fileLink is a link to another file of the repository.
var fileLink = regexp.MustCompile(`(?s)<a href="([^":#]+)(#[^"]*)?">(.*?)</a>`)

// rewriteLinks makes links between the texts lead to their pages; the words of a
// link to what has no page stay.
func rewriteLinks(text template.HTML, pages map[string]string) template.HTML {
	return template.HTML(fileLink.ReplaceAllStringFunc(string(text), func(link string) string {
		m := fileLink.FindStringSubmatch(link)
		if strings.HasPrefix(m[1], "/") {
			return link
		}
		if page, ok := pages[m[1]]; ok {
			return `<a href="` + page + m[2] + `">` + m[3] + `</a>`
		}
		return m[3]
	}))
}
