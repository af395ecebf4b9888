package shape

import (
	"encoding/json"
	"reflect"
	"strings"
	"testing"
)

// oddJSON is JSON that is unusual, or nearly JSON.
var oddJSON = []string{
	`{}`, `[]`, `""`, `0`, `null`, `true`, `false`, ` { } `, "\t[\r\n]", `{"a":1,"a":2}`, `{"a":1,"A":2}`, `{"A":"x"}`, `{"a":null}`, `{"a":"null"}`,
	`{"\u0061":"x"}`, `{"ſlug":"x"}`, `{"\u017flug":"x"}`, "{\"\u212a\":\"x\"}", `{"a":"\ud83d\ude00"}`, `{"a":"\ud83d"}`, `{"a":"\ude00x"}`, `{"a":"\ud83d\u0041"}`,
	"{\"a\":\"\xff\"}", "{\"\xff\":1}", "{\"a\":\"\x01\"}", "{\"a\":\"\t\"}", `{"a":"\x"}`, `{"a":"\u12"}`, `{"a":"\u12g4"}`, `{"a":"\"\\\/\b\f\n\r\t\u0000\u00e9"}`,
	`{"a":"é°€😀"}`, `{"a":-0.5e+10}`, `{"a":01}`, `{"a":-}`, `{"a":1.}`, `{"a":.5}`, `{"a":1e}`, `{"a":+1}`, `{"a":1E5}`, `{"a":-0}`, `{"a":tru}`, `{"a":nulll}`,
	`{"a":"cut`, `{"a":"cut\`, `{"a":"cut\u00`, `{"a":"whole"`, `{"a":`, `{"a"`, `{`, `[`, `"`, ``, ` `, `{"a":1,}`, `{,"a":1}`, `{"a" 1}`, `{a:1}`, `[1,]`, `[,1]`, `[1 2]`,
	`{"a":1}}`, `{"a":1} x`, `{"a":[1,"b",{"c":[]}]}`, `{"l":["a","b"]}`, `{"l":"[\"a\",\"b\"]"}`, `{"l":"['a', \"b\"]"}`, `{"l":"a|b"}`, `{"l":{}}`, `{"l":5,"a":"x"}`, `{"a":"x","l":5}`,
	`{"l":[null,1,true,"x"]}`, `{"n":"x"}`, `{"n":["x"]}`, `{"N":"[\"Yes\",\"No\"]"}`, `{"a":{"b":"}"}}`, `{"a":"12345678\"12345678\\"}`, "{\"a\":\"1234567\x1f\"}", "{\"a\":\"1234567\x7f\"}",
	"{\"a\":\"123\xc3\xa9\xe2\x82\"}", `{"a":"x","` + strings.Repeat("k", 100) + `":1}`, strings.Repeat("[", 20_000) + strings.Repeat("]", 20_000), strings.Repeat(`{"a":`, 900) + `1` + strings.Repeat(`}`, 900),
}

// FuzzScan: what is read in one pass is read as encoding/json reads it.
func FuzzScan(f *testing.F) {
	for _, text := range oddJSON {
		f.Add([]byte(text))
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		if s := (scan{text: text}); s.whole() && !json.Valid(text) {
			t.Errorf("%q is taken for JSON", text)
		}
		compareElements(t, text)
		if got, ok := unescaped(text); ok {
			if want := ""; json.Unmarshal(text, &want) != nil || got != want {
				t.Errorf("the string %q is read as %q, want %q", text, got, want)
			}
		}
		compareMembers(t, text)
	})
}

func compareElements(t *testing.T, text []byte) {
	elements, ok := Elements(text)
	if !ok {
		return
	}
	var want []json.RawMessage
	if err := json.Unmarshal(text, &want); err != nil || len(want) != len(elements) {
		t.Fatalf("%q has %d elements, want %d: %v", text, len(elements), len(want), err)
	}
	for i := range want {
		if string(want[i]) != string(elements[i]) {
			t.Errorf("element %d of %q is %q, want %q", i, text, elements[i], want[i])
		}
	}
}

// record has a field of each type, and one that is equal to another without case.
type record struct {
	inner
	Text     Text   `json:"a"`
	Slug     Text   `json:"slug"`
	Kelvin   Text   `json:"k"`
	List     List   `json:"l"`
	Names    Labels `json:"n"`
	Capital  Text   `json:"NegRiskID"`
	Capital2 Text   `json:"negriskID"`
	Left     int    `json:"-"`
}

type inner struct {
	Inner Text `json:"inner"`
}

var recordMembers = MembersOf[record]()

func compareMembers(t *testing.T, text []byte) {
	var got, want record
	gotErr, wantErr := recordMembers.Unmarshal(text, &got), json.Unmarshal(text, &want)
	if (gotErr == nil) != (wantErr == nil) || gotErr != nil && gotErr.Error() != wantErr.Error() {
		t.Fatalf("%q: error %v, want %v", text, gotErr, wantErr)
	}
	if gotErr == nil && !reflect.DeepEqual(got, want) {
		t.Fatalf("%q is read as %+v, want %+v", text, got, want)
	}
	if s := (scan{text: text}); gotErr != nil && recordMembers.decode(&s, &got) && s.at == len(text) {
		t.Errorf("%q is read without an error, want %v", text, wantErr)
	}
}

// TestPlainRecordsAreReadInOnePass: encoding/json is only asked about unusual records.
func TestPlainRecordsAreReadInOnePass(t *testing.T) {
	for _, text := range []string{
		`{"a":"x","other":{"b":[1,-2.5e3,true,false,null]},"slug":"y","l":"[\"a\",\"b\"]","n":["Yes","No"],"k":1}`,
		`{ "a" : "say \"no\" \u00e9\ud83d\ude00\n" , "inner" : 5 }`, `{"A":"x","NEGRISKID":"y"}`,
	} {
		var got, want record
		s := scan{text: []byte(text)}
		if !recordMembers.decode(&s, &got) || s.at != len(text) {
			t.Errorf("%s is not read in one pass", text)
		}
		if err := json.Unmarshal([]byte(text), &want); err != nil || !reflect.DeepEqual(got, want) {
			t.Errorf("%s is read as %+v, want %+v: %v", text, got, want, err)
		}
	}
	for text, want := range map[string]string{`"a\"b\\\/\b\f\n\r\té"`: "a\"b\\/\b\f\n\r\té", `"\u0041\ud83d\ude00"`: "A😀", `""`: ""} {
		if got, ok := unescaped([]byte(text)); !ok || got != want {
			t.Errorf("%s is read as %q, %v, want %q", text, got, ok, want)
		}
	}
}
