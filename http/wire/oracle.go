package wire

import (
	"time"

	"pmx/data"
)

// OracleBoard is the reply of GET /oracle/leaderboard.
type OracleBoard struct {
	Envelope
	AsOf        *time.Time  `json:"as_of"`        // time up to which the data is complete; null on an empty database
	MinResolved int         `json:"min_resolved"` // forecasts that a wallet needs to be ranked
	Total       int         `json:"total"`        // how many wallets have as many
	Data        []OracleRow `json:"data"`
}

// OracleRow is a wallet ranked by how well it forecast.
type OracleRow struct {
	Rank              int         `json:"rank"` // competition rank on the exact Brier score: 1, 1, 3
	Address           string      `json:"address"`
	Username          *string     `json:"username"`
	ResolvedForecasts int64       `json:"resolved_forecasts"` // outcomes of resolved markets that the wallet held more than none of
	Brier             data.Micro  `json:"brier"`              // mean of (p − payout)²: 0 is the best, 1 the worst
	BrierBaseline     data.Micro  `json:"brier_baseline"`     // the Brier score of the outcomes' average prices
	BrierSkill        *data.Micro `json:"brier_skill"`        // 1 − brier ÷ brier_baseline; null where the baseline is 0
	AccuracyPct       data.Micro  `json:"accuracy_pct"`       // percent of forecasts whose outcome paid more than a half
	AccuracyLowPct    data.Micro  `json:"accuracy_low_pct"`   // lower end of the 95 % Wilson interval of accuracy_pct
	AccuracyHighPct   data.Micro  `json:"accuracy_high_pct"`  // upper end of it
	Edge              data.Micro  `json:"edge"`               // mean of payout − p
	ForecastVolume    data.Micro  `json:"forecast_volume"`    // USD paid for the outcomes forecast, those tokens that were sold again too
	Volume            data.Micro  `json:"volume"`             // USD traded, lifetime, in all markets
	RealPnL           data.Micro  `json:"real_pnl"`           // lifetime
}

// OracleScore is how well a set of forecasts did; all but the first and the last
// are null where there are none.
type OracleScore struct {
	ResolvedForecasts int64       `json:"resolved_forecasts"` // outcomes of resolved markets that the wallet held more than none of
	Brier             *data.Micro `json:"brier"`              // mean of (p − payout)²: 0 is the best, 1 the worst; null without forecasts
	BrierBaseline     *data.Micro `json:"brier_baseline"`     // the Brier score of the outcomes' average prices; null without forecasts
	BrierSkill        *data.Micro `json:"brier_skill"`        // 1 − brier ÷ brier_baseline; null without forecasts or where the baseline is 0
	AccuracyPct       *data.Micro `json:"accuracy_pct"`       // percent of forecasts whose outcome paid more than a half; null without forecasts
	AccuracyLowPct    *data.Micro `json:"accuracy_low_pct"`   // lower end of the 95 % Wilson interval of accuracy_pct
	AccuracyHighPct   *data.Micro `json:"accuracy_high_pct"`  // upper end of it
	Edge              *data.Micro `json:"edge"`               // mean of payout − p; null without forecasts
	ForecastVolume    data.Micro  `json:"forecast_volume"`    // USD paid for the outcomes forecast, those tokens that were sold again too
}

// OracleTrader is the payload of GET /oracle/trader/{address}.
type OracleTrader struct {
	Address  string  `json:"address"`
	Username *string `json:"username"`
	OracleScore
	Volume        data.Micro       `json:"volume"`         // USD traded, lifetime, in all markets
	RealPnL       data.Micro       `json:"real_pnl"`       // lifetime
	Rank          *int             `json:"rank"`           // by Brier score among those with min_resolved forecasts; null with fewer
	RankedTraders int              `json:"ranked_traders"` // how many those are
	MinResolved   int              `json:"min_resolved"`   // forecasts that a wallet needs to be ranked
	Calibration   []OracleBin      `json:"calibration"`    // ten equal parts of probability, each with its lower bound
	Murphy        OracleMurphy     `json:"murphy"`         // parts of the Brier score
	Categories    []OracleCategory `json:"categories"`     // by category of the market, the most forecasts first
}

// OracleBin is the forecasts of one tenth of probability.
type OracleBin struct {
	From            data.Micro  `json:"from"`             // least probability of the bin
	To              data.Micro  `json:"to"`               // probabilities of the bin are less than this, 1 excepted
	Forecasts       int64       `json:"forecasts"`        // how many are in it
	MeanProbability *data.Micro `json:"mean_probability"` // null where none is
	MeanPayout      *data.Micro `json:"mean_payout"`      // null where none is; equals mean_probability where calibration is perfect
}

// OracleMurphy splits a Brier score: reliability − resolution + uncertainty +
// within_bins.
type OracleMurphy struct {
	Reliability *data.Micro `json:"reliability"` // how far probabilities lie from payouts, bin by bin; 0 is the best; null without forecasts
	Resolution  *data.Micro `json:"resolution"`  // how far the bins' payouts lie from the mean payout; null without forecasts
	Uncertainty *data.Micro `json:"uncertainty"` // variance of the payouts; null without forecasts
	WithinBins  *data.Micro `json:"within_bins"` // the rest: forecasts of a bin are not all the same; null without forecasts
}

// OracleCategory is a wallet's score in markets of one category.
type OracleCategory struct {
	Category *string `json:"category"`
	OracleScore
}
