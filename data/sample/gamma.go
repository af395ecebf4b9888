package sample

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"time"

	"pmx/data"
)

// The shape of Gamma's /events records: volumes are numbers on events and text on markets, lists of
// a market are JSON inside text, and closing times have a different format.
type gammaEvent struct {
	ID               string        `json:"id"`
	Ticker           string        `json:"ticker"`
	Slug             string        `json:"slug"`
	Title            string        `json:"title"`
	Description      string        `json:"description"`
	ResolutionSource string        `json:"resolutionSource"`
	StartDate        string        `json:"startDate"`
	CreationDate     string        `json:"creationDate"`
	EndDate          string        `json:"endDate"`
	EventDate        string        `json:"eventDate,omitempty"`
	ClosedTime       string        `json:"closedTime,omitempty"`
	Active           bool          `json:"active"`
	Closed           bool          `json:"closed"`
	Archived         bool          `json:"archived"`
	Restricted       bool          `json:"restricted"`
	Liquidity        data.Micro    `json:"liquidity"`
	Volume           data.Micro    `json:"volume"`
	CreatedAt        string        `json:"createdAt"`
	UpdatedAt        string        `json:"updatedAt"`
	EnableOrderBook  bool          `json:"enableOrderBook"`
	NegRisk          bool          `json:"negRisk"`
	NegRiskMarketID  string        `json:"negRiskMarketID,omitempty"`
	SeriesSlug       string        `json:"seriesSlug,omitempty"`
	Series           []gammaSeries `json:"series,omitempty"`
	Tags             []tag         `json:"tags"`
	Markets          []gammaMarket `json:"markets,omitempty"`
}

type gammaSeries struct {
	ID         string `json:"id"`
	Ticker     string `json:"ticker"`
	Slug       string `json:"slug"`
	Title      string `json:"title"`
	SeriesType string `json:"seriesType"`
	Recurrence string `json:"recurrence"`
}

type gammaMarket struct {
	ID                 string      `json:"id"`
	Question           string      `json:"question"`
	ConditionID        string      `json:"conditionId"`
	Slug               string      `json:"slug"`
	ResolutionSource   string      `json:"resolutionSource"`
	EndDate            string      `json:"endDate"`
	StartDate          string      `json:"startDate"`
	Description        string      `json:"description"`
	Outcomes           string      `json:"outcomes"`
	OutcomePrices      string      `json:"outcomePrices"`
	Volume             string      `json:"volume"`
	Liquidity          string      `json:"liquidity"`
	Active             bool        `json:"active"`
	Closed             bool        `json:"closed"`
	Archived           bool        `json:"archived"`
	Restricted         bool        `json:"restricted"`
	MarketMakerAddress string      `json:"marketMakerAddress"`
	CreatedAt          string      `json:"createdAt"`
	UpdatedAt          string      `json:"updatedAt"`
	ClosedTime         string      `json:"closedTime,omitempty"`
	GroupItemTitle     string      `json:"groupItemTitle,omitempty"`
	GroupItemThreshold string      `json:"groupItemThreshold,omitempty"`
	QuestionID         string      `json:"questionID"`
	EnableOrderBook    bool        `json:"enableOrderBook"`
	TickSize           data.Micro  `json:"orderPriceMinTickSize"`
	OrderMinSize       int         `json:"orderMinSize"`
	VolumeNum          data.Micro  `json:"volumeNum"`
	LiquidityNum       data.Micro  `json:"liquidityNum"`
	EndDateISO         string      `json:"endDateIso"`
	StartDateISO       string      `json:"startDateIso"`
	GameStartTime      string      `json:"gameStartTime,omitempty"`
	ClobTokenIDs       string      `json:"clobTokenIds,omitempty"`
	Version            string      `json:"version,omitempty"`
	PositionIDs        []string    `json:"positionIds,omitempty"`
	ResolutionStatus   string      `json:"resolutionStatus,omitempty"`
	UmaStatus          string      `json:"umaResolutionStatus,omitempty"`
	UmaStatuses        string      `json:"umaResolutionStatuses"`
	AcceptingOrders    bool        `json:"acceptingOrders"`
	NegRisk            bool        `json:"negRisk"`
	NegRiskMarketID    string      `json:"negRiskMarketID,omitempty"`
	Spread             *data.Micro `json:"spread,omitempty"`
	LastTradePrice     *data.Micro `json:"lastTradePrice,omitempty"`
	BestBid            *data.Micro `json:"bestBid,omitempty"`
	BestAsk            *data.Micro `json:"bestAsk,omitempty"`
}

// closedTime is the format of closing and game times.
const closedTime = "2006-01-02 15:04:05+00"

func stamp(unix int64) string { return time.Unix(unix, 0).UTC().Format(time.RFC3339) }

// writeEvents writes one event per line, in the order in which they opened.
func writeEvents(ctx context.Context, w io.Writer, cfg Config, events []*event, table *normalTable) error {
	enc := json.NewEncoder(w)
	enc.SetEscapeHTML(false)
	for _, e := range events {
		if err := ctx.Err(); err != nil {
			return fmt.Errorf("sample venue: stopped at event %d: %w", e.id, err)
		}
		g, err := cfg.gammaEvent(e, table)
		if err != nil {
			return fmt.Errorf("event %d: %w", e.id, err)
		}
		if err := enc.Encode(g); err != nil {
			return fmt.Errorf("event %d: %w", e.id, err)
		}
	}
	return nil
}

// seconds returns the times when an event was created and last changed.
func (c Config) seconds(e *event) (created, updated int64) {
	opened := c.start().Unix() + int64(e.openHour)*3600
	created = opened - 1200 - int64(word(c.Seed, streamQuestion, uint64(e.id), 1)%7200)
	updated = c.End.Unix() - int64(word(c.Seed, streamQuestion, uint64(e.id), 2)%300)
	if e.stage == resolved {
		updated = e.closedAt + min(900, c.End.Unix()-e.closedAt)
	}
	if e.updated != 0 {
		updated = e.updated
	}
	return created, max(updated, created)
}

func (e *event) closed() bool { return e.stage >= proposed }

func (c Config) gammaEvent(e *event, table *normalTable) (gammaEvent, error) {
	created, updated := c.seconds(e)
	g := gammaEvent{
		ID: fmt.Sprint(e.id), Ticker: e.slug, Slug: e.slug, Title: e.title, Description: e.description, ResolutionSource: e.source,
		StartDate: stamp(created + 1200), CreationDate: stamp(created), EndDate: stamp(e.end), Active: true, Closed: e.closed(),
		Restricted: true, CreatedAt: stamp(created), UpdatedAt: stamp(updated), EnableOrderBook: true, NegRisk: e.negRisk, Tags: e.tags,
	}
	if e.closed() {
		g.ClosedTime = stamp(e.closedAt)
	}
	if e.negRisk {
		g.NegRiskMarketID = e.negRiskID(c.Seed).String()
	}
	if e.gameStart != 0 {
		g.EventDate = stamp(e.end)[:len(time.DateOnly)]
	}
	if e.series != "" {
		g.SeriesSlug = e.series
		id := fmt.Sprint(10_000 + mix(uint64(len(e.series))<<32+uint64(seriesSum(e.series)))%2000)
		g.Series = []gammaSeries{{ID: id, Ticker: e.series, Slug: e.series, Title: e.seriesTitle, SeriesType: "single", Recurrence: "daily"}}
	}
	for i := range e.markets {
		m := e.markets[i]
		if e.order != nil {
			m = e.markets[e.order[i]]
		}
		gm, err := c.gammaMarket(m, &g, table)
		if err != nil {
			return g, fmt.Errorf("market %d: %w", m.id, err)
		}
		g.Markets = append(g.Markets, gm)
		g.Volume, g.Liquidity = g.Volume+gm.VolumeNum, g.Liquidity+gm.LiquidityNum
	}
	return g, nil
}

// seriesSum is the number from which the id of a series is made.
func seriesSum(slug string) (sum uint32) {
	for _, c := range slug {
		sum = sum*31 + uint32(c)
	}
	return sum
}

func (c Config) gammaMarket(m *market, g *gammaEvent, table *normalTable) (gammaMarket, error) {
	e := m.event
	out := gammaMarket{
		ID: fmt.Sprint(m.id), Question: m.question, ConditionID: m.condition(c.Seed).String(), Slug: m.slug, ResolutionSource: e.source,
		EndDate: g.EndDate, StartDate: g.StartDate, Description: e.description, Volume: m.volume.String(), Active: true, Closed: g.Closed,
		Restricted: true, CreatedAt: g.CreatedAt, UpdatedAt: g.UpdatedAt, GroupItemTitle: m.group, QuestionID: m.questionID(c.Seed).String(),
		EnableOrderBook: true, TickSize: data.Micro(m.tick * 1000), OrderMinSize: 5, VolumeNum: m.volume,
		EndDateISO: g.EndDate[:len(time.DateOnly)], StartDateISO: g.StartDate[:len(time.DateOnly)],
		AcceptingOrders: e.stage == trading, NegRisk: e.negRisk, NegRiskMarketID: g.NegRiskMarketID,
	}
	if e.stage == trading {
		out.LiquidityNum = data.Micro(word(c.Seed, streamQuestion, uint64(m.id), 3)%5_000+100)*data.One + m.volume/20
	}
	out.Liquidity = out.LiquidityNum.String()
	if m.group != "" {
		out.GroupItemThreshold = fmt.Sprint(m.leg)
	}
	if g.Closed {
		out.ClosedTime = time.Unix(e.closedAt, 0).UTC().Format(closedTime)
	}
	if e.gameStart != 0 {
		out.GameStartTime = time.Unix(e.gameStart, 0).UTC().Format(closedTime)
	}
	out.UmaStatus, out.UmaStatuses = umaStatus(e.stage)
	prices := m.quotes(&out, table)
	for _, list := range []struct {
		to   *string
		from any
	}{{&out.Outcomes, m.outcomes}, {&out.OutcomePrices, prices}, {&out.ClobTokenIDs, m.tokenIDs(c.Seed)}} {
		text, err := json.Marshal(list.from)
		if err != nil {
			return out, err
		}
		*list.to = string(text)
	}
	c.protocol(m, &out)
	m.tokens = [2]string{}
	return out, nil
}

// protocol sets the protocol of the market, and for V2 the fields that differ.
func (c Config) protocol(m *market, out *gammaMarket) {
	switch {
	case !c.Chain:
	case !m.event.positions:
		out.Version = "v1"
	default:
		out.Version, out.PositionIDs, out.ClobTokenIDs = "v2", m.tokenIDs(c.Seed)[:], ""
		out.PositionIDs = append([]string(nil), out.PositionIDs...)
		out.UmaStatus, out.UmaStatuses, out.ResolutionStatus = "", "[]", "active"
		if m.event.stage == resolved {
			out.ResolutionStatus = "resolved"
		}
	}
}

func umaStatus(s stage) (status, history string) {
	switch s {
	case ended, proposed:
		return "proposed", `["proposed"]`
	case disputed:
		return "disputed", `["proposed", "disputed"]`
	case resolved:
		return "resolved", `["proposed", "resolved"]`
	}
	return "", "[]"
}

// quotes sets the best bid and ask and returns the outcome prices: the payouts if the market is
// resolved, else the middle of bid and ask.
func (m *market) quotes(out *gammaMarket, table *normalTable) [2]string {
	if m.last > 0 {
		out.LastTradePrice = milli(m.last)
	}
	if m.event.stage == resolved {
		return [...][2]string{first: {"1", "0"}, second: {"0", "1"}, split: {"0.5", "0.5"}}[m.result]
	}
	at := m.shown
	if at == 0 {
		at = m.fair(table)
	}
	bid, ask := max(at-m.tick, m.tick), min(at+m.tick*int64(1+m.id%2), 1000-m.tick)
	if m.event.stage == trading {
		out.BestBid, out.BestAsk, out.Spread = milli(bid), milli(ask), milli(ask-bid)
	}
	middle := data.Micro((bid + ask) * 500)
	return [2]string{middle.String(), (data.One - middle).String()}
}

func milli(price int64) *data.Micro {
	v := data.Micro(price * 1000)
	return &v
}
