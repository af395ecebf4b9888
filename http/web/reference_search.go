package web

import (
	"encoding/json"
	"fmt"
	"html"
	"html/template"
	"regexp"
	"slices"
	"strings"

	"pmx/http/wire"
)

// wordsPath is the path of the index that the search of the reference loads.
const wordsPath = "/docs/words.json"

// word is a page of the reference, or a section of a text, with the words that find it.
type word struct {
	Path  string `json:"path"`
	Title string `json:"title"`
	About string `json:"about"`
	Names string `json:"names"` // names of parameters and fields, or words of a text
}

var (
	tag     = regexp.MustCompile(`<[^>]*>`)
	idOf    = regexp.MustCompile(`^<h2 id="([^"]*)"`)
	letters = regexp.MustCompile(`[a-z][a-z0-9_]{2,}`)
)

// addTextWords adds the sections of a text to the index.
func (s *Site) addTextWords(l link, text template.HTML) {
	all := string(text)
	places := heading.FindAllStringIndex(all, -1)
	for i, place := range places {
		end := len(all)
		if i+1 < len(places) {
			end = places[i+1][0]
		}
		id := idOf.FindStringSubmatch(all[place[0]:place[1]])
		if id == nil {
			continue
		}
		said := letters.FindAllString(strings.ToLower(html.UnescapeString(tag.ReplaceAllString(all[place[1]:end], " "))), -1)
		slices.Sort(said)
		s.words = append(s.words, word{
			Path: l.Path + "#" + id[1], Title: html.UnescapeString(tag.ReplaceAllString(all[place[0]:place[1]], "")), About: l.Name,
			Names: strings.Join(slices.Compact(said), " "),
		})
	}
}

// addWords makes the search index of the reference: endpoints with their parameters and fields,
// errors, and sections of the texts.
func (s *Site) addWords() error {
	var all []word
	for _, sec := range s.ref.sections {
		for _, e := range sec.Endpoints {
			var names []string
			for _, p := range append(slices.Clone(e.Params), e.Further...) {
				names = append(names, p.Name)
			}
			for _, f := range append(slices.Clone(e.Body), e.Fields...) {
				if !slices.Contains(names, f.Name) {
					names = append(names, f.Name)
				}
			}
			all = append(all, word{Path: "/docs/" + sec.Name + "/" + e.ID, Title: e.Method + " " + e.Path, About: e.Summary, Names: strings.ToLower(strings.Join(names, " "))})
		}
	}
	for _, kind := range wire.ProblemKinds() {
		all = append(all, word{Path: "/docs/problems/" + kind.Code, Title: kind.Title(), About: "error " + kind.Code, Names: kind.Code})
	}
	text, err := json.Marshal(append(all, s.words...))
	if err != nil {
		return fmt.Errorf("words of the reference: %w", err)
	}
	s.add(wordsPath, jsonType, text)
	return nil
}
