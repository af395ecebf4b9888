package main

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/netip"
	"os"
	"path/filepath"
	"strings"

	"github.com/rs/zerolog"

	"pmx/engine"
	"pmx/engine/backup"
	"pmx/http/admin"
	"pmx/http/server"
	"pmx/rollups/keeper"
)

// settingError says what is wrong with the value of a flag; its text names the flag.
type settingError struct {
	flag string // without dashes; "" for an argument
	err  error
}

func (e *settingError) Error() string { return e.err.Error() }

// Unwrap returns the reason.
func (e *settingError) Unwrap() error { return e.err }

// wrong returns a settingError whose text is the flag's name followed by a message.
func wrong(flag, format string, args ...any) error {
	return &settingError{flag, fmt.Errorf("--"+flag+format, args...)}
}

// check returns an error for every setting that c would refuse, as far as nothing has to be opened
// for that.
func (c *ServeCmd) check(cli *CLI) []error {
	var all []error
	add := func(flag string, err error) {
		var named *settingError
		switch {
		case err == nil:
		case errors.As(err, &named):
			all = append(all, err)
		default:
			all = append(all, wrong(flag, ": %w", err))
		}
	}
	if dir, err := cli.dir(); err != nil {
		add("data-dir", err)
	} else {
		add("data-dir", admin.CheckPath(dir.AdminSocket()))
		if at, err := os.Stat(string(dir)); err == nil && !at.IsDir() {
			add("data-dir", fmt.Errorf("%s is not a folder", dir))
		}
	}
	add("refresh-cron", keeper.Schedule{Refresh: c.RefreshCron}.Check())
	add("verify-cron", keeper.Schedule{Verify: c.VerifyCron}.Check())
	add("", c.checkBackup(cli))
	add("", c.checkFollow(cli))
	add("publish-dir", c.checkPublish(cli))
	add("lake", c.checkLake())
	_, err := c.usd()
	add("whale-threshold", err)
	add("request-log", checkLog(c.RequestLog))
	add("log", checkLog(c.Log))
	if c.ExportKeep <= 0 {
		add("", wrong("export-keep", " %s: give how long exports are kept, such as 24h", c.ExportKeep))
	}
	if c.ExportJobs < 1 {
		add("", wrong("export-jobs", " %d: give how many jobs a key may have, 1 or more", c.ExportJobs))
	}
	add("metrics-listen", checkAddress(c.MetricsListen))
	if c.MetricsListen != "" && c.MetricsListen == c.Listen && !strings.HasSuffix(c.Listen, ":0") { // then the system chooses
		add("", wrong("metrics-listen", " %s is the address of --listen: give another one", c.MetricsListen))
	}
	add("", c.checkSync())
	cfg, err := c.serverConfig(cli, zerolog.Nop())
	add("trusted-proxy", err)
	refused := server.Check(cfg)
	add("tls-cert", refused.TLS)
	add("acme-domain", refused.ACME)
	add("cors-origin", refused.Origins)
	if err == nil { // otherwise it is unknown whether plain HTTP is safe
		add("listen", refused.Listen)
	}
	return all
}

// checkBackup returns an error if backups cannot be made as configured.
func (c *ServeCmd) checkBackup(cli *CLI) error {
	if c.BackupKeep < 0 {
		return wrong("backup-keep", " %d: give how many backups to keep, or 0 to keep all", c.BackupKeep)
	}
	if c.BackupDir == "" {
		return nil
	}
	if c.BackupCron == "" {
		return wrong("backup-cron", " is empty: give when to back up, such as \"45 * * * *\", or leave --backup-dir out")
	}
	err := keeper.Schedule{Chores: []keeper.Chore{{Name: "backup", When: c.BackupCron}}}.Check()
	if err != nil {
		return wrong("backup-cron", ": %w", err)
	}
	dir, err := cli.dir()
	if err != nil {
		return nil // already reported
	}
	if err := backup.Apart(string(dir), c.BackupDir); err != nil {
		return wrong("backup-dir", ": %w", err)
	}
	return nil
}

func (c *ServeCmd) checkSync() error {
	if c.Sync != "" {
		return c.Follow.check("sync-")
	}
	for _, f := range []struct {
		name  string
		given bool
	}{{"sync-rpc", len(c.Follow.RPC) > 0}, {"sync-at", c.Follow.At != ""}, {"sync-only", len(c.Follow.Only) > 0}, {"sync-from-block", c.Follow.FromBlock != 0}} {
		if f.given {
			return wrong(f.name, " is given, but no venue is followed: also give --sync polymarket")
		}
	}
	return nil
}

// serverConfig returns the configuration of the server, without the API and the logs.
func (c *ServeCmd) serverConfig(cli *CLI, log zerolog.Logger) (server.Config, error) {
	cfg := server.Config{Listen: c.Listen, TLSCert: c.TLSCert, TLSKey: c.TLSKey, Origins: c.CORSOrigin, Log: log}
	dir, err := cli.dir()
	if err != nil {
		return cfg, err
	}
	cfg.ACME = c.orders(dir)
	for _, text := range c.TrustedProxy {
		p, err := netip.ParsePrefix(text)
		if err != nil {
			return cfg, wrong("trusted-proxy", " %s: give an address range such as 10.0.0.0/8", text)
		}
		cfg.TrustedProxy = append(cfg.TrustedProxy, p)
	}
	return cfg, nil
}

// checkAddress returns an error unless address is HOST:PORT or empty.
func checkAddress(address string) error {
	if address == "" {
		return nil
	}
	_, port, err := net.SplitHostPort(address)
	if err == nil {
		_, err = net.LookupPort("tcp", port)
	}
	if err != nil {
		return fmt.Errorf("%q: give HOST:PORT, such as 127.0.0.1:9464: %w", address, err)
	}
	return nil
}

// checkLog returns an error if a log cannot be written to path. It does not create the file.
func checkLog(path string) error {
	if path == "" || path == "-" {
		return nil
	}
	info, err := os.Stat(path)
	if err == nil && info.IsDir() {
		return fmt.Errorf("%s is a folder: give a file", path)
	}
	if err == nil {
		return nil
	}
	if info, err = os.Stat(filepath.Dir(path)); err != nil || !info.IsDir() {
		return fmt.Errorf("the folder of %s does not exist: create it, or give another file", path)
	}
	return nil
}

// checkEngine returns an error for every limit that is invalid.
func (c *CLI) checkEngine(ctx context.Context) []error {
	var all []error
	if _, err := engine.ParseMemory(c.Memory); err != nil {
		all = append(all, wrong("memory", " %s: %w", c.Memory, err))
	}
	if threads := engine.CheckThreads(ctx, c.Threads); threads != nil {
		all = append(all, wrong("threads", " %d: give how many, 1 or more, or 0 for one per core: %w", c.Threads, threads))
	}
	return all
}

// checkLake returns an error if fills cannot be read from the lake.
func (c *ServeCmd) checkLake() error {
	if c.Lake == "" {
		return nil
	}
	real, err := filepath.EvalSymlinks(c.Lake) // DuckDB may read only what is below the real folder
	if err != nil {
		return err
	}
	if at, err := os.Stat(real); err != nil || !at.IsDir() {
		return fmt.Errorf("%s is not a folder: give the folder of the lake, as pmx export lake wrote it, or a copy", c.Lake)
	}
	c.Lake = real
	return nil
}
