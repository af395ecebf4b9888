package ingest

import (
	"cmp"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"

	"pmx/data"
)

// mergedColumns are the columns of markets that follow the version rule, in
// table order; updated_at, the version itself, comes after them. Those of the quote
// are filled in from the quote, which is merged as one.
var mergedColumns = []string{"gamma_id", "question_id", "question", "slug", "description", "resolution_source",
	"group_item_title", "group_item_threshold", "icon", "event_id", "event_slug", "event_title", "series_slug",
	"neg_risk", "neg_risk_market_id", "category", "category_source", "tags", "outcomes", "token_ids", "prices",
	"best_bid", "best_ask", "last_price", "active", "closed", "accepting_orders", "liquidity", "reported_volume",
	"created_at", "start_at", "end_at", "closed_at", "game_start_at"}

func mergedSQL() string {
	parts := make([]string, 0, len(mergedColumns)+1)
	for _, c := range mergedColumns {
		rule := "MergedNewer"
		switch {
		case slices.Contains(quoteColumns, c):
			rule = "MergedQuote"
		case c == "category", c == "category_source":
			rule = "MergedCategory"
		case slices.Contains([]string{"tags", "outcomes", "token_ids", "prices"}, c):
			rule = "MergedList"
		}
		parts = append(parts, statements.Get(rule, "@c", c))
	}
	return strings.Join(append(parts, statements.Get("MergedVersion")), ",\n    ")
}

// prepareMarkets turns m_raw and n_map into n_market, n_token and n_payout.
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

// nextMarkets finds what the markets and tokens become; stubs are the new markets
// that only a fill or a mapping names.
func (j *fileImport) nextMarkets() (stubs int64, err error) {
	if j.src.hasFills() {
		if err := j.exec("MapFromFills"); err != nil {
			return stubs, err
		}
	}
	if err := j.exec("MapFromMarkets"); err != nil {
		return stubs, err
	}
	stubs, err = j.changed("StubsFromMap", nil)
	if err != nil {
		return stubs, err
	}
	var markets, mapped, spare, labels, unfit, gone int64
	err = j.conn.QueryRowContext(j.ctx, "SELECT (SELECT count(*) FROM m_raw), (SELECT count(*) FROM n_map), (SELECT count(*) FROM spare_payouts)").
		Scan(&markets, &mapped, &spare)
	if err != nil {
		return stubs, err
	}
	if markets+mapped == 0 {
		return stubs, j.execAll("MarketsNextNone", "NoPayouts", "NoTokens", "NoLabels")
	}
	if err := j.checkPayouts(spare > 0); err != nil {
		return stubs, err
	}
	if err := j.exec("MarketsNext", resolutionArgs("@outcomes", outcomesNext(), "@merged", mergedSQL(), "@new", quoteOrder("new_quote"), "@old", quoteOrder("old_quote"),
		"@nrank", statements.Get("CategoryRank", "@w", "n"), "@orank", statements.Get("CategoryRank", "@w", "o"))...); err != nil {
		return stubs, err
	}
	err = j.conn.QueryRowContext(j.ctx, statements.Get("MarketFigures")).
		Scan(&j.receipt.MarketsNew, &j.receipt.MarketsChanged, &j.receipt.Resolutions, &labels, &unfit, &gone)
	if err == nil {
		err = j.unresolved(unfit, gone)
	}
	if err != nil {
		return stubs, err
	}
	if err := j.exec("Payouts"); err != nil {
		return stubs, err
	}
	fresh, err := j.mapTokens()
	if err != nil {
		return stubs, err
	}
	if err := j.nameTokens(labels > 0); err != nil {
		return stubs, err
	}
	var known int64
	if err := j.conn.QueryRowContext(j.ctx, "SELECT count(*) FROM n_token").Scan(&known); err != nil {
		return stubs, err
	}
	j.receipt.TokensMapped = fresh + known
	return stubs, nil
}

// mapTokens maps new tokens, prepares n_token, and keeps what several markets claim.
func (j *fileImport) mapTokens() (fresh int64, err error) {
	if err := j.execAll("MapFromNewer", "MapLists", "MapBest", "MapOwners", "MapKnownTokens"); err != nil {
		return 0, err
	}
	if err := j.tokenConflicts(); err != nil {
		return 0, err
	}
	return j.changed("MapNewTokens", nil)
}

// nameTokens prepares n_label, what tokens are called, and adds to n_token those whose
// outcome follows from it; any tells whether the file can change either.
func (j *fileImport) nameTokens(any bool) error {
	if !any {
		return j.exec("NoLabels")
	}
	if err := j.execAll("Labels", "KeepNewLabels", "MapByLabel"); err != nil {
		return err
	}
	return j.conn.QueryRowContext(j.ctx, "SELECT count(*) FROM n_label").Scan(&j.receipt.named)
}

// mergeMarket puts what another record of the same file says into old, by the
// same rule that MarketsNext applies between files.
func mergeMarket(old, next data.Market) (data.Market, error) {
	a, b := old, next // b's values win where it has any
	switch {
	case next.Stub && !old.Stub, next.Stub == old.Stub && next.UpdatedAt.Before(old.UpdatedAt):
		a, b = next, old
	case next.Stub == old.Stub && next.UpdatedAt.Equal(old.UpdatedAt):
		larger, err := breakTie(old, next)
		if err != nil {
			return old, err
		}
		b = larger
	}
	out := overlay(a, b)
	takeQuote(&out, old, next)
	out.Stub = old.Stub && next.Stub
	out.Resolution = betterResolution(old.Resolution, next.Resolution)
	if out.Untaken = b.Untaken; out.Untaken == "" && b.Stub {
		out.Untaken = a.Untaken
	}
	out.UpdatedAt = old.UpdatedAt
	if next.UpdatedAt.After(old.UpdatedAt) {
		out.UpdatedAt = next.UpdatedAt
	}
	return out, nil
}

// betterResolution is the resolution that stands, whichever came first: the better
// payouts, with the better time.
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
	return &payouts
}

// timeOrder compares when two resolutions were: the better source, the later
// version, the earlier time is the greater.
func timeOrder(a, b *data.Resolution) int {
	return cmp.Or(cmp.Compare(a.TimeBy(), b.TimeBy()), atVersion(a).Compare(atVersion(b)), b.ResolvedAt.Compare(a.ResolvedAt))
}

// atVersion is the version of the record that gave the time of r.
func atVersion(r *data.Resolution) time.Time {
	if r.AtVersion.IsZero() {
		return effective(r)
	}
	return r.AtVersion
}

func overlay(a, b data.Market) data.Market {
	text := func(dst *string, v string) {
		if v != "" {
			*dst = v
		}
	}
	for _, f := range []struct {
		dst *string
		v   string
	}{
		{&a.GammaID, b.GammaID}, {&a.QuestionID, b.QuestionID}, {&a.Question, b.Question}, {&a.Slug, b.Slug},
		{&a.Description, b.Description}, {&a.ResolutionSource, b.ResolutionSource},
		{&a.GroupItemTitle, b.GroupItemTitle}, {&a.GroupItemThreshold, b.GroupItemThreshold}, {&a.Icon, b.Icon},
		{&a.EventID, b.EventID}, {&a.EventSlug, b.EventSlug}, {&a.EventTitle, b.EventTitle},
		{&a.SeriesSlug, b.SeriesSlug}, {&a.NegRiskMarketID, b.NegRiskMarketID},
	} {
		text(f.dst, f.v)
	}
	if b.Category != "" && (a.Category == "" || categoryRank(&b) >= categoryRank(&a)) {
		a.Category, a.CategorySource = b.Category, b.CategorySource
	}
	for _, f := range []struct {
		dst *time.Time
		v   time.Time
	}{
		{&a.CreatedAt, b.CreatedAt}, {&a.StartAt, b.StartAt}, {&a.EndAt, b.EndAt}, {&a.ClosedAt, b.ClosedAt},
		{&a.GameStartAt, b.GameStartAt},
	} {
		if !f.v.IsZero() {
			*f.dst = f.v
		}
	}
	pointer(&a.NegRisk, b.NegRisk)
	pointer(&a.Active, b.Active)
	pointer(&a.Closed, b.Closed)
	pointer(&a.AcceptingOrders, b.AcceptingOrders)
	pointer(&a.ReportedVolume, b.ReportedVolume)
	slice(&a.Tags, b.Tags)
	slice(&a.Outcomes, b.Outcomes)
	slice(&a.TokenIDs, b.TokenIDs)
	slice(&a.Prices, b.Prices)
	a.Condition = b.Condition
	return a
}

// categoryRank is how good what a category comes from is: a record without tags knows
// less of it.
func categoryRank(m *data.Market) int {
	return slices.Index([]string{"slug", "field", "tag"}, m.CategorySource) + 1
}

func pointer[T any](dst **T, v *T) {
	if v != nil {
		*dst = v
	}
}

func slice[T any](dst *[]T, v []T) {
	if len(v) > 0 {
		*dst = v
	}
}

// marketRow gives the values of m_raw's columns up to stub.
func marketRow(m data.Market) ([]any, error) {
	row := []any{nil, append([]byte(nil), m.Condition[:]...)}
	for _, s := range []string{m.GammaID, m.QuestionID, m.Question, m.Slug, m.Description, m.ResolutionSource,
		m.GroupItemTitle, m.GroupItemThreshold, m.Icon, m.EventID, m.EventSlug, m.EventTitle, m.SeriesSlug} {
		row = append(row, orNull(s))
	}
	row = append(row, value(m.NegRisk), orNull(m.NegRiskMarketID), orNull(m.Category), orNull(m.CategorySource))
	for _, list := range []any{m.Tags, m.Outcomes, m.TokenIDs, m.Prices} {
		text, err := json.Marshal(list)
		if err != nil {
			return nil, fmt.Errorf("market %s: %w", m.Condition, err)
		}
		row = append(row, orNull(strings.TrimPrefix(string(text), "null")))
	}
	for _, p := range []*data.Micro{m.BestBid, m.BestAsk, m.LastPrice} {
		row = append(row, micro(p))
	}
	row = append(row, value(m.Active), value(m.Closed), value(m.AcceptingOrders), micro(m.Liquidity), micro(m.ReportedVolume))
	for _, t := range []time.Time{m.CreatedAt, m.StartAt, m.EndAt, m.ClosedAt, m.GameStartAt, m.UpdatedAt} {
		row = append(row, stamp(t))
	}
	var unquoted any
	if m.Quoteless {
		unquoted = stamp(m.UpdatedAt)
	}
	return append(append(row, payoutColumns(m.Resolution)...), unquoted, m.Stub), nil
}

// payoutColumns are the columns from payouts on; what follows from others is empty.
func payoutColumns(r *data.Resolution) []any {
	if r == nil {
		return make([]any, 10)
	}
	payouts := make([]int64, len(r.Payouts))
	for i, p := range r.Payouts {
		payouts[i] = int64(p)
	}
	row := []any{payouts, int8(r.Source), stamp(r.Version), stamp(r.ResolvedAt), nil, nil, nil, nil, nil, stamp(r.CorrectedAt)}
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
