package server_test

import (
	"bufio"
	"io"
	"net"
	"net/http"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"pmx/http/server"
	"pmx/http/wire"
)

// line is a connection that is kept open.
type line struct {
	net.Conn
	in *bufio.Reader
}

func connect(t *testing.T, addr string) *line {
	t.Helper()
	c, err := net.Dial("tcp", addr)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = c.Close() })
	if err := c.SetDeadline(time.Now().Add(30 * time.Second)); err != nil {
		t.Fatal(err)
	}
	return &line{c, bufio.NewReader(c)}
}

// get requests path and returns the status; 0 if the connection is closed.
func (l *line) get(t *testing.T, path, key string) int {
	t.Helper()
	text := "GET " + path + " HTTP/1.1\r\nHost: pmx\r\n"
	if key != "" {
		text += wire.KeyHeader + ": " + key + "\r\n"
	}
	if _, err := io.WriteString(l, text+"\r\n"); err != nil {
		return 0
	}
	res, err := http.ReadResponse(l.in, nil)
	if err != nil {
		return 0
	}
	if _, err := io.Copy(io.Discard, res.Body); err != nil {
		t.Fatal(err)
	}
	return res.StatusCode
}

// figure returns the sum of a metric of the server.
func figure(t *testing.T, r *rig, name string) (sum float64) {
	t.Helper()
	reg := prometheus.NewRegistry()
	if err := reg.Register(r.Collector()); err != nil {
		t.Fatal(err)
	}
	families, err := reg.Gather()
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range families {
		for _, m := range f.GetMetric() {
			if f.GetName() == name {
				sum += m.GetGauge().GetValue() + m.GetCounter().GetValue()
			}
		}
	}
	return sum
}

// Idle connections without a key, whether they sent nothing, half a request or a request for
// something public, keep nobody out: connections with a key stay, new ones are answered, and the
// maximum is never exceeded.
func TestIdleConnectionsDoNotBlockOthers(t *testing.T) {
	const files, most = 80, 60
	r := serve(t, nil, func(c *server.Config) { c.Files = files })
	addr := r.Addr().String()
	kept := connect(t, addr)
	if status := kept.get(t, "/api/v3/me", r.key); status != 200 {
		t.Fatal(status)
	}
	for i := range 5 * files {
		idle := connect(t, addr)
		switch i % 3 {
		case 1:
			if _, err := io.WriteString(idle, "GET /api/v3/health HT"); err != nil {
				t.Fatal(err)
			}
		case 2:
			if status := idle.get(t, "/api/v3/health", ""); status != 200 {
				t.Fatalf("connection %d: status = %d", i, status)
			}
		}
		if i%40 > 0 {
			continue
		}
		if n := figure(t, r, "pmx_http_connections"); n > most {
			t.Fatalf("%v connections are open", n)
		}
		if status := connect(t, addr).get(t, "/api/v3/me", r.key); status != 200 {
			t.Fatalf("with a key, after %d idle ones: %d", i, status)
		}
	}
	if status := kept.get(t, "/api/v3/me", r.key); status != 200 {
		t.Errorf("the connection with a key: %d", status)
	}
	if figure(t, r, "pmx_http_connections_dropped_total") == 0 {
		t.Error("none was closed")
	}
}

// If connections with a key use up the maximum, the one that has waited longest is closed for a new
// one.
func TestConnectionsWithAKeyDoNotBlockOthers(t *testing.T) {
	const files, most = 80, 60
	r := serve(t, nil, func(c *server.Config) { c.Files = files })
	var all []*line
	for i := range most + 5 {
		l := connect(t, r.Addr().String())
		if status := l.get(t, "/api/v3/me", r.key); status != 200 {
			t.Fatalf("connection %d: status = %d", i, status)
		}
		all = append(all, l)
	}
	if status := all[len(all)-1].get(t, "/api/v3/me", r.key); status != 200 {
		t.Error(status)
	}
	if n := figure(t, r, "pmx_http_connections"); n > most {
		t.Errorf("%v connections are open", n)
	}
	if err := all[most].Close(); err != nil {
		t.Fatal(err)
	}
	if status := connect(t, r.Addr().String()).get(t, "/api/v3/health", ""); status != 200 {
		t.Error(status)
	}
}
