package web

import (
	"strings"

	"pmx/http/openapi"
	"pmx/http/wire"
)

// AnswersPath is the path at which pages request several responses of the API at once.
const AnswersPath = "/answers"

// explorerPage is a page of the explorer. Its module calls the API and fills it.
type explorerPage struct {
	Path   string // a star stands for one segment
	Title  string
	Nav    string // its name in the navigation; "" if it is not there
	Module string
	Lead   string // the operation whose curl command is shown in a browser without scripts
}

// explorerPages returns all pages of the explorer, in the order of the navigation.
func explorerPages() []explorerPage {
	return []explorerPage{
		{Path: "/", Title: "The venue today", Module: "home.js", Lead: "/stats"},
		{Path: "/traders", Title: "Traders", Nav: "Traders", Module: "traders.js", Lead: "/leaderboard/traders"},
		{Path: "/markets", Title: "Markets", Nav: "Markets", Module: "markets.js", Lead: "/leaderboard/markets"},
		{Path: "/whales", Title: "Whales", Nav: "Whales", Module: "whales.js", Lead: "/whales/moves"},
		{Path: "/screener", Title: "Screener", Nav: "Screener", Module: "screener.js", Lead: "/screener"},
		{Path: "/weather", Title: "Weather", Nav: "Weather", Module: "weather.js", Lead: "/weather/cities"},
		{Path: "/data", Title: "Data", Nav: "Data", Module: "data.js", Lead: "/research/datasets"},
		{Path: "/weather/traders", Title: "Weather traders", Module: "weather-traders.js", Lead: "/weather/traders"},
		{Path: "/weather/*", Title: "City", Module: "city.js", Lead: "/weather/city/{city}"},
		{Path: "/market/*", Title: "Market", Module: "market.js", Lead: "/market/{condition_id}/overview"},
		{Path: "/event/*", Title: "Event", Module: "event.js", Lead: "/event/{event_id}"},
		{Path: "/compare", Title: "Compare wallets", Module: "compare.js", Lead: "/trader/compare"},
		{Path: "/trader/*", Title: "Wallet", Module: "trader.js", Lead: "/trader/{address}/stats"},
		{Path: "/docs/style", Title: "House style", Module: "style.js", Lead: "/stats/daily"},
	}
}

// matches reports whether at is a path of the page.
func (p *explorerPage) matches(at string) bool {
	want, have := strings.Split(p.Path, "/"), strings.Split(at, "/")
	if len(want) != len(have) {
		return false
	}
	for i, w := range want {
		if w == "*" && have[i] == "" || w != "*" && w != have[i] {
			return false
		}
	}
	return true
}

// addExplorer makes the pages of the explorer.
func (s *Site) addExplorer() error {
	for _, p := range explorerPages() {
		f := s.plainFrame(p.Title)
		f.Docs, f.Area, f.Module, f.Loads = false, areaOf(p.Path), p.Module, s.assets.loads[p.Module]
		page := struct {
			frame
			Explorer explorerPage
			Name     string
		}{f, p, strings.TrimSuffix(p.Module, ".js")}
		if err := s.addPage(p.Path, "explorer", page); err != nil {
			return err
		}
	}
	return nil
}

// explorerAt returns the page of the explorer at a path with names in it.
func (s *Site) explorerAt(at string) *Page {
	for _, p := range explorerPages() {
		if p.matches(at) {
			return s.pages[p.Path]
		}
	}
	return nil
}

// areaOf returns the area that the navigation marks for a path: its first segment, in the plural.
func areaOf(at string) string {
	first, _, _ := strings.Cut(strings.TrimPrefix(at, "/"), "/")
	switch first {
	case "trader", "compare", "oracle":
		return "/traders"
	case "market", "event":
		return "/markets"
	}
	return "/" + first
}

// plainFrame returns the frame of a page outside the reference.
func (s *Site) plainFrame(title string) frame {
	return frame{Title: title, Version: openapi.DocVersion, Base: wire.Base, Open: s.open, Docs: true}
}

// place is an entry of the navigation.
type place struct{ Name, Path string }

// places returns the entries of the navigation.
func places() []place {
	var all []place
	for _, p := range explorerPages() {
		if p.Nav != "" {
			all = append(all, place{p.Nav, p.Path})
		}
	}
	return append(all, place{"Docs", "/docs"}, place{"Status", "/status"})
}
