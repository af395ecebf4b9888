package api

import (
	"context"
	"sync"
	"time"

	"github.com/gofiber/fiber/v2"

	"pmx/http/wire"
	"pmx/rollups/serving"
)

const (
	pingEvery   = time.Second // the database is pinged at most this often
	pingTimeout = 2 * time.Second
	// statusAge is the max-age of responses that depend on the wall clock.
	statusAge = 1
)

// pinger checks whether the database answers, for any number of concurrent callers but at most
// every pingEvery.
type pinger struct {
	ping func(context.Context) error
	busy sync.Mutex
	at   time.Time
	err  error
}

func (p *pinger) check(now time.Time) error {
	p.busy.Lock()
	defer p.busy.Unlock()
	if age := now.Sub(p.at); !p.at.IsZero() && age >= 0 && age < pingEvery {
		return p.err
	}
	// Fiber does not report when a client disconnects, so a deadline has to do.
	ctx, cancel := context.WithTimeout(context.Background(), pingTimeout)
	defer cancel()
	p.err, p.at = p.ping(ctx), now
	return p.err
}

func statusRoutes() []Route {
	return []Route{
		{
			Method: fiber.MethodGet, Path: "/health", Section: wire.Status, Public: true,
			Summary: "Liveness and database reachability", serve: (*API).health, Reply: wire.One[wire.Health]{}, Codes: []string{"not_ready"},
		},
		{
			Method: fiber.MethodGet, Path: "/status", Section: wire.Status, Public: true,
			Summary: "Alias of /health", serve: (*API).health, Reply: wire.One[wire.Health]{}, Codes: []string{"not_ready"},
		},
		{
			Method: fiber.MethodGet, Path: "/status/public", Section: wire.Status, Public: true,
			Summary: "Freshness grade of every subsystem", serve: (*API).publicStatus, Reply: wire.One[wire.PublicStatus]{},
		},
		statusHistoryRoute(),
	}
}

// health answers GET /health and its alias GET /status.
func (a *API) health(c *fiber.Ctx, call *Call) error {
	if err := a.pinger.check(call.Start); err != nil {
		return notReady("The database is not responding. Retry after the number of seconds in Retry-After.", 5)
	}
	fresh, asOf := a.source.Freshness(), []byte("null")
	h := wire.Health{Status: "starting", Database: "ok", Version: a.version, UptimeSeconds: int64(call.Start.Sub(a.started) / time.Second),
		LastCycle: wire.LastCycle{FinishedAt: timeOrNull(fresh.LastCycle), FailedAt: timeOrNull(fresh.LastFailure)}}
	if !fresh.LastCycle.IsZero() || !fresh.LastFailure.IsZero() {
		h.LastCycle.OK = new(fresh.FailureText == "")
	}
	if v := a.published.Load(); v != nil {
		asOf, h.Epoch, h.Status = v.asOf, &v.snap.Epoch, "ok"
		if fresh.FailureText != "" || failureText(fresh, a.watch) != "" {
			h.Status = "degraded"
		}
	}
	mark, start := a.beginObject(call, asOf)
	call.buf = appendJSON(call.buf, h)
	return a.finishReply(c, call, mark, start, statusAge)
}

// publicStatus answers GET /status/public.
func (a *API) publicStatus(c *fiber.Ctx, call *Call) error {
	asOf := []byte("null")
	if v := a.published.Load(); v != nil {
		asOf = v.asOf
	}
	mark, start := a.beginObject(call, asOf)
	call.buf = appendJSON(call.buf, a.statusAt(call.Start))
	return a.finishReply(c, call, mark, start, statusAge)
}

// gradeAll grades every subsystem at now; newest is the time of the newest fill, trouble the result
// of failureText. With historical, trades and markets are graded as they were at the time of the
// newest fill.
func gradeAll(f serving.Freshness, trouble string, newest, now time.Time, historical bool) [3]subsystem {
	trades, markets, present := &tradesRule, &marketsRule, now
	if historical {
		trades, markets = historicalTrades, historicalMarkets
		if !newest.IsZero() {
			present = newest
		}
	}
	subsystems := [3]subsystem{
		{rule: &servingRule, asOf: f.LastCycle, updated: f.LastCycle, pending: f.Stale, failed: f.FailureText != "" || trouble != "", trouble: trouble},
		{rule: trades, asOf: newest, updated: f.LastFills},
		{rule: markets, asOf: f.LastMarkets, updated: f.LastMarkets},
	}
	subsystems[0].computeGrade(now)
	subsystems[1].computeGrade(present)
	subsystems[2].computeGrade(present)
	return subsystems
}
