package canonical

import (
	"io"
	"math"
	"slices"

	"pmx/data"
	"pmx/data/feeds/shape"
)

// plainColumns are the columns that a line of fills in its plainest form may have.
var plainColumns = []string{"tx", "log_index", "block", "ts", "wallet", "role", "token", "side", "shares", "usd", "fee", "fee_asset", "condition", "outcome", "name"}

const (
	txAt = iota
	logIndexAt
	blockAt
	tsAt
	walletAt
	roleAt
	tokenAt
	sideAt
	sharesAt
	usdAt
	feeAt
	feeAssetAt
	conditionAt
	outcomeAt
	nameAt
)

// plain returns data.Query.Plain for files with a header; nil for those that have no transactions, or labels.
func plain(src data.Source, h data.Head) func(r io.Reader, each func(*data.PlainFill) error) (bool, error) {
	if src.Format != data.CSV || !hasEach(h, "tx", "ts") || hasEach(h, "label") {
		return nil
	}
	columns := make([][]string, len(plainColumns))
	for i, column := range plainColumns {
		columns[i] = fillNames[column]
	}
	return func(r io.Reader, each func(*data.PlainFill) error) (bool, error) {
		var f data.PlainFill
		return shape.NewPlainCSV(h.Columns, columns...).Read(r, func(cells [][]byte) (bool, error) {
			if !parsePlain(cells, &f) {
				return false, nil
			}
			return true, each(&f)
		})
	}
}

// parsePlain reads the cells by the rules of queryFills.
func parsePlain(cells [][]byte, f *data.PlainFill) bool {
	if len(cells[conditionAt])+len(cells[outcomeAt])+len(cells[nameAt]) > 0 || !shape.PlainHex(f.Tx[:], cells[txAt]) ||
		!shape.PlainHex(f.Wallet[:], cells[walletAt]) || !shape.PlainToken(cells[tokenAt]) {
		return false
	}
	var timed, counted, paid, charged bool
	f.Token = cells[tokenAt]
	f.TS, timed = shape.PlainTime(cells[tsAt])
	f.Shares, counted = shape.PlainDecimal(cells[sharesAt])
	f.USD, paid = shape.PlainDecimal(cells[usdAt])
	f.Fee, charged = 0, true
	if len(cells[feeAt]) > 0 {
		f.Fee, charged = shape.PlainDecimal(cells[feeAt])
	}
	if !timed || !counted || !paid || !charged || f.TS < shape.FirstMicro || f.TS > shape.LastMicro || f.USD-f.Shares > f.Shares/100+20_000 {
		return false
	}
	return parseSide(cells, f) && parsePlace(cells, f)
}

// parseSide reads the side and the role, and in what the fee is.
func parseSide(cells [][]byte, f *data.PlainFill) bool {
	switch string(cells[sideAt]) {
	case "BUY":
		f.Side = data.Buy
	case "SELL":
		f.Side = data.Sell
	default:
		return false
	}
	switch string(cells[feeAssetAt]) {
	case "":
	case "usd":
		if f.Side == data.Buy {
			f.Fee = -f.Fee
		}
	case "shares":
		if f.Side == data.Sell {
			return false
		}
	default:
		return false
	}
	role := slices.Index([]string{"", "maker", "taker"}, string(cells[roleAt]))
	f.Role = data.Role(max(role, 0))
	return role >= 0
}

// parsePlace reads the log index and the block.
func parsePlace(cells [][]byte, f *data.PlainFill) bool {
	f.LogIndex, f.Block = data.NoIndex, data.NoIndex
	if text := cells[logIndexAt]; len(text) > 0 {
		n, ok := shape.PlainNumber(text, math.MaxInt32)
		if !ok {
			return false
		}
		f.LogIndex = int32(n)
	}
	if text := cells[blockAt]; len(text) > 0 {
		n, ok := shape.PlainNumber(text, math.MaxInt64)
		if !ok || n == 0 {
			return false
		}
		f.Block = n
	}
	return true
}
