package wire

import (
	"time"

	"pmx/data"
)

// OracleLeaderboard is the response of GET /oracle/leaderboard.
type OracleLeaderboard struct {
	Envelope
	AsOf        *time.Time  `json:"as_of"`        // time up to which the data is complete; null if the database is empty
	MinResolved int         `json:"min_resolved"` // minimum number of forecasts for a wallet to be ranked
	Total       int         `json:"total"`        // number of wallets with at least min_resolved forecasts
	Data        []OracleRow `json:"data"`
}

// OracleRow is a wallet in the ranking by forecasting accuracy.
type OracleRow struct {
	Rank              int         `json:"rank"` // competition rank by the exact Brier score (1, 1, 3)
	Address           string      `json:"address"`
	Username          *string     `json:"username"`
	ResolvedForecasts int64       `json:"resolved_forecasts"` // number of outcomes of resolved markets in which the wallet held tokens at resolution
	Brier             data.Micro  `json:"brier"`              // mean of (p − payout)²; 0 is best, 1 is worst
	BrierBaseline     data.Micro  `json:"brier_baseline"`     // Brier score of the outcomes' average prices
	BrierSkill        *data.Micro `json:"brier_skill"`        // 1 − brier ÷ brier_baseline; null if the baseline is 0
	AccuracyPct       data.Micro  `json:"accuracy_pct"`       // percentage of forecasts whose outcome paid more than 0.5
	AccuracyLowPct    data.Micro  `json:"accuracy_low_pct"`   // lower end of the 95 % Wilson interval of accuracy_pct
	AccuracyHighPct   data.Micro  `json:"accuracy_high_pct"`  // upper end of the 95 % Wilson interval of accuracy_pct
	Edge              data.Micro  `json:"edge"`               // mean of payout − p
	ForecastVolume    data.Micro  `json:"forecast_volume"`    // USD paid for tokens of the outcomes forecast, including tokens that were sold again
	Volume            data.Micro  `json:"volume"`             // USD traded in all markets since the first fill
	RealPnL           data.Micro  `json:"real_pnl"`           // lifetime `net_cash` + `redemption_value`; open positions are left out
}

// OracleScore is how accurate a set of forecasts was. All members except resolved_forecasts and forecast_volume are null
// if there are no forecasts.
type OracleScore struct {
	ResolvedForecasts int64       `json:"resolved_forecasts"` // number of outcomes of resolved markets in which the wallet held tokens at resolution
	Brier             *data.Micro `json:"brier"`              // mean of (p − payout)²; 0 is best, 1 is worst; null if there are no forecasts
	BrierBaseline     *data.Micro `json:"brier_baseline"`     // Brier score of the outcomes' average prices; null if there are no forecasts
	BrierSkill        *data.Micro `json:"brier_skill"`        // 1 − brier ÷ brier_baseline; null if there are no forecasts or the baseline is 0
	AccuracyPct       *data.Micro `json:"accuracy_pct"`       // percentage of forecasts whose outcome paid more than 0.5; null if there are no forecasts
	AccuracyLowPct    *data.Micro `json:"accuracy_low_pct"`   // lower end of the 95 % Wilson interval of accuracy_pct
	AccuracyHighPct   *data.Micro `json:"accuracy_high_pct"`  // upper end of the 95 % Wilson interval of accuracy_pct
	Edge              *data.Micro `json:"edge"`               // mean of payout − p; null if there are no forecasts
	ForecastVolume    data.Micro  `json:"forecast_volume"`    // USD paid for tokens of the outcomes forecast, including tokens that were sold again
}

// OracleTrader is the payload of GET /oracle/trader/{address}.
type OracleTrader struct {
	Address  string  `json:"address"`
	Username *string `json:"username"`
	OracleScore
	Volume        data.Micro       `json:"volume"`         // USD traded in all markets since the first fill
	RealPnL       data.Micro       `json:"real_pnl"`       // lifetime `net_cash` + `redemption_value`; open positions are left out
	Rank          *int             `json:"rank"`           // rank by Brier score among wallets with at least min_resolved forecasts; null if the wallet has fewer
	RankedTraders int              `json:"ranked_traders"` // number of wallets that are ranked
	MinResolved   int              `json:"min_resolved"`   // minimum number of forecasts for a wallet to be ranked
	Calibration   []OracleBin      `json:"calibration"`    // ten bins of equal width from probability 0 to 1
	Murphy        OracleMurphy     `json:"murphy"`         // components of the Brier score
	Categories    []OracleCategory `json:"categories"`     // score by category of the market, most forecasts first
}

// OracleBin is the forecasts whose probability is in one of ten bins.
type OracleBin struct {
	From            data.Micro  `json:"from"`             // lower bound of the bin, inclusive
	To              data.Micro  `json:"to"`               // upper bound of the bin, exclusive except for 1
	Forecasts       int64       `json:"forecasts"`        // number of forecasts in the bin
	MeanProbability *data.Micro `json:"mean_probability"` // mean probability of the forecasts; null if the bin is empty
	MeanPayout      *data.Micro `json:"mean_payout"`      // mean payout of the forecasts; null if the bin is empty; equals mean_probability if calibration is perfect
}

// OracleMurphy is the decomposition of a Brier score: reliability − resolution + uncertainty + within_bins.
type OracleMurphy struct {
	Reliability *data.Micro `json:"reliability"` // how far probabilities are from payouts, bin by bin; 0 is best; null if there are no forecasts
	Resolution  *data.Micro `json:"resolution"`  // how far the bins' payouts are from the mean payout; null if there are no forecasts
	Uncertainty *data.Micro `json:"uncertainty"` // variance of the payouts; null if there are no forecasts
	WithinBins  *data.Micro `json:"within_bins"` // the remainder, because the forecasts in a bin are not all equal; null if there are no forecasts
}

// OracleCategory is a wallet's score in markets of one category.
type OracleCategory struct {
	Category *string `json:"category"`
	OracleScore
}
