package server_test

import (
	"context"
	"crypto/rand"
	"errors"
	"net/http"
	"path/filepath"
	"testing"
	"time"

	"github.com/rs/zerolog"

	"pmx/engine/control"
	"pmx/http/access"
	"pmx/http/api"
	"pmx/http/api/apitest"
	"pmx/http/server"
	"pmx/http/wire"
)

// twoHandles opens one control.db as the server and as a command would.
func twoHandles(t *testing.T) (ofServer, ofCommand *control.DB) {
	t.Helper()
	path := filepath.Join(t.TempDir(), "control.db")
	var handles [2]*control.DB
	for i := range handles {
		db, err := control.Open(t.Context(), path, time.Now)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() {
			if err := db.Close(); err != nil {
				t.Error(err)
			}
		})
		handles[i] = db
	}
	return handles[0], handles[1]
}

// A running server follows what the command line changes in control.db through its own handle.
func TestKeysFromIssueToRevocation(t *testing.T) {
	ofServer, ofCommand := twoHandles(t)
	gate, err := access.NewGate(t.Context(), ofServer, zerolog.Nop())
	if err != nil {
		t.Fatal(err)
	}
	a, err := api.New(api.Config{Source: apitest.NewSource(apitest.Snapshot(1, 1, 60)), Gate: gate, Version: "v1", CursorKey: make([]byte, 32), Now: time.Now})
	if err != nil {
		t.Fatal(err)
	}
	s, err := server.New(server.Config{API: a, Listen: "127.0.0.1:0", Log: zerolog.Nop()})
	if err != nil {
		t.Fatal(err)
	}
	ctx, stop := context.WithCancel(t.Context())
	done := make(chan error, 1)
	go func() { done <- s.Serve(ctx) }()

	secret, hash, err := access.NewSecret(rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	expect := func(what string, status int, limit string, err error) {
		t.Helper()
		if err := errors.Join(err, gate.Refresh(t.Context())); err != nil {
			t.Fatal(err)
		}
		res, body := ask(t, http.DefaultClient, "GET", s.URL()+leaderboard, wire.KeyHeader+": "+secret)
		if res.StatusCode != status || res.Header.Get("X-RateLimit-Limit") != limit {
			t.Errorf("%s: %d %q %.200s", what, res.StatusCode, res.Header.Get("X-RateLimit-Limit"), body)
		}
	}
	expect("before", 401, "", nil)
	_, err = ofCommand.AddRequest(t.Context(), "ada@example.org", "a dashboard")
	expect("on the waitlist", 401, "", err)
	_, key, err := ofCommand.Approve(t.Context(), 1, hash, control.DefaultTier)
	expect("approved", 200, "300", err)
	_, err = ofCommand.SetTier(t.Context(), key.ID, "trader")
	expect("raised", 200, "1000", err)
	_, err = ofCommand.RevokeKey(t.Context(), key.ID)
	expect("revoked", 401, "", err)

	stop()
	if err := errors.Join(<-done, gate.Save(t.Context())); err != nil {
		t.Fatal(err)
	}
	keys, err := ofCommand.ListKeys(t.Context())
	if err != nil || len(keys) != 1 || keys[0].Requests != 2 || keys[0].LastUsedAt == nil {
		t.Errorf("keys = %+v, err = %v", keys, err)
	}
}
