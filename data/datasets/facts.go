package datasets

import "slices"

// Descriptions that several datasets of facts share.
const (
	conditionMeaning = "condition id of the market, 0x and 64 hexadecimal digits in lower case"
	scaleMeaning     = "unit of the temperatures in the row: C or F"
	metricMeaning    = "tmax, the day's highest temperature, or tmin, its lowest"
	cityMeaning      = "slug of the city"
	sourceMeaning    = "name of the source"
	stationMeaning   = "id of the station"
	shiftMeaning     = "seconds from the start of the city's day to the start of the source's day"
	degreesMeaning   = "temperature in unit"
	withdrawnMeaning = "whether the source has withdrawn the value or marked it as invalid; value is then null"
)

// Fact is a dataset of facts, which pmx import can read back.
type Fact struct {
	ID      string
	Columns []Column
}

// Facts lists the datasets of facts. Unlike the research datasets, they have only imported values
// and nothing computed. Decimals are exact in every format.
func Facts() []Fact {
	return []Fact{fills(), conditions(), resolutions(), forecasts(), actuals(), observations(), normals()}
}

// Meanings returns the meanings of a dataset's columns as pairs for the metadata of a file. The
// keys are column. followed by the column's name. It is empty for an unknown dataset.
func Meanings(id string) (pairs [][2]string) {
	var columns []Column
	if d, ok := Find(id); ok {
		columns = d.Columns
	} else {
		tables := append(Facts(), Trader()...)
		if i := slices.IndexFunc(tables, func(f Fact) bool { return f.ID == id }); i >= 0 {
			columns = tables[i].Columns
		}
	}
	for _, c := range columns {
		pairs = append(pairs, [2]string{"column." + c.Name, c.meaning()})
	}
	return pairs
}

// fills describes fills. Each is one wallet's side of a match.
func fills() Fact {
	return Fact{"fills", []Column{
		{"ts", Timestamp, UTC, "time of the fill"},
		{"address", Text, "", addressMeaning},
		{"token_id", Text, "", "id of the outcome token, in decimal"},
		{"side", Text, "", "the wallet's side: BUY or SELL"},
		{"shares", Decimal, Shares, "outcome tokens, before fees"},
		{"usd", Decimal, USD, "USD paid or received, before fees"},
		{"fee", Decimal, "", "fee in units of fee_asset; 0 if there is none or it is unknown"},
		{"fee_asset", Text, "", "unit of the fee. For a sell: usd, taken from the proceeds. For a buy: shares, taken from those bought, or usd, paid in addition to the price"},
		{"role", Text, "", "the wallet's role: maker or taker; null if unknown"},
		{"transaction_hash", Text, "", "hash of the transaction, 0x and 64 hexadecimal digits; null if unknown"},
		{"log_index", Integer, Count, "index of the fill's log event in its block; two rows with the same transaction and index are the same fill"},
		{"condition_id", Text, "", conditionMeaning + "; null if no source gives it"},
		{"outcome_index", Integer, Count, "position of the token's outcome in the market, counted from 0; null if no source gives it"},
		{"outcome_label", Text, "", "name of that outcome in the list of trades; null if no trade has it"},
		{"username", Text, "", nameMeaning},
	}}
}

// conditions describes markets, with everything that their sources gave.
func conditions() Fact {
	return Fact{"conditions", []Column{
		{"condition_id", Text, "", conditionMeaning},
		{"gamma_id", Text, "", "id of the market in the venue's Gamma API"},
		{"question_id", Text, "", "id of the question at the oracle"},
		{"question", Text, "", "question of the market, from the newest record"},
		{"slug", Text, "", "readable id, as in the URL of the venue's web page"},
		{"description", Text, "", "rules of the market"},
		{"resolution_source", Text, "", "where the result is looked up, according to the rules"},
		{"group_item_title", Text, "", "short name of the market within its event"},
		{"group_item_threshold", Text, "", "sort key of the market within its event, as the venue gave it"},
		{"icon", Text, "", "URL of the market's picture"},
		{"event_id", Text, "", "id of the event that the market belongs to"},
		{"event_slug", Text, "", "readable id of the event"},
		{"event_title", Text, "", "title of the event"},
		{"series_slug", Text, "", "readable id of the series that the event belongs to"},
		{"neg_risk", Boolean, "", "whether at most one market of the event pays, so that the markets share their collateral"},
		{"neg_risk_market_id", Text, "", "id that the markets of such an event share"},
		{"category", Text, "", "category from a fixed list, derived from the tags, or the category that the source gave"},
		{"category_source", Text, "", "how the category was determined"},
		{"tags", Texts, "", "slugs of the venue's tags"},
		{"outcomes", Texts, "", "names of the outcomes, in the order of the payouts"},
		{"token_ids", Texts, "", "ids of the outcome tokens, in decimal, in the same order"},
		{"mapped_tokens", Texts, "", "tokens of outcomes that are known from a source other than token_ids: the outcome's index, a colon, the token's id, and :trade if only a trade gave it"},
		{"prices", Decimals, USD, "last reported price of each outcome's token, in the same order"},
		{"best_bid", Decimal, USD, "highest bid for the first outcome"},
		{"best_ask", Decimal, USD, "lowest ask for the first outcome"},
		{"last_price", Decimal, USD, "price of the last trade of the first outcome, as reported by a source"},
		{"active", Boolean, "", "whether the source reports the market as active"},
		{"closed", Boolean, "", "whether the source reports that trading has ended"},
		{"accepting_orders", Boolean, "", "whether the source reports that orders are accepted"},
		{"liquidity", Decimal, USD, "liquidity, as reported by the source"},
		{"reported_volume", Decimal, USD, "volume, as reported by the source; not computed from the fills"},
		{"created_at", Timestamp, UTC, "when the market was created"},
		{"start_at", Timestamp, UTC, "start of trading, according to the source"},
		{"end_date", Timestamp, UTC, "when the market is scheduled to end"},
		{"closed_at", Timestamp, UTC, "when trading ended"},
		{"game_start_at", Timestamp, UTC, "start of the game that the market is about"},
		{"updated_at", Timestamp, UTC, "version of the row: when the source last changed it"},
		{"field_versions", Text, "", "versions of the columns that come from records other than the newest, as a JSON object of column names and Unix times in µs: 0 for a record without a version, -1 for a trade, null if no record has the value; unquoted_at is the newest version of a record without a quote"},
		{"hidden_quote", Text, "", "last quote of a closed or resolved market, whose quote columns are null, as a JSON object"},
	}}
}

// resolutions describes payouts of markets.
func resolutions() Fact {
	return Fact{"resolutions", []Column{
		{"condition_id", Text, "", conditionMeaning},
		{"payouts", Decimals, USD, "payout per token of each outcome; they add up to 1"},
		{"resolved_at", Timestamp, UTC, "when the market was resolved; null if no source gives it"},
		{"resolved_at_source", Text, "", "where resolved_at comes from: chain, oracle, closed_time or end_date"},
		{"source", Text, "", "where the payouts come from: map, prices, winner, api or chain, the least reliable first"},
		{"version", Timestamp, UTC, "when the source last changed the payouts"},
		{"corrected_at", Timestamp, UTC, "time of the import with --correct that set the payouts; null if none did"},
	}}
}

func forecasts() Fact {
	return Fact{"forecasts", []Column{
		{"city", Text, "", cityMeaning},
		{"target", Date, "", "forecast day, in the city's time zone"},
		{"metric", Text, "", metricMeaning},
		{"source", Text, "", "name of the model or weather office"},
		{"issued_at", Timestamp, UTC, "when the forecast was issued, or when it was fetched if only that is known"},
		{"run_at", Timestamp, UTC, "when the model run began"},
		{"value", Temperature, "", degreesMeaning + "; for an ensemble, the mean of its members"},
		{"unit", Text, "", scaleMeaning},
		{"members", Temperatures, "", "values of an ensemble's members, in unit"},
		{"shift", Integer, Seconds, shiftMeaning},
	}}
}

func actuals() Fact {
	return Fact{"actuals", []Column{
		{"city", Text, "", cityMeaning},
		{"day", Date, "", "day, in the city's time zone"},
		{"metric", Text, "", metricMeaning},
		{"kind", Text, "", "station: measured at a station; reanalysis: computed on a grid"},
		{"source", Text, "", sourceMeaning},
		{"station", Text, "", stationMeaning},
		{"seen_at", Timestamp, UTC, "when the source gave the value; a later row for the same day is a revision"},
		{"value", Temperature, "", degreesMeaning},
		{"unit", Text, "", scaleMeaning},
		{"provisional", Boolean, "", "whether the value may still change"},
		{"shift", Integer, Seconds, shiftMeaning},
		{"withdrawn", Boolean, "", withdrawnMeaning},
	}}
}

func observations() Fact {
	return Fact{"observations", []Column{
		{"city", Text, "", cityMeaning},
		{"station", Text, "", stationMeaning},
		{"source", Text, "", sourceMeaning},
		{"ts", Timestamp, UTC, "time of the measurement"},
		{"report", Text, "", "kind of report: routine or special; null if unknown"},
		{"value", Temperature, "", degreesMeaning + ", with the best precision known"},
		{"unit", Text, "", scaleMeaning},
		{"whole", Temperature, "", "temperature in whole degrees Celsius, if the report gives it in addition to the value"},
		{"seen_at", Timestamp, UTC, "when the source gave the value; a later row for the same time is a correction"},
		{"correction", Integer, Count, "number of the correction; 0 for the original report"},
		{"withdrawn", Boolean, "", withdrawnMeaning},
	}}
}

func normals() Fact {
	return Fact{"normals", []Column{
		{"city", Text, "", cityMeaning},
		{"metric", Text, "", metricMeaning},
		{"month_day", Text, "", "day of the year as MM-DD; 02-29 has its own row"},
		{"source", Text, "", sourceMeaning},
		{"station", Text, "", stationMeaning},
		{"period", Text, "", "years that the normal covers, such as 1991-2020"},
		{"value", Temperature, "", degreesMeaning},
		{"unit", Text, "", scaleMeaning},
		{"deviation", Temperature, "", "standard deviation, as a temperature difference in unit"},
		{"p10", Temperature, "", "10th percentile, in unit"},
		{"p90", Temperature, "", "90th percentile, in unit"},
		{"years", Integer, Count, "number of years that the normal covers"},
	}}
}
