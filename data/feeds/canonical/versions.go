package canonical

import (
	"encoding/json"
	"maps"
	"slices"
	"time"

	"pmx/data"
	"pmx/data/feeds/shape"
)

// versions parses the versions of fields, and the quote that is hidden after the end of the market,
// as pmx writes them. The error is a *shape.RowError.
func (r *market) versions(m *data.Market) error {
	if text := r.HiddenQuote.Trim(); text != "" {
		var q struct {
			Bid       shape.Text `json:"best_bid"`
			Ask       shape.Text `json:"best_ask"`
			Last      shape.Text `json:"last_price"`
			Liquidity shape.Text `json:"liquidity"`
		}
		if json.Unmarshal([]byte(text), &q) != nil {
			return shape.Bad("bad_json", "hidden_quote is not a JSON object")
		}
		var f shape.Fields
		m.BestBid, m.BestAsk, m.LastPrice, m.Liquidity = f.Amount("best_bid", q.Bid), f.Amount("best_ask", q.Ask), f.Amount("last_price", q.Last), f.Amount("liquidity", q.Liquidity)
		if f.Err != nil {
			return f.Err
		}
	}
	text := r.FieldVersions.Trim()
	if text == "" {
		return nil
	}
	var versions map[string]*int64
	if json.Unmarshal([]byte(text), &versions) != nil {
		return shape.Bad("bad_json", "field_versions is not a JSON object of whole numbers")
	}
	for _, name := range slices.Sorted(maps.Keys(versions)) {
		v := data.Unsaid
		if at := versions[name]; at != nil {
			v = *at
			if v < data.InATrade || v > m.Version() {
				return shape.Bad("bad_time", "the version of %.40q is not valid, or later than updated_at", name)
			}
		}
		if name != "unquoted_at" {
			m.FieldVersions = append(m.FieldVersions, data.FieldVersion{Name: name, Version: v})
		} else if v > data.Undated {
			m.Unquoted = time.UnixMicro(v).UTC()
		}
	}
	return nil
}
