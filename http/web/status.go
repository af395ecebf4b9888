package web

import (
	"fmt"
	"html/template"
	"time"

	"github.com/dustin/go-humanize"

	"pmx/engine/control/record"
	"pmx/http/wire"
)

// statusAge is how long, in seconds, a browser may cache the status page.
const statusAge = 5

// subsystem is one subsystem on the status page.
type subsystem struct {
	wire.Subsystem
	Key, Name, About string // Key is its name in the API
	Lag              string // in words
	Updated          string
	Day, Week        template.HTML // strips of grades
	Plot             template.HTML // lag over the day
}

// source is one followed source on the status page.
type source struct {
	wire.FollowedSource
	Lag, Updated                string // in words
	Percent                     int    // of a catch-up
	Remaining                   string // time left; "" if not known
	Rows, Requests, Retries     string
	Missing, Throttled, Unknown string
	Asked                       []askedHost
	Day                         template.HTML
	Plot                        template.HTML
}

// askedHost is one host of a source, on the status page.
type askedHost struct {
	Name, State, Answered string
	Fails                 bool
}

// status is the content of the status page.
type status struct {
	frame
	Grade, Verdict string
	Detail         *string
	Checked        string
	Historical     string // the last day of a historical venue; "" for others
	Subsystems     []subsystem
	Sources        []source
	Scale          []string
}

// Status makes the status page from the current state and the samples before it, oldest first.
func (s *Site) Status(now wire.PublicStatus, history []record.Status) (*Page, error) {
	names := [3]string{"Serving tables", "Trades", "Markets"}
	keys := [3]string{"serving_tables", "trades", "markets"}
	about := [3]string{"The data that requests are answered from.", "The newest fill.", "Markets and their resolutions."}
	at := now.CheckedAt
	page := status{
		frame: s.plainFrame("Status"), Grade: now.Grade, Verdict: verdict(now.Grade), Detail: now.Detail,
		Checked: at.Format("2 January 2006, 15:04:05 UTC"), Scale: []string{"A", "B", "C", "D", "F"},
	}
	page.Area, page.Module, page.Loads = "/status", "status.js", s.assets.loads["status.js"]
	if now.Historical && now.Trades.AsOf != nil {
		page.Historical = now.Trades.AsOf.UTC().Format("2 January 2006")
	}
	for i, sub := range []wire.Subsystem{now.ServingTables, now.Trades, now.Markets} {
		p := subsystem{Subsystem: sub, Key: keys[i], Name: names[i], About: about[i], Lag: lagText(sub.LagSeconds), Updated: changeText(sub.UpdatedAt)}
		p.Day = strip(history, subsystemSeries(i), at, 24*time.Hour, dayBuckets)
		p.Week = strip(history, subsystemSeries(i), at, 7*24*time.Hour, weekBuckets)
		p.Plot = plot(history, subsystemSeries(i), at)
		page.Subsystems = append(page.Subsystems, p)
	}
	for i := range now.Sources {
		page.Sources = append(page.Sources, sourceOf(&now.Sources[i], history, at))
	}
	body, err := s.render("status", page)
	if err != nil {
		return nil, fmt.Errorf("status page: %w", err)
	}
	return newPage(htmlType, body, statusAge), nil
}

// sourceOf describes a source and its history.
func sourceOf(s *wire.FollowedSource, history []record.Status, at time.Time) source {
	past := sourceSeries(s.Name)
	out := source{
		FollowedSource: *s, Lag: lagText(s.LagSeconds), Updated: changeText(s.UpdatedAt), Rows: humanize.Comma(s.Rows), Requests: humanize.Comma(s.Requests),
		Retries: humanize.Comma(s.Retries), Missing: humanize.Comma(s.Missing), Unknown: humanize.Comma(s.Unknown),
		Throttled: durationText(time.Duration(s.ThrottledSeconds * float64(time.Second))),
		Day:       strip(history, past, at, 24*time.Hour, dayBuckets), Plot: plot(history, past, at),
	}
	for _, h := range s.Hosts {
		out.Asked = append(out.Asked, askedHost{Name: h.Name, State: hostText(h.State), Answered: changeText(h.AnsweredAt), Fails: h.State == "fails" || h.State == "blocked"})
	}
	if s.Progress != nil {
		out.Percent = int(100 * *s.Progress)
	}
	if s.RemainingSeconds != nil {
		out.Remaining = durationText(time.Duration(*s.RemainingSeconds) * time.Second)
	}
	return out
}

// hostText returns the state of a host in words.
func hostText(state string) string {
	switch state {
	case "unasked":
		return "has not been used yet"
	case "fails":
		return "does not answer"
	case "throttled":
		return "limits the rate of requests"
	case "blocked":
		return "refuses the server"
	}
	return state
}

// lagText returns a lag in words.
func lagText(seconds *int64) string {
	if seconds == nil {
		return "nothing yet"
	}
	return durationText(time.Duration(*seconds) * time.Second)
}

// changeText returns the time of a change as text.
func changeText(at *time.Time) string {
	if at == nil {
		return "never"
	}
	return at.Format("2 Jan 15:04:05 UTC")
}

// verdict returns the worst grade in words.
func verdict(grade string) string {
	switch grade {
	case "A":
		return "Everything is fresh"
	case "B":
		return "Something is a little behind"
	case "C":
		return "Something is behind"
	case "D":
		return "Something is far behind"
	}
	return "Something is out of date"
}

// durationText returns a duration in its two largest units: 3 d 4 h.
func durationText(d time.Duration) string {
	units := []struct {
		name string
		size time.Duration
	}{{"d", 24 * time.Hour}, {"h", time.Hour}, {"min", time.Minute}, {"s", time.Second}}
	for i, u := range units {
		n := d / u.size
		if n == 0 && i < len(units)-1 {
			continue
		}
		text := fmt.Sprintf("%d %s", n, u.name)
		if i+1 < len(units) {
			if rest := (d % u.size) / units[i+1].size; rest > 0 {
				text += fmt.Sprintf(" %d %s", rest, units[i+1].name)
			}
		}
		return text
	}
	return "0 s"
}
