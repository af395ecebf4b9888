package main

import (
	"bufio"
	"bytes"
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"math/big"
	"net/http"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"pmx/data/sample"
	"pmx/data/testfiles"
	"pmx/engine/enginetest"
	"pmx/http/api"
)

// TestAnswersDoNotDependOnHistory imports two sample venues, and markets that were created again
// with the same events and bounds under other condition ids, step by step into a server, and
// requests everything. After a restart, after a rebuild, and with a database that got the same
// files in another order, every response is identical byte by byte.
func TestAnswersDoNotDependOnHistory(t *testing.T) {
	if testing.Short() {
		t.Skip("starts four servers")
	}
	steps := twoVenues(t)
	a := &installation{t: t, dir: t.TempDir()}
	a.serve()
	for _, step := range steps {
		a.run(append([]string{"import"}, step...)...)
	}
	asked := a.everything()
	first := a.answers(asked)
	a.shutdown()
	if testfiles.Long() { // scripts and the keeper's tests show in short that a restart and a rebuild change nothing
		a.serve()
		sameAnswers(t, "a restart", first, a.answers(asked))
		a.shutdown()
		a.run("rebuild")
		a.serve()
		sameAnswers(t, "a rebuild", first, a.answers(asked))
		a.shutdown()
		a.run("verify")
	}

	b := &installation{t: t, dir: t.TempDir()}
	for _, step := range slices.Backward(steps) {
		b.run(append([]string{"import"}, step...)...)
	}
	b.serve()
	sameAnswers(t, "imports in another order", first, b.answers(asked))
	b.shutdown()
}

// sameAnswers reports the first few responses that differ.
func sameAnswers(t *testing.T, after string, want, got map[string]string) {
	t.Helper()
	shown := 0
	for _, path := range slices.Sorted(maps.Keys(want)) {
		x, y := want[path], got[path]
		if x == y {
			continue
		}
		if shown++; shown <= 20 {
			at := 0
			for at < min(len(x), len(y)) && x[at] == y[at] {
				at++
			}
			around := func(s string) string { return s[max(0, min(len(s), at-120)):min(len(s), at+160)] }
			t.Errorf("after %s GET %s answers\n  %s\nwant\n  %s", after, path, around(y), around(x))
		}
	}
	if shown > 0 {
		t.Errorf("after %s %d of %d answers differ", after, shown, len(want))
	}
}

// twoVenues writes files and returns them by the step in which they are imported. Every kind comes
// before and after every other one; in a short run, only because the steps are also reversed.
func twoVenues(t *testing.T) (steps [][]string) {
	t.Helper()
	dirs := [2]string{filepath.Join(t.TempDir(), "one"), filepath.Join(t.TempDir(), "two")}
	for i, dir := range dirs {
		cfg := sample.Config{Fills: int64([]int{testfiles.Cases(1_000, 6_000), testfiles.Cases(500, 4_000)}[i]), Seed: uint64(i), FileRows: int64(testfiles.Cases(350, 2_000)), Days: testfiles.Cases(7, 0)}
		if _, err := sample.Write(t.Context(), cfg, dir, nil); err != nil {
			t.Fatal(err)
		}
	}
	again, fills := createdAgain(t, dirs[0])
	files := func(dir, pattern string) []string {
		found, err := filepath.Glob(filepath.Join(dir, pattern))
		if err != nil || len(found) == 0 {
			t.Fatalf("no file %s: %v", pattern, err)
		}
		return found
	}
	one, two := files(dirs[0], "orderFilled*"), files(dirs[1], "orderFilled*")
	steps = [][]string{one[:1], again, {filepath.Join(dirs[1], sample.EventsName)}, files(dirs[0], "*.json")}
	steps[3] = slices.DeleteFunc(steps[3], func(f string) bool { return strings.HasSuffix(f, "manifest.json") })
	if !testfiles.Long() { // the weather of one venue, around the markets and fills of both
		return [][]string{one[:1], slices.Concat(again, steps[2]), slices.Concat(steps[3], two, files(dirs[0], "metar*")), {filepath.Join(dirs[0], sample.EventsName)},
			slices.Concat(fills, one[1:]), slices.Concat(files(dirs[0], "openmeteo-forecasts*"), files(dirs[0], "*-*.csv"))}
	}
	return append(steps, two, files(dirs[0], "metar*"), files(dirs[1], "openmeteo*"), []string{filepath.Join(dirs[0], sample.EventsName)}, fills, one[1:],
		files(dirs[0], "openmeteo*"), files(dirs[0], "*-*.csv"), files(dirs[1], "metar*"))
}

// createdAgain writes some temperature events of a venue a second time, each market with new
// condition and token ids, and fills of some of these tokens. Half of the new ids sort before the
// old ones.
func createdAgain(t *testing.T, dir string) (events, fills []string) {
	t.Helper()
	token := map[string]string{}
	var text bytes.Buffer
	eachLine(t, filepath.Join(dir, sample.EventsName), func(line string) {
		var event map[string]any
		if err := json.Unmarshal([]byte(line), &event); err != nil {
			t.Fatal(err)
		}
		if title, _ := event["title"].(string); !strings.Contains(title, "temperature in ") {
			return
		}
		for _, m := range event["markets"].([]any) {
			market := m.(map[string]any)
			sum := sha256.Sum256([]byte(market["conditionId"].(string)))
			market["conditionId"] = "0x" + hex.EncodeToString(sum[:])
			market["id"] = "9" + market["id"].(string)
			var ids []string
			if err := json.Unmarshal([]byte(market["clobTokenIds"].(string)), &ids); err != nil {
				t.Fatal(err)
			}
			for i, id := range ids {
				sum := sha256.Sum256([]byte(id))
				token[id] = new(big.Int).SetBytes(sum[:]).String()
				ids[i] = token[id]
			}
			list, _ := json.Marshal(ids)
			market["clobTokenIds"] = string(list)
		}
		out, _ := json.Marshal(event)
		text.Write(append(out, '\n'))
	})
	var traded bytes.Buffer
	for _, part := range must(filepath.Glob(filepath.Join(dir, "orderFilled*"))) {
		eachLine(t, part, func(line string) {
			cells := strings.Split(line, ",")
			if strings.HasPrefix(line, "timestamp") && traded.Len() == 0 {
				traded.WriteString(line + "\n")
			}
			for i, cell := range cells {
				if other, ok := token[cell]; ok {
					cells[i] = other
					sum := sha256.Sum256([]byte(cells[len(cells)-1]))
					cells[len(cells)-1] = "0x" + hex.EncodeToString(sum[:])
					traded.WriteString(strings.Join(cells, ",") + "\n")
				}
			}
		})
	}
	if len(token) < 100 || bytes.Count(traded.Bytes(), []byte("\n")) < 100 {
		t.Fatalf("%d tokens are there again, with %d fills", len(token), bytes.Count(traded.Bytes(), []byte("\n")))
	}
	at := t.TempDir()
	for name, b := range map[string][]byte{"again.ndjson": text.Bytes(), "again.csv": traded.Bytes()} {
		if err := os.WriteFile(filepath.Join(at, name), b, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return []string{filepath.Join(at, "again.ndjson")}, []string{filepath.Join(at, "again.csv")}
}

func must[T any](v T, err error) T {
	if err != nil {
		panic(err)
	}
	return v
}

func eachLine(t *testing.T, path string, f func(line string)) {
	t.Helper()
	file, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = file.Close() }()
	lines := bufio.NewScanner(file)
	lines.Buffer(nil, 16<<20)
	for lines.Scan() {
		f(lines.Text())
	}
	if err := lines.Err(); err != nil {
		t.Fatal(err)
	}
}

// installation is a data directory and the server on it. Each command is a separate process.
type installation struct {
	t       *testing.T
	dir     string
	base    string
	key     string
	program string   // that is run; "": this one
	flags   []string // of serve, besides those that all have
	server  *exec.Cmd
	errors  bytes.Buffer
	rest    io.Reader
}

// run runs pmx and returns its output.
func (in *installation) run(args ...string) []byte {
	in.t.Helper()
	if args[0] == "import" && in.program == "" && !testfiles.Long() { // without the migrations of a new database
		if err := enginetest.Create(filepath.Join(in.dir, "pmx-data")); err != nil {
			in.t.Fatal(err)
		}
	}
	cmd := exec.Command(cmp.Or(in.program, "pmx"), args...)
	cmd.Dir, cmd.Env = in.dir, append(os.Environ(), oneThread()...)
	var problems bytes.Buffer
	cmd.Stderr = &problems
	out, err := cmd.Output()
	if err != nil {
		in.t.Fatalf("pmx %s: %v\n%s%s", strings.Join(args, " "), err, out, problems.Bytes())
	}
	return out
}

// serve starts a server, with a key at its first start.
func (in *installation) serve() {
	in.t.Helper()
	in.errors.Reset()
	in.server = exec.Command(cmp.Or(in.program, "pmx"), append([]string{"serve", "--listen", "127.0.0.1:0", "--threads", "1"}, in.flags...)...)
	in.server.Dir, in.server.Stderr = in.dir, &in.errors
	out, err := in.server.StdoutPipe()
	if err != nil {
		in.t.Fatal(err)
	}
	if err := in.server.Start(); err != nil {
		in.t.Fatal(err)
	}
	started := in.server
	in.t.Cleanup(func() {
		if in.server == started {
			_, _ = started.Process.Kill(), started.Wait()
		}
	})
	r := bufio.NewReader(out)
	line, _ := r.ReadString('\n') // an early end shows in the line
	ready, ok := strings.CutPrefix(strings.TrimSpace(line), "ready ")
	if !ok {
		in.t.Fatalf("the server printed %q: in.errors = %s", line, in.errors.String())
	}
	in.base, _, _ = strings.Cut(ready, " ")
	in.rest = r
	if in.key == "" { // the directory is there now
		in.issue()
	}
}

// issue creates a key, and waits until the server knows it.
func (in *installation) issue() {
	in.t.Helper()
	var issued struct{ Key string }
	if err := json.Unmarshal(in.run("keys", "issue", "--tier", "alpha", "--label", "history", "--json"), &issued); err != nil {
		in.t.Fatal(err)
	}
	in.key = issued.Key
	for end := time.Now().Add(patience); !strings.HasPrefix(in.get("/me"), "200 "); time.Sleep(200 * time.Millisecond) {
		if time.Now().After(end) {
			in.t.Fatal("the server does not know its key")
		}
	}
}

func (in *installation) shutdown() {
	in.t.Helper()
	if err := in.server.Process.Signal(syscall.SIGTERM); err != nil {
		in.t.Fatal(err)
	}
	_, _ = io.Copy(io.Discard, in.rest)
	err := in.server.Wait()
	if in.server = nil; err != nil {
		in.t.Fatalf("the server ended with %v: in.errors = %s", err, in.errors.String())
	}
}

// clocked matches the parts of a response that do not depend only on the data: when the volumes
// were merged, the request id, and cursors, which contain when their scan began.
var clocked = regexp.MustCompile(`"(volume_as_of|instance|next_cursor)":"[^"]*"`)

func (in *installation) get(path string) string {
	in.t.Helper()
	status, body := in.raw(path)
	return fmt.Sprint(status, " ", clocked.ReplaceAllString(body, `"$1":""`))
}

// raw is get with the complete response.
func (in *installation) raw(path string) (status int, text string) {
	in.t.Helper()
	req := must(http.NewRequest(http.MethodGet, in.base+path, nil))
	req.Header.Set("X-API-Key", in.key)
	client := http.Client{Timeout: patience, CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
	res, err := client.Do(req)
	if err != nil {
		in.t.Fatal(err)
	}
	body, err := io.ReadAll(res.Body)
	if err != nil {
		in.t.Fatal(err)
	}
	_ = res.Body.Close()
	return res.StatusCode, string(body)
}

// answers requests every path once.
func (in *installation) answers(paths []string) map[string]string {
	in.t.Helper()
	began, out := time.Now(), make(map[string]string, len(paths))
	for _, path := range paths {
		out[path] = in.get(path)
	}
	in.t.Logf("%d answers in %s", len(out), time.Since(began).Round(time.Millisecond))
	return out
}

// values returns the distinct values of a member in the rows of a path's data.
func (in *installation) values(path, member string, most int) (out []string) {
	in.t.Helper()
	var list struct{ Data []map[string]any }
	_, text, _ := strings.Cut(in.get(path), " ")
	if err := json.Unmarshal([]byte(text), &list); err != nil {
		in.t.Fatalf("%s: err = %v, text = %.300s", path, err, text)
	}
	for _, row := range list.Data {
		if v, ok := row[member].(string); ok && !slices.Contains(out, v) && len(out) < most {
			out = append(out, v)
		}
	}
	return out
}

// unasked are the endpoints whose responses depend on the clock, the key or the process.
var unasked = []string{"/health", "/status", "/status/public", "/status/history", "/me", "/openapi.json"}

// everything returns a request for every endpoint and every entity that lists name (in a short run,
// for the first ones), and for the first entities with every choice of every parameter.
func (in *installation) everything() (paths []string) {
	in.t.Helper()
	cities := in.values("/weather/cities", "city", 100)
	some := cities[:min(len(cities), testfiles.Cases(3, 100))]
	known := map[string][]string{
		"address":      append(in.values("/leaderboard/traders?period=30d&limit=1000", "address", testfiles.Cases(3, 40)), in.values("/weather/traders?limit=200", "address", testfiles.Cases(2, 10))...),
		"condition_id": append(in.values("/leaderboard/markets?period=30d&limit=200", "condition_id", testfiles.Cases(3, 15)), in.values("/screener?limit=200", "condition_id", testfiles.Cases(3, 15))...),
		"event_id":     in.values("/leaderboard/markets?period=30d&limit=200", "event_slug", testfiles.Cases(3, 15)),
		"city":         some,
		"q":            {"temperature", "london 2026", "will", "election"},
		"name":         {"PMX-Volume", "PMX-Whale", "PMX-Politics", "PMX-Crypto", "PMX-Sentiment", "PMX-Composite"},
	}
	for _, city := range some {
		known["condition_id"] = append(known["condition_id"], in.values("/weather/city/"+city+"/markets?limit=200", "condition_id", 4)...)
		known["event_id"] = append(known["event_id"], in.values("/weather/city/"+city+"/markets?limit=200", "event_slug", 1)...)
	}
	known["date"] = in.values("/weather/city/nyc/markets?limit=200", "target_date", 4)
	paths = allOf(known)
	if len(cities) != 55 || len(paths) < testfiles.Cases(150, 700) || len(known["date"]) == 0 {
		in.t.Fatalf("%d cities, %d requests", len(cities), len(paths))
	}
	return paths
}

// allOf returns a request for every endpoint and every known value of its parameters.
func allOf(known map[string][]string) (paths []string) {
	for _, route := range api.Routes() {
		if route.Method == http.MethodGet && !slices.Contains(unasked, route.Path) && !strings.Contains(route.Path, "export-jobs") {
			paths = append(paths, requests(&route, known)...)
		}
	}
	slices.Sort(paths)
	return slices.Compact(paths)
}

// requests are those of one endpoint.
func requests(route *api.Route, known map[string][]string) (paths []string) {
	paths = []string{route.Path}
	var needed url.Values
	for _, p := range route.Params {
		switch {
		case p.InPath:
			var filled []string
			for _, path := range paths {
				for _, v := range known[p.Name] {
					filled = append(filled, strings.ReplaceAll(path, "{"+p.Name+"}", url.PathEscape(v)))
				}
			}
			paths = filled
		case p.Required && needed == nil:
			needed = url.Values{}
			fallthrough
		case p.Required:
			for _, v := range known[p.Name] {
				needed.Add(p.Name, v)
			}
		}
	}
	if needed != nil {
		var filled []string
		for name, all := range needed {
			for _, v := range all {
				filled = append(filled, paths[0]+"?"+url.Values{name: {v}}.Encode())
			}
		}
		return filled
	}
	for _, path := range slices.Clone(paths[:min(len(paths), testfiles.Cases(1, 3))]) {
		for _, p := range route.Params {
			for _, choice := range p.Choices {
				paths = append(paths, path+"?"+url.Values{p.Name: {choice}}.Encode())
			}
			if p.Name == "limit" {
				paths = append(paths, fmt.Sprintf("%s?limit=%d", path, min(p.Max, 1000)))
			}
		}
	}
	return paths
}
