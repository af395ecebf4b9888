package ingest

import (
	"cmp"
	"database/sql/driver"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"

	"pmx/data"
)

// mergedColumns are the columns of markets that come from records, in table order; updated_at, the
// version of the newest record, follows.
var mergedColumns = []string{"gamma_id", "question_id", "question", "slug", "description", "resolution_source",
	"group_item_title", "group_item_threshold", "icon", "event_id", "event_slug", "event_title", "series_slug",
	"neg_risk", "neg_risk_market_id", "category", "category_source", "tags", "outcomes", "token_ids", "prices",
	"best_bid", "best_ask", "last_price", "active", "closed", "accepting_orders", "liquidity", "reported_volume",
	"created_at", "start_at", "end_at", "closed_at", "game_start_at"}

// mergeArgs returns the replacements in MarketsNext for the fields of a market.
func mergeArgs() []string {
	var names, versions []string
	for i, f := range ownFields[:closingAt] { // it is the last one
		names = append(names, "'"+f.column+"'")
		if i == categoryAt {
			versions = append(versions, fmt.Sprintf("CASE WHEN %s THEN nat_%s ELSE oat_%[2]s END", stands(i), f.column))
		} else {
			versions = append(versions, fmt.Sprintf("greatest(nat_%s, oat_%[1]s)", f.column))
		}
	}
	values := make([]string, len(mergedColumns))
	for i, c := range mergedColumns {
		switch {
		case slices.Contains(quoteColumns, c): // set from the quote
			values[i] = "NULL::BIGINT AS " + c
		case c == "category_source":
			values[i] = fmt.Sprintf("CASE WHEN %s THEN n.%s ELSE o.%[2]s END AS %[2]s", stands(categoryAt), c)
		default:
			values[i] = standing(fieldAt(c)) + " AS " + c
		}
	}
	closing := statements.Get("ClosingVersion", "@value", standing(closingAt), "@closed", standing(closedAt), "@c", marketFields[closingAt].column)
	return []string{"@pairs", pairs(ownFields), "@values", strings.Join(values, ",\n    "), "@names", strings.Join(names, ", "),
		"@versions", strings.Join(versions, ", "), "@closing", closing,
		"@outcomes", standing(fieldAt("outcomes")), "@columns", strings.Join(mergedColumns, ", ")}
}

// stands is SQL on pairs: whether the file's value of a field is used.
func stands(i int) string { return statements.Get(marketFields[i].rule, "@c", marketFields[i].column) }

// standing is SQL on pairs: the value of a field that is used.
func standing(i int) string {
	return statements.Get("Standing", "@stands", stands(i), "@c", marketFields[i].column)
}

// pairs is a query for some fields of each market: the file's values and the known ones.
func pairs(fields []marketField) string {
	shape, both, versions := make([]string, len(fields)), make([]string, len(fields)), make([]string, len(fields))
	for i, f := range fields {
		rule := "FieldVersions"
		if f.column == marketFields[closingAt].column {
			rule = "ClosingVersions"
		}
		shape[i] = `"` + f.column + `":"BIGINT"`
		both[i], versions[i] = statements.Get("Both", "@c", f.column), statements.Get(rule, "@c", f.column)
	}
	return statements.Get("Pairs", "@shape", "'{"+strings.Join(shape, ",")+"}'", "@both", strings.Join(both, ", "),
		"@fields", strings.Join(versions, ",\n  "))
}

// prepareMarkets makes n_market, n_token and n_payout from m_raw and n_map.
func (j *fileImport) prepareMarkets() error {
	given, err := j.countDistinct()
	if err != nil {
		return err
	}
	stubs, err := j.nextMarkets()
	if err == nil {
		j.balanceReceipt(given, stubs)
	}
	return err
}

// nextMarkets computes the changes of markets and tokens; stubs is the number of new markets that
// are only named by a fill or a mapping.
func (j *fileImport) nextMarkets() (stubs int64, err error) {
	var named, said, mapped, called int64
	if j.conditions {
		if named, err = j.execSaid("MapFromFills"); err != nil {
			return stubs, err
		}
	}
	if !j.onlyFills || j.conditions {
		if err := j.conn.QueryRowContext(j.ctx, statements.Get("SaidCounts")).Scan(&said, &mapped, &called); err != nil {
			return stubs, err
		}
	}
	if said+mapped == 0 {
		return stubs, j.empty("MarketsNextNone", "NoPayouts", "NoTokens", "NoLabels")
	}
	if j.together() {
		return j.nextOfFiles(named, said+mapped)
	}
	if mapped > 0 {
		if stubs, err = j.changed("StubsFromMap", nil); err != nil {
			return stubs, err
		}
	}
	if said > 0 { // stubs list no tokens
		listed, err := j.changed("MapFromMarkets", nil)
		if err != nil {
			return stubs, err
		}
		mapped += listed
	}
	merge := func() (*marketChanges, error) { return j.mergeMarkets(said + stubs) }
	if said == 0 && stubs > fewStubs && !j.im.byStatement {
		merge = j.mergeStubs
	}
	m, err := merge()
	if err != nil {
		return stubs, err
	}
	if m.relisted {
		newer, err := j.changed("MapFromNewer", nil)
		if err != nil {
			return stubs, err
		}
		mapped += newer
	}
	return stubs, j.nextTokens(mapped, m.relabelled || called > 0)
}

// mergeMarkets fills n_market and n_payout from so many rows of m_raw.
func (j *fileImport) mergeMarkets(rows int64) (*marketChanges, error) {
	spare, err := j.count("spare_payouts")
	if err != nil {
		return nil, err
	}
	var m *marketChanges
	few := j.inMemory(rows)
	if few && spare == 0 && !j.spares && !j.opts.Correct { // most payouts are of markets that have none
		if m, err = j.mergeFewMarkets(); err != nil {
			return nil, err
		}
	}
	if m == nil || m.disputed {
		if err := j.checkPayouts(spare > 0); err != nil {
			return nil, err
		}
		if few {
			m, err = j.mergeFewMarkets()
		} else {
			m, err = j.mergeManyMarkets()
		}
		if err != nil {
			return nil, err
		}
	}
	if few {
		if err := j.stageChanges(m); err != nil {
			return nil, err
		}
	}
	j.changes, j.receipt.MarketsNew, j.receipt.MarketsChanged, j.receipt.Resolutions = *m, m.fresh, m.changed, m.resolutions
	return m, j.unresolved(m.unfit, m.gone)
}

// mergeManyMarkets is mergeFewMarkets by a statement.
func (j *fileImport) mergeManyMarkets() (*marketChanges, error) {
	m := &marketChanges{relisted: true}
	if err := j.exec("MarketsNext", resolutionArgs(mergeArgs()...)...); err != nil {
		return nil, err
	}
	err := j.conn.QueryRowContext(j.ctx, statements.Get("MarketFigures")).Scan(&m.fresh, &m.changed, &m.resolutions, &m.relabelled, &m.unfit, &m.gone)
	if err != nil {
		return nil, err
	}
	return m, j.exec("Payouts")
}

// nextTokens prepares the changes of tokens. n_map has so many rows; called is set if labels of
// tokens may change.
func (j *fileImport) nextTokens(mapped int64, called bool) (err error) {
	var fresh, known int64
	if mapped > 0 {
		fresh, err = j.mapTokens(mapped)
	} else {
		err = j.empty("NoTokens")
	}
	if err != nil {
		return err
	}
	if err := j.nameTokens(called); err != nil {
		return err
	}
	if mapped > 0 || called {
		known, err = j.count("n_token")
	}
	j.remaps = known > 0
	j.receipt.TokensMapped = fresh + known
	return err
}

// manyMapped is the number of rows of n_map from which on it pays to ask whether all can be used:
// MapOnly takes a third of MapBest's time.
const manyMapped = 4096

// mapTokens maps new tokens, fills n_token, and stores tokens that several markets claim. n_map has
// so many rows.
func (j *fileImport) mapTokens(rows int64) (fresh int64, err error) {
	if err := j.exec("MapLists"); err != nil {
		return 0, err
	}
	once := false
	if rows >= manyMapped {
		if err := j.conn.QueryRowContext(j.ctx, statements.Get("MapsOnce")).Scan(&once); err != nil {
			return 0, err
		}
	}
	best := "MapBest"
	if once {
		best = "MapOnly"
	}
	if err := j.execAll(best, "MapOwners", "MapKnownTokens"); err != nil {
		return 0, err
	}
	if err := j.tokenConflicts(); err != nil {
		return 0, err
	}
	return j.changed("MapNewTokens", nil)
}

// execSaid runs a statement that reads what the rows of the file say about tokens, and returns how many rows it changed.
func (j *fileImport) execSaid(name string, replace ...string) (int64, error) {
	from, err := j.said()
	if err != nil {
		return 0, err
	}
	return j.changed(name, nil, append(replace, "@from", from)...)
}

// nameTokens fills n_label, the labels of tokens, and adds tokens to n_token whose outcome follows
// from the label. any is set if the file can change either.
func (j *fileImport) nameTokens(any bool) error {
	if !any {
		return j.empty("NoLabels")
	}
	if _, err := j.execSaid("Labels"); err != nil {
		return err
	}
	if err := j.execAll("KeepNewLabels", "MapByLabel"); err != nil {
		return err
	}
	var err error
	j.receipt.named, err = j.count("n_label")
	return err
}

// betterResolution merges two resolutions, whichever came first: the better payouts, with the
// better time.
func betterResolution(old, next *data.Resolution) *data.Resolution {
	if old == nil || next == nil {
		return cmp.Or(old, next)
	}
	payouts, at := *old, *old
	if compareResolutions(old, next) < 0 {
		payouts = *next
	}
	if timeOrder(old, next) < 0 {
		at = *next
	}
	payouts.ResolvedAt, payouts.AtSource, payouts.AtVersion = at.ResolvedAt, at.TimeBy(), atVersion(&at)
	if payouts.AtVersion.IsZero() && !effective(&payouts).IsZero() {
		payouts.AtVersion = noVersion
	}
	return &payouts
}

// timeOrder orders the times of two resolutions by the better source, the later version, and the
// earlier time.
func timeOrder(a, b *data.Resolution) int {
	return cmp.Or(cmp.Compare(a.TimeBy(), b.TimeBy()), atVersion(a).Compare(atVersion(b)), b.ResolvedAt.Compare(a.ResolvedAt))
}

// noVersion is the AtVersion of a time from a record without a version, if the payouts have one.
var noVersion = time.Unix(0, 0)

// atVersion returns the version of the record that has the time of r.
func atVersion(r *data.Resolution) time.Time {
	switch {
	case r.AtVersion.IsZero():
		return effective(r)
	case r.AtVersion.Equal(noVersion):
		return time.Time{}
	}
	return r.AtVersion
}

// marketRow returns the values of m_raw's columns up to stub.
func marketRow(m data.Market) ([]driver.Value, error) {
	row := make([]driver.Value, 0, len(marketColumns)+3) // stub, line and contradicts follow
	row = append(row, nil, append([]byte(nil), m.Condition[:]...))
	for _, s := range []string{m.GammaID, m.QuestionID, m.Question, m.Slug, m.Description, m.ResolutionSource,
		m.GroupItemTitle, m.GroupItemThreshold, m.Icon, m.EventID, m.EventSlug, m.EventTitle, m.SeriesSlug} {
		row = append(row, orNull(s))
	}
	row = append(row, value(m.NegRisk), orNull(m.NegRiskMarketID), orNull(m.Category), orNull(m.CategorySource))
	for _, list := range [][]string{m.Tags, m.Outcomes, m.TokenIDs} {
		text, err := listText(list)
		if err != nil {
			return nil, fmt.Errorf("market %s: %w", m.Condition, err)
		}
		row = append(row, text)
	}
	row = append(row, pricesText(m.Prices), nil, nil, nil, value(m.Active), value(m.Closed), value(m.AcceptingOrders), nil, micro(m.ReportedVolume))
	for _, t := range []time.Time{m.CreatedAt, m.StartAt, m.EndAt, m.ClosedAt, m.GameStartAt, m.UpdatedAt} {
		row = append(row, stamp(t))
	}
	return append(append(row, payoutColumns(m.Resolution, quoteRow(&m))...), stamp(unquoted(&m)), versionsText(&m), m.Stub), nil
}

// listText returns a list as JSON, as json.Marshal writes it; nil if it is empty.
func listText(list []string) (any, error) {
	if len(list) == 0 {
		return nil, nil
	}
	if !slices.ContainsFunc(list, needsEscape) {
		return `["` + strings.Join(list, `","`) + `"]`, nil
	}
	text, err := json.Marshal(list)
	return string(text), err
}

// needsEscape reports whether json.Marshal may write s with escapes: it does so for a few bytes of
// ASCII, and for some others that are not looked for here.
func needsEscape(s string) bool {
	for i := range len(s) {
		switch c := s[i]; {
		case c < ' ', c >= 0x7F, c == '"', c == '\\', c == '<', c == '>', c == '&':
			return true
		}
	}
	return false
}

// pricesText returns prices as JSON; nil if there are none.
func pricesText(list []data.Micro) any {
	if len(list) == 0 {
		return nil
	}
	text := []byte{'['}
	for i, price := range list {
		if i > 0 {
			text = append(text, ',')
		}
		text = price.Append(text)
	}
	return string(append(text, ']'))
}

// payoutColumns returns the columns from payouts on, including the quote; derived columns are
// empty.
func payoutColumns(r *data.Resolution, quote any) []driver.Value {
	row := make([]driver.Value, 10)
	row[5] = quote
	if r == nil {
		return row
	}
	payouts := make([]int64, len(r.Payouts))
	for i, p := range r.Payouts {
		payouts[i] = int64(p)
	}
	row[0], row[1], row[2], row[3], row[9] = payouts, int8(r.Source), stamp(r.Version), stamp(r.ResolvedAt), stamp(r.CorrectedAt)
	if by := r.TimeBy(); by != data.TimeUnknown {
		row[6], row[7] = int8(by), stamp(atVersion(r))
	}
	return row
}

func orNull(s string) any {
	if s == "" {
		return nil
	}
	return s
}

func value(b *bool) any {
	if b == nil {
		return nil
	}
	return *b
}

func micro(m *data.Micro) any {
	if m == nil {
		return nil
	}
	return int64(*m)
}

func stamp(t time.Time) any {
	if t.IsZero() {
		return nil
	}
	return t.UnixMicro()
}
