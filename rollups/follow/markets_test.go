package follow_test

import (
	"context"
	"database/sql"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"testing"
	"time"

	"pmx/data"
	"pmx/data/testfiles"
	"pmx/engine/ingest"
	"pmx/rollups/follow"
	"pmx/rollups/serving"
)

const questions = "SELECT question FROM markets ORDER BY question"

// TestUnknownTokensAreRequested at once; those that the venue does not know are requested
// less and less often.
func TestUnknownTokensAreRequested(t *testing.T) {
	p := newPlace(t, 1)
	p.set(func() {
		p.markets = append(p.markets, listed{question: "gone?", closedAt: p.now.Add(-time.Hour), payouts: true})
	})
	m := p.lane(false)
	p.trade("1002")  // of a closed market, which is in no sweep
	p.trade("77777") // of nobody
	p.once(m)
	p.want("asked", "SELECT m.question || ' ' || t.token_id FROM fills JOIN tokens AS t USING (token) JOIN markets AS m USING (market)", "gone? 1002")
	p.want("asked", "SELECT payouts[1] FROM markets WHERE question = 'gone?'", "1000000")
	if s := m.Status(); s.Wanted != 2 || s.Read == 0 || s.Tasks[0].Name != "tokens" || s.Tasks[0].Error != "" {
		t.Errorf("%+v", s)
	}
	p.asked()
	p.once(m)
	if n := p.asked()["/markets/keyset"]; n != 0 {
		t.Errorf("what is missing is requested %d times at once", n)
	}
	if s := m.Status(); s.Wanted != 1 || s.Missing != 1 {
		t.Errorf("%+v", s)
	}
	p.later(11 * time.Second)
	p.once(m)
	if n := p.asked()["/markets/keyset"]; n != 2 {
		t.Errorf("what was missing is requested %d times later", n)
	}
}

// TestPositionsAreRequestedByCondition: and combos are not requested.
func TestPositionsAreRequestedByCondition(t *testing.T) {
	p := newPlace(t, 0)
	m := p.lane(false)
	p.trade("904625697166532776746648320380374280103671755200316906558262375061821325312")  // 0x02 00 … 00: of no market
	p.trade("1357000000000000000000000000000000000000000000000000000000000000000000000000") // begins with 03 but is not one
	p.once(m)
	if s := m.Status(); s.Wanted != 2 || s.Combos != 0 {
		t.Errorf("%+v", s)
	}
	p.trade("1356938545749799165119972480570561420155507632800475359837393562592731987969") // 0x03 00 … 01
	p.later(time.Hour)
	p.asked()
	p.once(m)
	if s := m.Status(); s.Wanted != 2 || s.Combos != 1 {
		t.Errorf("%+v", s)
	}
	if n := p.asked()["/markets/keyset"]; n != 4 { // a token and a condition, open and closed
		t.Errorf("got %d requests", n)
	}
}

// TestOnlyWhatChangedIsWritten by sweeps; what only changed with trades is written occasionally.
func TestOnlyWhatChangedIsWritten(t *testing.T) {
	p := newPlace(t, 10)
	m := p.lane(false)
	written := func(when string, want int64) {
		t.Helper()
		before := m.Status().Written
		p.once(m)
		if s := m.Status(); s.Written-before != want {
			t.Errorf("%s: %d records are written and not %d", when, s.Written-before, want)
		}
	}
	written("first", 10)
	if s := m.Status(); s.New != 10 || s.Events != 10 || s.Open != 10 || len(m.OpenTokens()) != 10 || m.OpenTokens()[condition(3)] != "1006" {
		t.Errorf("%+v", s)
	}
	written("again", 0)
	p.later(5 * time.Minute)
	written("with a new version and nothing else", 0)
	p.set(func() { p.markets[4].question = "Other?" })
	written("a title changed", 1)
	p.want("a title changed", "SELECT question FROM markets WHERE slug = 'm4'", "Other?")
	p.set(func() { p.markets[5].bid = "0.4" })
	written("a bid moved within the hour", 0)
	p.later(time.Hour)
	written("an hour later", 1)
	p.want("an hour later", "SELECT best_bid FROM markets WHERE slug = 'm5'", "400000")
	// After a clean end, the next start continues; if something was committed since, it writes
	// everything once more and changes nothing.
	m = p.lane(false)
	written("after a clean end", 0)
	unsaved := p.lane(false)
	p.set(func() { p.markets[6].question = "Third?" })
	ctx, cancel := context.WithCancel(t.Context())
	stopped := make(chan error, 1)
	go func() { stopped <- unsaved.Run(ctx) }()
	for end := time.Now().Add(longTime); unsaved.Status().Written == 0 && time.Now().Before(end); time.Sleep(time.Millisecond) {
	}
	p.want("while it follows", "SELECT count(*) FROM sync_cursor WHERE source = 'markets seen'", "0")
	cancel()
	if err := <-stopped; err != nil {
		t.Error(err)
	}
	p.want("after its end", "SELECT count(*) FROM sync_cursor WHERE source = 'markets seen'", "1")
	p.exec("DELETE FROM sync_cursor WHERE source = 'markets seen'")
	m = p.lane(false)
	written("after a kill", 10)
	if s := m.Status(); s.New != 0 {
		t.Errorf("after a kill: %+v", s)
	}
}

func (p *place) exec(statement string) {
	p.t.Helper()
	if err := p.k.DB().Write(p.t.Context(), func(conn *sql.Conn) error {
		_, err := conn.ExecContext(p.t.Context(), statement)
		return err
	}); err != nil {
		p.t.Fatal(err)
	}
}

// TestClosedMarketsAreReadAgain at once if it left the open events, and by schedule.
func TestClosedMarketsAreReadAgain(t *testing.T) {
	p := newPlace(t, 6)
	m := p.lane(false)
	p.once(m)
	p.set(func() { p.markets[2].closedAt = p.now.Add(-time.Minute) })
	p.once(m)
	p.want("closed", "SELECT question FROM markets WHERE closed", "Q2?")
	for i, after := range []time.Duration{10 * time.Minute, time.Hour, 24 * time.Hour, 7 * 24 * time.Hour, 120 * 24 * time.Hour} {
		at := p.markets[2].closedAt.Add(after)
		p.set(func() { p.markets[2].question = fmt.Sprintf("Q2 as of %d?", i) })
		p.later(at.Sub(p.now) - 2*time.Second)
		p.once(m)
		before := "Q2?"
		if i > 0 {
			before = fmt.Sprintf("Q2 as of %d?", i-1)
		}
		p.want("before "+after.String(), "SELECT question FROM markets WHERE closed", before)
		m = p.lane(false) // the schedule is in the database
		p.later(4 * time.Second)
		p.once(m)
		p.want("after "+after.String(), "SELECT question FROM markets WHERE closed", fmt.Sprintf("Q2 as of %d?", i))
	}
	p.asked()
	p.once(m)
	if n := p.asked()["/markets/keyset"]; n != 0 {
		t.Errorf("asked %d times though nothing is due", n)
	}
	// The clock was ahead all the time, and is right again.
	p.later(-100 * 24 * time.Hour)
	p.set(func() { p.markets[3].closedAt = p.now.Add(-time.Minute) })
	p.once(m)
	p.asked()
	p.later(10 * time.Minute)
	p.once(m)
	if n := p.asked()["/markets/keyset"]; n == 0 {
		t.Error("what closes after a clock was ahead is not read again")
	}
}

// TestTheScheduleAfterAClockThatWasAhead: it starts again, even if nothing was due while the clock
// was ahead.
func TestTheScheduleAfterAClockThatWasAhead(t *testing.T) {
	p := newPlace(t, 0)
	p.later(365 * 24 * time.Hour)
	p.once(p.lane(false))
	p.later(-365 * 24 * time.Hour)
	p.set(func() { p.markets = []listed{{question: "Q0?"}, {question: "Q1?"}, {question: "Q2?"}} })
	m := p.lane(false)
	p.once(m)
	p.set(func() { p.markets[2].closedAt = p.now })
	p.later(time.Minute)
	p.once(m)
	p.want("closed", "SELECT question FROM markets WHERE closed", "Q2?")
	p.set(func() { p.markets[2].question = "Q2 as of now?" })
	p.later(10 * time.Minute)
	p.once(m)
	p.want("11 minutes later", "SELECT question FROM markets WHERE closed", "Q2 as of now?")
}

// TestMissingRecordsAreRequestedAgain, whether it came from a hint, closed some time ago, or was
// described only by another source.
func TestMissingRecordsAreRequestedAgain(t *testing.T) {
	p := newPlace(t, 3)
	p.set(func() { p.markets[0].closedAt = p.now.Add(-30 * 24 * time.Hour) })
	m := p.lane(true)
	p.once(m)
	if err := m.Reconcile(t.Context()); err != nil {
		t.Fatal(err)
	}
	again := func(why string, market int, change func()) {
		t.Helper()
		text := "Q" + strconv.Itoa(market) + " " + why + "?"
		query := fmt.Sprintf("SELECT question FROM markets WHERE gamma_id = '%d'", market+1)
		before := p.said(query)
		p.set(func() {
			p.markets[market].question = text
			change()
		})
		p.once(m)
		p.want(why+": the answer lacks it", query, before)
		p.set(func() { p.blank = 0 })
		p.later(9 * time.Second)
		p.once(m)
		p.want(why+": not yet asked again", query, before)
		p.later(2 * time.Second)
		p.once(m)
		p.want(why+": asked again", query, text)
		p.later(48 * time.Hour)
		p.asked()
		p.once(m)
	}
	again("heard", 0, func() {
		p.blank = 2
		m.Heard(condition(0))
	})
	if testfiles.Long() { // TestClosedMarketsAreReadAgain shows the schedule in a short run too
		p.set(func() { p.markets[1].closedAt = p.now })
		p.once(m)
		p.later(8 * 24 * time.Hour)
		p.once(m)
		p.later(112*24*time.Hour + time.Second) // the step of 120 days
		again("closed", 1, func() { p.blank = 2 })
	}

	p.set(func() {
		p.markets = append(p.markets, listed{question: "Q3?", closedAt: p.now.Add(-200 * 24 * time.Hour)})
		p.blank = 2
	})
	p.once(m) // the list of the CLOB describes it
	p.want("described by the CLOB", "SELECT question FROM markets WHERE gamma_id IS NULL", "Q3?")
	p.later(11 * time.Second)
	p.set(func() { p.blank = 0 })
	p.once(m)
	p.want("described by Gamma", "SELECT question FROM markets WHERE gamma_id = '4'", "Q3?")
}

// TestPayoutsThatNoSourceReported are requested from the data API, which has derived ones.
func TestPayoutsThatNoSourceReported(t *testing.T) {
	p := newPlace(t, 2)
	m := p.lane(true)
	p.once(m)
	p.set(func() { p.markets[1].closedAt = p.now.Add(-time.Minute) })
	p.once(m)
	p.want("just closed", "SELECT count(*) FROM markets WHERE payouts IS NOT NULL", "0")
	p.later(11 * time.Minute)
	p.once(m)
	p.want("later", "SELECT payout_source::INTEGER || ' ' || payouts[1] FROM markets WHERE payouts IS NOT NULL", "4 1000000")
	if s := m.Status(); s.Payouts != 1 {
		t.Errorf("%+v", s)
	}
	p.asked()
	p.later(time.Hour)
	p.once(m)
	if n := p.asked()["/v2/resolutions"]; n != 0 {
		t.Errorf("asked %d times for what is known", n)
	}
}

// TestPayoutsMissingFromTheChain are also requested from the data API an hour later, which has
// the block in which they were reported; its payouts take precedence over the catalogue's.
func TestPayoutsMissingFromTheChain(t *testing.T) {
	p := newPlace(t, 3)
	p.set(func() {
		for n := range p.markets {
			p.markets[n].closedAt, p.markets[n].payouts = p.now.Add(-2*time.Hour), true
		}
		p.markets[2].closedAt = p.now.Add(-40 * 24 * time.Hour)
	})
	var unseen []int64
	m := p.lane(true, func(o *follow.MarketOptions) {
		o.Unseen = func(blocks ...int64) { unseen = append(unseen, blocks...) }
	})
	for n := range 3 {
		p.trade(strconv.Itoa(1000 + 2*n))
	}
	p.resolve(condition(0)) // the chain's logs told
	p.once(m)
	p.want("asked for", "SELECT payout_source FROM markets ORDER BY question", "6\n4\n2")
	if !slices.Equal(unseen, []int64{5001}) || m.Status().Unseen != 1 {
		t.Errorf("blocks %v, %+v", unseen, m.Status())
	}
	p.asked()
	p.once(m)
	if n := p.asked()["/v2/resolutions"]; n != 0 {
		t.Errorf("asked %d times at once", n)
	}
	p.resolve(condition(1))
	p.later(time.Hour)
	p.once(m)
	if n := p.asked()["/v2/resolutions"]; n != 0 || len(unseen) != 1 || m.Status().Unseen != 0 {
		t.Errorf("asked %d times for what the chain told, blocks %v, %+v", n, unseen, m.Status())
	}
}

// resolve commits payouts like those of the chain's logs.
func (p *place) resolve(c data.Hash) {
	p.t.Helper()
	_, err := p.k.Commit(p.t.Context(), ingest.Rows{Feed: data.Feed{Name: "polygon-logs", Kind: data.KindFills}, Name: "polygon",
		Read: func(_ context.Context, s data.Sink) error {
			return s.Resolution(1, data.Resolution{Condition: c, Payouts: []data.Micro{data.One, 0}, Source: data.ResolvedOnChain, ResolvedAt: p.now.Add(-2 * time.Hour)})
		}}, ingest.Remaining{})
	if err != nil {
		p.t.Fatal(err)
	}
}

// TestAnEmptySweepIsRepeated twice before it is an error; no market counts as closed because of
// it.
func TestAnEmptySweepIsRepeated(t *testing.T) {
	p := newPlace(t, 4)
	m := p.lane(false)
	p.once(m)
	p.set(func() { p.empty = 2 })
	p.once(m)
	if s := m.Status(); s.Empty != 2 || s.Open != 4 {
		t.Errorf("%+v", s)
	}
	p.set(func() { p.empty = 3 })
	p.asked()
	if err := m.Once(t.Context()); err == nil {
		t.Error("three empty sweeps are not an error")
	}
	if a := p.asked(); a["/markets/keyset"] != 0 || m.Status().Open != 4 {
		t.Errorf("a = %v, status = %+v", a, m.Status())
	}
}

// TestPagesOfOthersAreNotWritten: if filters are ignored, the response is refused.
func TestPagesOfOthersAreNotWritten(t *testing.T) {
	p := newPlace(t, 3)
	p.set(func() { p.foreign = true })
	m := p.lane(false)
	p.trade("1002")
	if err := m.Once(t.Context()); err == nil {
		t.Error("a page with other markets is accepted")
	}
	if s := m.Status(); s.Foreign == 0 || s.Tasks[0].Phase != follow.BackOff || s.Tasks[1].Phase != follow.Idle {
		t.Errorf("%+v", s)
	}
}

// TestRecordsThatCannotBeRead are counted by reason, and the others are written.
func TestRecordsThatCannotBeRead(t *testing.T) {
	p := newPlace(t, 3)
	p.set(func() { p.markets[1].odd = `{"id":"9","question":"draft","outcomes":"[]"}` })
	m := p.lane(false)
	p.once(m)
	p.want("with a draft", questions, "Q0?\nQ2?")
	if s := m.Status(); s.Rejected != 1 || s.Unknown["no_condition"] != 1 {
		t.Errorf("%+v", s)
	}
}

// TestListsAreReadOn: the reconciliation continues where a failure stopped it, and the CLOB's list
// from its last page.
func TestListsAreReadOn(t *testing.T) {
	markets := testfiles.Cases(10, 40)
	p := newPlace(t, markets)
	p.set(func() {
		for n := range markets {
			if n%2 == 0 {
				p.markets[n].closedAt = p.now.Add(-300 * 24 * time.Hour)
			}
		}
	})
	m := p.lane(true)
	failed := false
	for range 20 { // every tenth request fails, and the scan continues
		p.set(func() { p.fails = 0 })
		ctx, cancel := context.WithCancel(t.Context())
		if !failed {
			p.set(func() { p.fails = 1 })
		}
		err := m.Reconcile(ctx)
		cancel()
		if err == nil {
			break
		}
		failed = true
	}
	p.want("reconciled", "SELECT count(*) FROM markets", strconv.Itoa(markets))
	p.want("reconciled", "SELECT count(*) FROM markets WHERE closed", strconv.Itoa(markets/2))
	p.asked()
	if err := m.Reconcile(t.Context()); err != nil || p.asked()["/markets/keyset"] != 0 {
		t.Errorf("it begins again at once, %v", err)
	}
	p.later(8 * 24 * time.Hour)
	pages := 2 * ((markets/2 + 2) / 3) // three markets each, of the open ones and of the closed ones
	if err := m.Reconcile(t.Context()); err != nil || p.asked()["/markets/keyset"] != pages {
		t.Errorf("a week later: %v", err)
	}
	p.later(-300 * 24 * time.Hour)
	if err := m.Reconcile(t.Context()); err != nil || p.asked()["/markets/keyset"] != pages {
		t.Errorf("after a clock that was ahead: %v", err)
	}
	p.once(m)
	if n := p.asked()["/markets"]; n != markets/2 {
		t.Errorf("the list has %d pages", n)
	}
	var cursor string
	if err := json.Unmarshal([]byte(p.said("SELECT state FROM sync_cursor WHERE source = 'markets list'")), &cursor); err != nil ||
		cursor != base64.StdEncoding.EncodeToString([]byte(strconv.Itoa(markets-2))) {
		t.Errorf("the kept cursor is %q, %v", cursor, err)
	}
	p.set(func() { p.markets = append(p.markets, listed{question: "new?"}) })
	p.once(p.lane(true))
	if n := p.asked()["/markets"]; n != 2 {
		t.Errorf("what is new is found on %d pages", n)
	}
	p.want("the new one", "SELECT count(*) FROM markets WHERE question = 'new?'", "1")
}

// A catalogue that is silent, or has less than a fifth of its usual markets, is reported until it
// has all of them again.
func TestASilentOrThinCatalogueIsReported(t *testing.T) {
	p := newPlace(t, 11)
	m := p.lane(false)
	raised := func(what string, silent, few bool) {
		t.Helper()
		s := m.Status()
		told := s.Tell()
		if s.Silent != silent || s.Few != few || (told.State == serving.SourceStalled) != silent || told.Quiet != few {
			t.Errorf("%s: %+v", what, s)
		}
	}
	p.once(m)
	raised("at first", false, false)
	p.later(16 * time.Minute)
	raised("without a sweep", true, false)
	p.once(m)
	raised("behind a sweep", false, false)
	all := p.markets
	p.set(func() { p.markets = all[:2] })
	p.once(m)
	raised("with a few", false, true)
	p.set(func() { p.markets = all })
	p.once(m)
	raised("with all", false, false)
}
