// Code generated from the route table by go generate ./http/openapi. DO NOT EDIT.

package client

import (
	"context"
	"iter"
	"net/http"
	"net/url"
	"time"

	"pmx/data"
	"pmx/http/wire"
)

// ScreenerParams are the optional parameters of Screener; zero values are not sent.
type ScreenerParams struct {
	Q                 string      // words, or beginnings of words, in the title, the event's title or their slugs, in any order; all of them must match, and there must be at least one letter or digit
	Category          []string    // markets of this category; if repeated, of any of them; case-insensitive. The categories are crypto, culture, economics, finance, other, politics, sports, tech, weather, world, and any other that a market of the venue has; an unknown category is an error, which lists the known ones
	ExcludeCategory   []string    // exclude markets of this category; may be repeated; case-insensitive. The categories are crypto, culture, economics, finance, other, politics, sports, tech, weather, world, and any other that a market of the venue has; an unknown category is an error, which lists the known ones
	Tag               []string    // markets with this tag; if repeated, with any of them
	ExcludeTag        []string    // exclude markets with this tag; may be repeated
	Status            []string    // markets with this status; if repeated, or separated by commas, with any of them
	EventID           string      // markets of this event, given by its id or slug
	NegRisk           string      // true: markets of events in which at most one market can win; false: other markets; a market for which this is unknown matches neither
	HasResolution     string      // true: markets whose payouts are known; false: all others
	EndsAfter         time.Time   // markets that end at this time or later
	EndsBefore        time.Time   // markets that end before this time
	CreatedAfter      time.Time   // markets created at this time or later
	CreatedBefore     time.Time   // markets created before this time
	MinVolume24h      *data.Micro // USD traded in the last 24 hours, at least
	MaxVolume24h      *data.Micro // USD traded in the last 24 hours, at most
	MinVolume7d       *data.Micro // USD traded in the last 168 hours, at least
	MaxVolume7d       *data.Micro // USD traded in the last 168 hours, at most
	MinVolume30d      *data.Micro // USD traded in the last 720 hours, at least
	MaxVolume30d      *data.Micro // USD traded in the last 720 hours, at most
	MinVolume         *data.Micro // USD traded since the first fill, at least
	MaxVolume         *data.Micro // USD traded since the first fill, at most
	MinLiquidity      *data.Micro // liquidity in USD, at least
	MaxLiquidity      *data.Micro // liquidity in USD, at most
	MinTraders24h     *int64      // distinct wallets that traded in the last 24 hours, at least
	MaxTraders24h     *int64      // distinct wallets that traded in the last 24 hours, at most
	MinTraders        *int64      // number of distinct wallets, at least
	MaxTraders        *int64      // number of distinct wallets, at most
	MinTrades         *int64      // fills, at least
	MaxTrades         *int64      // fills, at most
	MinPrice          *data.Micro // price of the first outcome, at least
	MaxPrice          *data.Micro // price of the first outcome, at most
	MinPriceChange24h *data.Micro // change of the price over 24 hours, at least
	MaxPriceChange24h *data.Micro // change of the price over 24 hours, at most
	MinWhaleFlow24h   *data.Micro // USD of whale moves of the last 24 hours towards the first outcome, minus those away from it, at least
	MaxWhaleFlow24h   *data.Micro // USD of whale moves of the last 24 hours towards the first outcome, minus those away from it, at most
	MinSpread         *data.Micro // best ask minus best bid, at least
	MaxSpread         *data.Micro // best ask minus best bid, at most
	Sort              string      // figure or time to sort by
	Order             string      // desc: largest first; asc: smallest first; unknown values come last in both
	Fields            []string    // members to return in each row, separated by commas; may be repeated
	Limit             int64       // maximum number of rows; the plan's row limit may reduce it
	Cursor            string      // `next_cursor` of the previous page; all other parameters must stay the same
}

// Screener sends GET /screener. Markets, filtered and sorted by their figures.
func (c *Client) Screener(ctx context.Context, params ScreenerParams) (*wire.Page[wire.ScreenerRow], error) {
	r := request{method: "GET", path: "/screener", query: url.Values{}, header: http.Header{}}
	set(r.query, "q", params.Q)
	set(r.query, "category", params.Category)
	set(r.query, "exclude_category", params.ExcludeCategory)
	set(r.query, "tag", params.Tag)
	set(r.query, "exclude_tag", params.ExcludeTag)
	set(r.query, "status", params.Status)
	set(r.query, "event_id", params.EventID)
	set(r.query, "neg_risk", params.NegRisk)
	set(r.query, "has_resolution", params.HasResolution)
	set(r.query, "ends_after", params.EndsAfter)
	set(r.query, "ends_before", params.EndsBefore)
	set(r.query, "created_after", params.CreatedAfter)
	set(r.query, "created_before", params.CreatedBefore)
	set(r.query, "min_volume_24h", params.MinVolume24h)
	set(r.query, "max_volume_24h", params.MaxVolume24h)
	set(r.query, "min_volume_7d", params.MinVolume7d)
	set(r.query, "max_volume_7d", params.MaxVolume7d)
	set(r.query, "min_volume_30d", params.MinVolume30d)
	set(r.query, "max_volume_30d", params.MaxVolume30d)
	set(r.query, "min_volume", params.MinVolume)
	set(r.query, "max_volume", params.MaxVolume)
	set(r.query, "min_liquidity", params.MinLiquidity)
	set(r.query, "max_liquidity", params.MaxLiquidity)
	set(r.query, "min_traders_24h", params.MinTraders24h)
	set(r.query, "max_traders_24h", params.MaxTraders24h)
	set(r.query, "min_traders", params.MinTraders)
	set(r.query, "max_traders", params.MaxTraders)
	set(r.query, "min_trades", params.MinTrades)
	set(r.query, "max_trades", params.MaxTrades)
	set(r.query, "min_price", params.MinPrice)
	set(r.query, "max_price", params.MaxPrice)
	set(r.query, "min_price_change_24h", params.MinPriceChange24h)
	set(r.query, "max_price_change_24h", params.MaxPriceChange24h)
	set(r.query, "min_whale_flow_24h", params.MinWhaleFlow24h)
	set(r.query, "max_whale_flow_24h", params.MaxWhaleFlow24h)
	set(r.query, "min_spread", params.MinSpread)
	set(r.query, "max_spread", params.MaxSpread)
	set(r.query, "sort", params.Sort)
	set(r.query, "order", params.Order)
	set(r.query, "fields", params.Fields)
	set(r.query, "limit", params.Limit)
	set(r.query, "cursor", params.Cursor)
	return call[wire.Page[wire.ScreenerRow]](ctx, c, r)
}

// AllScreener reads every page of Screener, from params.Cursor on.
func (c *Client) AllScreener(ctx context.Context, params ScreenerParams) iter.Seq2[wire.ScreenerRow, error] {
	return eachRow(params.Cursor, func(cursor string) (*wire.Page[wire.ScreenerRow], error) {
		params := params
		params.Cursor = cursor
		return c.Screener(ctx, params)
	}, func(page *wire.Page[wire.ScreenerRow]) ([]wire.ScreenerRow, *string) {
		return page.Data, page.NextCursor
	})
}

// ScreenerSummaryParams are the optional parameters of ScreenerSummary; zero values are not sent.
type ScreenerSummaryParams struct {
	Q                 string      // words, or beginnings of words, in the title, the event's title or their slugs, in any order; all of them must match, and there must be at least one letter or digit
	Category          []string    // markets of this category; if repeated, of any of them; case-insensitive. The categories are crypto, culture, economics, finance, other, politics, sports, tech, weather, world, and any other that a market of the venue has; an unknown category is an error, which lists the known ones
	ExcludeCategory   []string    // exclude markets of this category; may be repeated; case-insensitive. The categories are crypto, culture, economics, finance, other, politics, sports, tech, weather, world, and any other that a market of the venue has; an unknown category is an error, which lists the known ones
	Tag               []string    // markets with this tag; if repeated, with any of them
	ExcludeTag        []string    // exclude markets with this tag; may be repeated
	Status            []string    // markets with this status; if repeated, or separated by commas, with any of them
	EventID           string      // markets of this event, given by its id or slug
	NegRisk           string      // true: markets of events in which at most one market can win; false: other markets; a market for which this is unknown matches neither
	HasResolution     string      // true: markets whose payouts are known; false: all others
	EndsAfter         time.Time   // markets that end at this time or later
	EndsBefore        time.Time   // markets that end before this time
	CreatedAfter      time.Time   // markets created at this time or later
	CreatedBefore     time.Time   // markets created before this time
	MinVolume24h      *data.Micro // USD traded in the last 24 hours, at least
	MaxVolume24h      *data.Micro // USD traded in the last 24 hours, at most
	MinVolume7d       *data.Micro // USD traded in the last 168 hours, at least
	MaxVolume7d       *data.Micro // USD traded in the last 168 hours, at most
	MinVolume30d      *data.Micro // USD traded in the last 720 hours, at least
	MaxVolume30d      *data.Micro // USD traded in the last 720 hours, at most
	MinVolume         *data.Micro // USD traded since the first fill, at least
	MaxVolume         *data.Micro // USD traded since the first fill, at most
	MinLiquidity      *data.Micro // liquidity in USD, at least
	MaxLiquidity      *data.Micro // liquidity in USD, at most
	MinTraders24h     *int64      // distinct wallets that traded in the last 24 hours, at least
	MaxTraders24h     *int64      // distinct wallets that traded in the last 24 hours, at most
	MinTraders        *int64      // number of distinct wallets, at least
	MaxTraders        *int64      // number of distinct wallets, at most
	MinTrades         *int64      // fills, at least
	MaxTrades         *int64      // fills, at most
	MinPrice          *data.Micro // price of the first outcome, at least
	MaxPrice          *data.Micro // price of the first outcome, at most
	MinPriceChange24h *data.Micro // change of the price over 24 hours, at least
	MaxPriceChange24h *data.Micro // change of the price over 24 hours, at most
	MinWhaleFlow24h   *data.Micro // USD of whale moves of the last 24 hours towards the first outcome, minus those away from it, at least
	MaxWhaleFlow24h   *data.Micro // USD of whale moves of the last 24 hours towards the first outcome, minus those away from it, at most
	MinSpread         *data.Micro // best ask minus best bid, at least
	MaxSpread         *data.Micro // best ask minus best bid, at most
}

// ScreenerSummary sends GET /screener/summary. Sums over the markets that match the screener's filters.
func (c *Client) ScreenerSummary(ctx context.Context, params ScreenerSummaryParams) (*wire.One[wire.ScreenerSummary], error) {
	r := request{method: "GET", path: "/screener/summary", query: url.Values{}, header: http.Header{}}
	set(r.query, "q", params.Q)
	set(r.query, "category", params.Category)
	set(r.query, "exclude_category", params.ExcludeCategory)
	set(r.query, "tag", params.Tag)
	set(r.query, "exclude_tag", params.ExcludeTag)
	set(r.query, "status", params.Status)
	set(r.query, "event_id", params.EventID)
	set(r.query, "neg_risk", params.NegRisk)
	set(r.query, "has_resolution", params.HasResolution)
	set(r.query, "ends_after", params.EndsAfter)
	set(r.query, "ends_before", params.EndsBefore)
	set(r.query, "created_after", params.CreatedAfter)
	set(r.query, "created_before", params.CreatedBefore)
	set(r.query, "min_volume_24h", params.MinVolume24h)
	set(r.query, "max_volume_24h", params.MaxVolume24h)
	set(r.query, "min_volume_7d", params.MinVolume7d)
	set(r.query, "max_volume_7d", params.MaxVolume7d)
	set(r.query, "min_volume_30d", params.MinVolume30d)
	set(r.query, "max_volume_30d", params.MaxVolume30d)
	set(r.query, "min_volume", params.MinVolume)
	set(r.query, "max_volume", params.MaxVolume)
	set(r.query, "min_liquidity", params.MinLiquidity)
	set(r.query, "max_liquidity", params.MaxLiquidity)
	set(r.query, "min_traders_24h", params.MinTraders24h)
	set(r.query, "max_traders_24h", params.MaxTraders24h)
	set(r.query, "min_traders", params.MinTraders)
	set(r.query, "max_traders", params.MaxTraders)
	set(r.query, "min_trades", params.MinTrades)
	set(r.query, "max_trades", params.MaxTrades)
	set(r.query, "min_price", params.MinPrice)
	set(r.query, "max_price", params.MaxPrice)
	set(r.query, "min_price_change_24h", params.MinPriceChange24h)
	set(r.query, "max_price_change_24h", params.MaxPriceChange24h)
	set(r.query, "min_whale_flow_24h", params.MinWhaleFlow24h)
	set(r.query, "max_whale_flow_24h", params.MaxWhaleFlow24h)
	set(r.query, "min_spread", params.MinSpread)
	set(r.query, "max_spread", params.MaxSpread)
	return call[wire.One[wire.ScreenerSummary]](ctx, c, r)
}
