package rollups

import (
	"strconv"
	"testing"

	"pmx/data"
)

// Tokens are found by their names, also after the table has grown, and by a new name.
func TestTokenIDs(t *testing.T) {
	if _, there := (&tokenIDs{}).find(nil, "1"); there {
		t.Error("a token is found before anything was read")
	}
	ids, tokens := newTokenIDs(), []tokenLifetime(nil)
	for id := range data.TokenID(5000) {
		tokens = append(tokens, tokenLifetime{id: strconv.Itoa(int(id) * 7)})
		ids.add(tokens, id)
	}
	tokens[3].id = "renamed"
	ids.add(tokens, 3)
	for id := range data.TokenID(5000) {
		if got, there := ids.find(tokens, tokens[id].id); !there || got != id {
			t.Errorf("token %d is found as %d, %t", id, got, there)
		}
	}
	for _, name := range []string{"", "1", "21", "-7"} {
		if id, there := ids.find(tokens, name); there {
			t.Errorf("%q is found as %d", name, id)
		}
	}
}
