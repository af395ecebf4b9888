package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"maps"
	"net"
	"net/http"
	"slices"
	"strings"
	"time"

	"pmx/data"
	"pmx/data/sample"
	"pmx/engine/guard"
	"pmx/http/replay"
)

// ReplayCmd simulates the sources of a synthetic venue.
type ReplayCmd struct {
	Listen    string    `help:"Address to listen on." default:"127.0.0.1:8091" placeholder:"HOST:PORT"`
	Fills     int64     `help:"Number of fills." default:"200000"`
	VenueSeed uint64    `help:"Seed of the venue; each gives a different one." default:"0"`
	End       time.Time `help:"Time of the venue's newest data, RFC 3339, on a whole hour; by default a day from now." placeholder:"TIME"`
	Start     time.Time `help:"Initial time of the clock, RFC 3339; by default now, or a day before --end if that is given." placeholder:"TIME"`
	Speed     float64   `help:"Seconds of the clock per second." default:"1"`
	Finality  int64     `help:"Blocks between the newest and the newest final one." default:"16"`
	MaxRange  int64     `help:"Maximum number of blocks in eth_getLogs." default:"10000"`
	MaxLogs   int       `help:"Maximum number of logs in eth_getLogs." default:"20000"`
	Faults    []string  `help:"Faults to make: all, none, or names of the list above, as [SOURCE=]NAME[:NUMBER]." default:"none" placeholder:"NAME"`
	FaultRate float64   `help:"Share of the requests that have a fault, 0 to 1." default:"0.1"`
	Seed      uint64    `help:"Seed of the faults." default:"0"`
	WriteLogs string    `help:"Write all logs of the venue as NDJSON, for pmx import, and exit." type:"path" placeholder:"FILE"`
}

// Help is the longer help.
func (ReplayCmd) Help() string {
	var b strings.Builder
	b.WriteString(`Serves the APIs of all sources that pmx sync follows. The data of all of them is one made-up venue:

  /rpc, /rpc/NAME           nodes of the chain; each name is a separate node
  /gamma, /clob, /data      the venue's catalogue, order books and data API
  /ws/market, /rtds         its websockets
  /openmeteo, /metar, /nws  the weather; /openmeteo/ensemble, /archive and /previous are separate services
  /replay                   GET: the clock and the faults so far; POST: change them

Blocks, trades and model runs appear as the clock passes them. The clock starts at --start and runs at --speed. A day in a
quarter of an hour, with two nodes, one of which loses logs:

  pmx replay --speed 96 --faults rpc/2=lost-logs,rpc/2=lagging-node --fault-rate 0.3
  curl -X POST 'localhost:8091/replay?source=gamma&faults=503&rate=1'

The same flags give the same venue, but --end depends on the current time: set it to get the same venue on another day. To get
the same venue as files:

  pmx replay --end 2027-01-01T00:00:00Z --write-logs logs.ndjson
  pmx sample --chain --end 2027-01-01T00:00:00Z --out venue

Faults, each with its source (without one: all sources) and the number that it takes, if any:

`)
	for _, k := range replay.Kinds() {
		name := k.Name
		if k.Number > 0 {
			name = fmt.Sprintf("%s:%d", k.Name, k.Number)
		}
		_, _ = fmt.Fprintf(&b, "  %-10s %-24s %s\n", k.Of, name, k.About)
	}
	b.WriteString("\nLater names override earlier ones: all,stalled:200,-closed. \"all\" is every fault that does not change the venue\nitself: what is followed is then equal to an import of the files.\n")
	return b.String()
}

// Run serves until it is interrupted.
func (c *ReplayCmd) Run(ctx context.Context, std stdio) error {
	if c.Fills == 0 { // which would mean the default
		return wrong("fills", " 0: at least 2 make a match")
	}
	now := time.Now().UTC()
	if c.End.IsZero() {
		c.End = now.Add(25 * time.Hour).Truncate(time.Hour)
		if c.Start.IsZero() {
			c.Start = now
		}
	}
	faults, err := faultsBySource(c.Faults, c.FaultRate)
	if err != nil {
		return err
	}
	o := replay.Options{Config: sample.Config{Fills: c.Fills, Seed: c.VenueSeed, End: c.End}, Start: c.Start, Speed: c.Speed,
		Finality: c.Finality, MaxRange: c.MaxRange, MaxLogs: c.MaxLogs, Seed: c.Seed, Faults: faults}
	s, err := replay.New(ctx, o)
	if err != nil {
		return err
	}
	if c.WriteLogs != "" {
		return c.writeLogs(std, s)
	}
	return c.serve(ctx, std, s)
}

// faultsBySource parses names of faults: [SOURCE=]NAME[:NUMBER], or none.
func faultsBySource(names []string, rate float64) (map[string]replay.Faults, error) {
	by := map[string]replay.Faults{}
	for _, text := range names {
		source, name, ok := strings.Cut(text, "=")
		if !ok {
			source, name = "", text
		}
		if name == "none" {
			continue
		}
		f := by[source]
		f.Names, f.Rate = append(f.Names, name), rate
		by[source] = f
	}
	if rate <= 0 || rate > 1 {
		return nil, wrong("fault-rate", " %g: must be above 0 and at most 1; for no faults use --faults none", rate)
	}
	return by, nil
}

func (c *ReplayCmd) writeLogs(std stdio, s *replay.Server) (err error) {
	f, err := data.CreateRegular(c.WriteLogs)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	w := bufio.NewWriterSize(f, 1<<18)
	if err := replay.WriteLogs(w, s.Venue()); err != nil {
		return err
	}
	if err := w.Flush(); err != nil {
		return err
	}
	_, err = fmt.Fprintf(std.out, "%s: logs of %s\n", c.WriteLogs, count(s.Venue().Manifest.Fills, "fill"))
	return err
}

func (c *ReplayCmd) serve(ctx context.Context, std stdio, s *replay.Server) error {
	defer s.Close()
	var lc net.ListenConfig
	l, err := lc.Listen(ctx, "tcp", c.Listen)
	if err != nil {
		return err
	}
	m := s.Venue().Manifest
	_, err = fmt.Fprintf(std.out, "playing %s of %s … %s at http://%s, from %s on, %gx\n", count(m.Fills, "fill"), m.Start.Format(time.DateOnly),
		m.End.Format(time.RFC3339), l.Addr(), s.Clock().Now().Format(time.RFC3339), c.Speed)
	if err != nil {
		return errors.Join(err, l.Close())
	}
	web := &http.Server{Handler: s.Handler(), ReadHeaderTimeout: 10 * time.Second}
	ended := guard.Start(func() error { return web.Serve(l) })
	select {
	case err = <-ended:
		return err
	case <-ctx.Done():
	}
	if err := web.Close(); err != nil { // followers have to cope with it
		return err
	}
	if err := <-ended; !errors.Is(err, http.ErrServerClosed) {
		return err
	}
	drawn := s.Drawn()
	for _, name := range slices.Sorted(maps.Keys(drawn)) {
		if strings.Contains(name, " ") {
			if _, err := fmt.Fprintf(std.out, "%s: %d\n", name, drawn[name]); err != nil {
				return err
			}
		}
	}
	return nil
}
