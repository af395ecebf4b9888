package polymarket

import (
	"encoding/json"
	"slices"
	"strings"
	"time"

	"pmx/data"
	"pmx/data/feeds/shape"
	"pmx/data/reference"
)

// Gamma is a market object of Gamma's /markets, as JSON, as a CSV row or as a
// Parquet row: lists may be strings that hold JSON, numbers may be strings.
type Gamma struct {
	ID                    shape.Text   `json:"id"`
	ConditionID           shape.Text   `json:"conditionId"`
	QuestionID            shape.Text   `json:"questionID"`
	Question              shape.Text   `json:"question"`
	Slug                  shape.Text   `json:"slug"`
	Description           shape.Text   `json:"description"`
	ResolutionSource      shape.Text   `json:"resolutionSource"`
	GroupItemTitle        shape.Text   `json:"groupItemTitle"`
	GroupItemThreshold    shape.Text   `json:"groupItemThreshold"`
	Icon                  shape.Text   `json:"icon"`
	Image                 shape.Text   `json:"image"`
	Outcomes              shape.Labels `json:"outcomes"`
	OutcomePrices         shape.List   `json:"outcomePrices"`
	Version               shape.Text   `json:"version"`
	ClobTokenIDs          shape.List   `json:"clobTokenIds"`
	PositionIDs           shape.List   `json:"positionIds"`
	Active                shape.Text   `json:"active"`
	Closed                shape.Text   `json:"closed"`
	AcceptingOrders       shape.Text   `json:"acceptingOrders"`
	UMAResolutionStatus   shape.Text   `json:"umaResolutionStatus"`
	ResolutionStatus      shape.Text   `json:"resolutionStatus"`
	UMAEndDate            shape.Text   `json:"umaEndDate"`
	NegRisk               shape.Text   `json:"negRisk"`
	NegRiskMarketID       shape.Text   `json:"negRiskMarketID"`
	Volume                shape.Text   `json:"volume"`
	VolumeNum             shape.Text   `json:"volumeNum"`
	Liquidity             shape.Text   `json:"liquidity"`
	LiquidityNum          shape.Text   `json:"liquidityNum"`
	BestBid               shape.Text   `json:"bestBid"`
	BestAsk               shape.Text   `json:"bestAsk"`
	LastTradePrice        shape.Text   `json:"lastTradePrice"`
	Category              shape.Text   `json:"category"`
	CreatedAt             shape.Text   `json:"createdAt"`
	StartDate             shape.Text   `json:"startDate"`
	EndDate               shape.Text   `json:"endDate"`
	EndDateISO            shape.Text   `json:"endDateIso"`
	ClosedTime            shape.Text   `json:"closedTime"`
	GameStartTime         shape.Text   `json:"gameStartTime"`
	UpdatedAt             shape.Text   `json:"updatedAt"`
	Tags                  Tags         `json:"tags"`
	Events                Events       `json:"events"`
	EventID               shape.Text   `json:"eventId"`
	EventSlug             shape.Text   `json:"eventSlug"`
	EventTitle            shape.Text   `json:"eventTitle"`
	FlatEventID           shape.Text   `json:"event_id"`
	FlatEventSlug         shape.Text   `json:"event_slug"`
	FlatEventTitle        shape.Text   `json:"event_title"`
	SeriesSlug            shape.Text   `json:"seriesSlug"`
	AutomaticallyResolved shape.Text   `json:"automaticallyResolved"`
	// Lacks are the fields of the quote for which the source has no column.
	Lacks data.QuoteFields `json:"-"`
}

// Event is an event object of Gamma's /events, or the short one inside a market.
type Event struct {
	ID              shape.Text `json:"id"`
	Slug            shape.Text `json:"slug"`
	Title           shape.Text `json:"title"`
	Category        shape.Text `json:"category"`
	NegRisk         shape.Text `json:"negRisk"`
	NegRiskMarketID shape.Text `json:"negRiskMarketID"`
	SeriesSlug      shape.Text `json:"seriesSlug"`
	Series          Tags       `json:"series"`
	Tags            Tags       `json:"tags"`
}

// Events is a list of short events, also as a string that holds JSON.
type Events []Event

// UnmarshalJSON does not fail on invalid content: it leaves the list empty.
func (e *Events) UnmarshalJSON(b []byte) error {
	list, ok := objects(unquote(b), eventMembers)
	*e = nil
	if ok {
		*e = list
	}
	return nil
}

// Tags are the slugs of a list of tag or series objects, or a list of names,
// also as a string that holds JSON.
type Tags []string

// tag is a tag or series object.
type tag struct {
	Slug  shape.Text `json:"slug"`
	Label shape.Text `json:"label"`
}

// UnmarshalJSON does not fail on invalid content: it leaves the list empty.
func (t *Tags) UnmarshalJSON(b []byte) error {
	*t = nil
	b = unquote(b)
	if names := shape.PlainArray(b); len(names) > 0 {
		*t = Tags(names)
		return nil
	}
	if list, ok := objects(b, tagMembers); ok {
		for _, o := range list {
			if s := first(o.Slug, o.Label).Trim(); s != "" {
				*t = append(*t, s)
			}
		}
		return nil
	}
	var names shape.List
	if names.UnmarshalJSON(b) == nil {
		*t = Tags(names)
	}
	return nil
}

// The members of objects in records.
var (
	gammaMembers = shape.MembersOf[Gamma]()
	eventMembers = shape.MembersOf[Event]()
	tagMembers   = shape.MembersOf[tag]()
)

// objects returns a JSON list of objects; false if encoding/json refuses it.
func objects[T any](b []byte, members shape.Members[T]) ([]T, bool) {
	if elements, ok := shape.Elements(b); ok {
		list := make([]T, len(elements))
		for i, element := range elements {
			if members.Unmarshal(element, &list[i]) != nil {
				return nil, false
			}
		}
		return list, true
	}
	var list []T
	err := json.Unmarshal(b, &list)
	return list, err == nil
}

// UnmarshalGamma is json.Unmarshal(raw, g) for an empty g.
func UnmarshalGamma(raw []byte, g *Gamma) error { return gammaMembers.Unmarshal(raw, g) }

// unquote returns the JSON inside a JSON string, else b.
func unquote(b []byte) []byte {
	var s shape.Text
	if len(b) > 0 && b[0] == '"' && s.UnmarshalJSON(b) == nil && strings.HasPrefix(strings.TrimSpace(string(s)), "[") {
		return []byte(s)
	}
	return b
}

// Market returns the canonical market. Drafts without a condition id and broken ids are a
// *shape.RowError.
func (g *Gamma) Market() (data.Market, error) {
	id := g.ConditionID.Trim()
	if id == "" {
		return data.Market{}, shape.Known("no_condition")
	}
	condition, err := data.ParseCondition(id)
	if err != nil || condition.IsZero() {
		return data.Market{}, shape.Known("bad_condition")
	}
	if err := g.protocol(condition); err != nil {
		return data.Market{}, err
	}
	if err := CheckLists(g.Outcomes, g.ClobTokenIDs, g.OutcomePrices); err != nil {
		return data.Market{}, err
	}
	var f shape.Fields
	m := data.Market{
		Condition: condition, GammaID: gammaID(g.ID.Trim()), QuestionID: strings.ToLower(g.QuestionID.Trim()),
		Question: g.Question.Trim(), Slug: g.Slug.Trim(), Description: string(g.Description),
		ResolutionSource: g.ResolutionSource.Trim(), GroupItemTitle: g.GroupItemTitle.Trim(),
		GroupItemThreshold: g.GroupItemThreshold.Trim(), Icon: first(g.Icon, g.Image).Trim(),
		NegRisk: f.Flag("negRisk", g.NegRisk), NegRiskMarketID: strings.ToLower(g.NegRiskMarketID.Trim()),
		BestBid: f.Amount("bestBid", g.BestBid), BestAsk: f.Amount("bestAsk", g.BestAsk), LastPrice: f.Amount("lastTradePrice", g.LastTradePrice),
		Active: f.Flag("active", g.Active), Closed: f.Flag("closed", g.Closed), AcceptingOrders: f.Flag("acceptingOrders", g.AcceptingOrders),
		Liquidity:      f.Amount("liquidity", first(g.Liquidity, g.LiquidityNum)),
		ReportedVolume: f.Amount("volume", first(g.Volume, g.VolumeNum)),
		CreatedAt:      f.Time("createdAt", g.CreatedAt), StartAt: f.Time("startDate", g.StartDate), EndAt: f.Time("endDate", g.EndDate),
		ClosedAt: f.Time("closedTime", g.ClosedTime), GameStartAt: f.Time("gameStartTime", g.GameStartTime),
		UpdatedAt: f.Version("time of the update", g.UpdatedAt), Lacks: g.Lacks,
	}
	if iso := f.Time("endDateIso", g.EndDateISO); m.EndAt.IsZero() {
		m.EndAt = iso
	}
	settled := f.Time("umaEndDate", g.UMAEndDate)
	if !strings.Contains(string(g.UMAEndDate), ":") {
		settled = time.Time{} // old records have a day without a time there, often not the right one
	}
	g.outcomes(&m)
	g.event(&m, &f)
	g.category(&m)
	if f.Err != nil {
		return data.Market{}, f.Err
	}
	if m.Closed == nil && !m.ClosedAt.IsZero() {
		closed := true // a market with a closing time is closed
		m.Closed = &closed
	}
	m.Resolution, m.Untaken = g.resolution(&m, settled)
	return m, nil
}

// Lacks returns the fields of a quote for which raw, a row of a table with Gamma's columns, has no
// column.
func Lacks(format data.Format, raw []byte) data.QuoteFields {
	return shape.LacksQuote(format, raw, []string{"bestBid", "bestAsk"}, []string{"lastTradePrice"}, []string{"liquidity", "liquidityNum"})
}

// gammaID returns the decimal id, and "" if the dump has something else there.
func gammaID(s string) string {
	if id, ok := shape.TokenID(s); ok && len(id) < 20 {
		return id
	}
	return ""
}

// outcomes sets labels, tokens and prices. Tokens and prices are left out if there is not exactly
// one per outcome.
func (g *Gamma) outcomes(m *data.Market) {
	labels, n := Labels(g.Outcomes, g.ClobTokenIDs)
	m.Outcomes = labels
	m.TokenIDs = Tokens(g.ClobTokenIDs, n)
	m.Prices = Prices(g.OutcomePrices, n)
}

// Labels returns the labels of a market's outcomes, nil if the list is empty, and the number of
// outcomes: without labels, that of the tokens.
func Labels(labels, tokens []string) ([]string, int) {
	if len(labels) > 0 {
		return labels, len(labels)
	}
	return nil, len(tokens)
}

// Tokens returns n normalised token ids, and nil if there are not exactly n valid ones.
func Tokens(ids []string, n int) []string {
	if len(ids) != n || n == 0 {
		return nil
	}
	out := make([]string, n)
	for i, s := range ids {
		id, ok := shape.TokenID(s)
		if !ok {
			return nil
		}
		out[i] = id
	}
	return out
}

// CheckLists returns a *shape.RowError if something in the lists of a market is invalid: a token id
// or price, one token for two outcomes, or a different number of tokens than labels. Empty means
// unknown.
func CheckLists(labels, tokens, prices []string) error {
	seen := make(map[string]bool, len(tokens))
	for _, s := range tokens {
		id, ok := shape.TokenID(s)
		switch {
		case !ok && shape.Text(s).Trim() != "":
			return shape.Known("bad_token")
		case seen[id] && ok:
			return shape.Bad("bad_token", "the token %s is listed for two outcomes", id)
		case ok:
			seen[id] = true
		}
	}
	if len(labels) > 0 && len(seen) > 0 && len(labels) != len(tokens) {
		return shape.Bad("bad_outcome", "there are %d labels of outcomes and %d tokens", len(labels), len(tokens))
	}
	var f shape.Fields
	for _, s := range prices {
		f.Amount("price of an outcome", shape.Text(s))
	}
	if f.Err != nil {
		return f.Err
	}
	return nil
}

// Prices returns n prices between 0 and 1, and nil if there are not exactly n valid ones.
func Prices(texts []string, n int) []data.Micro {
	if len(texts) != n || n == 0 {
		return nil
	}
	out := make([]data.Micro, n)
	for i, s := range texts {
		p, ok := shape.Text(s).Micro()
		if !ok || p < 0 || p > data.One {
			return nil
		}
		out[i] = p
	}
	return out
}

func (g *Gamma) event(m *data.Market, f *shape.Fields) {
	m.EventID = first(g.EventID, g.FlatEventID).Trim()
	m.EventSlug = first(g.EventSlug, g.FlatEventSlug).Trim()
	m.EventTitle = first(g.EventTitle, g.FlatEventTitle).Trim()
	m.SeriesSlug = g.SeriesSlug.Trim()
	m.Tags = g.Tags
	if len(g.Events) > 0 {
		g.Events[0].inherit(g, m, f)
	}
}

// inherit copies to m the fields of its event that the market itself does not have.
func (e *Event) inherit(g *Gamma, m *data.Market, f *shape.Fields) {
	m.EventID = first(m.EventID, e.ID.Trim())
	m.EventSlug = first(m.EventSlug, e.Slug.Trim())
	m.EventTitle = first(m.EventTitle, e.Title.Trim())
	m.NegRiskMarketID = first(m.NegRiskMarketID, strings.ToLower(e.NegRiskMarketID.Trim()))
	m.SeriesSlug = first(m.SeriesSlug, e.SeriesSlug.Trim())
	if m.SeriesSlug == "" && len(e.Series) > 0 {
		m.SeriesSlug = e.Series[0]
	}
	if flag := f.Flag("negRisk of the event", e.NegRisk); m.NegRisk == nil {
		m.NegRisk = flag
	}
	if len(m.Tags) == 0 {
		m.Tags = e.Tags
	}
	g.Category = first(g.Category, e.Category)
}

// category uses the fixed table of tags, else the field of old markets, else the beginning of the
// slug.
func (g *Gamma) category(m *data.Market) {
	m.Category, m.CategorySource = Category(m.Tags, g.Category.Trim(), m.EventSlug, m.Slug)
}

// Category returns the category of a market and its origin ("tag", "field", "slug"); both are "" if
// unknown.
func Category(tags []string, field string, slugs ...string) (category, source string) {
	if c := reference.CategoryOf(tags); c != "" {
		return c, "tag"
	}
	if c := reference.CategoryOf([]string{field}); c != "" {
		return c, "field"
	}
	for _, s := range slugs {
		if c := reference.CategoryOfSlug(s); c != "" {
			return c, "slug"
		}
	}
	return "", ""
}

// resolution derives the payouts from the outcome prices. The market must be closed and its oracle
// must have answered; for markets from before the oracle had a status, unambiguous prices are
// enough. All others are unresolved: a closed market may still be disputed. If the oracle has
// answered and the record does not say whether the market is closed, it counts as closed. The
// second result is why prices that look final are not used.
func (g *Gamma) resolution(m *data.Market, settled time.Time) (*data.Resolution, data.Untaken) {
	status := strings.ToLower(g.UMAResolutionStatus.Trim())
	final := status == "resolved" || status == "settled"
	payouts := Payouts(m.Prices, final)
	switch {
	case Misfit(m, g.OutcomePrices, final):
		return nil, data.UntakenMisfit
	case m.Closed != nil && !*m.Closed && Decided(m.Prices):
		return nil, data.UntakenOpen
	case m.Closed == nil && !final && Decided(m.Prices):
		return nil, data.UntakenNoClosing
	case m.Closed == nil && !final, m.Closed != nil && !*m.Closed, len(m.Prices) == 0:
		return nil, ""
	case !final && status != "":
		return nil, data.UntakenOracle
	case payouts == nil:
		return nil, data.UntakenUndecided
	}
	return &data.Resolution{Condition: m.Condition, Payouts: payouts, ResolvedAt: settled, AtSource: data.TimeOfOracle,
		Source: data.ResolvedByPrices, Version: m.UpdatedAt}, ""
}

// Misfit reports whether texts look like the final prices of m but cannot be used, because there is
// not exactly one from 0 to 1 per outcome.
func Misfit(m *data.Market, texts []string, final bool) bool {
	given := slices.ContainsFunc(texts, func(s string) bool { return shape.Text(s).Trim() != "" })
	if !given || len(m.Prices) > 0 {
		return false
	}
	if m.Closed == nil {
		return final || Decided(Prices(texts, len(texts)))
	}
	return *m.Closed
}

// Decided reports whether one price is 1 and all others are 0, which does not occur while a market
// is traded.
func Decided(prices []data.Micro) bool {
	ones := 0
	for _, p := range prices {
		if p != 0 && p != data.One {
			return false
		}
		ones += int(p / data.One)
	}
	return ones == 1 && len(prices) > 1
}

// Payouts returns the payouts that follow from final prices: one outcome at 0.99 or more and all
// others at 0.01 or less, or, if halves is set, two at a half. It returns nil for other prices.
func Payouts(prices []data.Micro, halves bool) []data.Micro {
	out := make([]data.Micro, len(prices))
	winners := 0
	for i, p := range prices {
		switch {
		case p >= 990_000:
			out[i] = data.One
			winners++
		case p > 10_000:
			winners = len(prices) + 1
		}
	}
	if winners == 1 && len(prices) > 1 {
		return out
	}
	if halves && len(prices) == 2 && half(prices[0]) && half(prices[1]) {
		return []data.Micro{data.One / 2, data.One / 2}
	}
	return nil
}

func half(p data.Micro) bool { return p >= 499_000 && p <= 501_000 }
