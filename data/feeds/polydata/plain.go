package polydata

import (
	"bufio"
	"bytes"
	"errors"
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

// plainOrders reads lines of orderFilled.csv that say everything in its plainest form: what poly_data itself
// writes, in ASCII and without quotes.
type plainOrders struct {
	header    []string
	columns   []int    // by cell: the index in orderColumns; -1 for others
	cells     [][]byte // of the line, by index in orderColumns
	exchanges []data.Address
	fill      data.PlainFill
}

// readPlainOrders returns the reader of the files with a header.
func readPlainOrders(header []string) func(r io.Reader, each func(*data.PlainFill) error) (bool, error) {
	columns := make([]int, len(header))
	for i, name := range header {
		columns[i] = slices.Index(orderColumns[:], name)
		if slices.Contains(header[:i], name) { // the first one is read
			columns[i] = -1
		}
	}
	return func(r io.Reader, each func(*data.PlainFill) error) (bool, error) {
		o := &plainOrders{fill: data.PlainFill{LogIndex: data.NoIndex, Block: data.NoIndex}, header: header, columns: columns, cells: make([][]byte, len(orderColumns)), exchanges: reference.Exchanges()}
		return o.read(bufio.NewReaderSize(r, 1<<20), each)
	}
}

func (o *plainOrders) read(r *bufio.Reader, each func(*data.PlainFill) error) (plain bool, err error) {
	for first := true; ; first = false {
		line, err := r.ReadSlice('\n')
		switch {
		case errors.Is(err, io.EOF):
			return len(line) == 0 && !first, nil // the last line may be incomplete
		case errors.Is(err, bufio.ErrBufferFull):
			return false, nil
		case err != nil:
			return false, err
		}
		line = line[:len(line)-1]
		if first {
			if !o.isHeader(line) {
				return false, nil
			}
			continue
		}
		if !o.split(line) || !o.parse() {
			return false, nil
		}
		if err := each(&o.fill); err != nil {
			return false, err
		}
	}
}

func (o *plainOrders) isHeader(line []byte) bool {
	cells := bytes.Split(bytes.TrimPrefix(line, []byte("\ufeff")), []byte(","))
	return slices.EqualFunc(cells, o.header, func(cell []byte, name string) bool { return string(cell) == name })
}

// split divides a line into its cells. Cells that are not read must be plain as well: quotes would join them.
func (o *plainOrders) split(line []byte) bool {
	last := len(o.columns) - 1
	for i, column := range o.columns {
		cell := line
		if end := bytes.IndexByte(line, ','); i < last {
			if end < 0 {
				return false
			}
			cell, line = line[:end], line[end+1:]
		} else if end >= 0 {
			return false
		}
		if column >= 0 {
			o.cells[column] = cell
		} else if slices.ContainsFunc(cell, func(c byte) bool { return c < ' ' || c > '~' || c == '"' }) {
			return false
		}
	}
	return true
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
