package shape

import (
	"errors"
	"math"
	"strconv"
	"strings"

	"pmx/data"
)

// details says in a sentence what every reject reason means.
var details = map[string]string{
	"bad_row":         "the record does not have the header's number of cells, or is not one whole record",
	"cut_off":         "the file ends inside this row: no line end follows it",
	"bad_json":        "the record is not a JSON object of this feed",
	"bad_utf8":        "the row has text that is not UTF-8",
	"bad_time":        "the time cannot be read, or lies outside 2020 to 2035",
	"bad_address":     "the wallet is not 0x and 40 hexadecimal digits",
	"bad_hash":        "the transaction hash is not 0x and 64 hexadecimal digits",
	"bad_log_index":   "the log index is not a whole number of 0 or more",
	"bad_block":       "the block number is not a whole number of 0 or more",
	"bad_number":      "a count is not a whole number",
	"bad_flag":        "a mark is neither true nor false",
	"bad_token":       "the token is not a decimal uint256, or the row does not say which token was traded",
	"bad_side":        "the side is neither BUY nor SELL",
	"bad_amount":      "the size or the amount is not a number that can be held in millionths, or is negative",
	"bad_price":       "more was paid than one dollar per token, which the venue does not allow",
	"bad_condition":   "the condition id is not 0x and 64 hexadecimal digits, or 62 where 00 belongs behind",
	"bad_log":         "the record is not a log of a chain: address, topics and data are needed",
	"bad_words":       "the log has not the topics and words of data of its event",
	"before_contract": "the block lies before the first one of the contract",
	"no_condition":    "the market has no condition id: a draft that was never deployed",
	"bad_outcome":     "the outcome index is not a number from 0 to 127",
	"bad_payout":      "the payouts are not numbers that add up to one",

	"unknown_city":      "no city of the weather desk has this name or position; cities.csv in the data directory adds cities",
	"unknown_station":   "the station does not belong to a city of the weather desk; stations.csv in the data directory adds stations",
	"bad_metric":        "the metric is neither tmax nor tmin",
	"bad_unit":          "the unit is neither °C nor °F",
	"bad_temperature":   "the value is not a temperature between -100 and 70 °C",
	"bad_date":          "the day is not a day of the calendar, or lies before 1763 or after 2100",
	"bad_kind":          "the kind is neither station nor reanalysis",
	"bad_source":        "the row does not say whose value it is",
	"no_issue_time":     "nothing tells when this was issued, so it cannot be put in order",
	"unknown_kind":      "nothing tells whether this is a forecast or the archive: say --as openmeteo-forecast or --as openmeteo-archive",
	"stitched_forecast": "historical forecasts are stitched from the first hours of run after run: neither foretold nor measured",
	"far_from_station":  "the point lies too far from the station that settles the city",
	"wrong_days":        "the days are not cut at the city's midnight",
	"unfinished_day":    "the day was not over when this was fetched",
	"no_zone":           "nothing tells at which offset from UTC the times are",
	"bad_series":        "a row of values is not as long as the row of its times",
	"source_error":      "the source refused the request",
	"past_day":          "the city's day was over when this was issued: it is not a forecast",
}

// Detail returns the sentence that goes with a reject reason, and "" for a reason of another
// package.
func Detail(reason string) string { return details[reason] }

// Known makes a RowError of a reason that Detail knows.
func Known(reason string) *RowError { return &RowError{Reason: reason, Detail: details[reason]} }

// Dollars returns size × price in millionths, rounded half away from zero. It multiplies as
// doubles, because the feeds print doubles.
func Dollars(size, price string) (data.Micro, error) {
	s, err := strconv.ParseFloat(strings.TrimSpace(size), 64)
	if err != nil {
		return 0, data.ErrMicro
	}
	p, err := strconv.ParseFloat(strings.TrimSpace(price), 64)
	if err != nil {
		return 0, data.ErrMicro
	}
	v := math.Round(s * p * 1e6)
	if math.IsNaN(v) || math.Abs(v) >= math.MaxInt64 {
		return 0, data.ErrMicro
	}
	return data.Micro(v), nil
}

// Check reports why f cannot be a fill, nil if it can: the price may pass one dollar by rounding
// only (one per cent and two cents, for feeds that round to cents). A fill of nothing is one all
// the same: it was too small to be written down. The error is a *RowError.
func Check(f data.Fill) error {
	switch {
	case f.TokenID == "":
		return Known("bad_token")
	case f.Shares < 0 || f.USD < 0:
		return Known("bad_amount")
	case f.USD-f.Shares > f.Shares/100+20_000:
		return Known("bad_price")
	}
	return nil
}

// SideOf reads BUY or SELL in any letter case. The error is a *RowError.
func SideOf(s string) (data.Side, error) {
	switch strings.ToUpper(strings.TrimSpace(s)) {
	case "BUY":
		return data.Buy, nil
	case "SELL":
		return data.Sell, nil
	}
	return 0, Bad("bad_side", "the side %q is neither BUY nor SELL", clip(s, 20))
}

// Reject hands err to sink if it is a *RowError, and returns any other.
func Reject(sink data.Sink, line int64, raw []byte, err error) error {
	var bad *RowError
	if errors.As(err, &bad) {
		return sink.Reject(line, bad.Reason, bad.Detail, string(raw))
	}
	return err
}
