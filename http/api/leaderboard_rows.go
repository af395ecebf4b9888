package api

import (
	"strconv"

	"pmx/data"
	"pmx/rollups/serving"
)

// appendTraderRow writes wire.TraderRow.
func appendTraderRow(b []byte, r *serving.TraderRow) []byte {
	b = strconv.AppendInt(append(b, `{"rank":`...), int64(r.Rank), 10)
	b = r.Wallet.Append(append(b, `,"address":"`...))
	b = appendText(append(b, `","username":`...), r.Name)
	b = r.RealPnL.Append(append(b, `,"real_pnl":`...))
	b = r.RealPnLAllTime.Append(append(b, `,"real_pnl_all_time":`...))
	b = r.NetCash.Append(append(b, `,"net_cash":`...))
	b = r.Redemption.Append(append(b, `,"redemption_value":`...))
	b = appendUndated(b, r.Undated, r.UndatedMarkets)
	b = r.Volume().Append(append(b, `,"volume":`...))
	b = r.BuyUSD.Append(append(b, `,"buy_volume_usd":`...))
	b = r.SellUSD.Append(append(b, `,"sell_volume_usd":`...))
	b = strconv.AppendInt(append(b, `,"trades":`...), r.Fills, 10)
	b = appendRatio(append(b, `,"roi":`...), r.RealPnL, r.BuyUSD)
	b = appendRatio(append(b, `,"win_rate_all_time":`...), data.Micro(r.WinningMarkets), data.Micro(r.ResolvedMarkets))
	b = strconv.AppendInt(append(b, `,"resolved_markets_all_time":`...), r.ResolvedMarkets, 10)
	b = strconv.AppendInt(append(b, `,"winning_markets_all_time":`...), r.WinningMarkets, 10)
	b = appendMicros(append(b, `,"last_trade_at":`...), r.LastTS)
	return append(b, '}')
}

// appendUndated adds what markets pay that were resolved at an unknown time.
func appendUndated(b []byte, usd data.Micro, markets int64) []byte {
	b = usd.Append(append(b, `,"undated_redemption":`...))
	return strconv.AppendInt(append(b, `,"undated_markets":`...), markets, 10)
}

// appendMarketRow writes wire.MarketRow.
func appendMarketRow(b []byte, r *serving.MarketRow) []byte {
	b = strconv.AppendInt(append(b, `{"rank":`...), int64(r.Rank), 10)
	b = r.Condition.Append(append(b, `,"condition_id":"`...))
	b = appendText(append(b, `","question":`...), r.Question)
	b = appendText(append(b, `,"slug":`...), r.Slug)
	b = appendText(append(b, `,"event_id":`...), r.EventID)
	b = appendText(append(b, `,"event_slug":`...), r.EventSlug)
	b = appendText(append(b, `,"category":`...), r.Category)
	b = r.VolumeUSD.Append(append(b, `,"volume":`...))
	b = r.VolumeShares.Append(append(b, `,"volume_shares":`...))
	b = appendText(append(b, `,"volume_basis":`...), string(r.Basis))
	b = r.VolumeAllTime.Append(append(b, `,"volume_all_time":`...))
	b = strconv.AppendInt(append(b, `,"trades":`...), r.Trades, 10)
	b = strconv.AppendInt(append(b, `,"traders":`...), r.Traders, 10)
	b = appendTexts(append(b, `,"outcomes":`...), r.Outcomes)
	b = append(append(b, `,"status":"`...), serving.StatusOf(r.Resolved, r.Closed)...)
	b = appendMicros(append(b, `","end_date":`...), r.EndTS)
	b = appendMicros(append(b, `,"last_trade_at":`...), r.LastTS)
	return append(b, '}')
}

// appendTexts adds a list of strings, null where there is none: unknown.
func appendTexts(b []byte, list []string) []byte {
	if list == nil {
		return append(b, "null"...)
	}
	b = append(b, '[')
	for i, s := range list {
		if i > 0 {
			b = append(b, ',')
		}
		b = appendString(b, s)
	}
	return append(b, ']')
}
