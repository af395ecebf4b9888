package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"syscall"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"
	"github.com/rs/zerolog"
	"golang.org/x/sync/errgroup"

	"pmx/data/sample"
	"pmx/engine"
	"pmx/engine/control"
	"pmx/engine/export/job"
	"pmx/engine/guard"
	"pmx/http/access"
	"pmx/http/admin"
	"pmx/http/api"
	"pmx/http/server"
	"pmx/rollups/keeper"
	"pmx/rollups/replica"
)

// ServeCmd serves the API.
type ServeCmd struct {
	Listen  string `help:"Address to listen on, HOST:PORT. Port 0 chooses a free port, which the ready line shows. Plain HTTP is allowed only on loopback addresses; any other address needs a certificate or a trusted proxy." default:"127.0.0.1:8080"`
	TLSCert string `help:"TLS certificate with its chain, PEM. It is reloaded when it changes, without a restart." type:"path" placeholder:"FILE"`
	TLSKey  string `help:"Private key of the certificate, PEM." type:"path" placeholder:"FILE"`
	acmeFlags
	TrustedProxy []string `help:"Address range of TLS proxies whose X-Forwarded headers are trusted." placeholder:"CIDR"`
	CORSOrigin   []string `help:"Origin whose pages may call the API from a browser, such as https://dash.example; may be repeated. '*' alone allows all." name:"cors-origin" placeholder:"ORIGIN"`
	Explorer     string   `help:"Who may use the pages: keys, only those who have an API key, or public, everybody. Public pages get the plan free and 120 requests a minute per client address; every other request still needs a key." enum:"keys,public" default:"keys"`
	WaitlistForm bool     `help:"Show a form at /request-key with which anybody can request a key, three times an hour from one address. Requests are put on the waitlist: see pmx waitlist."`
	RefreshCron  string   `help:"When to import the inbox, compact and checkpoint." default:"@every 30s" placeholder:"CRON"`
	VerifyCron   string   `help:"When to verify the whole database, in UTC; empty means never." default:"15 3 * * *" placeholder:"CRON"`
	BackupDir    string   `help:"Back up into this folder on schedule, as pmx backup does; empty means never." type:"path" placeholder:"DIR"`
	BackupCron   string   `help:"When to back up, in UTC." default:"45 * * * *" placeholder:"CRON"`
	BackupKeep   int      `help:"How many backups to keep; older ones are removed. 0 keeps all." default:"48" placeholder:"N"`
	PublishDir   string   `help:"Write every change into this folder at once, for servers that follow it with --follow. It is not a backup: only the newest states are kept, and a power failure may damage them; the next start repairs them. Empty means never." type:"path" placeholder:"DIR"`
	FollowDir    string   `help:"Serve the backups in this folder, as another pmx adds them, and import nothing: a replica for reads. It needs its own --data-dir." name:"follow" type:"path" placeholder:"DIR"`
	Lake         string   `help:"Read single fills from this lake, for a database that was made by pmx pull and has no fills. The lake must still have the manifest that was pulled." type:"path" placeholder:"DIR"`
	RequestLog   string   `help:"Log of requests: a file, or - for stderr; empty means none." default:"" placeholder:"FILE"`
	Log          string   `help:"Log of the server: a file, or - for stderr." default:"-" placeholder:"FILE"`
	logFlags
	MetricsListen string        `help:"Address on which Prometheus gets /metrics, HOST:PORT; empty: only on the admin socket. It needs no key and does not use TLS: choose an address that only Prometheus can reach." default:"" placeholder:"HOST:PORT"`
	ExportKeep    time.Duration `help:"How long finished exports are kept, such as 12h or 7d." default:"24h" placeholder:"TIME"`
	ExportQuota   byteSize      `help:"Disk space for finished exports, such as 500MB; the oldest are removed first." default:"20GB" placeholder:"SIZE"`
	ExportJobs    int           `help:"Number of export jobs that one key may have queued or running." default:"10" placeholder:"N"`
	whaleThreshold
	Sync       choice      `help:"Follow this venue: polymarket. The flags that begin with --sync- say how." enum:"polymarket," default:"" placeholder:"VENUE"`
	Follow     followFlags `embed:"" prefix:"sync-"`
	Historical bool        `help:"The data is historical on purpose: measure its freshness against the newest fill, not against the clock."`
	Sample     bool        `help:"Import the bundled sample venue first, if the data directory is empty; it counts as historical."`

	memory engine.Memory // of the process, as it is divided at the start
}

// Help is the longer help.
func (ServeCmd) Help() string {
	return `Prints "ready" and the base URL on stdout as soon as it answers every request, and stops cleanly on SIGTERM. Until then requests
get 503; leaderboards of traders and statistics of wallets are answered as soon as these are read.
Files that are moved into <data-dir>/inbox are imported.

  pmx serve --sample
  pmx serve --sync polymarket --sync-contact you@example.org
  pmx serve --listen 0.0.0.0:443 --tls-cert cert.pem --tls-key key.pem
  pmx serve --listen 0.0.0.0:443 --acme-domain api.example.org
  pmx serve --listen 0.0.0.0:8080 --trusted-proxy 10.0.0.0/8
  pmx serve --follow /mnt/backup/pmx --data-dir replica1 --listen 127.0.0.1:8081

By default, browsers do not let pages of other sites read responses. Allow a site by its origin: scheme, host and port, as the
address bar of the browser shows them:

  pmx serve --cors-origin https://dash.example --cors-origin http://localhost:3000
  pmx serve --cors-origin '*'            pages of every site; they still need a key`
}

// sweepExports is when expired exports, and those over the quota, are removed.
const sweepExports = "@every 1m"

// Run serves until ctx ends.
func (c *ServeCmd) Run(ctx context.Context, cli *CLI, std stdio) (err error) {
	dir, err := cli.ownDir()
	if err != nil {
		return err
	}
	if err := errors.Join(append(c.check(cli), c.refuseReplica(dir), cli.limitMemory())...); err != nil {
		return err
	}
	c.memory = cli.memory
	schedule := keeper.Schedule{Refresh: c.RefreshCron, Verify: c.VerifyCron}
	whale, err := c.usd()
	if err != nil {
		return err
	}
	_, absent := os.Stat(dir.Database())
	if err := dir.Create(); err != nil {
		return err
	}
	removeStaleStdin(dir)
	lines, closeLines, err := c.openLog(std)
	if err != nil {
		return err
	}
	defer closeLines()
	log, began := c.logger(lines), time.Now()
	c.logStart(log, dir, errors.Is(absent, fs.ErrNotExist))
	defer func() { logEnd(log, began, err) }()
	at, closeLog, err := c.listen(cli, log, std)
	if err != nil {
		return err
	}
	defer closeLog()
	at.Listener.Refuse()
	defer at.Listener.Close()
	var scraped *admin.Metrics
	if c.MetricsListen != "" {
		if scraped, err = admin.ListenMetrics(c.MetricsListen); err != nil {
			return err
		}
		defer scraped.Close()
	}
	engine.AddSpareProcs()
	if c.FollowDir != "" {
		return c.replicate(ctx, cli, dir, at, scraped, std)
	}
	k, err := cli.openVenue(ctx, dir, keeper.Config{Log: log, Whale: whale, Lake: c.Lake, Serve: true, Later: true, Watch: at.Watch, AwaitStarted: true})
	if err != nil {
		return unlessStopped(ctx, err)
	}
	defer func() { err = errors.Join(err, k.Close()) }()
	return c.answer(ctx, k, nil, at, newRegistry(), scraped, schedule, std)
}

// begin reads the data of k, while the server answers what can already be answered.
func (c *ServeCmd) begin(ctx context.Context, k *keeper.Keeper, served *api.API, log zerolog.Logger, std stdio) error {
	if !c.Sample {
		return k.Begin(ctx, served.PublishTraders)
	}
	if err := k.Begin(ctx, nil); err != nil { // of a venue that may be empty so far
		return err
	}
	return firstSample(ctx, k, k.DB().Dir(), log, std)
}

// unlessStopped returns nil if err only says that the server was stopped before it was ready, which
// is not a failure.
func unlessStopped(ctx context.Context, err error) error {
	if ctx.Err() != nil && errors.Is(err, context.Canceled) {
		return nil
	}
	return err
}

// answer serves the data of k until ctx ends, and the metrics of registry on scraped, if that is
// not nil. r is nil if no other server is followed; then the data is still to be read.
func (c *ServeCmd) answer(ctx context.Context, k *keeper.Keeper, r *replica.Follower, at server.Config, registry *prometheus.Registry, scraped *admin.Metrics, schedule keeper.Schedule, std stdio) (err error) {
	dir, log := k.DB().Dir(), at.Log
	keys, err := control.Open(ctx, dir.Control(), time.Now)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, keys.Close()) }()
	gate, err := access.NewGate(ctx, keys, log)
	if err != nil {
		return err
	}
	exports := c.exports(keys, k, log, at.Watch)
	f, lanes, err := c.followed(k, log, at.Watch)
	if err != nil {
		return err
	}
	if f != nil {
		defer f.close()
	}
	sources := f.sources()
	if r != nil {
		sources, lanes = r.Sources, append(lanes, func(ctx context.Context) error { return at.Watch.Supervise(ctx, "follow", r.Run) })
	}
	cfg := api.Config{Exports: exports, Gate: gate, Opening: r == nil, Copies: r != nil, Sources: sources, Newest: f.newestTrades(), Watch: at.Watch}
	served, err := c.newAPI(ctx, k, keys, cfg)
	if err != nil {
		return err
	}
	at.API = served
	if c.WaitlistForm {
		at.Waitlist = waitlistForm(keys)
	}
	srv, err := server.New(at)
	if err != nil {
		return err
	}
	registry.MustRegister(srv.Collector(), newStoreMetrics(k.Freshness, k.Snapshot, k.DB(), keys, at.Watch), newWorkMetrics(k.Tally))
	noteKeys := func(ctx context.Context) error { return at.Watch.Supervise(ctx, "keys", gate.Run) } // some are needed before everything is read
	return runAll(ctx, srv.Serve, noteKeys, func(ctx context.Context) error {
		if r == nil {
			if err := c.begin(ctx, k, served, log, std); err != nil {
				return unlessStopped(ctx, err)
			}
			served.Open()
		}
		f.begins()
		sock, err := admin.Listen(dir.AdminSocket(), registry, log)
		if err != nil {
			return err
		}
		registerServer(sock, k, gate, f, &statusTeller{keeper: k, keys: keys, watch: at.Watch, sources: sources, replica: r, url: srv.URL(), historical: c.Historical || c.Sample, started: time.Now().UTC()})
		if err := gate.Refresh(ctx); err != nil { // a command that changed a key just before could not say so
			return unlessStopped(ctx, err)
		}
		if scraped != nil {
			lanes = append(lanes, func(ctx context.Context) error { return c.scrape(ctx, scraped, registry, log) })
		}
		if err := c.announce(std, log, srv.URL(), k.Snapshot()); err != nil {
			return err
		}
		lanes = append(lanes, sock.Serve, notesStop(log))
		return runAll(ctx, append(lanes, c.upkeep(k, keys, exports, served, schedule, at)...)...)
	})
}

// newAPI makes an API of what k publishes; cfg has what else it needs.
func (c *ServeCmd) newAPI(ctx context.Context, k *keeper.Keeper, keys *control.DB, cfg api.Config) (*api.API, error) {
	var err error
	if cfg.CursorKey, err = keys.Secret(ctx, "cursor"); err != nil {
		return nil, err
	}
	cfg.Source, cfg.Reader, cfg.Version, cfg.Historical = k, k.Reader(), version, c.Historical || c.Sample
	cfg.GoMemory, cfg.LeaderboardsRead, cfg.OpenPages = c.memory.Go, k.Started, c.Explorer == "public"
	served, err := api.New(cfg)
	if err == nil {
		k.OnPublish(served.Publish) // api.New has published the current snapshot
	}
	return served, err
}

// scrape serves metrics to Prometheus until ctx ends.
func (c *ServeCmd) scrape(ctx context.Context, scraped *admin.Metrics, registry *prometheus.Registry, log zerolog.Logger) error {
	log.Info().Str("address", scraped.Addr().String()).Msg("metrics_served")
	return scraped.Serve(ctx, registry)
}

// followed returns the follower of a venue and its tasks; nil if the server follows none.
func (c *ServeCmd) followed(k *keeper.Keeper, log zerolog.Logger, watch *guard.Watch) (*follower, []func(context.Context) error, error) {
	if c.Sync == "" {
		return nil, nil, nil
	}
	f, err := c.Follow.newFollower(k, log, watch, true)
	if err != nil {
		return nil, nil, err
	}
	return f, f.tasks(watch), nil
}

// upkeep returns the background tasks of a server.
func (c *ServeCmd) upkeep(k *keeper.Keeper, keys *control.DB, exports *job.Pool, served *api.API, schedule keeper.Schedule, at server.Config) []func(context.Context) error {
	kept := func(name string, run func(context.Context) error) func(context.Context) error {
		return func(ctx context.Context) error { return at.Watch.Supervise(ctx, name, run) }
	}
	schedule.Chores = c.chores(k, exports)
	if c.BackupDir != "" {
		k.ExpectBackups(c.BackupDir, c.BackupCron)
	}
	all := []func(context.Context) error{kept("exports", exports.Run),
		kept("schedule", func(ctx context.Context) error { return k.Run(ctx, schedule) }),
		kept("status history", func(ctx context.Context) error { return served.RecordStatus(ctx, keys, at.Log) }),
		kept("leaderboards", func(ctx context.Context) error { return served.KeepLeaderboards(ctx, api.LeaderboardsPause, at.Log) })}
	if c.PublishDir != "" {
		all = append(all, kept("publish", func(ctx context.Context) error { return k.Publish(ctx, c.PublishDir, version, keys) }))
	}
	return all
}

// chores returns the scheduled work of the server that does not concern the database.
func (c *ServeCmd) chores(k *keeper.Keeper, exports *job.Pool) []keeper.Chore {
	list := []keeper.Chore{{Name: "sweep exports", When: sweepExports, Do: exports.Maintain}}
	if c.BackupDir != "" {
		list = append(list, keeper.Chore{Name: "backup", When: c.BackupCron, Do: func(ctx context.Context) error {
			_, err := k.Backup(ctx, keeper.BackupRequest{Dir: c.BackupDir, Keep: c.BackupKeep, Pmx: version, When: c.BackupCron}, nil)
			return err
		}})
	}
	return list
}

// exports returns the queue of export jobs.
func (c *ServeCmd) exports(keys *control.DB, k *keeper.Keeper, log zerolog.Logger, watch *guard.Watch) *job.Pool {
	return job.NewPool(job.Config{NoFills: k.Pulled() != nil, Store: keys, Work: k.Exporter(), Dir: k.DB().Dir().Exports(), Now: time.Now, Log: log, Watch: watch,
		Limits: job.Limits{Keep: c.ExportKeep, Quota: int64(c.ExportQuota), PerKey: c.ExportJobs}})
}

// runAll runs all until ctx ends or one fails, and waits for every one.
func runAll(ctx context.Context, all ...func(context.Context) error) error {
	group, ctx := errgroup.WithContext(ctx)
	for _, run := range all {
		guard.InGroup(group, func() error { return run(ctx) })
	}
	return group.Wait()
}

// newRegistry returns the registry of /metrics on the admin socket, with metrics of the process.
func newRegistry() *prometheus.Registry {
	r := prometheus.NewRegistry()
	r.MustRegister(collectors.NewGoCollector(), collectors.NewProcessCollector(collectors.ProcessCollectorOpts{}))
	return r
}

// listen binds the address before anything is opened, so that one in use is reported at once. The
// returned configuration does not have the API yet.
func (c *ServeCmd) listen(cli *CLI, log zerolog.Logger, std stdio) (server.Config, func(), error) {
	cfg, err := c.serverConfig(cli, log)
	if err != nil {
		return cfg, nil, err
	}
	cfg.Watch = guard.New(log)
	l, err := server.Listen(cfg)
	if err != nil {
		return cfg, nil, err
	}
	cfg.Listener = l
	closeLog := func() {}
	switch c.RequestLog {
	case "":
	case "-":
		cfg.RequestLog = std.err
	default:
		f, err := openLog(c.RequestLog)
		if err != nil {
			l.Close()
			return cfg, nil, fmt.Errorf("request log: %w", err)
		}
		cfg.RequestLog, closeLog = f, func() { _ = f.Close() }
	}
	return cfg, closeLog, nil
}

// openLog opens the server's log.
func (c *ServeCmd) openLog(std stdio) (io.Writer, func(), error) {
	if c.Log == "-" || c.Log == "" {
		return std.err, func() {}, nil
	}
	f, err := openLog(c.Log)
	if err != nil {
		return nil, nil, fmt.Errorf("log: %w", err)
	}
	return f, func() { _ = f.Close() }, nil
}

// openLog opens a file to append to. It may be a device or a pipe, but a pipe must already have a
// reader: nothing waits for one.
func openLog(path string) (*os.File, error) {
	f, err := os.OpenFile(path, os.O_CREATE|os.O_APPEND|os.O_WRONLY|syscall.O_NONBLOCK, 0o644)
	if errors.Is(err, syscall.ENXIO) {
		return nil, fmt.Errorf("%s is a pipe that nobody reads", path)
	}
	return f, err
}

// firstSample imports the bundled venue into a database without fills.
func firstSample(ctx context.Context, k *keeper.Keeper, dir engine.Dir, log zerolog.Logger, std stdio) error {
	if s := k.Snapshot(); s != nil && s.Counts.Fills > 0 {
		return nil
	}
	out, err := os.MkdirTemp(dir.Tmp(), "sample-*")
	if err != nil {
		return err
	}
	defer func() { _ = os.RemoveAll(out) }()
	if err := os.Remove(out); err != nil {
		return err
	}
	man, err := sample.Write(ctx, sample.Config{}, out, nil)
	if err != nil {
		return err
	}
	log.Info().Int64("fills", man.Fills).Time("from", man.Start).Time("to", man.End).Msg("importing the sample venue")
	m := newProgressBar(std, false)
	defer m.clear()
	res, err := k.Import(ctx, keeper.Request{Paths: []string{out}}, m.imported)
	if err == nil && len(res.Failed) > 0 {
		err = errors.New(res.Failed[0].Error)
	}
	return err
}
