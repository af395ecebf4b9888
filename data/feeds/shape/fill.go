package shape

import (
	"errors"
	"math"
	"strconv"
	"strings"

	"pmx/data"
)

// details explains each reject reason in a sentence.
var details = map[string]string{
	"bad_row":         "the record is incomplete, or does not have the header's number of cells",
	"cut_off":         "the file ends inside this row: no line end follows it",
	"bad_json":        "the record is not a JSON object of this feed",
	"bad_utf8":        "the row has text that is not UTF-8",
	"bad_time":        "the time cannot be read, or is outside 2020 to 2035",
	"bad_address":     "the wallet is not 0x and 40 hexadecimal digits",
	"bad_hash":        "the transaction hash is not 0x and 64 hexadecimal digits",
	"bad_log_index":   "the log index is not a whole number of 0 or more",
	"bad_block":       "the block number is not a whole number of 0 or more",
	"bad_number":      "a count is not a whole number",
	"bad_flag":        "a flag is neither true nor false",
	"bad_token":       "the token is not a decimal uint256, or the row does not say which token was traded",
	"bad_side":        "the side is neither BUY nor SELL",
	"bad_amount":      "the size or the amount is not a number that can be held in millionths, or is negative",
	"bad_price":       "more was paid than one dollar per token, which the venue does not allow",
	"bad_condition":   "the condition id is not 0x and 64 hexadecimal digits, or 62 without the final 00",
	"bad_log":         "the record is not a log of a chain: address, topics and data are needed",
	"bad_words":       "the log does not have the topics and data words of its event",
	"before_contract": "the block is before the first one of the contract",
	"no_condition":    "the market has no condition id: a draft that was never deployed",
	"bad_outcome":     "the outcome index is not a number from 0 to 127",
	"bad_payout":      "the payouts are not numbers that sum to one",

	"unknown_city":      "no city of the weather desk has this name or position; cities.csv in the data directory adds cities",
	"unknown_station":   "the station does not belong to a city of the weather desk; stations.csv in the data directory adds stations",
	"bad_metric":        "the metric is neither tmax nor tmin",
	"bad_unit":          "the unit is neither °C nor °F",
	"bad_temperature":   "the value is not a temperature between -100 and 70 °C",
	"bad_date":          "the day does not exist, or is before 1763 or after 2100",
	"bad_kind":          "the kind is neither station nor reanalysis",
	"bad_source":        "the row does not name the source of the value",
	"no_issue_time":     "the time of issue is unknown, so the order of revisions is unknown, too",
	"unknown_kind":      "nothing shows whether this is a forecast or the archive: use --as openmeteo-forecast or --as openmeteo-archive",
	"stitched_forecast": "historical forecasts are joined from the first hours of consecutive runs: they are neither forecasts nor measurements",
	"far_from_station":  "the point is too far from the station that settles the city",
	"wrong_days":        "the days do not begin at the city's midnight",
	"unfinished_day":    "the day was not over when this was fetched",
	"no_zone":           "the offset of the times from UTC is unknown",
	"bad_series":        "a row of values does not have as many entries as the row of times",
	"source_error":      "the source refused the request",
	"past_day":          "the city's day was over when this was issued: it is not a forecast",
}

// Detail returns the sentence that explains a reject reason, and "" for a reason of another
// package.
func Detail(reason string) string { return details[reason] }

// Known returns a RowError with a reason that Detail explains.
func Known(reason string) *RowError { return &RowError{Reason: reason, Detail: details[reason]} }

// Dollars returns size × price in millionths, rounded half away from zero. It multiplies doubles,
// because the feeds print doubles.
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

// Check reports why f cannot be a fill, nil if it can. The price may exceed one dollar only by
// rounding: one per cent and two cents, for feeds that round to cents. A fill with an amount of 0
// is valid: its amount was rounded to 0. The error is a *RowError.
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

// SideOf parses BUY or SELL in any letter case. The error is a *RowError.
func SideOf(s string) (data.Side, error) {
	switch strings.ToUpper(strings.TrimSpace(s)) {
	case "BUY":
		return data.Buy, nil
	case "SELL":
		return data.Sell, nil
	}
	return 0, Bad("bad_side", "the side %q is neither BUY nor SELL", clip(s, 20))
}

// Reject passes err to sink if it is a *RowError, and returns any other error.
func Reject(sink data.Sink, line int64, raw []byte, err error) error {
	var bad *RowError
	if errors.As(err, &bad) {
		return sink.Reject(line, bad.Reason, bad.Detail, string(raw))
	}
	return err
}
