package server

import (
	"bytes"
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"encoding/pem"
	"math/big"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/rs/zerolog"
)

// pemPair is a certificate for name, valid for days from today, and its key.
type pemPair struct{ cert, key []byte }

func issue(t *testing.T, name string, from, days int) pemPair {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	template := &x509.Certificate{SerialNumber: big.NewInt(1), DNSNames: []string{name}, NotBefore: time.Now().AddDate(0, 0, from), NotAfter: time.Now().AddDate(0, 0, from+days)}
	der, err := x509.CreateCertificate(rand.Reader, template, template, &key.PublicKey, key)
	if err != nil {
		t.Fatal(err)
	}
	keyDER, err := x509.MarshalPKCS8PrivateKey(key)
	if err != nil {
		t.Fatal(err)
	}
	return pemPair{pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der}), pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: keyDER})}
}

// certFiles are the files of a certificate and what is logged about them.
type certFiles struct {
	t         *testing.T
	cert, key string
	log       bytes.Buffer
}

func newCertFiles(t *testing.T, p pemPair) *certFiles {
	t.Helper()
	dir := t.TempDir()
	f := &certFiles{t: t, cert: filepath.Join(dir, "cert.pem"), key: filepath.Join(dir, "key.pem")}
	f.write(p.cert, p.key)
	return f
}

// write replaces the files; nil removes one.
func (f *certFiles) write(cert, key []byte) {
	f.t.Helper()
	for path, text := range map[string][]byte{f.cert: cert, f.key: key} {
		if err := os.Remove(path); err != nil && !os.IsNotExist(err) {
			f.t.Fatal(err)
		}
		if text == nil {
			continue
		}
		if err := os.WriteFile(path, text, 0o600); err != nil {
			f.t.Fatal(err)
		}
	}
}

func (f *certFiles) open() *certificate {
	f.t.Helper()
	c, err := readCertificate(f.cert, f.key, zerolog.New(&f.log), time.Now)
	if err != nil {
		f.t.Fatal(err)
	}
	return c
}

func nameOf(c *certificate) string { return c.pair.Load().Leaf.DNSNames[0] }

// An unusable pair never replaces the one in use, and is reported once, and only if it stays
// unusable. A usable one replaces it without a restart.
func TestFilesOfACertificateThatChange(t *testing.T) {
	old, next := issue(t, "old.example", -1, 30), issue(t, "next.example", -1, 90)
	both := append(bytes.Clone(next.cert), issue(t, "issuer.example", -1, 90).cert...)
	broken := append(bytes.Clone(next.cert), pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: []byte("no certificate")})...)
	expired, future := issue(t, "expired.example", -9, 5), issue(t, "future.example", 5, 9)
	for name, c := range map[string]struct {
		cert, key []byte
		reason    string
	}{
		"the certificate alone was written": {next.cert, old.key, "does not match"},
		"the key alone was written":         {old.cert, next.key, "does not match"},
		"the certificate is gone":           {nil, next.key, "cert.pem"},
		"the key is gone":                   {next.cert, nil, "key.pem"},
		"the certificate is empty":          {[]byte{}, next.key, "failed to find"},
		"the certificate is cut short":      {next.cert[:len(next.cert)/2], next.key, "certificate 1 is cut short"},
		"the chain is cut short":            {both[:len(next.cert)+100], next.key, "certificate 2 is cut short"},
		"the chain is broken":               {broken, next.key, "certificate 2: "},
		"the key is cut short":              {next.cert, next.key[:len(next.key)/2], "key.pem"},
		"the files are exchanged":           {next.key, next.cert, "cert.pem"},
		"expired":                           {expired.cert, expired.key, "expired at"},
		"not valid yet":                     {future.cert, future.key, "valid only from"},
		"too large":                         {bytes.Repeat([]byte("\n"), 2<<20), next.key, "larger than 1 MB"},
	} {
		t.Run(name, func(t *testing.T) {
			f := newCertFiles(t, old)
			cert := f.open()
			f.write(c.cert, c.key)
			cert.look()
			if f.log.Len() > 0 || cert.failing.Load() {
				t.Errorf("reported while it may still be written: %s", &f.log)
			}
			for range 3 {
				cert.look()
			}
			if nameOf(cert) != "old.example" || !cert.failing.Load() {
				t.Errorf("%s, failing %v", nameOf(cert), cert.failing.Load())
			}
			if text := f.log.String(); strings.Count(text, "\n") != 1 || !strings.Contains(text, `"certificate_kept"`) || !strings.Contains(text, c.reason) {
				t.Errorf("want one line with %q: text = %s", c.reason, text)
			}
			f.write(both, next.key)
			cert.look()
			if nameOf(cert) != "next.example" || cert.failing.Load() || !strings.Contains(f.log.String(), `"certificate_replaced"`) || len(cert.pair.Load().Certificate.Certificate) != 2 {
				t.Errorf("%s, failing %v, %s", nameOf(cert), cert.failing.Load(), &f.log)
			}
		})
	}
}

func TestFilesOfACertificateThatAreWrittenAgainAsTheyWere(t *testing.T) {
	old := issue(t, "old.example", -1, 30)
	f := newCertFiles(t, old)
	cert := f.open()
	pair := cert.pair.Load()
	f.write(old.cert, old.key)
	cert.look()
	if cert.pair.Load() != pair || f.log.Len() > 0 {
		t.Errorf("replaced: %s", &f.log)
	}
	f.write(nil, nil) // only between two checks
	cert.look()
	f.write(old.cert, old.key)
	cert.look()
	f.write(nil, nil)
	cert.look()
	if f.log.Len() > 0 {
		t.Errorf("reported: %s", &f.log)
	}
}

// A server with an expired certificate starts, and logs that. Any other one then replaces it, while
// one that is not valid yet replaces a valid one only when its time comes.
func TestACertificateThatIsNotValidNow(t *testing.T) {
	expired, older := issue(t, "expired.example", -9, 5), issue(t, "older.example", -9, 3)
	f := newCertFiles(t, expired)
	cert := f.open()
	if !strings.Contains(f.log.String(), `"certificate_not_valid"`) {
		t.Errorf("not logged at start: %s", &f.log)
	}
	f.write(older.cert, older.key)
	cert.look()
	if nameOf(cert) != "older.example" {
		t.Error("the operator's newest files are not used")
	}
	f = newCertFiles(t, issue(t, "old.example", -1, 30))
	cert = f.open()
	future := issue(t, "future.example", 5, 90)
	f.write(future.cert, future.key)
	cert.look()
	cert.look()
	cert.now = func() time.Time { return time.Now().AddDate(0, 0, 6) }
	if nameOf(cert) != "old.example" {
		t.Fatal("the certificate is used before its time")
	}
	cert.look()
	if nameOf(cert) != "future.example" || cert.failing.Load() {
		t.Errorf("%s, failing %v", nameOf(cert), cert.failing.Load())
	}
}

// New connections get the new certificate, open ones continue, and the metrics show when it
// expires.
func TestConnectionsAcrossAChangeOfCertificate(t *testing.T) {
	old, next := issue(t, "pmx.example", -1, 30), issue(t, "pmx.example", -1, 90)
	f := newCertFiles(t, old)
	addr, secure := timedTLS(t, f, timeouts{read: time.Minute, write: time.Minute, idle: time.Minute})
	ctx, stop := context.WithCancel(t.Context())
	ticks, done := make(chan time.Time), make(chan error, 1)
	go func() { done <- secure.certificate.Run(ctx, ticks) }()

	before := dialTLS(t, addr, &tls.Config{})
	f.write(next.cert, next.key)
	ticks <- time.Time{}
	ticks <- time.Time{} // the first check is over when the second begins
	stop()
	if err := <-done; err != nil {
		t.Fatal(err)
	}
	after := dialTLS(t, addr, &tls.Config{})
	for what, c := range map[string]struct {
		conn *tls.Conn
		want pemPair
	}{"before": {before, old}, "after": {after, next}} {
		if got := pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: c.conn.ConnectionState().PeerCertificates[0].Raw}); !bytes.Equal(got, c.want.cert) {
			t.Errorf("%s: another certificate", what)
		}
		answers(t, c.conn)
	}
	m := newMetrics(nil, nil, newConnSet(10))
	m.certificate = secure.certificate
	got := make(chan prometheus.Metric, 2)
	m.collectCertificate(got)
	if text := (<-got).Desc().String(); !strings.Contains(text, "pmx_tls_certificate_expiry_timestamp_seconds") {
		t.Error(text)
	}
	if text := (<-got).Desc().String(); !strings.Contains(text, "pmx_tls_certificate_failing") {
		t.Error(text)
	}
}
