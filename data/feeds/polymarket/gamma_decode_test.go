package polymarket

import (
	"context"
	"encoding/json"
	"fmt"
	"reflect"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"pmx/data"
	"pmx/data/feeds/shape"
)

// oddMembers are members of Gamma's records, and what is in their place in broken ones.
var oddMembers = []string{
	`"question":"Will \"A\" win?\n\u00e9\ud83d\ude00","outcomes":"[\"Yes\",\"No\"]","clobTokenIds":"[\"1\",\"2\"]","closed":true,"volume":"1.5"`,
	`"id":1,"ID":2,"Id":"3"`, `"conditionid":"0x1","CONDITIONID":"0x2"`, `"slug":"a","\u017flug":"b","ſlug":"c"`, `"question":null,"closed":"null"`, `"volume":1e3,"liquidity":"x"`,
	`"outcomes":{}`, `"outcomes":"Yes"`, `"outcomes":["Yes",null,1]`, `"outcomes":"['Yes', \"No\"]"`, `"outcomePrices":5`, `"clobTokenIds":"[1,2]"`, `"clobTokenIds":null`,
	`"tags":[{"slug":"a","label":"A"},{"label":"B"},{"Slug":"c"}]`, `"tags":["a","b"]`, `"tags":[1,null,"a"]`, `"tags":[{"slug":"a"},null]`, `"tags":[{"slug":"a"},1]`, `"tags":"[{\"slug\":\"a\"}]"`,
	`"tags":"a|b"`, `"tags":{}`, `"tags":[]`, `"tags":[{"slug":["x"]}]`, `"tags":[[1]]`, `"tags":"x","tags":["y"]`, `"tags":[ "a" , "b" ]`, `"tags":"[\"a\"]"`,
	`"events":[{"id":1,"slug":"e","title":"E","series":[{"slug":"s"}],"tags":["t"]}]`, `"events":[null]`, `"events":[1]`, `"events":[{"id":{}},{"ID":"x"}]`, `"events":"[{\"id\":1}]"`,
	`"events":" [{\"id\":1}] "`, `"events":"{}"`, `"events":{}`, `"events":[]`, `"events":null,"events":[{}]`, `"events":[{"tags":[1]}]`,
	`"markets":[{"conditionId":"0x1"},null,5,"x",[]]`, `"markets":{}`, `"markets":null`, `"markets":[{"outcomes":5},{"conditionId":"0x2"}]`, `"markets":[1],"markets":[{}]`, `"markets":[{}],"MARKETS":null`,
	`"markets":[ {"a" : 1} , {} ]`, `"markets":"x","title":"T"`, "\"question\":\"\xff\"", "\"question\":\"a\tb\"", `"question":"\ud83d"`, `"question":"cut`, `"question"`, `"question":01`, `"x":1,`, `}`, ``, `"tags":[`,
}

// plainTags is Tags, decoded by encoding/json alone.
type plainTags []string

func (t *plainTags) UnmarshalJSON(b []byte) error {
	var list []struct {
		Slug  shape.Text `json:"slug"`
		Label shape.Text `json:"label"`
	}
	*t = nil
	b = plainUnquote(b)
	if json.Unmarshal(b, &list) == nil {
		for _, o := range list {
			if s := first(o.Slug, o.Label).Trim(); s != "" {
				*t = append(*t, s)
			}
		}
		return nil
	}
	var names shape.List
	if names.UnmarshalJSON(b) == nil {
		*t = plainTags(names)
	}
	return nil
}

func plainUnquote(b []byte) []byte {
	var s string
	if len(b) > 0 && b[0] == '"' && json.Unmarshal(b, &s) == nil && strings.HasPrefix(strings.TrimSpace(s), "[") {
		return []byte(s)
	}
	return b
}

// plainEvents is Events, decoded by encoding/json alone.
type plainEvents []reflect.Value

func (e *plainEvents) UnmarshalJSON(b []byte) error {
	list := reflect.New(reflect.SliceOf(plainType(reflect.TypeFor[Event]())))
	*e = nil
	if json.Unmarshal(plainUnquote(b), list.Interface()) == nil && !list.Elem().IsNil() {
		*e = make(plainEvents, list.Elem().Len())
		for i := range *e {
			(*e)[i] = list.Elem().Index(i)
		}
	}
	return nil
}

// plainType is a struct with the fields of t, in which lists of objects are decoded by
// encoding/json.
func plainType(t reflect.Type) reflect.Type {
	fields := make([]reflect.StructField, t.NumField())
	for i := range fields {
		fields[i] = t.Field(i)
		switch fields[i].Type {
		case reflect.TypeFor[Tags]():
			fields[i].Type = reflect.TypeFor[plainTags]()
		case reflect.TypeFor[Events]():
			fields[i].Type = reflect.TypeFor[plainEvents]()
		}
	}
	return reflect.StructOf(fields)
}

// fromPlain copies a value of plainType.
func fromPlain(to, from reflect.Value) {
	for i := range from.NumField() {
		switch v := from.Field(i).Interface().(type) {
		case plainTags:
			to.Field(i).Set(reflect.ValueOf(Tags(v)))
		case plainEvents:
			if v == nil {
				continue
			}
			events := make(Events, len(v))
			for n, event := range v {
				fromPlain(reflect.ValueOf(&events[n]).Elem(), event)
			}
			to.Field(i).Set(reflect.ValueOf(events))
		default:
			to.Field(i).Set(from.Field(i))
		}
	}
}

// plainUnmarshal is json.Unmarshal of a Gamma or an Event.
func plainUnmarshal[T any](raw []byte) (T, error) {
	var out T
	v := reflect.New(plainType(reflect.TypeFor[T]()))
	err := json.Unmarshal(raw, v.Interface())
	if err == nil {
		fromPlain(reflect.ValueOf(&out).Elem(), v.Elem())
	}
	return out, err
}

// FuzzRecords: markets and events are read as encoding/json reads them.
func FuzzRecords(f *testing.F) {
	for _, members := range oddMembers {
		f.Add(members)
	}
	f.Fuzz(func(t *testing.T, members string) {
		checkGamma(t, []byte(`{`+members+`}`))
		checkGamma(t, []byte(` { "id" : 1 , `+members+`} `))
		checkGamma(t, []byte(members))
		checkEvents(t, `{`+members+`}`)
		checkEvents(t, `{"slug":"s","title":"t","tags":["x"],`+members+`,"markets":[{`+members+`},{"conditionId":"0x`+strings.Repeat("ab", 32)+`",`+members+`}],"id":7}`)
	})
}

func checkGamma(t *testing.T, raw []byte) {
	t.Helper()
	var got Gamma
	err := UnmarshalGamma(raw, &got)
	want, wantErr := plainUnmarshal[Gamma](raw)
	if !reflect.DeepEqual(shape.Undecoded(err), shape.Undecoded(wantErr)) || (err == nil) != (wantErr == nil) {
		t.Fatalf("%s: error %v, want %v", raw, err, wantErr)
	}
	if diff := cmp.Diff(want, got); err == nil && diff != "" {
		t.Fatalf("%s (-want +got):\n%s", raw, diff)
	}
}

// said is what a feed says about a file.
type said struct {
	markets []data.Market
	other   []string
}

func (s *said) Market(line int64, m data.Market) error {
	s.markets = append(s.markets, m)
	s.other = append(s.other, fmt.Sprint("market ", line))
	return nil
}

func (s *said) Reject(line int64, reason, detail, raw string) error {
	s.other = append(s.other, fmt.Sprintf("%d %s %s %q", line, reason, detail, raw))
	return nil
}

func (s *said) Lines(kind data.LineKind, n int64) error {
	s.other = append(s.other, fmt.Sprint(kind, n))
	return nil
}

// sink has the methods that a feed of events does not call.
type sink struct {
	data.Sink
	*said
}

func (s sink) Market(line int64, m data.Market) error { return s.said.Market(line, m) }

func (s sink) Reject(line int64, reason, detail, raw string) error {
	return s.said.Reject(line, reason, detail, raw)
}

func (s sink) Lines(kind data.LineKind, n int64) error { return s.said.Lines(kind, n) }

// checkEvents reads a file of one event by the feed, and by encoding/json.
func checkEvents(t *testing.T, text string) {
	t.Helper()
	for _, format := range []data.Format{data.NDJSON, data.JSON} {
		got, want := &said{}, &said{}
		src := data.Source{Format: format}
		gotErr := readGammaEvents(context.Background(), src, strings.NewReader(text), sink{said: got})
		rd := shape.Reading{Lists: []string{"events", "gamma_events", "data"}, Sink: sink{said: want}}
		wantErr := rd.Each(context.Background(), src, strings.NewReader(text), func(line int64, raw json.RawMessage) error {
			return plainEvent(sink{said: want}, line, raw)
		})
		if fmt.Sprint(gotErr) != fmt.Sprint(wantErr) {
			t.Fatalf("%s: error %v, want %v", text, gotErr, wantErr)
		}
		if diff := cmp.Diff(want, got, cmp.AllowUnexported(said{})); diff != "" {
			t.Fatalf("%s (-want +got):\n%s", text, diff)
		}
	}
}

// plainEvent reads an event by encoding/json alone.
func plainEvent(to data.Sink, line int64, raw json.RawMessage) error {
	var markets struct {
		Markets []json.RawMessage `json:"markets"`
	}
	event, err := plainUnmarshal[Event](raw)
	if err != nil || json.Unmarshal(raw, &markets) != nil {
		return shape.Reject(to, line, raw, shape.Known("bad_json"))
	}
	for _, one := range markets.Markets {
		g, err := plainUnmarshal[Gamma](one)
		if err != nil {
			if err := shape.Reject(to, line, one, shape.Undecoded(err)); err != nil {
				return err
			}
			continue
		}
		g.Events = Events{event}
		if err := Emit(to, line, one, &g); err != nil {
			return err
		}
	}
	return nil
}
