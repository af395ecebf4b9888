package main

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"text/tabwriter"
	"time"

	"pmx/engine"
	"pmx/engine/guard"
	"pmx/http/admin"
	"pmx/rollups/follow"
	"pmx/rollups/keeper"
	"pmx/rollups/replica"
)

// SyncCmd follows the venue without serving.
type SyncCmd struct {
	Follow SyncFollowCmd `cmd:"" default:"withargs" help:"Follow the venue's sources (the default)."`
	Status SyncStatusCmd `cmd:"" help:"Show the status of each source."`
}

// Help is the longer help.
func (SyncCmd) Help() string {
	return `Without a subcommand, it is pmx sync follow and takes the same flags: see pmx sync follow --help.

  pmx sync --rpc https://one.example,https://two.example --contact you@example.org
  pmx sync status`
}

// SyncFollowCmd follows until it is stopped.
type SyncFollowCmd struct {
	followFlags
	Once bool `help:"Stop when everything that is now final is imported."`
}

// Help is the longer help.
func (SyncFollowCmd) Help() string {
	return `Asks the sources for what is new, checks that it is complete, and commits it together with its position, so it
can be stopped at any time. Files may be imported meanwhile. A server follows by itself with pmx serve --sync polymarket.

  PMX_RPC=https://one.example/KEY,https://two.example pmx sync --contact you@example.org
  pmx sync --rpc http://127.0.0.1:8091/rpc --contact me --only chain --once
  pmx sync status`
}

// Run follows.
func (c *SyncFollowCmd) Run(ctx context.Context, cli *CLI, std stdio) (err error) {
	dir, err := c.ownDir(cli)
	if err != nil {
		return err
	}
	if err := dir.Create(); err != nil {
		return err
	}
	screen := newSyncScreen(std)
	defer screen.clear()
	log := screen.log()
	watch := guard.New(log)
	k, err := cli.openKeeper(ctx, dir, log)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, k.Close()) }()
	f, err := c.newFollower(k, log, watch, false)
	if err != nil {
		return err
	}
	defer f.close()
	sock, err := admin.Listen(dir.AdminSocket(), nil, log)
	if err != nil {
		return err
	}
	registerVenue(sock, k)
	registerFollower(sock, f)
	sock.Handle(opKeys, func(context.Context, json.RawMessage, func(any)) (any, error) { return none{}, nil }) // there is no API
	f.begins()
	own, stop := context.WithCancel(ctx)
	defer stop()
	tasks := f.tasks(watch)
	if c.Once {
		tasks = []func(context.Context) error{func(ctx context.Context) error {
			defer stop()
			return errors.Join(f.once(ctx), k.Refresh(context.WithoutCancel(ctx), nil))
		}}
	}
	tasks = append(tasks, sock.Serve, func(ctx context.Context) error { return k.Run(ctx, keeper.Schedule{Refresh: syncCycle}) })
	tasks = append(tasks, func(ctx context.Context) error { return screen.run(ctx, f) })
	err = runAll(own, tasks...)
	screen.clear()
	if s := f.status(); err == nil || ctx.Err() != nil {
		printFollowed(std.out, s)
	}
	if ctx.Err() != nil && errors.Is(err, context.Canceled) {
		return interruption("what was imported is kept, and the next start continues from there")
	}
	return err
}

// ownDir returns the data directory, or an error if a venue cannot be followed there or as the flags say.
func (c *SyncFollowCmd) ownDir(cli *CLI) (engine.Dir, error) {
	dir, err := cli.ownDir()
	if err != nil {
		return "", err
	}
	if follows, ok := replica.Of(dir); ok { // whatever the flags say
		return "", fmt.Errorf("pmx sync is refused: %s; follow the venue there, with pmx serve --sync polymarket", follows)
	}
	if err := c.check(""); err != nil {
		return "", err
	}
	if slices.Contains(c.Only, newestLane) {
		return "", wrong("only", " newest: newest trades are shown and never stored, so only a server follows them: pmx serve --sync polymarket --sync-only newest")
	}
	if admin.Running(dir.AdminSocket()) {
		return "", fmt.Errorf("a server, or another pmx sync, is running on %s: start the server with --sync polymarket to follow from there, or stop what is running first", dir)
	}
	return dir, nil
}

// syncCycle is when files of the inbox are imported and deltas are compacted.
const syncCycle = "@every 30s"

func atOrNever(t time.Time) string {
	if t.IsZero() {
		return "nothing yet"
	}
	return t.Format(time.RFC3339)
}

// stopped reports whether the markets are not being followed now.
func stopped(m *follow.MarketsStatus) bool {
	return len(m.Tasks) > 0 && m.Tasks[0].Phase == follow.Stopped
}

// completeUpTo describes up to which time the chain is complete.
func completeUpTo(c *follow.ChainStatus) string {
	switch {
	case c.Start == 0:
		return "nothing yet"
	case c.AsOf.IsZero():
		return fmt.Sprintf("nothing yet from block %d on", c.Start)
	}
	return fmt.Sprintf("block %d, %s", c.Committed, atOrNever(c.AsOf))
}

// missingBlocks returns how many blocks are missing; if no node currently reports the final block,
// a lower bound.
func missingBlocks(c *follow.ChainStatus) string {
	n := count(c.GapBlocks, "block")
	switch c.Phase {
	case follow.Stopped, follow.BackOff, follow.Stalled:
		if c.GapBlocks == 0 {
			return "unknown"
		}
		return n + " or more"
	}
	return n
}

// opSync is the operation that returns the status of the sources.
const opSync = "sync-status"

// registerFollower registers the status of a follower on a socket; f is nil if there is none.
func registerFollower(s *admin.Server, f *follower) {
	s.Handle(opSync, func(context.Context, json.RawMessage, func(any)) (any, error) {
		if f == nil {
			return followStatus{}, nil
		}
		return f.status(), nil
	})
}

// SyncStatusCmd shows the status of the sources.
type SyncStatusCmd struct {
	JSON bool `help:"Print one JSON object."`
}

// Help is the longer help.
func (SyncStatusCmd) Help() string {
	return `Asks the running server or pmx sync of the data directory. Without one, shows the status that was stored last.

  pmx sync status
  pmx sync status --json`
}

// Run shows the status.
func (c *SyncStatusCmd) Run(ctx context.Context, cli *CLI, std stdio) error {
	dir, err := cli.ownDir()
	if err != nil {
		return err
	}
	s, err := cli.followStatus(ctx, dir)
	if err != nil {
		return err
	}
	if c.JSON {
		return json.NewEncoder(std.out).Encode(s)
	}
	return printFollow(std.out, s)
}

// followStatus returns the status from the process that follows, or from the database if there is
// none.
func (c *CLI) followStatus(ctx context.Context, dir engine.Dir) (s followStatus, err error) {
	if follows, ok := replica.Of(dir); ok {
		return s, fmt.Errorf("%s, and no venue: run pmx sync status there; pmx status shows how far this replica is", follows)
	}
	if admin.Running(dir.AdminSocket()) {
		raw, err := admin.Call(ctx, dir.AdminSocket(), opSync, none{}, func(json.RawMessage) {})
		if err != nil {
			return s, operationError(ctx, opSync, err)
		}
		if err := json.Unmarshal(raw, &s); err != nil || s.Chain != nil || s.Markets != nil || len(s.Weather) > 0 {
			return s, err
		}
		return s, errors.New("the running server follows nothing: start it with --sync polymarket")
	}
	if _, err := os.Stat(dir.Database()); errors.Is(err, os.ErrNotExist) {
		return s, fmt.Errorf("%s has no database yet: check --data-dir, or follow something first", dir)
	}
	contracts, err := contractsOf(dir)
	if err != nil {
		return s, err
	}
	k, err := c.openKeeper(ctx, dir, quiet())
	if err != nil {
		return s, err
	}
	state, err := follow.StoredChain(ctx, k, contracts, time.Now())
	s.Chain = &state
	var errMarkets, errQuotes, errWeather, errAudits, errTrades error
	s.Markets, errMarkets = follow.StoredMarkets(ctx, k)
	s.Quotes, errQuotes = follow.StoredQuotes(ctx, k)
	s.Weather, errWeather = follow.StoredWeather(ctx, k, time.Now())
	s.Audits, errAudits = follow.StoredAudits(ctx, k)
	s.Trades, errTrades = follow.StoredTrades(ctx, k)
	return s, errors.Join(err, errMarkets, errQuotes, errWeather, errAudits, errTrades, k.Close())
}

// printFollow writes a table of the sources, and details of each.
func printFollow(w io.Writer, s followStatus) error {
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	_, _ = fmt.Fprintln(t, "SOURCE\tSTATE\tUP TO\tLAG\tMISSING\tNEW\tODD\tLAST ERROR")
	if c := s.Chain; c != nil {
		lag := "unknown"
		if !c.AsOf.IsZero() {
			lag = (time.Duration(c.LagSeconds) * time.Second).String()
		}
		_, _ = fmt.Fprintf(t, "chain\t%s\t%s\t%s\t%s\t%s\t%d\t%s\n", c.Phase, completeUpTo(c), lag, missingBlocks(c), count(c.Fills, "fill"),
			c.Suspect+c.Forks+c.AuditDiffers, visible(c.Error, ""))
		for _, n := range c.Nodes {
			head, failed := "no block yet", ""
			if n.State == follow.BackOff { // earlier errors are in --json
				failed = visible(n.LastError, "")
			}
			if n.Finalized > 0 {
				head = fmt.Sprintf("block %d", n.Finalized)
			}
			_, _ = fmt.Fprintf(t, "  %s\t%s\t%s\t\t\t%s\t%d\t%s\n", n.Name, n.State, head, count(n.Answers, "answer"), n.Lied, failed)
		}
	}
	if m := s.Markets; m != nil {
		for _, task := range m.Tasks {
			_, _ = fmt.Fprintf(t, "markets: %s\t%s\t%s\t\t\t\t%d\t%s\n", task.Name, task.Phase, atOrNever(task.LastGood), task.Failures, visible(task.Error, ""))
		}
	}
	if m := s.Markets; m != nil && !stopped(m) {
		_, _ = fmt.Fprintf(t, "markets\t\t\t\t%d unknown\t%s new, %s changed\t%d\t\n", m.Missing, thousands(m.New), thousands(m.Changed), m.Foreign+m.Loops+m.Odd)
	}
	if q := s.Quotes; q != nil && q.Phase == follow.Stopped {
		_, _ = fmt.Fprintf(t, "quotes\t%s\t%s\t\t\t\t\t\n", q.Phase, atOrNever(q.AsOf))
	} else if q != nil {
		_, _ = fmt.Fprintf(t, "quotes\t%s\t%s\t\t\t%s received, %d of %d markets current\t%d\t%s\n", q.Phase, atOrNever(q.AsOf), thousands(q.Told), q.Current, q.Open, q.NoBooks, visible(q.Error, ""))
	}
	printWeather(t, s.Weather)
	printAudits(t, s.Audits)
	printTrades(t, s.Trades)
	printNewest(t, s.Newest)
	if err := t.Flush(); err != nil {
		return err
	}
	if c := s.Chain; c != nil {
		printChain(w, *c)
	}
	printDifferences(w, s.Audits)
	if s.Trades != nil {
		_, _ = fmt.Fprintf(w, "trades: %s\n", s.Trades.Holes)
	}
	return nil
}

// printChain writes details that do not fit in the table.
func printChain(w io.Writer, c follow.ChainStatus) {
	if c.CatchingUp {
		_, _ = fmt.Fprintf(w, "catching up: %.1f %%, %s fills/s, about %s left\n", 100*c.Progress, thousands(int64(c.FillsASec)), (time.Duration(c.Remaining) * time.Second).Round(time.Second))
	}
	for _, h := range c.Held {
		_, _ = fmt.Fprintf(w, "held back: blocks %d–%d, %s, tried %d times, next at %s\n", h.From, h.To, h.Why, h.Tries, atOrNever(h.Next))
	}
	if len(c.Held) > 0 && len(c.Nodes) == 1 {
		_, _ = fmt.Fprintln(w, "a second provider in --rpc may have the complete logs")
	}
	if n := cmp.Or(c.AuditDiffers, c.Mended); n > 0 {
		_, _ = fmt.Fprintf(w, "audits: %d of %d ranges had different logs than before, %s fills were missing and have been added\n", c.AuditDiffers, c.Audited, thousands(c.Mended))
	}
}
