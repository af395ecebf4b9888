package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/exec"

	"pmx/cmd/bench/load"
)

// clientEnv makes this program a load generator: it reads a load.Config as JSON and writes the
// load.Result.
const clientEnv = "PMX_BENCH_CLIENT"

// ask runs a load in a separate process; a failed request is an error. In the server's process they
// would share its goroutine scheduler: with eight concurrent requests, one in a hundred would then
// wait four milliseconds for a thread.
func ask(ctx context.Context, cfg load.Config) (r load.Result, err error) {
	text, err := json.Marshal(cfg)
	if err != nil {
		return r, err
	}
	self, err := os.Executable()
	if err != nil {
		return r, err
	}
	cmd := exec.CommandContext(ctx, self)
	cmd.Env = append(os.Environ(), clientEnv+"=1")
	cmd.Stdin, cmd.Stderr = bytes.NewReader(text), os.Stderr
	out, err := cmd.Output()
	if err != nil {
		return r, fmt.Errorf("client: %w", err)
	}
	if err := json.Unmarshal(out, &r); err != nil {
		return r, fmt.Errorf("client: %w", err)
	}
	if r.Errors > 0 {
		err = fmt.Errorf("%d of %d requests failed: %s", r.Errors, r.Requests+r.Errors, r.LastError)
	}
	return r, err
}

// client is the load generator's side of ask.
func client(in io.Reader, out io.Writer) error {
	var cfg load.Config
	if err := json.NewDecoder(in).Decode(&cfg); err != nil {
		return err
	}
	r, err := load.Run(context.Background(), cfg)
	if err != nil {
		return err
	}
	return json.NewEncoder(out).Encode(r)
}
