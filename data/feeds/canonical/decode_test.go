package canonical

import (
	"encoding/json"
	"reflect"
	"strings"
	"testing"
)

// TestRecordsAreDecodedAsByEncodingJSON: members that are null, missing, there twice, of another type or in other letters.
func TestRecordsAreDecodedAsByEncodingJSON(t *testing.T) {
	id, list := `"condition_id":"0x`+strings.Repeat("c", 64)+`"`, `"mapped_tokens":["0:7","1:8:trade"]`
	for text, mapped := range map[string]bool{
		`{}`:           false,
		`{` + id + `}`: false,
		`{` + id + `,` + list + `,"outcomes":["Yes","No"],"tags":["a"],"category_source":null,"prices":"[\"1\",\"0\"]"}`: true,
		`{"mapped_tokens":null}`:                                        false,
		`{` + list + `,"mapped_tokens":null}`:                           false,
		`{"mapped_tokens":null,` + list + `}`:                           true,
		`{"mapped_tokens":[]}`:                                          true,
		`{"mapped_tokens":{}}`:                                          true,
		`{"Mapped_Tokens":["0:7"],"other":[1]}`:                         true,
		`{"mapped_token\u0073":["0:7"]}`:                                true,
		`{"mapped_tokens":7,"payouts":[1,0]}`:                           true,
		`{"payouts":["1","0"],"version":null,"resolved_at":1700000000}`: false,
		`{"payouts":[1,0]`:                                              false,
		`[1]`:                                                           false,
		`null`:                                                          false,
	} {
		compare(t, text, marketMembers.Unmarshal)
		compare(t, text, resolutionMembers.Unmarshal)
		var m market
		if err := marketMembers.Unmarshal([]byte(text), &m); err == nil && m.Mapped.given != mapped {
			t.Errorf("%s: mapped tokens are given: %v", text, m.Mapped.given)
		}
	}
}

func compare[T any](t *testing.T, text string, decode func(text []byte, to *T) error) {
	t.Helper()
	var got, want T
	gotErr, wantErr := decode([]byte(text), &got), json.Unmarshal([]byte(text), &want)
	if (gotErr == nil) != (wantErr == nil) || gotErr == nil && !reflect.DeepEqual(got, want) {
		t.Errorf("%s: %+v (%v), not %+v (%v)", text, got, gotErr, want, wantErr)
	}
}
