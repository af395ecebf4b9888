package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/alecthomas/kong"

	"pmx/data/testfiles"
	"pmx/engine/enginetest"
	"pmx/engine/export"
)

// replicaTrader has one more fill with each import of replicaWriter.
const replicaTrader = "0x00000000000000000000000000000000000000aa"

// replicaWriter is a venue whose backups are copied to where they are followed, as by rclone.
type replicaWriter struct {
	t       *testing.T
	dir     string // the data directory
	backups string
	carried string
	fills   int
}

func newReplicaWriter(t *testing.T) *replicaWriter {
	t.Helper()
	w := &replicaWriter{t: t, dir: t.TempDir(), backups: filepath.Join(t.TempDir(), "backups"), carried: t.TempDir()}
	enginetest.Options(t, w.dir, "")
	return w
}

// pmx runs a command in this process on the data directory of the writer, or on another.
func (w *replicaWriter) pmx(dir string, args ...string) (status int, out, errs string) {
	keepUmask(w.t)
	var stdout, stderr bytes.Buffer
	status = run(append(args, "--data-dir", dir), stdio{in: strings.NewReader(""), out: &stdout, err: &stderr})
	return status, stdout.String(), stderr.String()
}

func (w *replicaWriter) must(args ...string) string {
	w.t.Helper()
	status, out, errs := w.pmx(w.dir, args...)
	if status != 0 {
		w.t.Fatalf("pmx %s: errs = %s", strings.Join(args, " "), errs)
	}
	return out
}

// trade imports one more fill and backs up.
func (w *replicaWriter) trade() {
	w.t.Helper()
	w.importOne()
	w.must("backup", w.backups)
}

// importOne imports one more fill.
func (w *replicaWriter) importOne() {
	w.t.Helper()
	w.fills++
	path := filepath.Join(w.t.TempDir(), fmt.Sprintf("%d.csv", w.fills))
	at := time.Date(2026, 1, 2, 0, 0, 0, 0, time.UTC).Add(time.Duration(w.fills) * time.Hour)
	text := fmt.Sprintf("ts,address,token_id,side,shares,usd\n%s,%s,71,BUY,100,40\n", at.Format(time.RFC3339), replicaTrader)
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		w.t.Fatal(err)
	}
	w.must("import", path)
}

// carry copies the backups, except for files for which skip returns true, and returns the new
// blocks.
func (w *replicaWriter) carry(skip func(path string) bool) (blocks []string) {
	w.t.Helper()
	for _, part := range []string{"pmx-backup.json", "blocks", "manifests", "CURRENT"} {
		err := filepath.WalkDir(filepath.Join(w.backups, part), func(path string, e fs.DirEntry, err error) error {
			if err != nil {
				return err
			}
			rel, err := filepath.Rel(w.backups, path)
			to := filepath.Join(w.carried, rel)
			if e.IsDir() || err != nil {
				return errors.Join(err, os.MkdirAll(to, 0o700))
			}
			if _, err := os.Stat(to); err == nil && part != "CURRENT" || skip != nil && skip(rel) {
				return nil
			}
			text, err := os.ReadFile(path)
			if part == "blocks" {
				blocks = append(blocks, rel)
			}
			return errors.Join(err, os.WriteFile(to+".tmp", text, 0o600), os.Rename(to+".tmp", to))
		})
		if err != nil {
			w.t.Fatal(err)
		}
	}
	return blocks
}

// replicaServer is a server that follows.
type replicaServer struct {
	t    *testing.T
	dir  string
	base string
}

// follow starts a server that follows the copied backups.
func (w *replicaWriter) follow() *replicaServer {
	w.t.Helper()
	return serveHere(w.t, w.t.TempDir(), "--follow", w.carried)
}

// serveHere starts a server in this process and waits until it is ready; it stops with the test.
func serveHere(t *testing.T, dir string, args ...string) *replicaServer {
	t.Helper()
	s, ready := startHere(t, dir, args...)
	ready()
	return s
}

// startHere starts one and does not wait; ready does.
func startHere(t *testing.T, dir string, args ...string) (s *replicaServer, ready func()) {
	t.Helper()
	s = &replicaServer{t: t, dir: dir}
	ctx, stop := context.WithCancel(t.Context())
	log := filepath.Join(t.TempDir(), "log")
	var cli CLI
	reads, writes := io.Pipe()
	std := stdio{out: writes, err: io.Discard}
	parser, err := newParser(&cli, std, &configResolver{}, func(int) {}, kong.BindTo(ctx, (*context.Context)(nil)))
	if err != nil {
		t.Fatal(err)
	}
	command, err := parser.Parse(append([]string{"serve", "--data-dir", s.dir, "--listen", "127.0.0.1:0", "--threads", "1", "--log", log, "--log-level", "debug"}, args...))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if text, err := os.ReadFile(log); err == nil && t.Failed() {
			t.Logf("the log of the server on %s:\n%s", dir, text)
		}
	})
	ended := make(chan error, 1)
	go func() {
		err := command.Run(&cli, std)
		_ = writes.CloseWithError(fmt.Errorf("the server ended: %w", err))
		ended <- err
	}()
	t.Cleanup(func() {
		stop()
		if err := <-ended; err != nil {
			t.Errorf("the server: %v", err)
		}
	})
	return s, func() {
		t.Helper()
		line := make([]byte, 200)
		n, err := reads.Read(line)
		if err != nil {
			t.Fatal(err)
		}
		go func() { _, _ = io.Copy(io.Discard, reads) }()
		s.base = strings.TrimSuffix(strings.TrimSpace(strings.TrimPrefix(string(line[:n]), "ready ")), "/api/v3")
	}
}

// ask returns the status and body of a response.
func ask(base, path, key string) (int, string, error) {
	req, err := http.NewRequest(http.MethodGet, base+"/api/v3"+path, nil)
	if err != nil {
		return 0, "", err
	}
	req.Header.Set("X-API-Key", key)
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		return 0, "", err
	}
	body, err := io.ReadAll(res.Body)
	return res.StatusCode, string(body), errors.Join(err, res.Body.Close())
}

// becomes waits until a request gets this response.
func becomes(t *testing.T, base, path, key string, status int, want string) {
	t.Helper()
	for end := time.Now().Add(patience); ; time.Sleep(20 * time.Millisecond) {
		got, body, err := ask(base, path, key)
		if err == nil && got == status && strings.Contains(body, want) {
			return
		}
		if time.Now().After(end) {
			t.Fatalf("%s%s: %d %s %v, not %d %s", base, path, got, body, err, status, want)
		}
	}
}

const replicaStats = "/trader/" + replicaTrader + "/stats"

func tradesOf(n int) string { return fmt.Sprintf(`"trades":%d,`, n) }

// balanced is a reverse proxy that uses the servers in turn.
func balanced(t *testing.T, servers ...*replicaServer) string {
	t.Helper()
	var turn atomic.Int64
	proxy := &httputil.ReverseProxy{Rewrite: func(r *httputil.ProxyRequest) {
		to, err := url.Parse(servers[int(turn.Add(1))%len(servers)].base)
		if err != nil {
			panic(err)
		}
		r.SetURL(to)
	}}
	web := httptest.NewServer(proxy)
	t.Cleanup(web.Close)
	return web.URL
}

// readThrough sends requests to base until stop, and returns the number of responses and the
// failures.
func readThrough(base, key string) (stop func() (answers int, failed []string)) {
	var wg sync.WaitGroup
	var mu sync.Mutex
	var answers int
	var failed []string
	done := make(chan struct{})
	for range 3 {
		wg.Add(1)
		go func() {
			defer wg.Done()
			for {
				select {
				case <-done:
					return
				default:
				}
				for _, path := range []string{replicaStats, "/trader/" + replicaTrader + "/trades", "/leaderboard/traders"} {
					status, body, err := ask(base, path, key)
					mu.Lock()
					if answers++; status != http.StatusOK {
						failed = append(failed, fmt.Sprint(path, " ", status, " ", body, " ", err))
					}
					mu.Unlock()
				}
				time.Sleep(10 * time.Millisecond)
			}
		}()
	}
	return func() (int, []string) {
		close(done)
		wg.Wait()
		return answers, failed
	}
}

// Two servers follow one folder behind a reverse proxy: imports and changes of keys at the writer
// arrive at both, and no request fails meanwhile.
func TestTwoReplicasBehindAProxy(t *testing.T) {
	testfiles.InLong(t, "TestAReplicaTakesWholeBackupsOnly follows backups")
	w := newReplicaWriter(t)
	issue := func(label string) (key, id string) {
		out := w.must("keys", "issue", "--tier", "alpha", "--label", label, "--json")
		return fieldOf(t, out, "key"), fieldOf(t, out, "id")
	}
	key, _ := issue("stays")
	leaves, id := issue("leaves")
	w.trade()
	w.carry(nil)
	one, two := w.follow(), w.follow()
	base := balanced(t, one, two)
	stop := readThrough(base, key)
	for range testfiles.Cases(2, 8) {
		w.trade()
		w.carry(nil)
		for _, s := range []*replicaServer{one, two} {
			becomes(t, s.base, replicaStats, key, 200, tradesOf(w.fills))
		}
	}
	for _, s := range []*replicaServer{one, two} {
		if status, body, err := ask(s.base, replicaStats, leaves); status != 200 || err != nil {
			t.Errorf("a valid key: %d %s %v", status, body, err)
		}
	}
	w.must("keys", "revoke", id)
	w.must("backup", w.backups)
	w.carry(nil)
	for _, s := range []*replicaServer{one, two} {
		becomes(t, s.base, replicaStats, leaves, 401, "revoked")
	}
	answers, failed := stop()
	if answers == 0 || len(failed) > 0 {
		t.Errorf("%d of %d requests failed: %s", len(failed), answers, strings.Join(failed[:min(3, len(failed))], "\n"))
	}

	// Commands that change data are refused on a replica, and the message names the writer.
	for _, words := range [][]string{{"import", w.backups}, {"refresh"}, {"rebuild"}, {"backup", t.TempDir()}, {"keys", "issue", "--label", "x"}, {"keys", "revoke", id},
		{"waitlist", "add", "x", "--use-case", "y"}, {"serve", "--listen", "127.0.0.1:0"}} {
		status, _, errs := w.pmx(one.dir, words...)
		if status != 1 || !strings.Contains(errs, "is refused") || !strings.Contains(errs, w.dir) {
			t.Errorf("pmx %s on a replica: %d %s", strings.Join(words, " "), status, errs)
		}
	}
	if status, out, errs := w.pmx(one.dir, "keys", "list"); status != 0 || !strings.Contains(out, "stays") {
		t.Errorf("keys list on a replica: %d %s %s", status, out, errs)
	}
	if status, out, errs := w.pmx(one.dir, "status"); status != 0 || !strings.Contains(out, "by ") || !strings.Contains(out, w.dir) {
		t.Errorf("status of a replica: %d %s %s", status, out, errs)
	}
	if status, out, errs := w.pmx(one.dir, "verify"); status != 0 || !strings.Contains(out, "snapshot_current") {
		t.Errorf("verify of a replica: %d %s %s", status, out, errs)
	}
}

// fieldOf returns a string member of a JSON object.
func fieldOf(t *testing.T, text, name string) string {
	t.Helper()
	_, rest, found := strings.Cut(text, `"`+name+`":"`)
	value, _, ended := strings.Cut(rest, `"`)
	if !found || !ended {
		t.Fatalf("no %s in %s", name, text)
	}
	return value
}

// A replica whose writer has made no backup yet says so in the status and in the metrics, and
// serves the first one.
func TestAReplicaReportsThatItWaitsForAFirstBackup(t *testing.T) {
	w := newReplicaWriter(t)
	key := fieldOf(t, w.must("keys", "issue", "--tier", "alpha", "--label", "reader", "--json"), "key")
	dir, log := t.TempDir(), filepath.Join(t.TempDir(), "replica.log")
	s, ready := startHere(t, dir, "--follow", w.carried, "--metrics-listen", "127.0.0.1:0", "--log", log)
	told := func(want string, args ...string) {
		t.Helper()
		for end := time.Now().Add(patience); ; time.Sleep(20 * time.Millisecond) {
			_, out, errs := w.pmx(s.dir, args...)
			if strings.Contains(out+errs, want) {
				return
			}
			if time.Now().After(end) {
				t.Fatalf("pmx %s: out = %s, errs = %s", strings.Join(args, " "), out, errs)
			}
		}
	}
	told("waiting for a first backup", "status")
	told("there is nothing to serve yet", "status")
	told("has nothing to serve yet", "verify")
	told("is refused", "refresh")
	lines, err := os.ReadFile(log)
	if err != nil {
		t.Fatal(err)
	}
	served := regexp.MustCompile(`"address":"([^"]+)","[^\n]*metrics_served`).FindSubmatch(lines)
	if served == nil {
		t.Fatalf("no metrics in the log:\n%s", lines)
	}
	res, err := http.Get("http://" + string(served[1]) + "/metrics")
	if err != nil {
		t.Fatal(err)
	}
	text, err := io.ReadAll(res.Body)
	if err := errors.Join(err, res.Body.Close()); err != nil || !strings.Contains(string(text), "pmx_replica_failing 1") {
		t.Errorf("%v\n%s", err, text)
	}
	w.trade()
	w.carry(nil)
	ready()
	becomes(t, s.base, replicaStats, key, 200, tradesOf(1))
	told("1 fill,", "status")
	told("1, first seen 20", "status")
}

// An incomplete or damaged backup is not served: the previous one is, and the status says why.
func TestAReplicaTakesWholeBackupsOnly(t *testing.T) {
	w := newReplicaWriter(t)
	key := fieldOf(t, w.must("keys", "issue", "--tier", "alpha", "--label", "reader", "--json"), "key")
	w.trade()
	w.carry(nil)
	s := w.follow()
	becomes(t, s.base, replicaStats, key, 200, tradesOf(1))
	w.trade()
	var left string
	w.carry(func(path string) bool { // one block is left behind
		if _, err := os.Stat(filepath.Join(w.carried, path)); left == "" && err != nil && strings.HasPrefix(path, "blocks/") {
			left = path
		}
		return path == left
	})
	if left == "" {
		t.Fatal("the second backup has no block of its own")
	}
	becomes(t, s.base, "/status/public", "", 200, "is not complete: 1 of the")
	becomes(t, s.base, replicaStats, key, 200, tradesOf(1))
	if _, out, _ := w.pmx(s.dir, "doctor"); !strings.Contains(out, "is not complete") {
		t.Errorf("doctor does not say so: %s", out)
	}
	w.carry(nil)
	becomes(t, s.base, replicaStats, key, 200, tradesOf(2))
	becomes(t, s.base, "/status/public", "", 200, `"name":"backup","grade":"A","state":"idle"`)

	w.trade()
	var flipped string
	w.carry(func(path string) bool {
		if _, err := os.Stat(filepath.Join(w.carried, path)); flipped != "" || err == nil || !strings.HasPrefix(path, "blocks/") {
			return false
		}
		flipped = path
		text, err := os.ReadFile(filepath.Join(w.backups, path))
		if err != nil {
			t.Fatal(err)
		}
		text[len(text)-1] ^= 1
		if err := os.WriteFile(filepath.Join(w.carried, path), text, 0o600); err != nil {
			t.Fatal(err)
		}
		return true
	})
	becomes(t, s.base, "/status/public", "", 200, "is damaged: its content does not match its name")
	becomes(t, s.base, replicaStats, key, 200, tradesOf(2))
	if err := os.Remove(filepath.Join(w.carried, flipped)); err != nil {
		t.Fatal(err)
	}
	w.carry(nil)
	becomes(t, s.base, replicaStats, key, 200, tradesOf(3))
}

// A replica's database is read-only, and its exports are those of the writer nevertheless.
func TestAReplicaExports(t *testing.T) {
	w := newReplicaWriter(t)
	w.trade()
	w.carry(nil)
	s := w.follow()
	for _, dataset := range slices.Concat(export.Datasets(), export.Facts) {
		var files [2][]byte
		for i, dir := range []string{w.dir, s.dir} {
			path := filepath.Join(t.TempDir(), dataset+".csv")
			if status, _, errs := w.pmx(dir, "export", dataset, "--out", path); status != 0 {
				t.Fatalf("pmx export %s: errs = %s", dataset, errs)
			}
			var err error
			if files[i], err = os.ReadFile(path); err != nil {
				t.Fatal(err)
			}
		}
		if len(files[0]) == 0 || !bytes.Equal(files[0], files[1]) {
			t.Errorf("%s: the writer exports %q, and the replica %q", dataset, files[0], files[1])
		}
	}
}
