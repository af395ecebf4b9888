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

// markdown converts the project's own texts to HTML. HTML within them is left out.
func markdown(text string) (template.HTML, error) {
	var out bytes.Buffer
	md := goldmark.New(goldmark.WithExtensions(extension.Table), goldmark.WithParserOptions(parser.WithAutoHeadingID()))
	if err := md.Convert([]byte(text), &out); err != nil {
		return "", fmt.Errorf("render Markdown: %w", err)
	}
	return template.HTML(strings.ReplaceAll(out.String(), "<pre>", `<pre tabindex="0">`)), nil // long lines can be scrolled without a mouse
}

// heading matches a heading that begins a section.
var heading = regexp.MustCompile(`(?s)<h2[ >].*?</h2>`)

// foldSections folds every section of a text under its heading, so that a long text first shows its
// table of contents. The first sections, open of them, are unfolded.
func foldSections(text template.HTML, open int) template.HTML {
	all := string(text)
	places := heading.FindAllStringIndex(all, -1)
	if len(places) == 0 {
		return text
	}
	var b strings.Builder
	b.WriteString(all[:places[0][0]])
	for i, place := range places {
		end := len(all)
		if i+1 < len(places) {
			end = places[i+1][0]
		}
		unfolded := ""
		if i < open {
			unfolded = " open"
		}
		b.WriteString(`<details class="fold"` + unfolded + "><summary>" + all[place[0]:place[1]] + "</summary><div>" + all[place[1]:end] + "</div></details>\n")
	}
	return template.HTML(b.String())
}

// fileLink matches a link to another file of the repository.
var fileLink = regexp.MustCompile(`(?s)<a href="([^":#]+)(#[^"]*)?">(.*?)</a>`)

// rewriteLinks makes links between the texts lead to their pages. A link to a file without a page
// is replaced by its text.
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
