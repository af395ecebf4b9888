package datasets

import "slices"

// Descriptions that several datasets of facts share.
const (
	conditionMeaning = "condition id of the market, 0x and 64 hexadecimal digits in lower case"
	scaleMeaning     = "scale of the temperatures in this row: C or F"
	metricMeaning    = "tmax, the highest of the day, or tmin, the lowest"
	cityMeaning      = "slug of the city"
	sourceMeaning    = "the source of the value"
	stationMeaning   = "id of the station"
	shiftMeaning     = "seconds from the start of the city's day to that of the source's day"
	degreesMeaning   = "temperature in unit"
	withdrawnMeaning = "whether the source withdraws its value or marks it as failed; value is null then"
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
		{"ts", Timestamp, UTC, "when it was filled"},
		{"address", Text, "", addressMeaning},
		{"token_id", Text, "", "id of the outcome token, decimal"},
		{"side", Text, "", "BUY or SELL, the wallet's own"},
		{"shares", Decimal, Shares, "tokens, before fees"},
		{"usd", Decimal, USD, "paid or received, before fees"},
		{"fee", Decimal, "", "in fee_asset; 0: none, or not known"},
		{"fee_asset", Text, "", "what the fee is paid in. On a sell: usd, out of the proceeds; on a buy: shares, out of those bought, or usd, in addition to usd"},
		{"role", Text, "", "maker or taker; null where it is not known"},
		{"transaction_hash", Text, "", "0x and 64 hexadecimal digits; null where it is not known"},
		{"log_index", Integer, Count, "index of the event's log in its block; two rows with the same transaction and index are the same fill"},
		{"condition_id", Text, "", conditionMeaning + "; null where no source named it"},
		{"outcome_index", Integer, Count, "index of the outcome that the token pays for, from 0; null where no source gave it"},
		{"outcome_label", Text, "", "name of that outcome in trades; null where none has it"},
		{"username", Text, "", nameMeaning},
	}}
}

// conditions describes markets, with everything that their sources said.
func conditions() Fact {
	return Fact{"conditions", []Column{
		{"condition_id", Text, "", conditionMeaning},
		{"gamma_id", Text, "", "id of the market at Gamma"},
		{"question_id", Text, "", "id of the question at the oracle"},
		{"question", Text, "", "as the newest source gave it"},
		{"slug", Text, "", "readable id from the venue's web address"},
		{"description", Text, "", "the rules of the market"},
		{"resolution_source", Text, "", "where the outcome is looked up according to the rules"},
		{"group_item_title", Text, "", "short name of the market within its event"},
		{"group_item_threshold", Text, "", "its place among them, as the venue gave it"},
		{"icon", Text, "", "address of a picture"},
		{"event_id", Text, "", "id of the event it belongs to"},
		{"event_slug", Text, "", "readable id of the event"},
		{"event_title", Text, "", "title of the event"},
		{"series_slug", Text, "", "readable id of the series the event belongs to"},
		{"neg_risk", Boolean, "", "whether the event's markets exclude each other and share their collateral"},
		{"neg_risk_market_id", Text, "", "id that these markets share"},
		{"category", Text, "", "one of a fixed list, derived from tags, or as the source gave it"},
		{"category_source", Text, "", "how the category was found"},
		{"tags", Texts, "", "slugs of the venue's tags"},
		{"outcomes", Texts, "", "labels, in the order of the payouts"},
		{"token_ids", Texts, "", "ids of the outcome tokens, decimal, in the same order"},
		{"mapped_tokens", Texts, "", "tokens that sources other than this list gave for an outcome: the outcome's index, a colon, the token's id, and :trade if only a row of trades gave it"},
		{"prices", Decimals, USD, "last price that a source gave for a token of each outcome, in the same order"},
		{"best_bid", Decimal, USD, "highest bid for the first outcome"},
		{"best_ask", Decimal, USD, "lowest ask for the first outcome"},
		{"last_price", Decimal, USD, "price of the last trade of the first outcome, as a source gave it"},
		{"active", Boolean, "", "as the source said"},
		{"closed", Boolean, "", "whether the source said that trading ended"},
		{"accepting_orders", Boolean, "", "as the source said"},
		{"liquidity", Decimal, USD, "as the source said"},
		{"reported_volume", Decimal, USD, "volume as the source gave it, not the sum of the fills"},
		{"created_at", Timestamp, UTC, "when the market was created"},
		{"start_at", Timestamp, UTC, "when it opened"},
		{"end_date", Timestamp, UTC, "when it is due to end"},
		{"closed_at", Timestamp, UTC, "when trading ended"},
		{"game_start_at", Timestamp, UTC, "when the game that it is about begins"},
		{"updated_at", Timestamp, UTC, "version of this row: when the source last changed it"},
		{"field_versions", Text, "", "versions of columns that are from records other than the newest: a JSON object of their names and unix µs, 0 for a record without a version, -1 for a row of trades, null where no record has the value; unquoted_at is the newest version of a page without a quote"},
		{"hidden_quote", Text, "", "the last quote of a market that is closed or resolved and so shows none: a JSON object"},
	}}
}

// resolutions describes payouts of markets.
func resolutions() Fact {
	return Fact{"resolutions", []Column{
		{"condition_id", Text, "", conditionMeaning},
		{"payouts", Decimals, USD, "what a token of each outcome pays; they add up to 1"},
		{"resolved_at", Timestamp, UTC, "when it was resolved; null where no source said"},
		{"resolved_at_source", Text, "", "what resolved_at comes from: chain, oracle, closed_time or end_date"},
		{"source", Text, "", "map, prices, winner, api or chain, weakest first"},
		{"version", Timestamp, UTC, "when the source last changed it"},
		{"corrected_at", Timestamp, UTC, "time of the import with --correct that gave it; null where none did"},
	}}
}

func forecasts() Fact {
	return Fact{"forecasts", []Column{
		{"city", Text, "", cityMeaning},
		{"target", Date, "", "the day of the forecast, in the city's time zone"},
		{"metric", Text, "", metricMeaning},
		{"source", Text, "", "the model or office"},
		{"issued_at", Timestamp, UTC, "when it was published, or fetched"},
		{"run_at", Timestamp, UTC, "when the model run began"},
		{"value", Temperature, "", degreesMeaning + "; of an ensemble the mean of its members"},
		{"unit", Text, "", scaleMeaning},
		{"members", Temperatures, "", "an ensemble's values, in unit"},
		{"shift", Integer, Seconds, shiftMeaning},
	}}
}

func actuals() Fact {
	return Fact{"actuals", []Column{
		{"city", Text, "", cityMeaning},
		{"day", Date, "", "the day, in the city's time zone"},
		{"metric", Text, "", metricMeaning},
		{"kind", Text, "", "station if it was measured, reanalysis if it was computed"},
		{"source", Text, "", sourceMeaning},
		{"station", Text, "", stationMeaning},
		{"seen_at", Timestamp, UTC, "when the source gave the value; a later one is a revision"},
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
		{"ts", Timestamp, UTC, "when it was measured"},
		{"report", Text, "", "routine or special; null where it is not known"},
		{"value", Temperature, "", degreesMeaning + ", as precisely as it is known"},
		{"unit", Text, "", scaleMeaning},
		{"whole", Temperature, "", "whole degrees Celsius that the report gives in addition to the value"},
		{"seen_at", Timestamp, UTC, "when the source gave it; a later one is a correction"},
		{"correction", Integer, Count, "number of the correction; 0 for the report itself"},
		{"withdrawn", Boolean, "", withdrawnMeaning},
	}}
}

func normals() Fact {
	return Fact{"normals", []Column{
		{"city", Text, "", cityMeaning},
		{"metric", Text, "", metricMeaning},
		{"month_day", Text, "", "day of the year as MM-DD; 02-29 is a day of its own"},
		{"source", Text, "", sourceMeaning},
		{"station", Text, "", stationMeaning},
		{"period", Text, "", "years that it covers, such as 1991-2020"},
		{"value", Temperature, "", degreesMeaning},
		{"unit", Text, "", scaleMeaning},
		{"deviation", Temperature, "", "standard deviation, a difference in unit"},
		{"p10", Temperature, "", "10th percentile in unit"},
		{"p90", Temperature, "", "90th percentile in unit"},
		{"years", Integer, Count, "how many years it covers"},
	}}
}
