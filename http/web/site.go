// Package web has the pages for browsers: the OpenAPI document, the reference made from it, the
// explorer and the status page. Everything is embedded and loaded only from the host itself; pages
// are rendered once and sent as they are.
package web

import (
	"bytes"
	"embed"
	"encoding/json"
	"fmt"
	"html/template"
	"path"
	"strings"
	"sync"

	"github.com/gofiber/fiber/v2"

	"pmx/docs"
	"pmx/http/openapi"
	"pmx/http/wire"
)

//go:embed html/*.html
var templates embed.FS

// pageAge is how long, in seconds, a browser may cache a page without revalidation: a new version
// of the program may change any of them.
const pageAge = 300

// Site has all pages, by path.
type Site struct {
	pages  map[string]*Page
	assets *assetSet
	ref    *reference
	texts  []link // published texts
	words  []word // index of the reference's search
	index  index
	open   bool

	parsing sync.Mutex
	parsed  map[string]*template.Template // by name
}

// link is an entry of the table of contents.
type link struct {
	Name, Path, Verb string
	Here, Open       bool
	Below            []link
}

// group is a group in the table of contents.
type group struct {
	Name  string
	Links []link
}

// frame has what is common to all pages; pages embed it.
type frame struct {
	Title, Area, Version, Base string
	Module                     string   // its script in addition to the header's, "" for none
	Loads                      []string // files that Module imports
	Nav                        []group
	Open                       bool // needs no key
	Docs                       bool // is not a page of the explorer: it has additional styles
}

// iconPath is where browsers look for an icon if no page names one, such as for JSON.
const iconPath = "/favicon.ico"

// Paths returns the patterns of all paths of pages. /status is the only one that a Site does not
// store, since Status makes it.
func Paths() []string {
	paths := []string{"/", "/api", "/api/", wire.Base, wire.Base + "/", "/openapi.json", "/docs", "/docs/*", "/assets/*", iconPath, "/status", "/status/"}
	for _, p := range explorerPages() {
		if p.Path != "/" && !strings.HasPrefix(p.Path, "/docs/") {
			paths = append(paths, p.Path)
		}
	}
	return paths
}

// New makes the pages of this program's API. open says that the API can be used from the pages
// without a key.
func New(open bool) (*Site, error) {
	ref, err := newReference()
	if err != nil {
		return nil, err
	}
	s := &Site{pages: map[string]*Page{}, parsed: map[string]*template.Template{}, ref: ref, open: open}
	if s.assets, err = loadAssets(); err != nil {
		return nil, err
	}
	for _, part := range []func() error{s.addDocument, s.addAssets, s.addDocs, s.addReference, s.addProblems, s.addWords, s.addExplorer, s.addIndex} {
		if err := part(); err != nil {
			return nil, err
		}
	}
	return s, nil
}

func (s *Site) addDocument() error {
	text, err := s.ref.doc.JSON()
	if err != nil {
		return err
	}
	var small bytes.Buffer
	if err := json.Compact(&small, text); err != nil {
		return fmt.Errorf("pack the OpenAPI document: %w", err)
	}
	s.add("/openapi.json", jsonType, small.Bytes())
	s.pages["/openapi.json"].anyone = true
	return nil
}

func (s *Site) addAssets() error {
	for at, page := range s.assets.pages {
		s.pages[at] = page
	}
	s.pages[iconPath] = s.pages[s.assets.paths["icon.svg"]]
	return nil
}

// publishedDocs returns the texts of docs that have a page, in the order of the contents.
func publishedDocs() []string { return []string{"numbers", "index", "weather", "exports"} }

// addDocs publishes the texts that define the numbers.
func (s *Site) addDocs() error {
	pages := map[string]string{}
	texts := map[string]string{}
	for _, name := range publishedDocs() {
		text, err := docs.Files.ReadFile(name + ".md")
		if err != nil {
			continue // there is no such text
		}
		first, _, _ := strings.Cut(string(text), "\n")
		texts[name], pages[name+".md"] = string(text), "/docs/text/"+name
		s.texts = append(s.texts, link{Name: strings.TrimPrefix(first, "# "), Path: "/docs/text/" + name})
	}
	for _, l := range s.texts {
		html, err := markdown(texts[path.Base(l.Path)])
		if err != nil {
			return err
		}
		s.addTextWords(l, html)
		page := struct {
			frame
			Text template.HTML
		}{s.frame(l.Name, l.Path, ""), foldSections(rewriteLinks(html, pages), 0)}
		if err := s.addPage(l.Path, "text", page); err != nil {
			return err
		}
	}
	return nil
}

// addReference makes the overview and a page per section.
func (s *Site) addReference() error {
	intro, err := markdown(openapi.Overview())
	if err != nil {
		return err
	}
	overview := struct {
		frame
		Intro    template.HTML
		Envelope []openapi.Field
		Sections []section
	}{s.frame("API reference", "/docs", ""), foldSections(intro, 1), s.ref.doc.Envelope(), s.ref.sections}
	if err := s.addPage("/docs", "overview", overview); err != nil {
		return err
	}
	for _, sec := range s.ref.sections {
		at := "/docs/" + sec.Name
		page := struct {
			frame
			Section section
		}{s.frame(sec.Name, at, sec.Name), sec}
		if err := s.addPage(at, "section", page); err != nil {
			return err
		}
		if err := s.addOperations(sec); err != nil {
			return err
		}
	}
	return nil
}

// addOperations makes a page per operation of a section.
func (s *Site) addOperations(sec section) error {
	for _, e := range sec.Endpoints {
		at := "/docs/" + sec.Name + "/" + e.ID
		page := struct {
			frame
			Endpoint endpoint
		}{s.frame(e.Method+" "+e.Path, at, sec.Name), e}
		if err := s.addPage(at, "operation", page); err != nil {
			return err
		}
	}
	return nil
}

// addProblems makes the pages that the type of a problem names.
func (s *Site) addProblems() error {
	list := struct {
		frame
		Problems []wire.ProblemKind
	}{s.frame("Errors", "/docs/problems", ""), wire.ProblemKinds()}
	if err := s.addPage("/docs/problems", "problems", list); err != nil {
		return err
	}
	for _, kind := range wire.ProblemKinds() {
		advice, err := markdown(kind.Advice)
		if err != nil {
			return err
		}
		page := struct {
			frame
			Problem   wire.ProblemKind
			Advice    template.HTML
			Endpoints []endpoint
		}{s.frame(kind.Title(), "/docs/problems", ""), kind, advice, s.ref.endpointsWithProblem(kind.Code)}
		if err := s.addPage("/docs/problems/"+kind.Code, "problem", page); err != nil {
			return err
		}
	}
	return nil
}

// endpointsWithProblem returns the endpoints that may answer with code; none if nearly all do.
func (r *reference) endpointsWithProblem(code string) []endpoint {
	var found []endpoint
	all := 0
	for _, s := range r.sections {
		for _, e := range s.Endpoints {
			all++
			for _, k := range e.Problems {
				if k.Code == code {
					found = append(found, e)
				}
			}
		}
	}
	if len(found) > all/2 {
		return nil
	}
	return found
}

// frame returns the frame of the page at a path; in is the section that it shows.
func (s *Site) frame(title, at, in string) frame {
	f := s.plainFrame(title)
	f.Area = "/docs"
	f.use(s, "docs.js")
	start := group{Name: "Start", Links: []link{{Name: "Overview", Path: "/docs"}, {Name: "Errors", Path: "/docs/problems"}}}
	endpoints := group{Name: "Endpoints"}
	for _, sec := range s.ref.sections {
		l := link{Name: sec.Name, Path: "/docs/" + sec.Name}
		for _, e := range sec.Endpoints {
			if sec.Name == in {
				below := "/docs/" + sec.Name + "/" + e.ID
				l.Below = append(l.Below, link{Name: e.Path, Path: below, Verb: e.Method, Here: below == at})
			}
		}
		endpoints.Links = append(endpoints.Links, l)
	}
	f.Nav = []group{start, endpoints}
	if len(s.texts) > 0 {
		f.Nav = append(f.Nav, group{Name: "Definitions", Links: append([]link(nil), s.texts...)})
	}
	for _, g := range f.Nav {
		for i := range g.Links {
			g.Links[i].Here = g.Links[i].Path == at
			g.Links[i].Open = len(g.Links[i].Below) > 0
		}
	}
	return f
}

// use sets the module that the page loads.
func (f *frame) use(s *Site, module string) {
	f.Module, f.Loads = module, s.assets.loads[module]
}

// addPage renders a page with a template.
func (s *Site) addPage(at, name string, data any) error {
	body, err := s.render(name, data)
	if err != nil {
		return fmt.Errorf("page %s: %w", at, err)
	}
	s.add(at, htmlType, body)
	return nil
}

// template returns the template with that name, which is parsed once.
func (s *Site) template(name string) (*template.Template, error) {
	s.parsing.Lock()
	defer s.parsing.Unlock()
	if t := s.parsed[name]; t != nil {
		return t, nil
	}
	t, err := template.New("layout.html").Funcs(template.FuncMap{
		"lower": strings.ToLower, "code": markCode, "breaks": breakablePath, "asset": s.assets.path, "theme": func() template.JS { return template.JS(s.assets.theme) }, "places": places,
	}).
		ParseFS(templates, "html/layout.html", "html/fields.html", "html/"+name+".html")
	if err != nil {
		return nil, err
	}
	s.parsed[name] = t
	return t, nil
}

// render executes the template with that name.
func (s *Site) render(name string, data any) ([]byte, error) {
	t, err := s.template(name)
	if err != nil {
		return nil, err
	}
	var out bytes.Buffer
	err = t.Execute(&out, data)
	return out.Bytes(), err
}

// markCode marks text between backticks as code.
func markCode(text string) template.HTML {
	var b strings.Builder
	for i, piece := range strings.Split(text, "`") {
		piece = template.HTMLEscapeString(piece)
		if i%2 == 1 {
			piece = "<code>" + piece + "</code>"
		}
		b.WriteString(piece)
	}
	return template.HTML(b.String())
}

// breakablePath allows line breaks in a path after its slashes.
func breakablePath(path string) template.HTML {
	return template.HTML(strings.ReplaceAll(template.HTMLEscapeString(path), "/", "/<wbr>"))
}

func (s *Site) add(path, kind string, body []byte) {
	s.pages[path] = newPage(kind, body, pageAge)
}

// Serve answers c if its path is that of a page; it returns false and does nothing otherwise.
func (s *Site) Serve(c *fiber.Ctx) (bool, error) {
	at := c.Path()
	switch at {
	case "/", wire.Base:
		return true, s.index.send(c)
	case "/api", "/api/", wire.Base + "/":
		return true, c.Redirect(wire.Base, fiber.StatusPermanentRedirect)
	}
	p := s.pages[at]
	if p == nil {
		p = s.explorerAt(at)
	}
	if p == nil {
		if plain := s.withoutSlash(at); plain != "" {
			return true, c.Redirect(plain, fiber.StatusPermanentRedirect)
		}
		return false, nil
	}
	return true, p.Send(c)
}

// withoutSlash returns the path of a page of which at differs by slashes at its end; "" if there is none.
func (s *Site) withoutSlash(at string) string {
	plain := strings.TrimRight(at, "/")
	if plain != at && (plain == "/status" || s.pages[plain] != nil) {
		return plain
	}
	return ""
}

// Has reports whether there is a page at a path, or at the path that it redirects to.
func (s *Site) Has(at string) bool {
	switch at {
	case "/", "/api", "/api/", wire.Base, wire.Base + "/", "/status":
		return true
	}
	return s.pages[at] != nil || s.explorerAt(at) != nil || s.withoutSlash(at) != ""
}
