package acme

import (
	"bytes"
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/rs/zerolog"
)

func TestWhatCannotBeOrdered(t *testing.T) {
	for domain, fine := range map[string]bool{
		"api.example.org": true, "xn--bcher-kva.example": true, "a.b.c.d": true,
		"": false, "localhost": false, "*.example.org": false, "https://example.org": false, "example.org:443": false, "API.example.org": false,
		"192.0.2.1": false, "example.org.": false, "-a.example": false, "bücher.example": false, "a_b.example": false, strings.Repeat("a.", 140) + "org": false,
	} {
		if err := (&Config{Domains: []string{domain}}).Check(); (err == nil) != fine {
			t.Errorf("%q: %v", domain, err)
		}
	}
	for _, cfg := range []Config{{Directory: "http://ca.example/dir"}, {Directory: "ca.example"}, {Email: "me"}} {
		if err := cfg.Check(); err == nil {
			t.Errorf("%+v is accepted", cfg)
		}
	}
}

// Authorities lock out clients with too many requests, so pauses grow. An existing certificate is
// kept.
func TestPausesAfterFailures(t *testing.T) {
	now := time.Date(2026, 11, 7, 12, 0, 0, 0, time.UTC)
	var log bytes.Buffer
	c := New(Config{Domains: []string{"a.example"}, Log: zerolog.New(&log), Now: func() time.Time { return now }})
	asked, failure := 0, errors.New("no such name")
	pair := &tls.Certificate{Leaf: &x509.Certificate{NotBefore: now, NotAfter: now.AddDate(0, 0, 90)}}
	c.order = func(string) (*tls.Certificate, error) { asked++; return pair, failure }
	for _, pause := range []time.Duration{2 * time.Minute, 4 * time.Minute, 8 * time.Minute, 16 * time.Minute, 32 * time.Minute, time.Hour, time.Hour} {
		before := asked
		c.look()
		now = now.Add(pause - time.Second)
		c.look()
		if asked != before+1 {
			t.Errorf("requested %d times within %v", asked-before, pause)
		}
		now = now.Add(time.Second)
	}
	if _, all := c.Expires(); all || !c.Fails() || strings.Count(log.String(), `"error":"no such name"`) != 7 {
		t.Errorf("failing %v, %s", c.Fails(), &log)
	}
	failure = nil
	c.look()
	if at, all := c.Expires(); !all || at != pair.Leaf.NotAfter || c.Fails() {
		t.Errorf("until %v, failing %v", at, c.Fails())
	}
	now = pair.Leaf.NotAfter.AddDate(0, 0, -28) // it has been due for renewal for two days
	if c.look(); c.Fails() {
		t.Error("a renewal that has just begun is a failure")
	}
	now = pair.Leaf.NotAfter.AddDate(0, 0, -20)
	c.look()
	if c.look(); !c.Fails() || strings.Count(log.String(), "certificate_not_renewed") != 1 {
		t.Errorf("a renewal that does not come: failing %v, %s", c.Fails(), &log)
	}
	pair = &tls.Certificate{Leaf: &x509.Certificate{NotBefore: now, NotAfter: now.AddDate(0, 0, 90)}}
	if c.look(); c.Fails() || strings.Count(log.String(), "certificate_ready") != 2 {
		t.Errorf("renewed: failing %v, %s", c.Fails(), &log)
	}
}

// Stopping does not wait for the authority.
func TestTheEndDoesNotWaitForTheAuthority(t *testing.T) {
	c := New(Config{Domains: []string{"a.example", "b.example"}, Log: zerolog.Nop(), Now: time.Now})
	asked, answer := make(chan string, 2), make(chan struct{})
	c.order = func(domain string) (*tls.Certificate, error) {
		asked <- domain
		<-answer
		return nil, errors.New("late")
	}
	ctx, stop := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() { ended <- c.Run(ctx, nil) }()
	<-asked
	stop()
	if err := <-ended; err != nil { // otherwise the test never ends
		t.Error(err)
	}
	close(answer)
	if c.Fails() {
		t.Error("stopping it counts as a failure")
	}
}
