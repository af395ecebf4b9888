package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"os/user"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"

	"pmx/engine/guard"
)

// postgres is a private cluster in a temporary folder, reached over a socket in it. It runs as a
// user other than root, which PostgreSQL requires.
type postgres struct {
	dir     string
	buffers string
	bin     map[string]string
	as      *syscall.Credential // nil: the current user
	server  *exec.Cmd
}

// errNoPostgres means that there is nothing to compare with.
var errNoPostgres = errors.New("postgres is not installed (Debian: apt-get install postgresql)")

// programs are the required programs of PostgreSQL. pgbench sends the queries, because it is the
// client with the least overhead.
var programs = []string{"initdb", "postgres", "psql", "pgbench"}

func findPrograms() (map[string]string, error) {
	found := map[string]string{}
	for _, name := range programs {
		places, err := filepath.Glob("/usr/lib/postgresql/*/bin/" + name)
		if err != nil {
			return nil, err
		}
		if path, err := exec.LookPath(name); err == nil && len(places) == 0 {
			places = []string{path}
		}
		if len(places) == 0 {
			return nil, errNoPostgres
		}
		slices.Sort(places)
		found[name] = places[len(places)-1]
	}
	return found, nil
}

// startPostgres makes a cluster and starts it.
func startPostgres(ctx context.Context, buffers string) (p *postgres, err error) {
	p = &postgres{buffers: buffers}
	if p.bin, err = findPrograms(); err != nil {
		return nil, err
	}
	if p.dir, err = os.MkdirTemp("", "pmx-pg-"); err != nil {
		return nil, err
	}
	defer func() {
		if err != nil {
			err = errors.Join(err, p.stop())
		}
	}()
	if err := p.stepDown(); err != nil {
		return nil, err
	}
	data := filepath.Join(p.dir, "data")
	if _, err := p.run(ctx, "initdb", "-D", data, "-U", "bench", "-A", "trust", "--no-sync", "-E", "UTF8", "--locale", "C"); err != nil {
		return nil, err
	}
	err = p.start(ctx)
	return p, err
}

// start starts the server of the cluster.
func (p *postgres) start(ctx context.Context) (err error) {
	p.server = p.command(context.WithoutCancel(ctx), "postgres", "-D", filepath.Join(p.dir, "data"), "-k", p.dir, "-h", "", "-c", "shared_buffers="+p.buffers,
		"-c", "jit=off", "-c", "max_connections=20", "-c", "fsync=off", "-c", "max_wal_size=4GB", "-c", "logging_collector=off")
	if err := p.server.Start(); err != nil {
		return err
	}
	for range 100 {
		if err = p.sql(ctx, "SELECT 1"); err == nil {
			return nil
		}
		if err := guard.Sleep(ctx, 100*time.Millisecond); err != nil {
			return err
		}
	}
	return fmt.Errorf("postgres does not respond: %w", err)
}

// restart stops the server and starts it again, with nothing in its buffers.
func (p *postgres) restart(ctx context.Context) error {
	if err := errors.Join(p.server.Process.Signal(os.Interrupt), p.server.Wait()); err != nil {
		return err
	}
	return p.start(ctx)
}

// stepDown chooses a user to run as if the current one is root.
func (p *postgres) stepDown() error {
	if os.Getuid() != 0 {
		return nil
	}
	who, err := user.Lookup("postgres")
	if err != nil {
		who, err = user.Lookup("nobody")
	}
	if err != nil {
		return fmt.Errorf("postgres refuses to run as root, and there is no other account: %w", err)
	}
	uid, err := strconv.ParseUint(who.Uid, 10, 32)
	if err != nil {
		return err
	}
	gid, err := strconv.ParseUint(who.Gid, 10, 32)
	if err != nil {
		return err
	}
	p.as = &syscall.Credential{Uid: uint32(uid), Gid: uint32(gid)}
	return os.Chown(p.dir, int(uid), int(gid))
}

func (p *postgres) command(ctx context.Context, name string, args ...string) *exec.Cmd {
	cmd := exec.CommandContext(ctx, p.bin[name], args...)
	cmd.Dir = p.dir
	cmd.Env = append(os.Environ(), "PGHOST="+p.dir, "PGUSER=bench", "PGDATABASE=postgres", "LC_ALL=C")
	cmd.SysProcAttr = &syscall.SysProcAttr{Credential: p.as}
	return cmd
}

func (p *postgres) run(ctx context.Context, name string, args ...string) ([]byte, error) {
	out, err := p.command(ctx, name, args...).CombinedOutput()
	if err != nil {
		return nil, fmt.Errorf("%s: %w: %.400s", name, err, out)
	}
	return out, nil
}

func (p *postgres) sql(ctx context.Context, text string) error {
	_, err := p.run(ctx, "psql", "-X", "-q", "-v", "ON_ERROR_STOP=1", "-c", text)
	return err
}

// ask runs a named statement from as many clients as the API has in its measurement, with a random wallet
// in :w, and returns its rate and latencies.
func (p *postgres) ask(ctx context.Context, name string, clients, wallets int) (perSecond float64, p50, p99 time.Duration, err error) {
	file, log := filepath.Join(p.dir, "ask.sql"), filepath.Join(p.dir, "log")
	text := fmt.Sprintf("\\set w random(0, %d)\n%s;\n", wallets-1, strings.ReplaceAll(postgresStatements.Get(name), "\n", " "))
	if err := os.WriteFile(file, []byte(text), 0o644); err != nil {
		return 0, 0, 0, err
	}
	out, err := p.run(ctx, "pgbench", "-n", "-M", "prepared", "-c", strconv.Itoa(clients), "-j", "2", "-T", strconv.Itoa(int(lasting.Seconds())),
		"-f", file, "-l", "--log-prefix", log)
	if err != nil {
		return 0, 0, 0, err
	}
	for _, line := range strings.Split(string(out), "\n") {
		if _, scan := fmt.Sscanf(line, "tps = %f", &perSecond); scan == nil {
			break
		}
	}
	if perSecond == 0 {
		return 0, 0, 0, fmt.Errorf("pgbench reported no rate: %.400s", out)
	}
	p50, p99, err = latencies(log)
	return perSecond, p50, p99, err
}

// latencies reads and removes the logs of pgbench: one line per transaction, whose third word is
// its duration in µs.
func latencies(prefix string) (p50, p99 time.Duration, err error) {
	files, err := filepath.Glob(prefix + ".*")
	if err != nil {
		return 0, 0, err
	}
	var all []time.Duration
	for _, file := range files {
		f, err := os.Open(file)
		if err != nil {
			return 0, 0, err
		}
		for lines := bufio.NewScanner(f); lines.Scan(); {
			var client, nth, us int64
			if _, err := fmt.Sscan(lines.Text(), &client, &nth, &us); err == nil {
				all = append(all, time.Duration(us)*time.Microsecond)
			}
		}
		if err := errors.Join(f.Close(), os.Remove(file)); err != nil {
			return 0, 0, err
		}
	}
	if len(all) == 0 {
		return 0, 0, errors.New("pgbench wrote no log")
	}
	slices.Sort(all)
	return all[len(all)/2], all[len(all)*99/100], nil
}

// stop ends the server and removes the cluster.
func (p *postgres) stop() error {
	var err error
	if p.server != nil && p.server.Process != nil {
		err = errors.Join(p.server.Process.Signal(os.Interrupt), p.server.Wait())
	}
	return errors.Join(err, os.RemoveAll(p.dir))
}
