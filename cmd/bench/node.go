package main

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"strings"
	"sync"
	"time"

	"pmx/data/chain"
	"pmx/data/sample"
	"pmx/data/upstream/fetch"
	"pmx/data/upstream/rpc"
	"pmx/http/replay"
	"pmx/rollups/follow"
)

// nodeEnv makes this program a node of the chain: it reads a nodeConfig as JSON, and serves until its
// input ends.
const nodeEnv = "PMX_BENCH_NODE"

// finality is the number of blocks between the newest final one and the newest.
const finality = 16

// nodeConfig says which venue a node simulates.
type nodeConfig struct {
	Fills int64
	From  int64 // number of fills before the steps
	Steps int   // 0: all is final from the start
	Each  int64 // approximate number of fills in a step
	Kept  bool  // logs are compressed in advance, so that the cost of the node is not counted for the follower
}

// node is a node in a separate process, so that its memory and processor time are not counted for
// the follower.
type node struct {
	URL         string
	First, Last int64 // blocks
	Steps       []step
	Before      time.Time     // time of its clock at which no step is final
	Prepared    time.Duration // its processor time before it served
	stop        func() error
	cmd         *exec.Cmd
}

// step is a sequence of fills that become final together.
type step struct {
	Clock  time.Time // time from which they are final
	First  int64     // block
	Newest time.Time // time of the newest fill
	Fills  int64
}

// startNode starts a node.
func startNode(ctx context.Context, p nodeConfig) (*node, error) {
	text, err := json.Marshal(p)
	if err != nil {
		return nil, err
	}
	self, err := os.Executable()
	if err != nil {
		return nil, err
	}
	cmd := exec.CommandContext(ctx, self)
	cmd.Env, cmd.Stderr = append(os.Environ(), nodeEnv+"=1"), os.Stderr
	in, err := cmd.StdinPipe()
	if err != nil {
		return nil, err
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	if err := cmd.Start(); err != nil {
		return nil, err
	}
	n := &node{cmd: cmd, stop: sync.OnceValue(func() error { return errors.Join(in.Close(), cmd.Wait()) })}
	if _, err := fmt.Fprintf(in, "%s\n", text); err != nil {
		return nil, errors.Join(err, n.stop())
	}
	if err := json.NewDecoder(out).Decode(n); err != nil {
		return nil, errors.Join(fmt.Errorf("node: %w", err), n.stop())
	}
	return n, nil
}

// follow returns a lane that follows the node's fills from a block on and requests them at its own
// pace.
func (n *node) follow(v follow.Venue, from int64, wrap func(follow.Node) follow.Node) (*follow.Chain, func(), error) {
	h, err := fetch.New(fetch.Options{Name: "node", Base: n.URL + "/rpc", Contact: "bench@example.org", Version: "bench",
		Budget: fetch.Budget{PerSecond: 1000, Burst: 8, InFlight: 4}})
	if err != nil {
		return nil, nil, err
	}
	c, err := follow.NewChain(follow.ChainOptions{Venue: v, Nodes: []follow.Node{wrap(follow.NewNode(rpc.New(h)))},
		Contracts: chain.Contracts(), FromBlock: from})
	return c, h.Close, err
}

// worked stops the node and returns its processor time for responding.
func (n *node) worked() (time.Duration, error) {
	if err := n.stop(); err != nil {
		return 0, fmt.Errorf("node: %w", err)
	}
	return n.cmd.ProcessState.UserTime() + n.cmd.ProcessState.SystemTime() - n.Prepared, nil
}

// at sets the node's clock.
func (n *node) at(ctx context.Context, t time.Time) error {
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, n.URL+"/replay?at="+t.UTC().Format(time.RFC3339), strings.NewReader(""))
	if err != nil {
		return err
	}
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		return err
	}
	if err := res.Body.Close(); err != nil {
		return err
	}
	if res.StatusCode != http.StatusOK {
		return fmt.Errorf("the node's clock cannot be set: %s", res.Status)
	}
	return nil
}

// serveNode is the node's side of startNode.
func serveNode(in io.Reader, out io.Writer) error {
	lines := bufio.NewReader(in)
	text, err := lines.ReadString('\n')
	if err != nil {
		return err
	}
	var p nodeConfig
	if err := json.Unmarshal([]byte(text), &p); err != nil {
		return err
	}
	s, err := replay.New(context.Background(), replay.Options{Config: sample.Config{Fills: p.Fills}, Finality: finality})
	if err != nil {
		return err
	}
	defer s.Close()
	if p.Kept {
		if err := s.Keep(chain.Topics(chain.Contracts())); err != nil {
			return err
		}
	}
	n := describe(s.Venue(), p)
	s.Clock().Set(n.Before)
	var lc net.ListenConfig
	l, err := lc.Listen(context.Background(), "tcp", "127.0.0.1:0")
	if err != nil {
		return err
	}
	n.URL = "http://" + l.Addr().String()
	web := &http.Server{Handler: s.Handler(), ReadHeaderTimeout: 10 * time.Second}
	ended := make(chan error, 1)
	go func() { ended <- web.Serve(l) }()
	n.Prepared = processorTime()
	if err := json.NewEncoder(out).Encode(n); err != nil {
		return err
	}
	_, err = io.Copy(io.Discard, lines) // until the process that started it is done
	err = errors.Join(err, web.Close())
	if ended := <-ended; !errors.Is(ended, http.ErrServerClosed) {
		err = errors.Join(err, ended)
	}
	return err
}

// describe returns the blocks of a venue's fills, and the requested steps.
func describe(v *sample.Venue, p nodeConfig) *node {
	n := &node{First: sample.BlockOf(v.Matches[0].At), Last: sample.BlockOf(v.Matches[len(v.Matches)-1].At)}
	n.Before = finalFrom(n.Last)
	total := int64(0)
	var s step
	for i, m := range v.Matches {
		if len(n.Steps) == p.Steps {
			break
		}
		total += int64(m.Fills())
		if total <= p.From {
			continue
		}
		if s.Fills == 0 {
			s.First = sample.BlockOf(m.At)
		}
		s.Fills += int64(m.Fills())
		if s.Fills < p.Each || i+1 < len(v.Matches) && sample.BlockOf(v.Matches[i+1].At) <= finalAt(finalFrom(sample.BlockOf(m.At))) {
			continue
		}
		s.Newest, s.Clock = time.Unix(m.At, 0).UTC(), finalFrom(sample.BlockOf(m.At))
		n.Steps = append(n.Steps, s)
		s = step{}
	}
	if p.Steps > 0 {
		n.Before = finalFrom(n.Steps[0].First - 1)
	}
	return n
}

// finalFrom returns the first whole second at which a block is final.
func finalFrom(block int64) time.Time {
	at := time.Unix(sample.BlockTime(block+finality), 0).UTC()
	for finalAt(at) < block {
		at = at.Add(time.Second)
	}
	return at
}

// finalAt returns the newest block that is final at a time.
func finalAt(at time.Time) int64 { return sample.BlockAt(at) - finality }
