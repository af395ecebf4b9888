package api

import (
	"context"
	"strconv"
	"time"

	"github.com/gofiber/fiber/v2"

	"pmx/http/access"
	"pmx/http/wire"
)

// accountTimeout bounds the read of an account: Fiber does not tell when a
// client goes away.
const accountTimeout = 2 * time.Second

func accountRoutes() []Route {
	return []Route{{
		Method: fiber.MethodGet, Path: "/me", Section: wire.Status,
		Summary: "Your key: plan, limits, what is left of them, and usage", serve: (*API).account, Reply: wire.Undated[wire.Account]{},
		Doc: "Usage is counted when a request arrives and written down every few seconds; requests just before midnight may count " +
			"for the day after. Details by endpoint are kept for 90 days.",
	}}
}

// endpointNames are what usage of the routes is counted under, in their order.
func endpointNames(routes []Route) []string {
	names := make([]string, len(routes))
	for i := range routes {
		names[i] = routes[i].Method + " " + routes[i].Path
	}
	return names
}

// account answers GET /me.
func (a *API) account(c *fiber.Ctx, call *Call) error {
	ctx, cancel := context.WithTimeout(context.Background(), accountTimeout)
	defer cancel()
	known, err := a.gate.Account(ctx, call.key, call.Start)
	if err != nil {
		return err
	}
	b := a.envelopes.append(append(call.buf[:0], '{'), envelope{tier: call.tier})
	mark := len(b)
	b = appendString(append(b, `,"data":{"key_id":`...), call.KeyID())
	b = appendString(append(b, `,"label":`...), known.Label)
	b = appendString(append(b, `,"tier":`...), call.Plan())
	b = appendTime(append(b, `,"created_at":`...), known.CreatedAt)
	b = appendLimits(append(b, `,"limits":`...), call.tier.Caps())
	b = appendWindow(append(b, `,"window":`...), &call.window)
	b = appendUsage(append(b, `,"usage":`...), call.Start, known.Usage)
	call.buf = append(b, '}')
	return a.finishReply(c, call, mark, mark, statusAge)
}

// appendLimits writes wire.AccountLimits.
func appendLimits(b []byte, caps access.Caps) []byte {
	b = strconv.AppendInt(append(b, `{"requests_per_minute":`...), int64(caps.Rate), 10)
	b = append(b, `,"history_days":`...)
	if caps.HistoryDays == 0 {
		b = append(b, "null"...)
	} else {
		b = strconv.AppendInt(b, int64(caps.HistoryDays), 10)
	}
	b = strconv.AppendInt(append(b, `,"rows":`...), int64(caps.Rows), 10)
	b = strconv.AppendInt(append(b, `,"compare_wallets":`...), int64(caps.Compare), 10)
	return append(appendBool(append(b, `,"export":`...), caps.Export), '}')
}

// appendWindow writes wire.AccountWindow.
func appendWindow(b []byte, w *access.Window) []byte {
	b = strconv.AppendInt(append(b, `{"used":`...), int64(w.Limit-w.Remaining), 10)
	b = strconv.AppendInt(append(b, `,"remaining":`...), int64(w.Remaining), 10)
	b = appendTime(append(b, `,"reset_at":`...), time.Unix(w.ResetAt, 0))
	b = strconv.AppendInt(append(b, `,"reset_seconds":`...), int64(w.ResetIn), 10)
	return append(b, '}')
}

// appendUsage writes wire.AccountUsage out of usage by day, newest first.
func appendUsage(b []byte, now time.Time, usage []access.Usage) []byte {
	var all int64
	for _, u := range usage {
		all += u.Requests
	}
	b = appendString(append(b, `{"since":`...), now.UTC().AddDate(0, 0, 1-access.UsageDays).Format(time.DateOnly))
	b = strconv.AppendInt(append(b, `,"requests":`...), all, 10)
	b = append(b, `,"days":[`...)
	for i := 0; i < len(usage); {
		end := i
		var sum int64
		for ; end < len(usage) && usage[end].Day == usage[i].Day; end++ {
			sum += usage[end].Requests
		}
		if i > 0 {
			b = append(b, ',')
		}
		b = appendString(append(b, `{"date":`...), usage[i].Day)
		b = strconv.AppendInt(append(b, `,"requests":`...), sum, 10)
		b = append(b, `,"endpoints":[`...)
		for j := i; j < end; j++ {
			if j > i {
				b = append(b, ',')
			}
			b = appendText(append(b, `{"endpoint":`...), usage[j].Endpoint)
			b = append(strconv.AppendInt(append(b, `,"requests":`...), usage[j].Requests, 10), '}')
		}
		b = append(b, "]}"...)
		i = end
	}
	return append(b, "]}"...)
}
