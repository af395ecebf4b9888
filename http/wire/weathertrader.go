package wire

import (
	"time"

	"pmx/data"
)

// WeatherTraders is the reply of GET /weather/traders.
type WeatherTraders struct {
	Envelope
	AsOf  *time.Time         `json:"as_of"`                       // null on an empty database
	Scope string             `json:"scope" enum:"desk"`           // the markets behind every figure: those of the weather desk
	Sort  string             `json:"sort" enum:"real_pnl,volume"` // figure that ranks
	Total int                `json:"total"`                       // wallets with a fill on the desk, beyond those shown too
	Data  []WeatherTraderRow `json:"data"`
}

// WeatherTraderRow is one wallet of GET /weather/traders. Every figure is of the
// weather desk's markets alone, over the whole lifetime.
type WeatherTraderRow struct {
	Rank            int         `json:"rank"` // competition rank on what the list is sorted by: 1, 1, 3
	Address         string      `json:"address"`
	Username        *string     `json:"username"`
	RealPnL         data.Micro  `json:"real_pnl"`
	NetCash         data.Micro  `json:"net_cash"`
	RedemptionValue data.Micro  `json:"redemption_value"`
	ROI             *data.Micro `json:"roi"`
	Volume          data.Micro  `json:"volume"` // buys plus sells
	BuyVolumeUSD    data.Micro  `json:"buy_volume_usd"`
	SellVolumeUSD   data.Micro  `json:"sell_volume_usd"`
	FeesUSD         data.Micro  `json:"fees_usd"`
	Trades          int64       `json:"trades"`         // own fills
	UniqueMarkets   int         `json:"unique_markets"` // brackets traded
	ResolvedMarkets int         `json:"resolved_markets"`
	WinningMarkets  int         `json:"winning_markets"`
	WinRate         *data.Micro `json:"win_rate"` // null without resolved markets
	FirstTradeAt    time.Time   `json:"first_trade_at"`
	LastTradeAt     time.Time   `json:"last_trade_at"`
}
