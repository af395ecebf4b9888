package main

import (
	"crypto/rand"
	"errors"
	"net"
	"net/http"
	"testing"
	"time"

	"pmx/engine"
	"pmx/engine/control"
	"pmx/http/access"
)

// Keys that are issued and revoked while a server reads its data are known to it once it is ready.
func TestKeysThatChangeWhileTheDataIsRead(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	at := l.Addr().String()
	if err := l.Close(); err != nil {
		t.Fatal(err)
	}
	dir := engine.Dir(t.TempDir())
	if err := dir.Create(); err != nil {
		t.Fatal(err)
	}
	keys, err := control.Open(t.Context(), dir.Control(), time.Now)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := keys.Close(); err != nil {
			t.Error(err)
		}
	})
	issue := func() (secret, id string) {
		t.Helper()
		secret, hash, err := access.NewSecret(rand.Reader)
		if err != nil {
			t.Fatal(err)
		}
		k, err := keys.IssueKey(t.Context(), hash, "alpha", "x")
		if err != nil {
			t.Fatal(err)
		}
		return secret, k.ID
	}
	gone, id := issue()
	s, ready := startHere(t, string(dir), "--listen", at, "--sample")
	for end := time.Now().Add(patience); ; time.Sleep(time.Millisecond) {
		res, err := http.Get("http://" + at + "/api/v3/health")
		if err == nil {
			err = res.Body.Close()
		}
		if err == nil && res.StatusCode == http.StatusServiceUnavailable && !res.Close { // the server has read the keys
			break
		}
		if time.Now().After(end) || err == nil && res.StatusCode == http.StatusOK {
			t.Fatalf("the start was not seen: %v", err)
		}
	}
	added, _ := issue()
	if _, err := keys.RevokeKey(t.Context(), id); err != nil {
		t.Fatal(err)
	}
	ready()
	is, _, err := ask(s.base, "/leaderboard/traders", added)
	was, _, errGone := ask(s.base, "/leaderboard/traders", gone)
	if err := errors.Join(err, errGone); err != nil || is != http.StatusOK || was != http.StatusUnauthorized {
		t.Errorf("the new key gets %d, and the revoked one %d: %v", is, was, err)
	}
}
