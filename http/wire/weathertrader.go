package wire

import (
	"time"

	"pmx/data"
)

// WeatherTraders is the response of GET /weather/traders.
type WeatherTraders struct {
	Envelope
	AsOf  *time.Time         `json:"as_of"`                       // null if the database is empty
	Scope string             `json:"scope" enum:"desk"`           // the markets that all figures cover; desk: those of the weather desk
	Sort  string             `json:"sort" enum:"real_pnl,volume"` // figure that the rows are ranked by
	Total int                `json:"total"`                       // number of wallets with a fill in a market of the desk, including those not shown
	Data  []WeatherTraderRow `json:"data"`
}

// WeatherTraderRow is one wallet of GET /weather/traders. All figures cover only the weather desk's markets, over the
// whole lifetime.
type WeatherTraderRow struct {
	Rank            int         `json:"rank"` // competition rank by the figure that the rows are sorted by (1, 1, 3)
	Address         string      `json:"address"`
	Username        *string     `json:"username"`
	RealPnL         data.Micro  `json:"real_pnl"`
	NetCash         data.Micro  `json:"net_cash"`
	RedemptionValue data.Micro  `json:"redemption_value"`
	ROI             *data.Micro `json:"roi"`
	Volume          data.Micro  `json:"volume"` // USD traded: buys plus sells
	BuyVolumeUSD    data.Micro  `json:"buy_volume_usd"`
	SellVolumeUSD   data.Micro  `json:"sell_volume_usd"`
	FeesUSD         data.Micro  `json:"fees_usd"`
	Trades          int64       `json:"trades"`         // number of the wallet's own fills
	UniqueMarkets   int         `json:"unique_markets"` // number of brackets traded
	ResolvedMarkets int         `json:"resolved_markets"`
	WinningMarkets  int         `json:"winning_markets"`
	WinRate         *data.Micro `json:"win_rate"` // null without resolved markets
	FirstTradeAt    time.Time   `json:"first_trade_at"`
	LastTradeAt     time.Time   `json:"last_trade_at"`
}
