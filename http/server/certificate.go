package server

import (
	"bytes"
	"context"
	"crypto/sha256"
	"crypto/tls"
	"crypto/x509"
	"encoding/pem"
	"errors"
	"fmt"
	"io"
	"sync/atomic"
	"time"

	"github.com/rs/zerolog"

	"pmx/data"
)

const (
	// certificateLook is how often the files of a certificate are read. Changes are found by
	// comparing contents: modification times and file notifications miss symbolic links that are
	// moved, and files on network file systems.
	certificateLook = 10 * time.Second
	maxPEM          = 1 << 20 // bytes of a certificate with its chain, or of a key
)

// certificate is the certificate used for new connections. While the server runs, it is replaced if
// its files change to another usable pair.
type certificate struct {
	certFile, keyFile string
	log               zerolog.Logger
	now               func() time.Time

	pair    atomic.Pointer[keyPair]
	failing atomic.Bool // the files have no usable pair, on two reads in a row
	failure string      // what was wrong with the files at the last read; "" for nothing
}

// keyPair is a certificate with its key, and the hash of its files.
type keyPair struct {
	tls.Certificate
	sum [sha256.Size]byte
}

// readCertificate reads a certificate and its key. It accepts a certificate that is not valid now,
// and logs that.
func readCertificate(certFile, keyFile string, log zerolog.Logger, now func() time.Time) (*certificate, error) {
	c := &certificate{certFile: certFile, keyFile: keyFile, log: log, now: now}
	pair, err := c.read(nil)
	if err != nil {
		return nil, err
	}
	c.pair.Store(pair)
	if err := validNow(pair.Leaf, now()); err != nil {
		log.Error().Err(err).Str("certificate", certFile).Msg("certificate_not_valid")
	}
	return c, nil
}

// Get is tls.Config.GetCertificate.
func (c *certificate) Get(*tls.ClientHelloInfo) (*tls.Certificate, error) {
	return &c.pair.Load().Certificate, nil
}

// Expires returns when the certificate in use expires.
func (c *certificate) Expires() (time.Time, bool) { return c.pair.Load().Leaf.NotAfter, true }

// Fails reports whether the files cannot be used, so that an older pair is kept.
func (c *certificate) Fails() bool { return c.failing.Load() }

// Run checks the files at every tick until ctx ends.
func (c *certificate) Run(ctx context.Context, ticks <-chan time.Time) error {
	for {
		select {
		case <-ctx.Done():
			return nil
		case <-ticks:
			c.look()
		}
	}
}

// look loads the pair in the files if it has changed and can be used. A problem is logged when it
// is found the second time: at the first, the files may be in the middle of being written.
func (c *certificate) look() {
	old := c.pair.Load()
	pair, err := c.read(old)
	if err == nil && pair != old && validNow(old.Leaf, c.now()) == nil {
		err = validNow(pair.Leaf, c.now())
	}
	if err != nil {
		if err.Error() != c.failure {
			c.failure = err.Error()
		} else if !c.failing.Swap(true) {
			c.log.Error().Err(err).Time("not_after", old.Leaf.NotAfter).Msg("certificate_kept")
		}
		return
	}
	c.failure = ""
	c.failing.Store(false)
	if pair == old {
		return
	}
	c.pair.Store(pair)
	c.log.Info().Strs("names", pair.Leaf.DNSNames).Time("not_after", pair.Leaf.NotAfter).Msg("certificate_replaced")
}

// read returns the pair in the files, or old if they have not changed.
func (c *certificate) read(old *keyPair) (*keyPair, error) {
	cert, err := readPEM(c.certFile)
	if err != nil {
		return nil, err
	}
	key, err := readPEM(c.keyFile)
	if err != nil {
		return nil, err
	}
	sum := sha256.Sum256(fmt.Appendf(nil, "%d\n%s%s", len(cert), cert, key))
	if old != nil && old.sum == sum {
		return old, nil
	}
	if err := wholeChain(cert); err != nil {
		return nil, fmt.Errorf("read TLS certificate: %s: %w", c.certFile, err)
	}
	pair, err := tls.X509KeyPair(cert, key)
	if err != nil {
		return nil, fmt.Errorf("read TLS certificate: %s with key %s: %w", c.certFile, c.keyFile, err)
	}
	return &keyPair{pair, sum}, nil
}

func readPEM(path string) ([]byte, error) {
	f, err := data.OpenRegular(path)
	if err != nil {
		return nil, err
	}
	text, err := io.ReadAll(io.LimitReader(f, maxPEM+1))
	if err = errors.Join(err, f.Close()); err == nil && len(text) > maxPEM {
		err = fmt.Errorf("%s: larger than 1 MB, which is neither a certificate nor a key", path)
	}
	return text, err
}

// wholeChain refuses a file in which a certificate is cut short: tls.X509KeyPair would ignore that
// certificate, and clients that need it could not connect.
func wholeChain(text []byte) error {
	for n := 1; ; n++ {
		block, rest := pem.Decode(text)
		if block == nil {
			if bytes.Contains(text, []byte("-----BEGIN")) {
				return fmt.Errorf("certificate %d is cut short", n)
			}
			return nil
		}
		if block.Type == "CERTIFICATE" {
			if _, err := x509.ParseCertificate(block.Bytes); err != nil {
				return fmt.Errorf("certificate %d: %w", n, err)
			}
		}
		text = rest
	}
}

// validNow returns why clients would not trust a certificate at the time now, or nil.
func validNow(leaf *x509.Certificate, now time.Time) error {
	if now.After(leaf.NotAfter) {
		return fmt.Errorf("the certificate expired at %s", leaf.NotAfter.UTC().Format(time.RFC3339))
	}
	if now.Before(leaf.NotBefore) {
		return fmt.Errorf("the certificate is valid only from %s", leaf.NotBefore.UTC().Format(time.RFC3339))
	}
	return nil
}
