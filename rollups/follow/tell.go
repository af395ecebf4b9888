package follow

import (
	"context"
	"database/sql"
	"embed"
	"fmt"
	"slices"
	"sync/atomic"
	"time"

	"github.com/rs/zerolog"

	"pmx/data/upstream/channel"
	"pmx/data/upstream/fetch"
	"pmx/engine/guard"
	"pmx/engine/statement"
	"pmx/rollups/serving"
)

//go:embed sql/tell.sql
var tellSQL embed.FS

var tellStatements = statement.MustLoad(tellSQL)

// Teller collects the status of all sources for that of a server. Lanes must be added before
// Sources is called.
type Teller struct {
	Venue Venue
	Log   zerolog.Logger
	Now   func() time.Time // nil: time.Now

	lanes []func() []serving.Source
	hosts map[string][]Asked
	quiet atomic.Bool
	said  map[string]string // what was last logged, by source
}

// Add adds a lane. tell returns its sources; their names must not change.
func (t *Teller) Add(tell func() []serving.Source) { t.lanes = append(t.lanes, tell) }

// Asked is a host that a source uses: a *fetch.Host, or a *fetch.Caller if others use it, too.
type Asked interface{ Stats() fetch.Stats }

// Asks sets the hosts that a source uses. Their requests, retries and pauses count as the source's.
func (t *Teller) Asks(source string, hosts ...Asked) {
	if t.hosts == nil {
		t.hosts = map[string][]Asked{}
	}
	t.hosts[source] = append(t.hosts[source], hosts...)
}

// Sources returns the status of every source, in the order in which they were added.
func (t *Teller) Sources() []serving.Source {
	var all []serving.Source
	for _, tell := range t.lanes {
		all = append(all, tell()...)
	}
	for i := range all {
		s := &all[i]
		if hosts := t.hosts[s.Name]; len(hosts) > 0 {
			s.Requests = 0
			for _, h := range hosts {
				stats := h.Stats()
				for _, n := range stats.Requests {
					s.Requests += n
				}
				s.Retries += stats.Retries
				s.Throttled += stats.Throttled
				addHost(s, stats)
			}
		}
		if s.Name == chainSource {
			s.Quiet = t.quiet.Load()
		}
	}
	return all
}

// addHost adds the state of a host. A worse state that the source itself reports is kept.
func addHost(s *serving.Source, stats fetch.Stats) {
	own := serving.SourceHost{Name: stats.Name, State: hostState(&stats), Answered: stats.LastSuccess.UTC(), Requests: stats.Requests}
	at := slices.IndexFunc(s.Hosts, func(h serving.SourceHost) bool { return h.Name == stats.Name })
	if at < 0 {
		s.Hosts = append(s.Hosts, own)
		return
	}
	if (own.State == serving.HostAnswers || own.State == serving.HostUnasked) && s.Hosts[at].State == serving.HostFails {
		own.State = serving.HostFails
	}
	own.Answered = s.Hosts[at].Answered
	s.Hosts[at] = own
}

// hostState returns the state of a host as named in pages and metrics.
func hostState(s *fetch.Stats) serving.HostState {
	switch {
	case s.State == fetch.Throttled:
		return serving.HostThrottled
	case s.State == fetch.Blocked:
		return serving.HostBlocked
	case s.State != fetch.Ready:
		return serving.HostFails
	case len(s.Requests) == 0:
		return serving.HostUnasked
	}
	return serving.HostAnswers
}

// lookEvery is the interval of looks whether the venue is quiet and what has changed in the
// sources.
const lookEvery = time.Minute

// Run checks at intervals, until ctx ends, whether the venue is unusually quiet, and logs when
// problems of a source begin, change and end.
func (t *Teller) Run(ctx context.Context) error {
	for ctx.Err() == nil {
		if err := t.Look(ctx); err != nil && ctx.Err() == nil {
			t.Log.Warn().Err(err).Msg("could not determine how busy the venue is")
		}
		if guard.Sleep(ctx, lookEvery) != nil {
			return nil
		}
	}
	return nil
}

// Look does once what Run does at intervals.
func (t *Teller) Look(ctx context.Context) error {
	err := t.lookQuiet(ctx)
	if t.said == nil {
		t.said = map[string]string{}
	}
	for _, s := range t.Sources() {
		now := trouble(s)
		was := t.said[s.Name]
		if now == was {
			continue
		}
		t.said[s.Name] = now
		if now == "" {
			t.Log.Info().Str("source", s.Name).Msg("source_recovered")
			continue
		}
		t.Log.Error().Str("source", s.Name).Str("state", string(s.State)).Bool("quiet", s.Quiet).Time("as_of", s.AsOf).Str("problem", s.Problem).Msg("source_in_trouble")
	}
	return err
}

// trouble returns what an operator should know about a source; "" for nothing.
func trouble(s serving.Source) string {
	switch {
	case s.State == serving.SourceStalled, s.State == serving.SourceQuarantine:
		return string(s.State)
	case s.Quiet:
		return "quiet"
	}
	return ""
}

// The minimum and maximum number of days from which an hour's usual number of fills is computed,
// and the minimum usual number for a comparison.
const (
	leastDays, mostDays = 3, 14
	leastFills          = 20
	quietShare          = 5 // an hour with less than a fifth is quiet
)

// lookQuiet compares the last complete hour with the same hour of previous days.
func (t *Teller) lookQuiet(ctx context.Context) error {
	now := time.Now
	if t.Now != nil {
		now = t.Now
	}
	hour := now().Unix()/3600 - 1
	if !t.whole((hour + 1) * 3600) {
		return nil // missing blocks show in the lag
	}
	fills := map[int64]int64{}
	first := hour
	err := t.Venue.Read(ctx, func(conn *sql.Conn) error {
		return eachRow(ctx, conn, func(rows *sql.Rows) error {
			var h, n int64
			if err := rows.Scan(&h, &n); err != nil {
				return err
			}
			fills[h], first = n, min(first, h)
			return nil
		}, tellStatements.Get("HourlyFills"), hour-24*mostDays, hour)
	})
	if err != nil {
		return fmt.Errorf("read the hours: %w", err)
	}
	t.quiet.Store(isQuiet(hour, first, fills))
	return nil
}

// whole reports whether the chain is committed up to a time, unix seconds; false if no chain is
// followed.
func (t *Teller) whole(until int64) bool {
	for _, tell := range t.lanes {
		for _, s := range tell() {
			if s.Name == chainSource {
				return !s.AsOf.IsZero() && s.AsOf.Unix() >= until
			}
		}
	}
	return false
}

// isQuiet reports whether an hour has less than a fifth of the median of the same hour of previous
// days; first is the first hour with data.
func isQuiet(hour, first int64, fills map[int64]int64) bool {
	var same []int64
	for day := int64(1); day <= mostDays && hour-24*day >= first; day++ {
		same = append(same, fills[hour-24*day])
	}
	if len(same) < leastDays {
		return false
	}
	slices.Sort(same)
	usual := same[(len(same)-1)/2]
	return usual >= leastFills && fills[hour]*quietShare < usual
}

// Tell returns the lane's status for pages and metrics.
func (s *ChainStatus) Tell() serving.Source {
	out := serving.Source{
		Name: chainSource, State: stateOf(s.Phase), AsOf: s.AsOf, Changed: s.LastCommit, Rows: s.Fills, Missing: s.GapBlocks,
		Bounds: [4]time.Duration{time.Minute, 10 * time.Minute, time.Hour, 24 * time.Hour}, CatchingUp: s.CatchingUp, Progress: s.Progress,
		Remaining: time.Duration(s.Remaining * float64(time.Second)), Unknown: total(s.Unknown),
	}
	fail := 0
	for _, n := range s.Nodes {
		h := serving.SourceHost{Name: n.Name, State: serving.HostAnswers, Answered: n.LastGood.UTC()}
		switch {
		case n.State == BackOff:
			h.State = serving.HostFails
			fail++
		case n.LastGood.IsZero():
			h.State = serving.HostUnasked
		}
		out.Hosts = append(out.Hosts, h)
	}
	switch {
	case s.Refused != "":
		out.Problem = "Received blocks cannot be stored in the database: the server's log says why."
	case len(s.Held) > 0:
		out.Problem = fmt.Sprintf("%s of blocks held back, because nodes disagree or returned incomplete logs: pmx sync status lists them.", plural(len(s.Held), "range"))
	case s.Error != "" && fail == 0:
		out.Problem = "The last request failed: pmx sync status and the server's log say why."
	case s.Error != "" && fail < len(s.Nodes):
		out.Problem = fmt.Sprintf("%d of %s work: pmx sync status and the server's log say what is wrong with the others.", len(s.Nodes)-fail, plural(len(s.Nodes), "node"))
	case s.Error != "":
		out.Problem = "No node works: pmx sync status and the server's log say why."
	}
	return out
}

// Tell returns the lane's status for pages and metrics.
func (s *MarketsStatus) Tell() serving.Source {
	out := serving.Source{
		Name: "markets", State: serving.SourceIdle, AsOf: s.Swept, Rows: s.New + s.Changed, Unknown: total(s.Unknown) + s.Foreign + s.Loops + s.Odd,
		Bounds: [4]time.Duration{15 * time.Minute, time.Hour, 6 * time.Hour, 24 * time.Hour}, Quiet: s.Few,
	}
	if s.Silent {
		out.State = serving.SourceStalled
	}
	for _, task := range s.Tasks {
		if state := stateOf(task.Phase); severity(state) > severity(out.State) {
			out.State = state
		}
		if task.LastGood.After(out.Changed) {
			out.Changed = task.LastGood
		}
		if task.Error != "" && out.Problem == "" {
			out.Problem = fmt.Sprintf("The task %q failed and is tried again: pmx sync status and the server's log say why.", task.Name)
		}
	}
	return out
}

// stateOf returns a phase as named in pages and metrics.
func stateOf(p Phase) serving.SourceState {
	switch p {
	case Idle:
		return serving.SourceIdle
	case BackOff:
		return serving.SourceWaiting
	case Quarantine:
		return serving.SourceQuarantine
	case Stalled:
		return serving.SourceStalled
	case Stopped:
		return serving.SourcePaused
	}
	return serving.SourceFetching
}

// severity orders states: if a source has several, the most severe one is shown.
func severity(s serving.SourceState) int {
	return slices.Index([]serving.SourceState{serving.SourceIdle, serving.SourceFetching, serving.SourceWaiting, serving.SourceQuarantine, serving.SourceStalled,
		serving.SourcePaused}, s)
}

func total(counts map[string]int64) (n int64) {
	for _, c := range counts {
		n += c
	}
	return n
}

func plural(n int, what string) string {
	if n == 1 {
		return "1 " + what
	}
	return fmt.Sprintf("%d %ss", n, what)
}

// Tell returns the source's status for pages and metrics. Its data is complete up to its last
// response; it is late if more than one response is missing.
func (s *WeatherStatus) Tell() serving.Source {
	out := serving.Source{
		Name: "weather " + s.Source, State: stateOf(s.Phase), AsOf: s.LastAnswer, Changed: s.LastNew, Rows: s.Rows, Requests: s.Asked, Unknown: total(s.Unknown),
		Bounds: [4]time.Duration{s.every + s.every/2, 3 * s.every, 6 * s.every, 12 * s.every}, Quiet: s.Sparse,
	}
	if s.Error != "" {
		out.Problem = "Requests to the source fail and are repeated: pmx sync status and the server's log say why."
	}
	return out
}

// Tell returns the lane's status for pages and metrics. Its data is as new as the newest quote.
func (s *QuotesStatus) Tell() serving.Source {
	out := serving.Source{
		Name: "quotes", State: stateOf(s.Phase), AsOf: s.AsOf, Changed: s.AsOf, Rows: s.Told, Requests: s.Polls,
		Bounds: [4]time.Duration{2 * time.Minute, 10 * time.Minute, time.Hour, 24 * time.Hour},
	}
	for i := range s.Channels {
		addChannel(&out, &s.Channels[i])
	}
	if s.Error != "" {
		out.Problem = "Quotes could not be shown or polled; this is tried again: pmx sync status and the server's log say why."
	}
	return out
}

// addChannel adds the state of a connection.
func addChannel(s *serving.Source, c *channel.Stats) {
	s.Unknown += total(c.Unknown) + c.Bad
	h := serving.SourceHost{Name: c.Name, State: serving.HostAnswers, Answered: c.LastAt.UTC()}
	if c.State != channel.Following {
		h.State = serving.HostFails
	}
	s.Hosts = append(s.Hosts, h)
}
