package main

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"os"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/dustin/go-humanize"

	"pmx/engine"
	"pmx/engine/control"
	"pmx/engine/guard"
	"pmx/http/access"
	"pmx/http/admin"
	"pmx/rollups/keeper"
	"pmx/rollups/replica"
	"pmx/rollups/serving"
)

// opStatus is the operation that returns the status of a server.
const opStatus = "status"

// StatusCmd shows the status of pmx.
type StatusCmd struct {
	JSON bool `name:"json" help:"Print one JSON object."`
}

// Help is the longer help.
func (StatusCmd) Help() string {
	return `Asks the server that runs on the data directory. Without one, shows what can be read from the files without opening the
database. The last lines say what is wrong and what to do; pmx doctor checks more. The exit status is 0 even if something is wrong.

  pmx status
  pmx status --json`
}

// serverStatus is the status of a running server.
type serverStatus struct {
	Version    string             `json:"version"`
	PID        int                `json:"pid"`
	Started    time.Time          `json:"started"`
	URL        string             `json:"url"`
	Historical bool               `json:"historical"`
	AsOf       time.Time          `json:"as_of"` // time of the newest fill; zero: no fills
	Epoch      uint64             `json:"epoch"`
	Served     map[string]int64   `json:"served"` // rows, by kind
	Fresh      serving.Freshness  `json:"freshness"`
	Tally      keeper.Tally       `json:"tally"`
	Sources    []serving.Source   `json:"sources"`
	Background []guard.WorkStatus `json:"background"`
	Memory     memoryStatus       `json:"memory"`
	OpenFiles  uint64             `json:"open_files_limit"`
	Jobs       map[string]int     `json:"export_jobs"`
	Waiting    time.Time          `json:"export_queued_since"` // zero: none is queued
	Replica    *replica.Status    `json:"replica"`             // null if no other server is followed

	CheckpointOwed time.Time `json:"checkpoint_owed_since"` // the log could not be written into the database; zero: it was
}

// waits reports whether it is a replica that has not opened its first backup yet.
func (s *serverStatus) waits() bool { return s.Replica != nil && s.Replica.Takes == 0 }

// memoryStatus is how much memory a server uses, in bytes.
type memoryStatus struct {
	Limit    engine.Memory `json:"limit"`     // limits in force, in total and by part
	LiveHeap int64         `json:"live_heap"` // of Go, as of the last division; 0: not measured yet
	Needed   int64         `json:"needed"`    // --memory that would give Go enough for it; 0: what there is does
	GoFixed  bool          `json:"go_fixed"`  // GOMEMLIMIT is set in the environment: the limits stay as they are
	Resident int64         `json:"resident"`  // without the system's cache of files; 0: unknown
	Go       uint64        `json:"go"`        // obtained by Go from the system
	DuckDB   int64         `json:"duckdb"`
	Spilled  int64         `json:"spilled"`
}

// diskStatus is how much disk space the data directory uses, in bytes.
type diskStatus struct {
	Used map[string]int64 `json:"used"` // by kind
	Free int64            `json:"free"`
	Size int64            `json:"size"` // 0: unknown
}

// statusReport is the output of pmx status.
type statusReport struct {
	DataDir  string         `json:"data_dir"`
	Running  bool           `json:"running"`
	Server   *serverStatus  `json:"server"` // null if none answers
	InUse    bool           `json:"in_use"` // no server answers, but a process has the database open: a command, or a server that is starting
	Disk     diskStatus     `json:"disk"`
	Keys     map[string]int `json:"keys"` // valid ones, by tier; null if there are none yet
	Findings []finding      `json:"findings"`
}

// statusTeller collects the status of a server.
type statusTeller struct {
	keeper     *keeper.Keeper
	keys       *control.DB
	watch      *guard.Watch
	sources    func() []serving.Source // nil: none are followed
	replica    *replica.Follower       // nil: no other server is followed
	url        string
	historical bool
	started    time.Time
}

// registerServer registers all operations on a server's socket.
func registerServer(socket *admin.Server, k *keeper.Keeper, gate *access.Gate, f *follower, s *statusTeller) {
	registerOperations(socket, k, gate, s.replica)
	registerFollower(socket, f)
	s.register(socket)
}

// register registers the status on a server's socket.
func (s *statusTeller) register(socket *admin.Server) {
	socket.Handle(opStatus, func(ctx context.Context, _ json.RawMessage, _ func(any)) (any, error) { return s.tell(ctx) })
}

// tell returns the current status. Parts that are not available are left out.
func (s *statusTeller) tell(ctx context.Context) (serverStatus, error) {
	out := serverStatus{Version: version, PID: os.Getpid(), Started: s.started, URL: s.url, Historical: s.historical,
		Fresh: s.keeper.Freshness(), Tally: s.keeper.Tally(), Background: s.watch.Statuses(), OpenFiles: openFilesLimit(), Jobs: map[string]int{}}
	out.CheckpointOwed = s.keeper.DB().CheckpointOwed()
	if s.sources != nil {
		out.Sources = s.sources()
	}
	if s.replica != nil {
		at := s.replica.Status()
		out.Replica = &at
	}
	if snap := s.keeper.Snapshot(); snap != nil {
		out.AsOf, out.Epoch = snap.AsOf, snap.Epoch
		out.Served = map[string]int64{"fills": snap.Counts.Fills, "wallets": snap.Counts.Wallets, "markets": snap.Counts.Markets, "events": snap.Counts.Events}
	}
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	divided := s.keeper.Memory()
	out.Memory = memoryStatus{Limit: divided.Memory, LiveHeap: divided.LiveHeap, Needed: divided.Needed, GoFixed: divided.GoFixed,
		Resident: engine.ResidentMemory(), Go: m.Sys - m.HeapReleased}
	ctx, cancel := context.WithTimeout(ctx, askTimeout)
	defer cancel()
	if held, spilled, err := s.keeper.DB().Memory(ctx); err == nil {
		out.Memory.DuckDB, out.Memory.Spilled = held, spilled
	}
	if counts, oldest, err := s.keys.JobCounts(ctx); err == nil {
		out.Waiting = oldest
		for status, n := range counts {
			out.Jobs[string(status)] = n
		}
	}
	return out, nil
}

// askStatus returns the status of the server of dir. If none answers, or one that does not support
// the operation, the status is nil; in the latter case there is a finding.
func askStatus(ctx context.Context, dir engine.Dir) (*serverStatus, *finding, error) {
	raw, err := admin.Call(ctx, dir.AdminSocket(), opStatus, none{}, nil)
	var remote *admin.Error
	switch {
	case errors.Is(err, admin.ErrNotRunning):
		return nil, nil, nil
	case errors.As(err, &remote):
		return nil, &finding{"server", warns, "pmx sync, or a server of another version, is running and does not report its status", "see pmx sync status, or restart the server with this version"}, nil
	case err != nil:
		return nil, nil, err
	}
	s := &serverStatus{}
	if err := json.Unmarshal(raw, s); err != nil {
		return nil, nil, fmt.Errorf("status: %w", err)
	}
	return s, nil, nil
}

// keysByTier counts the valid keys; nil if there is no file of keys.
func keysByTier(ctx context.Context, dir engine.Dir, now time.Time) (map[string]int, error) {
	if _, err := os.Stat(dir.Control()); errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	db, err := control.Open(ctx, dir.Control(), time.Now)
	if err != nil {
		return nil, err
	}
	keys, err := db.ListKeys(ctx)
	if err = errors.Join(err, db.Close()); err != nil {
		return nil, err
	}
	tiers := map[string]int{}
	for i := range keys {
		if keys[i].RevokedAt == nil && !keys[i].Expired(now) {
			tiers[keys[i].Tier]++
		}
	}
	return tiers, nil
}

// Run shows the status.
func (c *StatusCmd) Run(ctx context.Context, cli *CLI, std stdio) error {
	dir, err := cli.ownDir()
	if err != nil {
		return err
	}
	if !dir.Exists() {
		return fmt.Errorf("%s does not exist: check --data-dir, or create it with pmx serve or pmx import", dir)
	}
	r := statusReport{DataDir: string(dir), Running: admin.Running(dir.AdminSocket()), Disk: diskStatus{Used: dir.DiskUse()}}
	r.Disk.Free, r.Disk.Size, _ = dir.DiskSpace()
	now := time.Now()
	var odd *finding
	if r.Server, odd, err = askStatus(ctx, dir); err != nil {
		return err
	}
	if odd != nil {
		r.Findings = append(r.Findings, *odd)
	}
	if r.Keys, err = keysByTier(ctx, dir, now); err != nil {
		return err
	}
	if !r.Running {
		held := inUse(dir)
		if r.InUse = held != nil; r.InUse {
			held.Level = warns // it may well be starting
			r.Findings = append(r.Findings, *held)
		} else {
			r.Findings = append(r.Findings, notRunning(dir))
		}
	}
	r.Findings = append(r.Findings, troubles(append(checkDisk(dir), checkServer(r.Server, now)...))...)
	if c.JSON {
		return printJSON(std.out, r)
	}
	return r.print(std.out, now)
}

// ago describes how long ago t was; "never" for the zero time.
func ago(t, now time.Time) string {
	if t.IsZero() {
		return "never"
	}
	d := now.Sub(t)
	if d < 0 {
		return t.UTC().Format(time.RFC3339) + ", ahead of the clock"
	}
	return t.UTC().Format(time.RFC3339) + ", " + roughly(d.Seconds()) + " ago"
}

// bytesOf formats a size.
func bytesOf[N int64 | uint64](n N) string { return humanize.Bytes(uint64(max(n, 0))) }

// counted formats counts by name, sorted by name, without zeros.
func counted[N int | int64](counts map[string]N, write func(N) string) string {
	var parts []string
	for _, name := range slices.Sorted(maps.Keys(counts)) {
		if counts[name] != 0 {
			parts = append(parts, name+" "+write(counts[name]))
		}
	}
	return cmp.Or(strings.Join(parts, ", "), "none")
}

// print writes the report.
func (r *statusReport) print(w io.Writer, now time.Time) error {
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	line := func(name, format string, args ...any) {
		_, _ = fmt.Fprintf(t, "%s\t%s\n", name, fmt.Sprintf(format, args...))
	}
	line("data directory", "%s", visible(r.DataDir, ""))
	switch {
	case r.Server != nil:
		r.Server.lines(line, now)
	case r.Running:
		line("server", "running; no further status")
	case r.InUse:
		line("server", "none answers, but a process has the database open")
	default:
		line("server", "not running")
	}
	line("disk", "%s free of %s; %s", bytesOf(r.Disk.Free), bytesOf(r.Disk.Size), counted(r.Disk.Used, func(n int64) string { return bytesOf(n) }))
	line("keys", "%s", counted(r.Keys, strconv.Itoa))
	if err := t.Flush(); err != nil {
		return err
	}
	return printFindings(w, r.Findings)
}

// backups describes the last backups, by schedule and by pmx backup.
func (s *serverStatus) backups(now time.Time) string {
	told := func(b serving.BackupStatus) string {
		text := ago(b.Made, now)
		if b.Failing {
			text += ", failing, last " + ago(b.Failed, now)
		}
		return text
	}
	scheduled, asked := told(s.Fresh.Scheduled), told(s.Fresh.Asked)
	if s.Fresh.BackupDue.IsZero() {
		return asked + "; no schedule"
	}
	return fmt.Sprintf("%s by schedule; %s by pmx backup", scheduled, asked)
}

// lines prints the status of a running server.
func (s *serverStatus) lines(line func(name, format string, args ...any), now time.Time) {
	if s.waits() {
		what := "opening its first backup"
		if s.Replica.Problem != "" {
			what = "waiting for a first backup"
		}
		line("server", what+", version %s, process %d, up since %s", s.Version, s.PID, ago(s.Started, now))
		line("follows", "%s", visible(s.Replica.Dir, ""))
		line("memory", "%s of %s at most", bytesOf(s.Memory.Resident), bytesOf(s.Memory.Limit.Total))
		return
	}
	line("server", "%s, version %s, process %d, up since %s", s.URL, s.Version, s.PID, ago(s.Started, now))
	historical := ""
	if s.Historical {
		historical = " (historical)"
	}
	if r := s.Replica; r != nil {
		line("follows", "%s", visible(r.Dir, ""))
		line("served backup", "%d of %s, by %s", r.Number, ago(r.Made, now), visible(cmp.Or(r.Writer, "another server"), ""))
		line("newest backup", "%d, first seen %s", r.Newest, ago(r.NewestSeen, now))
	}
	line("newest fill", "%s%s", ago(s.AsOf, now), historical)
	line("served", "%s, %s, %s, epoch %d", count(s.Served["fills"], "fill"), count(s.Served["wallets"], "wallet"), count(s.Served["markets"], "market"), s.Epoch)
	line("last import", "fills %s; markets %s", ago(s.Fresh.LastFills, now), ago(s.Fresh.LastMarkets, now))
	if s.Replica == nil { // on a replica it is done by the server that makes the backups
		line("last refresh", "%s", ago(s.Fresh.LastCycle, now))
		line("last verify", "%s", ago(s.Fresh.LastVerified, now))
		line("last backup", "%s", s.backups(now))
	}
	if !s.CheckpointOwed.IsZero() {
		line("checkpoint", "put off since %s", ago(s.CheckpointOwed, now))
	}
	for _, name := range slices.Sorted(maps.Keys(s.Tally.Feeds)) {
		f := s.Tally.Feeds[name]
		line("feed "+name, "%s of %s, %s rejected, last %s", count(f.Rows, "row"), count(f.Batches, "import"), thousands(f.Rejected), ago(f.Last, now))
	}
	for i := range s.Sources {
		src := &s.Sources[i]
		line("source "+src.Name, "%s, complete up to %s, %s", src.State, ago(src.AsOf, now), count(src.Rows, "new row"))
	}
	m := &s.Memory
	line("memory", "%s of %s at most: Go %s of %s, %s live; DuckDB %s of %s, spilled %s", bytesOf(m.Resident), bytesOf(m.Limit.Total),
		bytesOf(m.Go), bytesOf(m.Limit.Go), bytesOf(m.LiveHeap), bytesOf(m.DuckDB), bytesOf(m.Limit.DuckDB), bytesOf(m.Spilled))
	waiting := ""
	if !s.Waiting.IsZero() {
		waiting = "; the oldest has been queued since " + ago(s.Waiting, now)
	}
	line("exports", "%s%s", counted(s.Jobs, strconv.Itoa), waiting)
	line("faults", "%d of the database, %s not imported", s.Tally.Reopened+s.Tally.Lost, count(s.Tally.FilesFailed, "file"))
}
