package polymarket

import (
	"context"
	"encoding/json"
	"io"

	"pmx/data"
	"pmx/data/feeds/shape"
)

func gammaMarkets() data.Feed {
	return data.Feed{
		Name:    "gamma-markets",
		About:   "Gamma /markets and /markets/keyset: one object per condition, also as NDJSON, CSV or Parquet",
		Kind:    data.KindMarkets,
		Formats: []data.Format{data.JSON, data.NDJSON, data.CSV, data.Parquet},
		Match:   isGammaMarkets,
		Read:    readGammaMarkets,
	}
}

func isGammaMarkets(h data.Head) bool {
	switch {
	case shape.HasAny(h, "proxyWallet"):
		return false
	case shape.Has(h, "conditionId", "question"):
		return shape.HasAny(h, "outcomes", "outcomePrices")
	case shape.HasKeys(h, "markets[].conditionId", "markets[].question"):
		return !shape.HasAny(h, "title", "slug", "ticker")
	}
	return shape.HasKeys(h, "data[].conditionId", "data[].question")
}

func readGammaMarkets(ctx context.Context, src data.Source, r io.Reader, sink data.Sink) error {
	rd := shape.Reading{Lists: []string{"markets", "data"}, Sink: sink, LineEnds: true}
	return rd.Each(ctx, src, r, func(line int64, raw json.RawMessage) error {
		var g Gamma
		if err := UnmarshalGamma(raw, &g); err != nil {
			return shape.Reject(sink, line, raw, shape.Undecoded(err))
		}
		g.Lacks = Lacks(src.Format, raw)
		return Emit(sink, line, raw, &g)
	})
}

// Emit passes the market of g to sink, or rejects the record if it has none.
func Emit(sink data.Sink, line int64, raw []byte, g *Gamma) error {
	m, err := g.Market()
	if err != nil {
		return shape.Reject(sink, line, raw, err)
	}
	return sink.Market(line, m)
}

func gammaEvents() data.Feed {
	return data.Feed{
		Name:    "gamma-events",
		About:   "Gamma /events and /events/keyset: events with nested markets",
		Kind:    data.KindMarkets,
		Formats: []data.Format{data.JSON, data.NDJSON},
		Match:   isGammaEvents,
		Read:    readGammaEvents,
	}
}

func isGammaEvents(h data.Head) bool {
	if shape.HasKeys(h, "conditionId") || shape.HasAny(h, "proxyWallet") {
		return false
	}
	for _, p := range []string{"", "events[].", "gamma_events[].", "data[]."} {
		// A long description may push the markets out of the head.
		if shape.HasKeys(h, p+"slug", p+"title") && shape.HasAny(h, p+"markets", p+"ticker") {
			return true
		}
	}
	return false
}

// eventRecord is an event with its markets.
type eventRecord struct {
	Event
	Markets rawList `json:"markets"`
}

var eventRecordMembers = shape.MembersOf[eventRecord]()

// rawList is the elements of a JSON list, as slices of the record.
type rawList [][]byte

// UnmarshalJSON returns an error for anything but a list and null.
func (l *rawList) UnmarshalJSON(b []byte) error {
	list, ok := shape.Elements(b)
	*l = list
	if ok {
		return nil
	}
	var raw []json.RawMessage
	if err := json.Unmarshal(b, &raw); err != nil {
		return err
	}
	for _, one := range raw {
		*l = append(*l, one)
	}
	return nil
}

func readGammaEvents(ctx context.Context, src data.Source, r io.Reader, sink data.Sink) error {
	rd := shape.Reading{Lists: []string{"events", "gamma_events", "data"}, Sink: sink}
	return rd.Each(ctx, src, r, func(line int64, raw json.RawMessage) error {
		var e eventRecord
		if eventRecordMembers.Unmarshal(raw, &e) != nil {
			return shape.Reject(sink, line, raw, shape.Known("bad_json"))
		}
		var g Gamma
		for _, one := range e.Markets {
			g = Gamma{}
			if err := UnmarshalGamma(one, &g); err != nil {
				if err := shape.Reject(sink, line, one, shape.Undecoded(err)); err != nil {
					return err
				}
				continue
			}
			g.Events = Events{e.Event}
			if err := Emit(sink, line, one, &g); err != nil {
				return err
			}
		}
		return nil
	})
}

func marketList() data.Feed {
	return data.Feed{
		Name:    "market-list",
		About:   "a short list of markets: id (a condition id), question, endDate, closed, volume",
		Kind:    data.KindMarkets,
		Formats: []data.Format{data.JSON, data.NDJSON, data.CSV},
		Match: func(h data.Head) bool {
			return shape.Has(h, "id", "question", "endDate", "closed", "volume") &&
				!shape.HasAny(h, "conditionId", "condition_id", "outcomes", "clobTokenIds")
		},
		Read: readMarketList,
	}
}

func readMarketList(ctx context.Context, src data.Source, r io.Reader, sink data.Sink) error {
	rd := shape.Reading{Sink: sink, LineEnds: true}
	return rd.Each(ctx, src, r, func(line int64, raw json.RawMessage) error {
		var g Gamma
		if err := UnmarshalGamma(raw, &g); err != nil {
			return shape.Reject(sink, line, raw, shape.Undecoded(err))
		}
		g.ConditionID, g.ID, g.Lacks = g.ID, "", Lacks(src.Format, raw)
		return Emit(sink, line, raw, &g)
	})
}
