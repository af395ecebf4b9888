// Package acme orders certificates from an authority that speaks ACME (RFC 8555), such as Let's
// Encrypt, and renews them. The authority validates by a connection to the server itself, on port
// 443 (TLS-ALPN-01, RFC 8737): no second port and no DNS record is needed.
package acme

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"net/http"
	"net/netip"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"sync/atomic"
	"time"

	"github.com/rs/zerolog"
	"golang.org/x/crypto/acme"
	"golang.org/x/crypto/acme/autocert"

	"pmx/engine/guard"
)

// LetsEncrypt is the directory of the default authority.
const LetsEncrypt = acme.LetsEncryptURL

// Protocol is the ALPN protocol of the authority's validation. No other client uses it.
const Protocol = acme.ALPNProto

const (
	// firstRetry is the pause after a failed order, doubled each time up to mostRetry: authorities
	// refuse clients that fail more than a few times an hour. It is longer than autocert remembers
	// a failure.
	firstRetry = 2 * time.Minute
	mostRetry  = time.Hour
	// requestTimeout bounds one request to the authority.
	requestTimeout = time.Minute
)

// Config says what to order, and from which authority.
type Config struct {
	Domains   []string // names as clients send them, in ASCII
	Email     string   // for messages of the authority; may be empty
	Directory string   // URL of the authority; empty: LetsEncrypt
	Dir       string   // folder of the account's key and of the certificates
	Log       zerolog.Logger
	Now       func() time.Time

	Transport http.RoundTripper // to the authority; nil: http.DefaultTransport
}

var domainForm = regexp.MustCompile(`^([a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?\.)+[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?$`)

// Check returns why nothing could be ordered with cfg, or nil.
func (cfg *Config) Check() error {
	for _, d := range cfg.Domains {
		_, ip := netip.ParseAddr(d)
		if !domainForm.MatchString(d) || len(d) > 253 || ip == nil {
			return fmt.Errorf("%q: give a host name such as api.example.org, in lower case and ASCII (xn--…), without wildcard, scheme and port", d)
		}
	}
	if at, err := url.Parse(cfg.directory()); err != nil || at.Scheme != "https" || at.Host == "" {
		return fmt.Errorf("the directory %q of the authority is not an https:// URL", cfg.Directory)
	}
	if cfg.Email != "" && !strings.Contains(cfg.Email, "@") {
		return fmt.Errorf("%q is not an e-mail address", cfg.Email)
	}
	return nil
}

func (cfg *Config) directory() string {
	if cfg.Directory == "" {
		return LetsEncrypt
	}
	return cfg.Directory
}

// Certificates are the certificates of the domains, as far as they have been ordered.
type Certificates struct {
	cfg    Config
	all    map[string]*ordered // by domain; never changed
	order  func(domain string) (*tls.Certificate, error)
	tokens func(*tls.ClientHelloInfo) (*tls.Certificate, error)
	over   atomic.Bool // no more requests are sent
}

// ordered is the certificate of one domain.
type ordered struct {
	pair    atomic.Pointer[tls.Certificate] // nil: none yet
	failing atomic.Bool

	// Used only by Run.
	next  time.Time // no order before this time
	pause time.Duration
	late  bool // the missing renewal was logged
}

// New returns the Certificates of a cfg that Check accepts. No request is sent before Run.
func New(cfg Config) *Certificates {
	c := &Certificates{cfg: cfg, all: map[string]*ordered{}}
	for _, d := range cfg.Domains {
		c.all[d] = &ordered{}
	}
	m := &autocert.Manager{Prompt: autocert.AcceptTOS, Cache: autocert.DirCache(cfg.Dir), HostPolicy: autocert.HostWhitelist(cfg.Domains...), Email: cfg.Email,
		Client: &acme.Client{DirectoryURL: cfg.directory(), UserAgent: "pmx", HTTPClient: &http.Client{Timeout: requestTimeout, Transport: &told{certificates: c, next: cfg.Transport}}}}
	c.order = func(domain string) (*tls.Certificate, error) { return m.GetCertificate(modern(domain)) }
	c.tokens = m.GetCertificate
	return c
}

// modern is the hello of a client that supports elliptic curves, so that one certificate is ordered
// for a domain, with such a key. All current TLS 1.2 clients support them.
func modern(domain string) *tls.ClientHelloInfo {
	return &tls.ClientHelloInfo{ServerName: domain, SignatureSchemes: []tls.SignatureScheme{tls.ECDSAWithP256AndSHA256},
		SupportedCurves: []tls.CurveID{tls.CurveP256}, CipherSuites: []uint16{tls.TLS_ECDHE_ECDSA_WITH_AES_128_GCM_SHA256}}
}

// Get is for tls.Config.GetCertificate. It never waits for the authority.
func (c *Certificates) Get(hello *tls.ClientHelloInfo) (*tls.Certificate, error) {
	if slices.Equal(hello.SupportedProtos, []string{Protocol}) {
		return c.tokens(hello)
	}
	o := c.all[strings.ToLower(strings.TrimSuffix(hello.ServerName, "."))]
	if o == nil {
		return nil, fmt.Errorf("no certificate is ordered for the name %q", hello.ServerName)
	}
	if pair := o.pair.Load(); pair != nil {
		return pair, nil
	}
	return nil, fmt.Errorf("there is no certificate for %s yet", hello.ServerName)
}

// Run orders missing certificates and loads renewed ones, immediately and at every tick, until ctx
// ends.
func (c *Certificates) Run(ctx context.Context, ticks <-chan time.Time) error {
	c.over.Store(false)
	defer c.over.Store(true)
	for {
		looked := guard.Start(func() error { c.look(); return nil })
		select {
		case <-ctx.Done():
			return nil // a running order ends at its next request
		case err := <-looked:
			if err != nil {
				return guard.Repanic(err)
			}
		}
		select {
		case <-ctx.Done():
			return nil
		case <-ticks:
		}
	}
}

// look checks every domain once.
func (c *Certificates) look() {
	for _, domain := range c.cfg.Domains {
		if c.over.Load() {
			return
		}
		c.lookAt(domain, c.all[domain])
	}
}

// lookAt loads the certificate of a domain if it exists, and orders it otherwise.
func (c *Certificates) lookAt(domain string, o *ordered) {
	now := c.cfg.Now()
	if now.Before(o.next) {
		return
	}
	pair, err := c.order(domain)
	if c.over.Load() {
		return
	}
	if err != nil {
		o.pause = min(max(2*o.pause, firstRetry), mostRetry)
		o.next = now.Add(o.pause)
		o.failing.Store(true)
		c.cfg.Log.Error().Err(err).Str("domain", domain).Time("next", o.next).Msg("certificate_not_ordered")
		return
	}
	o.next, o.pause = time.Time{}, 0
	if old := o.pair.Swap(pair); old == nil || !old.Leaf.NotAfter.Equal(pair.Leaf.NotAfter) {
		c.cfg.Log.Info().Strs("names", pair.Leaf.DNSNames).Time("not_after", pair.Leaf.NotAfter).Msg("certificate_ready")
	}
	late := overdue(pair, now)
	o.failing.Store(late)
	if late && !o.late {
		c.cfg.Log.Error().Str("domain", domain).Time("not_after", pair.Leaf.NotAfter).Msg("certificate_not_renewed")
	}
	o.late = late
}

// overdue reports whether a certificate should have been renewed: autocert begins 30 days before it
// expires, or a third of its lifetime if that is shorter, and retries every hour.
func overdue(pair *tls.Certificate, now time.Time) bool {
	life := pair.Leaf.NotAfter.Sub(pair.Leaf.NotBefore)
	return pair.Leaf.NotAfter.Sub(now) < min(life/4, 25*24*time.Hour)
}

// Expires returns when the first of the certificates expires; false if some are missing.
func (c *Certificates) Expires() (first time.Time, all bool) {
	for _, o := range c.all {
		pair := o.pair.Load()
		if pair == nil {
			return time.Time{}, false
		}
		if first.IsZero() || pair.Leaf.NotAfter.Before(first) {
			first = pair.Leaf.NotAfter
		}
	}
	return first, true
}

// Fails reports whether a certificate could not be ordered or renewed.
func (c *Certificates) Fails() bool {
	for _, o := range c.all {
		if o.failing.Load() {
			return true
		}
	}
	return false
}

// told logs the errors of the authority: autocert does not report why a renewal failed.
type told struct {
	certificates *Certificates
	next         http.RoundTripper
}

var errOver = errors.New("the server is stopping")

// RoundTrip sends a request, unless the server is stopping.
func (t *told) RoundTrip(req *http.Request) (*http.Response, error) {
	if t.certificates.over.Load() {
		return nil, errOver
	}
	next := t.next
	if next == nil {
		next = http.DefaultTransport
	}
	log := &t.certificates.cfg.Log
	res, err := next.RoundTrip(req)
	switch {
	case err != nil:
		log.Warn().Err(err).Str("url", req.URL.String()).Msg("authority_not_reached")
	case res.StatusCode >= 400:
		log.Warn().Int("status", res.StatusCode).Str("url", req.URL.String()).Msg("authority_refused")
	}
	return res, err
}
