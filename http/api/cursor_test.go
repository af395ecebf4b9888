package api

import (
	"bytes"
	"testing"

	"pmx/http/access"
)

// TestCursorsAreBoundToTheirList seals a position for one list and opens it
// under others.
func TestCursorsAreBoundToTheirList(t *testing.T) {
	a := &API{cursorKey: bytes.Repeat([]byte{7}, 32)}
	params := []*Param{limitParam("50", 200), cursorParam(), periodParam(), {Name: "tag", Kind: Text, Min: 1, Max: 9, Many: 3}}
	list := func(path string, period int64, tags ...string) *Call {
		call := &Call{route: &Route{Path: path, Params: params}, tier: access.Free}
		call.values[2].n = period
		for i, tag := range tags {
			v := value{text: tag, given: true}
			if i == 0 {
				call.values[3] = v
				continue
			}
			call.values[3].more = append(call.values[3].more, v)
		}
		return call
	}
	sealed := a.sealCursor(list("/x", 1, "a", "b"), []byte("here"))
	same := list("/x", 1, "a", "b")
	same.values[0].n = 7 // another page length is the same scan
	if at, bad := a.openCursor(same, sealed); bad != nil || string(at) != "here" {
		t.Errorf("the same list: %q, %v", at, bad)
	}
	for name, call := range map[string]*Call{
		"another path": list("/y", 1, "a", "b"), "another period": list("/x", 2, "a", "b"),
		"another tag": list("/x", 1, "a", "c"), "a tag less": list("/x", 1, "a"), "tags run together": list("/x", 1, "ab"),
	} {
		if _, bad := a.openCursor(call, sealed); bad == nil {
			t.Errorf("%s accepted the cursor", name)
		}
	}
	for i := range sealed {
		altered := []byte(sealed)
		altered[i] ^= 1
		if at, bad := a.openCursor(same, string(altered)); bad == nil {
			t.Errorf("altered at %d: opened as %q", i, at)
		}
	}
	if at, bad := a.openCursor(same, ""); at != nil || bad != nil {
		t.Errorf("no cursor: %q, %v; want the start", at, bad)
	}
}
