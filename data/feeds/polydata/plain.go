package polydata

import (
	"io"
	"math"
	"slices"

	"pmx/data"
	"pmx/data/feeds/shape"
	"pmx/data/reference"
)

// orderColumns are the columns of orderFilled.csv that are read, in the order of the fields of order.
var orderColumns = [...]string{"timestamp", "maker", "makerAssetId", "makerAmountFilled", "taker", "takerAssetId", "takerAmountFilled", "transactionHash"}

const (
	timestampAt = iota
	makerAt
	makerAssetAt
	makerAmountAt
	takerAt
	takerAssetAt
	takerAmountAt
	txAt
)

// plainOrders reads lines of orderFilled.csv that say everything in its plainest form: what poly_data itself writes.
type plainOrders struct {
	cells     [][]byte // of the line, by index in orderColumns
	exchanges []data.Address
	fill      data.PlainFill
}

// readPlainOrders returns the reader of the files with a header.
func readPlainOrders(header []string) func(r io.Reader, each func(*data.PlainFill) error) (bool, error) {
	columns := make([][]string, len(orderColumns))
	for i := range orderColumns {
		columns[i] = orderColumns[i : i+1]
	}
	return func(r io.Reader, each func(*data.PlainFill) error) (bool, error) {
		o := &plainOrders{fill: data.PlainFill{LogIndex: data.NoIndex, Block: data.NoIndex}, exchanges: reference.Exchanges()}
		return shape.NewPlainCSV(header, columns...).Read(r, func(cells [][]byte) (bool, error) {
			if o.cells = cells; !o.parse() {
				return false, nil
			}
			return true, each(&o.fill)
		})
	}
}

// parse reads the cells by the rules of queryOrderFilled.
func (o *plainOrders) parse() bool {
	f := &o.fill
	var taker data.Address
	seconds, ok := shape.PlainNumber(o.cells[timestampAt], math.MaxInt64/1_000_000)
	f.TS = seconds * 1_000_000
	if !ok || f.TS < shape.FirstMicro || f.TS > shape.LastMicro || !shape.PlainHex(f.Tx[:], o.cells[txAt]) ||
		!shape.PlainHex(f.Wallet[:], o.cells[makerAt]) || !shape.PlainHex(taker[:], o.cells[takerAt]) {
		return false
	}
	f.Role = data.Maker
	if slices.Contains(o.exchanges, taker) {
		f.Role = data.Taker
	}
	shares, usd := o.cells[takerAmountAt], o.cells[makerAmountAt]
	switch {
	case string(o.cells[makerAssetAt]) == "0":
		f.Side, f.Token = data.Buy, o.cells[takerAssetAt]
	case string(o.cells[takerAssetAt]) == "0":
		f.Side, f.Token = data.Sell, o.cells[makerAssetAt]
		shares, usd = usd, shares
	default:
		return false
	}
	var fine bool
	f.Shares, ok = shape.PlainMicro(shares)
	f.USD, fine = shape.PlainMicro(usd)
	return ok && fine && f.USD-f.Shares <= f.Shares/100+20_000 && shape.PlainToken(f.Token)
}
