package api

import (
	"pmx/data"
	"pmx/http/wire"
	"pmx/rollups/serving"
)

func traderRow(r *serving.TraderRow) wire.TraderRow {
	return wire.TraderRow{
		Rank: r.Rank, Address: r.Wallet.String(), Username: textOrNull(r.Name), RealPnL: r.RealPnL, RealPnLAllTime: r.RealPnLAllTime,
		NetCash: r.NetCash, RedemptionValue: r.Redemption, UndatedRedemption: r.Undated, UndatedMarkets: r.UndatedMarkets,
		Volume: r.Volume(), BuyVolumeUSD: r.BuyUSD, SellVolumeUSD: r.SellUSD, Trades: r.Fills, ROI: ratioOrNull(r.RealPnL, r.BuyUSD),
		WinRateAllTime:         ratioOrNull(data.Micro(r.WinningMarkets), data.Micro(r.ResolvedMarkets)),
		ResolvedMarketsAllTime: r.ResolvedMarkets, WinningMarketsAllTime: r.WinningMarkets, LastTradeAt: microsOrNull(r.LastTS),
	}
}

func marketRow(r *serving.MarketRow) wire.MarketRow {
	return wire.MarketRow{
		Rank: r.Rank, ConditionID: r.Condition.String(), Question: textOrNull(r.Question), Slug: textOrNull(r.Slug), EventID: textOrNull(r.EventID),
		EventSlug: textOrNull(r.EventSlug), Category: textOrNull(r.Category), Volume: r.VolumeUSD, VolumeShares: r.VolumeShares,
		VolumeBasis: textOrNull(string(r.Basis)), VolumeAllTime: r.VolumeAllTime, Trades: r.Trades, Traders: r.Traders, Outcomes: r.Outcomes,
		Status: string(serving.StatusOf(r.Resolved, r.Closed)), EndDate: microsOrNull(r.EndTS), LastTradeAt: microsOrNull(r.LastTS),
	}
}
