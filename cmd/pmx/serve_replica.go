package main

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/rs/zerolog"

	"pmx/data"
	"pmx/data/feeds"
	"pmx/engine"
	"pmx/engine/backup"
	"pmx/engine/control"
	"pmx/http/admin"
	"pmx/http/server"
	"pmx/rollups/keeper"
	"pmx/rollups/replica"
)

// checkFollow returns an error if another server's backups cannot be followed as configured.
func (c *ServeCmd) checkFollow(cli *CLI) error {
	if c.FollowDir == "" {
		return nil
	}
	for _, with := range []struct {
		flag  string
		given bool
	}{{"sync", c.Sync != ""}, {"backup-dir", c.BackupDir != ""}, {"publish-dir", c.PublishDir != ""}, {"sample", c.Sample}, {"waitlist-form", c.WaitlistForm}, {"whale-threshold", c.WhaleThreshold != 0}} {
		if with.given {
			return wrong(with.flag, " is for the server whose backups are followed: leave it out with --follow")
		}
	}
	dir, err := cli.dir()
	if err != nil {
		return nil // already reported
	}
	info, err := os.Stat(c.FollowDir)
	if _, follows := replica.Of(dir); errors.Is(err, fs.ErrNotExist) && follows {
		return nil // what it already has is served until the folder is back
	}
	if err != nil || !info.IsDir() {
		return wrong("follow", ": %s is not a folder: give the one that the backups are made into, or copied to", c.FollowDir)
	}
	if err := backup.Apart(string(dir), c.FollowDir); err != nil {
		return wrong("follow", ": %w", err)
	}
	return nil
}

// refuseReplica returns an error if a data directory is a replica's and is to be served as a server's own.
func (c *ServeCmd) refuseReplica(dir engine.Dir) error {
	if follows, ok := replica.Of(dir); ok && c.FollowDir == "" {
		return fmt.Errorf("pmx serve without --follow is refused: %s; start it with pmx serve --follow %s", follows, follows.Dir)
	}
	return nil
}

// checkPublish returns an error if states cannot be published as configured.
func (c *ServeCmd) checkPublish(cli *CLI) error {
	if c.PublishDir == "" {
		return nil
	}
	if c.BackupDir != "" && backup.Apart(c.BackupDir, c.PublishDir) != nil {
		return errors.New("this is the folder of --backup-dir, or one of the two is within the other: give a separate folder, because only the newest states are kept in it")
	}
	dir, err := cli.dir()
	if err != nil {
		return nil // already reported
	}
	return backup.Apart(string(dir), c.PublishDir)
}

// replicate serves the backups of another server until ctx ends.
func (c *ServeCmd) replicate(ctx context.Context, cli *CLI, dir engine.Dir, at server.Config, scraped *admin.Metrics, std stdio) (err error) {
	keys, err := control.Open(ctx, dir.Control(), time.Now)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, keys.Close()) }()
	var k *keeper.Keeper
	r, err := replica.New(replica.Config{Repo: c.FollowDir, Dir: dir, Keys: keys, Log: at.Log, Settings: replicaSettings,
		Open: func(ctx context.Context, s replica.State) (replica.Server, error) {
			opts := cli.faultedOptions(dir, at.Log)
			opts.Reads = c.Lake
			cfg := keeper.Config{Engine: opts, Memory: c.memory, Feeds: feeds.Catalog{Cities: s.Cities}, Log: at.Log, Venue: s.Venue, Watch: at.Watch, Lake: c.Lake, Serve: true}
			opened, err := keeper.OpenReplica(ctx, cfg, s)
			if err != nil {
				return nil, err
			}
			k = opened
			return k, nil
		}})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, r.Close()) }()
	defer func() {
		if k != nil { // also open if the server is stopped after its first backup and before it serves
			err = errors.Join(err, k.Close())
		}
	}()
	registry := newRegistry()
	registry.MustRegister(newReplicaMetrics(r.Status))
	lanes := []func(context.Context) error{func(ctx context.Context) error {
		if err := c.awaitBackup(ctx, r, dir, registry, at.Log); err != nil {
			return unlessStopped(ctx, err)
		}
		return c.answer(ctx, k, r, at, registry, nil, keeper.Schedule{}, std)
	}}
	if scraped != nil { // from now on, so that waiting for a first backup is visible too
		lanes = append(lanes, func(ctx context.Context) error { return c.scrape(ctx, scraped, registry, at.Log) })
	}
	return runAll(ctx, lanes...)
}

// awaitBackup opens the newest backup as soon as there is one. Until then the admin socket serves
// the status and metrics.
func (c *ServeCmd) awaitBackup(ctx context.Context, r *replica.Follower, dir engine.Dir, registry *prometheus.Registry, log zerolog.Logger) error {
	sock, err := admin.Listen(dir.AdminSocket(), registry, log)
	if err != nil {
		return err
	}
	started := time.Now().UTC()
	sock.Handle(opStatus, func(context.Context, json.RawMessage, func(any)) (any, error) {
		at := r.Status()
		return serverStatus{Version: version, PID: os.Getpid(), Started: started, OpenFiles: openFilesLimit(), Replica: &at,
			Memory: memoryStatus{Limit: c.memory, Resident: engine.ResidentMemory()}}, nil
	})
	for _, op := range replicaOperations {
		sock.Handle(op, func(context.Context, json.RawMessage, func(any)) (any, error) {
			return nil, fmt.Errorf("the server has nothing to serve yet: %s", cmp.Or(r.Status().Problem, "it is opening its first backup"))
		})
	}
	refuseWrites(sock, r)
	ctx, done := context.WithCancel(ctx)
	return runAll(ctx, sock.Serve, func(ctx context.Context) error {
		defer done()
		return r.Begin(ctx)
	})
}

// replicaSettings returns the operator's settings in the folder of a backup.
func replicaSettings(dir engine.Dir) (map[data.Address]bool, *data.Gazetteer, error) {
	venue, err := venueWallets(dir)
	if err != nil {
		return nil, nil, err
	}
	places, err := cities(dir)
	return venue, places, err
}

// replicaOperations are the operations that change nothing.
var replicaOperations = []string{opVerify, opExport, opPartition}

// refusedByReplica returns an error for operations that are not possible on a data directory that
// follows another server.
func refusedByReplica(dir engine.Dir, op string) error {
	follows, ok := replica.Of(dir)
	if !ok {
		return nil
	}
	if !slices.Contains(replicaOperations, op) {
		return follows.Refuse("pmx " + strings.ReplaceAll(op, "-", " ")) // such as export lake
	}
	if !admin.Running(dir.AdminSocket()) {
		return fmt.Errorf("%s follows the backups in %s, but is not being served: start pmx serve --follow %s first", dir, follows.Dir, follows.Dir)
	}
	return nil
}

// registerReplica registers the operations on the socket of a server that follows another.
func registerReplica(s *admin.Server, k *keeper.Keeper, r *replica.Follower) {
	handle(s, k, verifying)
	handle(s, k, exporting)
	handle(s, k, partitioning)
	refuseWrites(s, r)
}

// refuseWrites refuses the operations that belong on the server that makes the backups.
func refuseWrites(s *admin.Server, r *replica.Follower) {
	for _, op := range []string{opImport, opRefresh, opRebuild, opBackup} {
		s.Handle(op, func(context.Context, json.RawMessage, func(any)) (any, error) {
			at := r.Status()
			return nil, at.Follows().Refuse("pmx " + op)
		})
	}
}

// replicaMetrics are the metrics of following another server's backups.
type replicaMetrics struct {
	status func() replica.Status

	made, newest, current, failing, took, takes *prometheus.Desc
}

func newReplicaMetrics(status func() replica.Status) *replicaMetrics {
	desc := func(name, help string, labels ...string) *prometheus.Desc {
		return prometheus.NewDesc("pmx_replica_"+name, help, labels, nil)
	}
	return &replicaMetrics{
		status:  status,
		made:    desc("backup_timestamp_seconds", "When the writer made the state that is served. Absent without --follow, like all of these."),
		newest:  desc("backups_behind", "How many backups the served one is behind the newest one in the folder."),
		current: desc("current_timestamp_seconds", "When the served backup was last found to be the newest in the folder."),
		failing: desc("failing", "1 while the newest backup cannot be opened or the folder cannot be read."),
		took:    desc("take_duration_seconds", "Time from when the last backup was first seen until it was served."),
		takes:   desc("takes_total", "Backups that were opened, and attempts that failed, since the start.", "result"),
	}
}

// Describe lists the metrics.
func (m *replicaMetrics) Describe(ch chan<- *prometheus.Desc) {
	for _, d := range []*prometheus.Desc{m.made, m.newest, m.current, m.failing, m.took, m.takes} {
		ch <- d
	}
}

// Collect sends the current metrics.
func (m *replicaMetrics) Collect(ch chan<- prometheus.Metric) {
	gauge, at, flag := gauges(ch)
	s := m.status()
	at(m.made, s.Made)
	at(m.current, s.Current)
	gauge(m.newest, float64(max(0, s.Newest-s.Number)))
	flag(m.failing, s.Problem != "")
	gauge(m.took, s.Seconds)
	ch <- prometheus.MustNewConstMetric(m.takes, prometheus.CounterValue, float64(s.Takes), "ok")
	ch <- prometheus.MustNewConstMetric(m.takes, prometheus.CounterValue, float64(s.Failures), "failed")
}
