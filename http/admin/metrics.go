package admin

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"syscall"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/promhttp"

	"pmx/engine/guard"
)

// maxScrapes is how many requests for metrics are handled at once.
const maxScrapes = 4

// Metrics serves metrics to Prometheus on a separate address, at /metrics.
type Metrics struct {
	listener net.Listener
	http     http.Server
}

// ListenMetrics listens on the address, HOST:PORT. Requests wait until Serve.
func ListenMetrics(address string) (*Metrics, error) {
	listener, err := net.Listen("tcp", address)
	if errors.Is(err, syscall.EADDRINUSE) {
		return nil, fmt.Errorf("address in use: %s: stop what listens there or give another --metrics-listen", address)
	}
	if err != nil {
		return nil, fmt.Errorf("listen for metrics on %s: %w", address, err)
	}
	return &Metrics{listener: listener}, nil
}

// Addr returns the address that it listens on.
func (m *Metrics) Addr() net.Addr { return m.listener.Addr() }

// Close releases the address without serving; it does no harm after Serve.
func (m *Metrics) Close() { _ = m.listener.Close() }

// Serve serves metrics until ctx ends.
func (m *Metrics) Serve(ctx context.Context, metrics prometheus.Gatherer) error {
	mux := http.NewServeMux()
	mux.Handle("GET /metrics", promhttp.HandlerFor(metrics, promhttp.HandlerOpts{MaxRequestsInFlight: maxScrapes}))
	m.http = http.Server{Handler: mux, ReadTimeout: 10 * time.Second, WriteTimeout: time.Minute, IdleTimeout: 5 * time.Minute, MaxHeaderBytes: 16 << 10}
	stopped := guard.Start(func() error { return m.http.Serve(m.listener) })
	select {
	case err := <-stopped:
		return fmt.Errorf("metrics: %w", err)
	case <-ctx.Done():
	}
	deadline, cancel := context.WithTimeout(context.WithoutCancel(ctx), time.Second)
	defer cancel()
	if err := m.http.Shutdown(deadline); err != nil { // a scrape did not finish in time
		_ = m.http.Close()
	}
	<-stopped
	return nil
}
