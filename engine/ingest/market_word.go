package ingest

import (
	"cmp"
	"database/sql/driver"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"pmx/data"
	"pmx/engine"
)

// marketColumns are the columns of markets.
var marketColumns = slices.Concat([]string{"market", "condition"}, mergedColumns, []string{"updated_at", "payouts", "payout_source",
	"payout_version", "payout_at", "resolved_at", "quote", "payout_at_source", "payout_at_version", "resolved_at_source",
	"payout_corrected_at", "unquoted_at", "field_versions"})

// Indexes of columns in marketCells.
var (
	marketCell, conditionCell, categorySourceCell   = columnAt("market"), columnAt("condition"), columnAt("category_source")
	outcomesCell, tokenIDsCell, closedCell          = columnAt("outcomes"), columnAt("token_ids"), columnAt("closed")
	endCell, closedAtCell, updatedAtCell            = columnAt("end_at"), columnAt("closed_at"), columnAt("updated_at")
	payoutsCell, sourceCell, versionCell            = columnAt("payouts"), columnAt("payout_source"), columnAt("payout_version")
	payoutAtCell, atSourceCell, atVersionCell       = columnAt("payout_at"), columnAt("payout_at_source"), columnAt("payout_at_version")
	correctedCell, resolvedAtCell, resolvedFromCell = columnAt("payout_corrected_at"), columnAt("resolved_at"), columnAt("resolved_at_source")
	quoteCell, unquotedCell, versionsCell           = columnAt("quote"), columnAt("unquoted_at"), columnAt("field_versions")
	fieldCells                                      = cellsOfFields()
)

func columnAt(name string) int { return slices.Index(marketColumns, name) }

func cellsOfFields() []int {
	out := make([]int, len(ownFields))
	for i, f := range ownFields {
		out[i] = columnAt(f.column)
	}
	return out
}

// marketCells are the values of marketColumns of a market, as the driver returns them.
type marketCells []driver.Value

// marketWord is one side of a merge: the record of a file, or the known values.
type marketWord struct {
	cells    marketCells
	stub     bool             // it only sets missing values
	known    bool             // the database has the market
	base     int64            // version of the fields without their own
	versions map[string]int64 // versions of the other fields
}

func newMarketWord(cells marketCells, stub bool) (*marketWord, error) {
	w := &marketWord{cells: cells, stub: stub, base: engine.Int(cells[updatedAtCell])}
	if stub {
		w.base = -1
	}
	if text := engine.Text(cells[versionsCell]); text != "" {
		if err := json.Unmarshal([]byte(text), &w.versions); err != nil {
			return nil, fmt.Errorf("field_versions of market %s: %w", hexed(cells.condition()), err)
		}
	}
	return w, nil
}

func (c marketCells) condition() []byte { return c[conditionCell].([]byte) }

// version returns the version of a field; data.Unsaid if it is missing. A record of an open market
// says that there is no closing time.
func (w *marketWord) version(i int) int64 {
	column, said := ownFields[i].column, w.cells[fieldCells[i]] != nil
	if i == closingAt && !said && w.cells[closedCell] == false {
		column, said = ownFields[closedAt].column, true
	}
	if v, apart := w.versions[column]; apart && (said || i == closingAt) {
		return v
	}
	if said {
		return w.base
	}
	return data.Unsaid
}

// overrules reports whether a field of n is used instead of that of o, by their versions.
func (w *marketWord) overrules(i int, o *marketWord, mine, other int64) (bool, error) {
	a, b := w.cells[fieldCells[i]], o.cells[fieldCells[i]]
	switch {
	case i == categoryAt:
		if mine == data.Unsaid || other == data.Unsaid {
			return mine != data.Unsaid, nil
		}
		return cmp.Or(cmp.Compare(w.categoryRank(), o.categoryRank()), cmp.Compare(mine, other), compareCells(a, b)) > 0, nil
	case mine != other || mine == data.Unsaid:
		return mine > other, nil
	case i == closingAt:
		return engine.Int(a) > engine.Int(b), nil
	case ownFields[i].rule == "StandsList":
		order, err := compareLists(engine.Text(a), engine.Text(b))
		return order > 0, err
	}
	return compareCells(a, b) > 0, nil
}

func (w *marketWord) categoryRank() int {
	return categoryRank(&data.Market{CategorySource: engine.Text(w.cells[categorySourceCell])})
}

// compareCells orders values of a column like the database: NULL is the largest.
func compareCells(a, b driver.Value) int {
	switch x := a.(type) {
	case nil:
		if b == nil {
			return 0
		}
		return 1
	case string:
		if y, ok := b.(string); ok {
			return cmp.Compare(x, y)
		}
	case bool:
		if y, ok := b.(bool); ok {
			return cmp.Compare(truth(x), truth(y))
		}
	default:
		if b != nil {
			return cmp.Compare(engine.Int(a), engine.Int(b))
		}
	}
	return -1
}

func truth(b bool) int {
	if b {
		return 1
	}
	return 0
}

// compareLists orders lists as JSON: a longer one is the larger.
func compareLists(a, b string) (int, error) {
	if a == b {
		return 0, nil
	}
	mine, err := listLength(a)
	if err != nil {
		return 0, err
	}
	other, err := listLength(b)
	return cmp.Or(cmp.Compare(mine, other), cmp.Compare(a, b)), err
}

// listLength returns the number of elements of a list as JSON.
func listLength(text string) (int, error) {
	var elements []json.RawMessage
	if err := json.Unmarshal([]byte(text), &elements); err != nil {
		return 0, fmt.Errorf("list %q: %w", text, err)
	}
	return len(elements), nil
}

// mergeWords returns the merged market. For an unknown one, o has only its id.
func mergeWords(n, o *marketWord) (marketCells, error) {
	next := make(marketCells, len(marketColumns))
	next[marketCell], next[conditionCell] = o.cells[marketCell], n.cells[conditionCell]
	versions, err := next.mergeFields(n, o)
	if err != nil {
		return nil, err
	}
	next[versionsCell] = n.cells[versionsCell]
	if n.stub || o.known {
		next[versionsCell] = orNull(versions)
	}
	for _, c := range []int{updatedAtCell, unquotedCell} {
		next[c] = greatest(n.cells[c], o.cells[c])
	}
	next[quoteCell] = mergeQuotes(n.cells[quoteCell], o.cells[quoteCell])
	if err := next.mergePayouts(n.cells, o.cells); err != nil {
		return nil, err
	}
	next.derive()
	return next, nil
}

// mergeFields merges all fields, and returns the versions of those that are not from the newest
// record, as JSON.
func (c marketCells) mergeFields(n, o *marketWord) (versions string, err error) {
	base := max(n.base, o.base)
	var text strings.Builder
	for i, f := range ownFields {
		mine, other := n.version(i), o.version(i)
		from, version := o, max(mine, other)
		takes, err := n.overrules(i, o, mine, other)
		if err != nil {
			return "", err
		}
		if takes {
			from = n
		}
		c[fieldCells[i]] = from.cells[fieldCells[i]]
		if i == categoryAt {
			c[categorySourceCell] = from.cells[categorySourceCell]
			if version = other; takes {
				version = mine
			}
		}
		if gone := i == closingAt && c[closedAtCell] == nil; version == data.Unsaid || !gone && version == base || gone && c[closedCell] == false {
			continue
		}
		text.WriteString(`,"` + f.column + `":` + strconv.FormatInt(version, 10))
	}
	if text.Len() == 0 {
		return "", nil
	}
	return "{" + text.String()[1:] + "}", nil
}

// greatest returns the larger of two integers; NULL is ignored.
func greatest(a, b driver.Value) driver.Value {
	if a == nil || b != nil && engine.Int(b) > engine.Int(a) {
		return b
	}
	return a
}

// quoteFields are the groups of fields of a quote: the version of each group, and its values.
var quoteFields = [][]string{{"at", "bid", "ask"}, {"last_at", "last"}, {"liquidity_at", "liquidity"}}

// mergeQuotes takes the newer of two quotes for each group of fields, the larger of equally new ones.
func mergeQuotes(n, o driver.Value) driver.Value {
	said, _ := n.(map[string]any)
	known, _ := o.(map[string]any)
	switch {
	case known == nil:
		return n
	case said == nil:
		return o
	}
	out := maps.Clone(known)
	for _, names := range quoteFields {
		if said[names[0]] == nil || known[names[0]] != nil && compareQuotes(names, said, known) <= 0 {
			continue
		}
		for _, name := range names {
			out[name] = said[name]
		}
	}
	return out
}

// compareQuotes orders two quotes by a group of fields; a missing price is the smallest.
func compareQuotes(names []string, a, b map[string]any) int {
	price := func(v any) int64 {
		if v == nil {
			return -1
		}
		return engine.Int(v)
	}
	return slices.CompareFunc(names, names, func(name, _ string) int { return cmp.Compare(price(a[name]), price(b[name])) })
}

// mergePayouts takes the better payouts and, independently, the better time of the resolution.
// Payouts that came before the outcomes, and whose number differs, are removed.
func (c marketCells) mergePayouts(n, o marketCells) error {
	fits := true
	said, known := cellList(n[payoutsCell]), cellList(o[payoutsCell])
	if outcomes := engine.Text(c[outcomesCell]); o[payoutsCell] != nil && outcomes != "" {
		length, err := listLength(outcomes)
		if err != nil {
			return err
		}
		fits = len(known) == length
	} else if o[payoutsCell] != nil && n[payoutsCell] != nil {
		fits = len(known) == len(said)
	}
	pays := n[payoutsCell] != nil && (o[payoutsCell] == nil || !fits || comparePayouts(n, o) > 0)
	dates := n[payoutAtCell] != nil && (o[payoutAtCell] == nil || !fits || comparePayoutTimes(n, o) > 0)
	take := func(takes bool, columns ...int) {
		for _, i := range columns {
			switch {
			case takes:
				c[i] = n[i]
			case fits:
				c[i] = o[i]
			}
		}
	}
	take(pays, payoutsCell, sourceCell, versionCell, correctedCell)
	take(dates, payoutAtCell, atSourceCell, atVersionCell)
	return nil
}

func cellList(v driver.Value) []any {
	list, _ := v.([]any)
	return list
}

// comparePayouts is the statement Word.
func comparePayouts(a, b marketCells) int {
	version := func(c marketCells) int64 { return max(engine.Int(c[versionCell]), engine.Int(c[correctedCell])) }
	return cmp.Or(compareCells(a[sourceCell], b[sourceCell]), cmp.Compare(version(a), version(b)),
		slices.CompareFunc(cellList(a[payoutsCell]), cellList(b[payoutsCell]), func(x, y any) int { return compareCells(x, y) }),
		cmp.Compare(engine.Int(a[correctedCell]), engine.Int(b[correctedCell])),
		cmp.Compare(engine.Int(a[versionCell]), engine.Int(b[versionCell])))
}

// comparePayoutTimes orders times of a resolution by the better source, the later version, and the
// earlier time.
func comparePayoutTimes(a, b marketCells) int {
	return cmp.Or(compareCells(a[atSourceCell], b[atSourceCell]), cmp.Compare(engine.Int(a[atVersionCell]), engine.Int(b[atVersionCell])),
		cmp.Compare(engine.Int(b[payoutAtCell]), engine.Int(a[payoutAtCell])))
}

// derive sets columns that follow from others. A closed or resolved market shows no quote. A market
// that is known to be resolved before its end date was not resolved at its end date.
func (c marketCells) derive() {
	quote, _ := c[quoteCell].(map[string]any)
	if c[payoutsCell] != nil || c[closedCell] == true {
		quote = nil
	}
	c[columnAt("best_bid")], c[columnAt("best_ask")] = quote["bid"], quote["ask"]
	c[columnAt("last_price")], c[columnAt("liquidity")] = quote["last"], quote["liquidity"]
	if c[payoutsCell] == nil {
		return
	}
	switch ended := c[endCell]; {
	case c[payoutAtCell] != nil:
		c[resolvedAtCell], c[resolvedFromCell] = c[payoutAtCell], c[atSourceCell]
	case c[closedAtCell] != nil:
		c[resolvedAtCell], c[resolvedFromCell] = c[closedAtCell], int8(data.TimeOfClose)
	case ended != nil && (c[versionCell] == nil || engine.Int(ended) <= engine.Int(c[versionCell])):
		c[resolvedAtCell], c[resolvedFromCell] = ended, int8(data.TimeOfEnd)
	}
}
