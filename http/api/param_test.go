package api

import (
	"strings"
	"testing"
)

// panicOf returns what f panics with; "" if it does not.
func panicOf(f func()) (text string) {
	defer func() {
		if r := recover(); r != nil {
			text, _ = r.(string)
		}
	}()
	f()
	return ""
}

// A handle reads only its own parameter, and panics on a route that does not list it.
func TestHandlersReadTheirOwnParameter(t *testing.T) {
	limit, offset, cursor := limitParam("50", 200), offsetParam(), cursorParam()
	routes := prepareRoutes([]Route{{Path: "/a", Params: []*Param{limit, offset}}, {Path: "/b", Params: []*Param{cursor, offset}}})
	call := &Call{route: &routes[0]}
	call.values[0].n, call.values[1].n = 7, 8
	if call.number(limit) != 7 || call.number(offset) != 8 {
		t.Errorf("limit %d, offset %d", call.number(limit), call.number(offset))
	}
	for name, p := range map[string]*Param{"of another route": cursor, "of no route": periodParam()} {
		if text := panicOf(func() { call.value(p) }); !strings.Contains(text, "/a does not list") {
			t.Errorf("a parameter %s: panic %q", name, text)
		}
	}
}

// An inconsistent table of routes is refused when it is created.
func TestWrongTablesAreFoundAtStart(t *testing.T) {
	limit, offset := limitParam("50", 200), offsetParam()
	for name, routes := range map[string][]Route{
		"two places":       {{Path: "/a", Params: []*Param{limit, offset}}, {Path: "/b", Params: []*Param{offset}}},
		"listed twice":     {{Path: "/a", Params: []*Param{limit, limit}}},
		"default too much": {{Path: "/a", Params: []*Param{limitParam("201", 200)}}},
		"too many":         {{Path: "/a", Params: make([]*Param, maxParams+1)}},
	} {
		for i := range routes[0].Params {
			if routes[0].Params[i] == nil {
				routes[0].Params[i] = cursorParam()
			}
		}
		if panicOf(func() { prepareRoutes(routes) }) == "" {
			t.Errorf("%s: no panic", name)
		}
	}
}
