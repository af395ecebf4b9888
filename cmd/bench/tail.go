package main

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	mrand "math/rand/v2"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"sync"
	"time"

	"github.com/valyala/fasthttp"

	"pmx/cmd/bench/load"
	"pmx/data"
	"pmx/data/sample"
	"pmx/rollups/follow"
)

// How the tail is measured: how often fills become final, how many each time, and how many times:
// first while the lane learns the intervals and the server loads what it later has in memory, then
// without other requests, and then with readers.
const (
	tailEvery   = 3 * time.Second / 2 // a block
	tailFirst   = 8
	tailAlone   = 60
	tailReaders = 32
	tailSteps   = tailFirst + tailAlone + tailReaders
)

// tailRows is the number of fills that the history lacks, about half of which become final.
func (b *bench) tailRows() int64 { return 2 * tailSteps * b.Each }

// Readers of the tail: the number of connections, each with a pause before every request, so that
// the latency of a request is measured and not the capacity of the machine. The readers are
// measured several times, without and with following; the median counts.
const (
	readerConns  = 4
	readerPause  = 4 * time.Millisecond
	readerRounds = 3
)

// tail measures the time from when fills are final to the first response with them, in a server
// that follows, and the cost of following in memory and in readers' time, compared with the same
// server without following.
func (b *bench) tail() (err error) {
	if err := b.tailVenue(); err != nil {
		return err
	}
	n, err := startNode(b.ctx, nodeConfig{Fills: b.History, From: b.History - b.tailRows(), Steps: tailSteps, Each: b.Each})
	if err != nil {
		return err
	}
	defer func() { _ = n.stop() }()
	s, err := b.serve("tail-followed")
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, s.close()) }()
	s.keeper.Settle()
	paths := readerPaths(s)
	quiet, serving, err := b.servingMemory(s, paths)
	if err != nil {
		return err
	}
	f := &following{b: b, s: s, node: n, lane: &askedNode{}}
	c, done, err := n.follow(s.keeper, n.Steps[0].First, func(n follow.Node) follow.Node { f.lane.Node = n; return f.lane })
	if err != nil {
		return err
	}
	defer done()
	ctx, cancel := context.WithCancel(b.ctx)
	ended := make(chan error, 1)
	go func() { ended <- c.Run(ctx) }()
	defer func() { cancel(); <-ended }()
	if err := f.timeFills(); err != nil {
		return fmt.Errorf("%w: %s", err, c.Status().Error)
	}
	sampled := sampleMemory()
	err = f.timeReaders(paths, quiet)
	following := tailMemory{sampledMemory: sampled(), peak: peakMemory()}
	if err != nil {
		return fmt.Errorf("%w: %s", err, c.Status().Error)
	}
	following.shares, err = b.memoryShares(s)
	b.addMemory(serving, following)
	return err
}

// tailMemory is the memory of a server while readers send requests.
type tailMemory struct {
	sampledMemory
	resting int64 // before that
	peak    int64 // with pages of files
	shares  string
}

// servingMemory measures readers, and the memory of serving them, without following.
func (b *bench) servingMemory(s *service, paths []string) (quiet load.Result, m tailMemory, err error) {
	if _, err := b.readers(s, paths); err != nil { // from here on everything that readers make the server load is in memory
		return quiet, m, err
	}
	m.resting = restingMemory()
	sampled := sampleMemory()
	quiet, err = b.readers(s, paths)
	m.sampledMemory, m.peak = sampled(), peakMemory()
	if err != nil {
		return quiet, m, err
	}
	m.shares, err = b.memoryShares(s)
	return quiet, m, err
}

func (b *bench) addMemory(serving, following tailMemory) {
	b.add("memory in addition to serving, while following", mega(following.peak-serving.peak), fmt.Sprintf("peak of the same server with readers alone %s (%s), with readers and following %s (%s), at rest %s",
		mega(serving.peak), serving.shares, mega(following.peak), following.shares, mega(serving.resting)), "", "")
	b.add("the same without pages of files", mega(following.median-serving.median), fmt.Sprintf("median with readers %s, with readers and following %s; the most %s and %s",
		mega(serving.median), mega(following.median), mega(serving.most), mega(following.most)), "", "≤ 64 MB")
}

// timeFills measures how soon fills are in a response, without other requests.
func (f *following) timeFills() error {
	b := f.b
	if _, err := f.steps(tailFirst); err != nil {
		return err
	}
	worked, asked := processorTime(), f.lane.count()
	alone, err := f.steps(tailAlone)
	if err != nil {
		return err
	}
	b.add(fmt.Sprintf("%d fills final to the first response with them, at %s", b.Each, count(b.History)), percentiles(alone.took),
		"from the request that returns them: "+percentiles(alone.own), "", "p99 ≤ 1 s")
	b.add("following during that, each time fills become final", fmt.Sprintf("%d ms of processor time, %.2f requests to the node",
		(processorTime()-worked).Milliseconds()/tailAlone, float64(f.lane.count()-asked)/tailAlone), "every "+tailEvery.String(), "", "")
	return nil
}

// timeReaders measures the latency of readers while fills arrive, compared with their latency
// before.
func (f *following) timeReaders(paths []string, quiet load.Result) error {
	var busy load.Result
	read := make(chan error, 1)
	go func() {
		var err error
		busy, err = f.b.readers(f.s, paths)
		read <- err
	}()
	beside, err := f.steps(tailReaders)
	if err := errors.Join(err, <-read); err != nil {
		return err
	}
	f.b.add("the same while readers send requests", percentiles(beside.took), "", "", "p99 ≤ 1 s")
	f.b.add("requests of random wallets and leaderboards while following", fmt.Sprintf("p50 %s, p99 %s, %s/s", short(busy.P50), short(busy.P99), count(int64(busy.PerSecond))),
		fmt.Sprintf("quiet p50 %s, p99 %s, %s/s", short(quiet.P50), short(quiet.P99), count(int64(quiet.PerSecond))), ratio(busy.P99.Seconds(), quiet.P99.Seconds()), "p99 ≤ 2 × quiet")
	return nil
}

// memoryShares describes how much of the memory is Go's, in use and held, and DuckDB's own count.
func (b *bench) memoryShares(s *service) (string, error) {
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	var duck int64
	err := s.keeper.Read(b.ctx, func(conn *sql.Conn) error {
		return conn.QueryRowContext(b.ctx, duckStatements.Get("BufferMemory")).Scan(&duck)
	})
	return fmt.Sprintf("Go's heap %s in use, %s held; DuckDB's buffers %s", mega(int64(m.HeapAlloc)), mega(int64(m.HeapSys-m.HeapReleased)), mega(duck)), err
}

// readers measures requests, a few at once, and returns the round with the median p99.
func (b *bench) readers(s *service, paths []string) (load.Result, error) {
	var all []load.Result
	for range readerRounds {
		r, err := ask(b.ctx, load.Config{Addr: s.addr, Paths: paths, Keys: s.keys, Conns: readerConns, Duration: load.MaxDuration, Pause: readerPause})
		if err != nil {
			return r, err
		}
		all = append(all, r)
	}
	slices.SortFunc(all, func(x, y load.Result) int { return int(x.P99 - y.P99) })
	return all[len(all)/2], nil
}

// readerPaths returns what readers request: figures and markets of random wallets, and
// leaderboards.
func readerPaths(s *service) []string {
	snap := s.keeper.Snapshot()
	rng := mrand.New(mrand.NewPCG(3, 4))
	paths := make([]string, 20_000)
	for i := range paths {
		wallet := "/api/v3/trader/" + snap.WalletAt(data.WalletID(rng.IntN(snap.Wallets()))).String()
		paths[i] = []string{wallet + "/stats", "/api/v3/leaderboard/traders?limit=50", wallet + "/markets", "/api/v3/leaderboard/markets?limit=50"}[rng.IntN(4)]
	}
	return paths
}

// following is a server that follows a node whose fills become final.
type following struct {
	b    *bench
	s    *service
	node *node
	lane *askedNode
	next int // step
}

// seen is how long it took until fills were in a response: since they were final, and since the
// request to the node that returned them.
type seen struct{ took, own []time.Duration }

// steps makes fills final n times, one after the other.
func (f *following) steps(n int) (out seen, err error) {
	pace := time.NewTicker(tailEvery)
	defer pace.Stop()
	for range n {
		select {
		case <-pace.C:
		case <-f.b.ctx.Done():
			return out, f.b.ctx.Err()
		}
		step := f.node.Steps[f.next]
		f.next++
		began := time.Now()
		if err := f.node.at(f.b.ctx, step.Clock); err != nil {
			return out, err
		}
		at, err := f.s.waitFor(f.b.ctx, step.Newest)
		if err != nil {
			return out, err
		}
		out.took, out.own = append(out.took, at.Sub(began)), append(out.own, at.Sub(f.lane.given()))
	}
	return out, nil
}

// tailVenue makes a venue on a chain without its newest fills, once, and a copy of it in which they
// are followed.
func (b *bench) tailVenue() error {
	dir, files, followed := b.path("tail"), b.path("tail-files"), b.path("tail-followed")
	if err := errors.Join(os.RemoveAll(followed), os.RemoveAll(files)); err != nil {
		return err
	}
	ready := filepath.Join(dir, fmt.Sprintf("ready-%d-%d", b.History, b.tailRows()))
	if _, err := os.Stat(ready); err == nil {
		return os.CopyFS(followed, os.DirFS(dir))
	}
	if err := os.RemoveAll(dir); err != nil {
		return err
	}
	if b.History <= 2*b.tailRows() {
		return fmt.Errorf("--history %d: must be above %d", b.History, 2*b.tailRows())
	}
	if _, err := sample.Write(b.ctx, sample.Config{Fills: b.History, FileRows: b.History - b.tailRows(), Chain: true}, files, nil); err != nil {
		return err
	}
	paths, err := filepath.Glob(filepath.Join(files, "orderFilled*.csv"))
	if err != nil {
		return err
	}
	slices.Sort(paths)
	for _, newest := range paths[1:] {
		if err := os.Remove(newest); err != nil {
			return err
		}
	}
	k, err := open(b.ctx, dir, false)
	if err != nil {
		return err
	}
	if err := errors.Join(b.importVenue(k, files), k.Close()); err != nil {
		return err
	}
	if k, err = open(b.ctx, dir, true); err != nil { // this writes the files that it serves from
		return err
	}
	k.Settle()
	if err := errors.Join(k.Close(), os.WriteFile(ready, nil, 0o600)); err != nil {
		return err
	}
	return os.CopyFS(followed, os.DirFS(dir))
}

// askedNode counts requests, and records when the logs that it returned last were requested.
type askedNode struct {
	follow.Node
	mu    sync.Mutex
	at    time.Time
	asked int
}

func (n *askedNode) ask() time.Time {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.asked++
	return time.Now()
}

func (n *askedNode) gave(asked time.Time) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.at = asked
}

// Logs asks the node.
func (n *askedNode) Logs(ctx context.Context, from, to int64, addresses []data.Address, topics []data.Hash) (follow.Answer, error) {
	at := n.ask()
	a, err := n.Node.Logs(ctx, from, to, addresses, topics)
	n.gave(at)
	return a, err
}

// Tail asks the node.
func (n *askedNode) Tail(ctx context.Context, from, to int64, addresses []data.Address, topics []data.Hash) (follow.Header, *follow.Answer, error) {
	at := n.ask()
	h, a, err := n.Node.Tail(ctx, from, to, addresses, topics)
	if a != nil {
		n.gave(at)
	}
	return h, a, err
}

// Finalized asks the node.
func (n *askedNode) Finalized(ctx context.Context) (follow.Header, error) {
	n.ask()
	return n.Node.Finalized(ctx)
}

// Headers asks the node.
func (n *askedNode) Headers(ctx context.Context, numbers []int64) ([]follow.Header, error) {
	n.ask()
	return n.Node.Headers(ctx, numbers)
}

func (n *askedNode) given() time.Time {
	n.mu.Lock()
	defer n.mu.Unlock()
	return n.at
}

func (n *askedNode) count() int {
	n.mu.Lock()
	defer n.mu.Unlock()
	return n.asked
}

// longestTail is the maximum time to wait for fills.
const longestTail = 30 * time.Second

var asOf = regexp.MustCompile(`"as_of":"([^"]+)"`)

// waitFor requests a leaderboard until its as_of is at least newest, and returns when that was.
func (s *service) waitFor(ctx context.Context, newest time.Time) (time.Time, error) {
	req, res := fasthttp.AcquireRequest(), fasthttp.AcquireResponse()
	defer fasthttp.ReleaseRequest(req)
	defer fasthttp.ReleaseResponse(res)
	req.SetRequestURI("http://" + s.addr + "/api/v3/leaderboard/traders?limit=1")
	for began, i := time.Now(), 0; time.Since(began) < longestTail; i++ {
		req.Header.Set("X-API-Key", s.keys[i%len(s.keys)])
		if err := fasthttp.Do(req, res); err != nil {
			return time.Time{}, err
		}
		if m := asOf.FindSubmatch(res.Body()); res.StatusCode() == http.StatusOK && m != nil {
			if at, err := time.Parse(time.RFC3339Nano, string(m[1])); err == nil && !at.Before(newest) {
				return time.Now(), ctx.Err()
			}
		}
		time.Sleep(5 * time.Millisecond)
	}
	return time.Time{}, fmt.Errorf("no response has the fills of %s; the last one has status %d", newest, res.StatusCode())
}
