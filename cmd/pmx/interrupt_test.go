package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/rs/zerolog"

	"pmx/engine"
	"pmx/engine/ingest"
	"pmx/http/admin"
	"pmx/rollups/keeper"
)

// beside makes an admin socket with the operation import, as a running server has.
func beside(t *testing.T, op admin.Operation) *CLI {
	t.Helper()
	dir := t.TempDir()
	sock, err := admin.Listen(engine.Dir(dir).AdminSocket(), nil, zerolog.Nop())
	if err != nil {
		t.Fatal(err)
	}
	sock.Handle(opImport, op)
	ctx, stop := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	go func() { ended <- sock.Serve(ctx) }()
	t.Cleanup(func() {
		stop()
		if err := <-ended; err != nil {
			t.Error(err)
		}
	})
	return &CLI{DataDir: dir}
}

// An interrupted command prints the receipts of what a server committed before it noticed the
// interruption, and says that those files are imported.
func TestAnInterruptedImportReportsWhatWasImported(t *testing.T) {
	file := filepath.Join(t.TempDir(), "a.csv")
	if err := os.WriteFile(file, []byte("x"), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, asJSON := range []bool{false, true} {
		for _, c := range []struct {
			receipts int
			rebuild  bool
			want     string
		}{
			{0, false, "pmx: interrupted; nothing incomplete was kept\n"},
			{1, false, "pmx: interrupted; the files with a receipt are in (1); nothing of any other is\n"},
			{1, true, "pmx: interrupted; the files with a receipt are in (1); nothing of any other is; the figures are not computed yet: pmx refresh does that, and so does the next import or start of the server\n"},
		} {
			ctx, interrupt := context.WithCancel(t.Context())
			cli := beside(t, func(ctx context.Context, _ json.RawMessage, emit func(any)) (any, error) {
				interrupt()
				<-ctx.Done()
				for range c.receipts {
					emit(keeper.Event{Receipt: &ingest.Receipt{File: file, Feed: "pmx-fills", Read: 1, Inserted: 1, RebuildNeeded: c.rebuild}})
				}
				return nil, ctx.Err()
			})
			var out, errOut bytes.Buffer
			std := stdio{in: strings.NewReader(""), out: &out, err: &errOut}
			code := status(ctx, (&ImportCmd{Paths: []string{file}, OnError: "row", JSON: asJSON}).Run(ctx, cli, std), std)
			if code != 130 || errOut.String() != c.want || strings.Contains(out.String(), "pmx-fills") != (c.receipts == 1) {
				t.Errorf("%d receipts, JSON %v: status %d, %q, %q", c.receipts, asJSON, code, out.String(), errOut.String())
			}
		}
	}
}

// A message claims nothing that is not known.
func TestAnUnfinishedOperationIsReported(t *testing.T) {
	left, leave := context.WithCancel(t.Context())
	leave()
	canceled := &admin.Error{Code: admin.CodeCanceled, Message: "context canceled"}
	for _, c := range []struct {
		ctx         context.Context
		err         error
		want        string
		interrupted bool
	}{
		{left, fmt.Errorf("%w (%w)", admin.ErrLost, context.Canceled), "did not report", true},
		{t.Context(), admin.ErrLost, "may or may not be so", false},
		{t.Context(), canceled, "nothing incomplete", false},
		{left, fmt.Errorf("%w (%w)", canceled, context.Canceled), "context canceled", true},
		{t.Context(), &admin.Error{Code: "failed", Message: "disk full"}, "disk full", false},
	} {
		err := operationError(c.ctx, opImport, c.err)
		if !strings.Contains(err.Error(), c.want) || errors.Is(err, context.Canceled) != c.interrupted {
			t.Errorf("%v becomes %q, want %q", c.err, err, c.want)
		}
	}
}
