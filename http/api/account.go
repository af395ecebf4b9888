package api

import (
	"context"
	"time"

	"github.com/gofiber/fiber/v2"

	"pmx/engine/control/record"
	"pmx/http/access"
	"pmx/http/wire"
)

// accountTimeout bounds the read of an account: Fiber does not report when a client disconnects.
const accountTimeout = 2 * time.Second

func accountRoutes() []Route {
	return []Route{{
		Method: fiber.MethodGet, Path: "/me", Section: wire.Status,
		Summary: "Your key: plan, limits, remaining requests, and usage", serve: (*API).account, Reply: wire.Undated[wire.Account]{},
		Doc: "Usage is counted when a request arrives and is saved every few seconds; requests just before midnight may count for " +
			"the next day. Details by endpoint are kept for 90 days. If the operator opened the pages of the server to everybody, they " +
			"may send the request without a key: the response then has the limits per client address, and no usage.",
	}}
}

// endpointNames are the names under which usage of the routes is counted, in their order.
func endpointNames(routes []Route) []string {
	names := make([]string, len(routes))
	for i := range routes {
		names[i] = routes[i].Method + " " + routes[i].Path
	}
	return names
}

// account answers GET /me.
func (a *API) account(c *fiber.Ctx, call *Call) error {
	caps, w := call.tier.Caps(), &call.window
	out := wire.Account{
		Tier:   call.Plan(),
		Limits: wire.AccountLimits{RequestsPerMinute: w.Limit, Rows: caps.Rows, CompareWallets: caps.Compare, Export: caps.Export},
		Window: wire.AccountWindow{Used: w.Limit - w.Remaining, Remaining: w.Remaining, ResetAt: time.Unix(w.ResetAt, 0).UTC(), ResetSeconds: w.ResetIn},
		Usage:  usageOf(call.Start, nil),
	}
	if caps.HistoryDays > 0 {
		out.Limits.HistoryDays = &caps.HistoryDays
	}
	if !call.guest {
		ctx, cancel := context.WithTimeout(context.Background(), accountTimeout)
		defer cancel()
		known, err := a.gate.Account(ctx, call.key, call.Start)
		if err != nil {
			return err
		}
		out.KeyID, out.Label, out.CreatedAt = new(call.KeyID()), &known.Label, new(wholeSeconds(known.CreatedAt))
		out.ExpiresAt, out.Usage = timeOrNull(known.ExpiresAt), usageOf(call.Start, known.Usage)
	}
	b := a.envelopes.append(append(call.buf[:0], '{'), envelope{tier: call.tier})
	mark := len(b)
	call.buf = append(b, dataOf(out)...)
	return a.finishReply(c, call, mark, mark, statusAge)
}

// usageOf is usage by day, newest first.
func usageOf(now time.Time, usage []record.Usage) wire.AccountUsage {
	out := wire.AccountUsage{Since: now.UTC().AddDate(0, 0, 1-access.UsageDays).Format(time.DateOnly), Days: []wire.AccountDay{}}
	for _, u := range usage {
		if n := len(out.Days); n == 0 || out.Days[n-1].Date != u.Day {
			out.Days = append(out.Days, wire.AccountDay{Date: u.Day})
		}
		day := &out.Days[len(out.Days)-1]
		day.Endpoints = append(day.Endpoints, wire.AccountEndpoint{Endpoint: textOrNull(u.Endpoint), Requests: u.Requests})
		day.Requests += u.Requests
		out.Requests += u.Requests
	}
	return out
}
