package api

import (
	"slices"
	"strings"
	"time"

	"github.com/gofiber/fiber/v2"

	"pmx/data"
	"pmx/engine/control/record"
	"pmx/http/wire"
)

const (
	secondsPerDay    = 24 * 60 * 60
	secondsPerSample = int64(sampleEvery / time.Second)
)

// historyDays is the parameter of GET /status/history.
var historyDays = &Param{Name: "days", Kind: Integer, Default: "90", Min: 1, Max: StatusDays, Doc: "number of UTC days, including today"}

func statusHistoryRoute() Route {
	return Route{
		Method: fiber.MethodGet, Path: "/status/history", Section: wire.Status, Public: true, Params: []*Param{historyDays},
		Summary: "Grades of every subsystem by day, and what happened", serve: (*API).statusHistory, Reply: wire.StatusHistory{},
		Doc: "A sample is taken every minute. `seconds` says how long each grade was sampled on a day; `none` is the time without samples, " +
			"because the server did not run or did not exist yet. That time does not count as up: `current_pct` is the share of the sampled " +
			"seconds with the grade A or B. `data` has the subsystems, then the sources that were followed on these days; every one has a row " +
			"for each day, oldest first. `events` are newest first, at most 1,000: grades of C or worse, imports of files, failed refreshes, " +
			"verifications, starts and stops. Data from followed sources is not listed as an import. A server that follows another one " +
			"shows the history of that server, up to the newest state that it has fetched from it.",
	}
}

// statusHistory answers GET /status/history.
func (a *API) statusHistory(c *fiber.Ctx, call *Call) error {
	asOf := []byte("null")
	if v := a.published.Load(); v != nil {
		asOf = v.asOf
	}
	body := a.days.reply(call.Start, call.number(historyDays))
	mark, start := a.beginReply(call, asOf, envelope{tier: call.tier, maxRows: noRows})
	call.buf = append(call.buf, body...)
	return a.finishReply(c, call, mark, start, statusAge)
}

// reply returns the members of wire.StatusHistory after as_of, with a leading comma. It must not be
// changed.
func (h *statusDays) reply(now time.Time, n int) []byte {
	minute := now.Unix() / secondsPerSample
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.encoded == nil || h.made != minute {
		h.encoded, h.made = map[int][]byte{}, minute
	}
	if body, made := h.encoded[n]; made {
		return body
	}
	today := now.UTC().Truncate(24 * time.Hour)
	days := make([]time.Time, n)
	for i := range days {
		days[i] = today.AddDate(0, 0, i+1-n)
	}
	out := wire.StatusHistory{SampleSeconds: secondsPerSample, Days: n, Events: h.eventsSince(days[0]), Data: []wire.GradeHistory{}}
	for _, name := range h.subsystems(dayText(days[0])) {
		out.Data = append(out.Data, h.historyOf(name, days, minute*secondsPerSample))
	}
	h.encoded[n] = membersOf(statusHistoryMembers{out.SampleSeconds, out.Days, out.Events, out.Data})
	return h.encoded[n]
}

// statusHistoryMembers are the members of wire.StatusHistory after as_of.
type statusHistoryMembers struct {
	SampleSeconds int64               `json:"sample_seconds"`
	Days          int                 `json:"days"`
	Events        []wire.StatusEvent  `json:"events"`
	Data          []wire.GradeHistory `json:"data"`
}

// subsystems lists the subsystems, and the sources with any data from a day on.
func (h *statusDays) subsystems(first string) []string {
	all := []string{servingRule.name, tradesRule.name, marketsRule.name}
	own := len(all)
	for k := range h.days {
		if strings.HasPrefix(k.subsystem, sourcePrefix) && k.day >= first && !slices.Contains(all, k.subsystem) {
			all = append(all, k.subsystem)
		}
	}
	slices.Sort(all[own:])
	return all
}

// historyOf is the history of a subsystem or source up to now, in unix seconds.
func (h *statusDays) historyOf(name string, days []time.Time, now int64) wire.GradeHistory {
	out := wire.GradeHistory{Part: name, Days: make([]wire.StatusDay, len(days))}
	var good, sampled int64
	for i, day := range days {
		row, known := h.days[statusKey{dayText(day), name}]
		d := wire.StatusDay{Date: dayText(day)}
		worst, all := -1, int64(0)
		for place, to := range []*int64{&d.Seconds.A, &d.Seconds.B, &d.Seconds.C, &d.Seconds.D, &d.Seconds.F} {
			*to = row.Minutes[place] * secondsPerSample
			all += *to
			if *to > 0 {
				worst = place
			}
		}
		good, sampled = good+d.Seconds.A+d.Seconds.B, sampled+all
		d.Seconds.None = max(0, min(now-day.Unix(), secondsPerDay)-all)
		if worst >= 0 {
			d.Worst = new(grades[worst : worst+1])
		}
		if known && row.LagMax >= 0 {
			d.LagMaxSeconds = &row.LagMax
		}
		out.Days[i] = d
	}
	if pct, any := data.Ratio(100*data.Micro(good), data.Micro(sampled)); any {
		out.CurrentPct = &pct
	}
	return out
}

// eventsSince returns the events that were not over at a time, newest first.
func (h *statusDays) eventsSince(first time.Time) []wire.StatusEvent {
	out := []wire.StatusEvent{}
	for _, e := range slices.Backward(h.events) {
		if goesOn := e.Until.IsZero() && (e.Kind == eventGrade || e.Kind == eventRefresh); goesOn || !laterOf(e.At, e.Until).Before(first) {
			out = append(out, eventReply(&e))
		}
	}
	return out
}

func eventReply(e *record.StatusEvent) wire.StatusEvent {
	out := wire.StatusEvent{At: e.At, Until: timeOrNull(e.Until), Kind: e.Kind, Part: textOrNull(e.Subsystem), Text: e.Text}
	if e.Grade != 0 {
		out.Grade = new(string(rune(e.Grade)))
	}
	return out
}
