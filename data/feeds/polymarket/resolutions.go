package polymarket

import (
	"context"
	"encoding/json"
	"io"
	"strings"

	"pmx/data"
	"pmx/data/feeds/shape"
)

func resolutions() data.Feed {
	return data.Feed{
		Name:    "polymarket-resolutions",
		About:   "data API /v2/resolutions by condition: payouts of resolved conditions, reported or derived",
		Kind:    data.KindResolutions,
		Formats: []data.Format{data.JSON, data.NDJSON},
		Match: func(h data.Head) bool {
			for _, p := range []string{"", "data[]."} {
				if shape.HasKeys(h, p+"status", p+"was_disputed", p+"last_update_timestamp") {
					return true
				}
			}
			return false
		},
		Read: readResolutions,
	}
}

func readResolutions(ctx context.Context, src data.Source, r io.Reader, sink data.Sink) error {
	rd := shape.Reading{Lists: []string{"data"}, Sink: sink}
	return rd.Each(ctx, src, r, func(line int64, raw json.RawMessage) error {
		var row struct {
			Condition  shape.Text `json:"condition_id"`
			Status     shape.Text `json:"status"`
			Payouts    shape.List `json:"payouts"`
			ResolvedAt shape.Text `json:"resolved_at"`
			Updated    shape.Text `json:"last_update_timestamp"`
		}
		if json.Unmarshal(raw, &row) != nil {
			return shape.Reject(sink, line, raw, shape.Known("bad_json"))
		}
		condition, err := row.Condition.Condition()
		switch {
		case err != nil:
			return shape.Reject(sink, line, raw, err)
		case condition.IsZero(): // requested by question
			return shape.Reject(sink, line, raw, shape.Bad("no_condition", "the row does not name its condition"))
		}
		var f shape.Fields
		res := data.Resolution{Condition: condition, Source: data.ResolvedByAPI,
			ResolvedAt: f.Time("resolved_at", row.ResolvedAt), Version: f.Version("last_update_timestamp", row.Updated)}
		if f.Err != nil {
			return shape.Reject(sink, line, raw, f.Err)
		}
		if !strings.EqualFold(row.Status.Trim(), "resolved") {
			return sink.Pass(line, data.PassedEmpty) // its contents may still change
		}
		if res.Payouts = millionths(row.Payouts); res.Payouts == nil {
			return shape.Reject(sink, line, raw, shape.Known("bad_payout"))
		}
		return sink.Resolution(line, res)
	})
}

// millionths parses at least two whole numbers of millionths that sum to One, else nil.
func millionths(texts []string) []data.Micro {
	out, sum := make([]data.Micro, len(texts)), data.Micro(0)
	for i, s := range texts {
		n, err := data.ParseWhole(strings.TrimSpace(s))
		if err != nil || n > int64(data.One) {
			return nil
		}
		out[i] = data.Micro(n)
		sum += out[i]
	}
	if len(out) < 2 || sum != data.One {
		return nil
	}
	return out
}
