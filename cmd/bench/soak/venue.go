//go:build linux

package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"sync"

	"pmx/data/sample"
)

// venue is a data directory with what was acknowledged: imports whose command exited with status 0,
// and keys that were shown.
type venue struct {
	*harness
	dir     string
	backups string
	events  string
	slices  []string // files of fills, in order of time
	rows    []int64  // of each slice

	mu    sync.Mutex
	next  int      // the first slice that is not acknowledged
	fills int64    // acknowledged
	doubt int64    // of an import that was started and has not answered
	keys  []issued // acknowledged
}

const importsAcknowledged = "imports acknowledged"

type issued struct {
	Key string `json:"key"`
	ID  string `json:"id"`
}

// result is the output of pmx import --json.
type result struct {
	Receipts []receipt `json:"receipts"`
	Failed   []struct {
		File, Error string
	} `json:"failed"`
}

// newVenue makes a data directory with the markets of a venue, and its fills in slices to import.
func (h *harness) newVenue(ctx context.Context, name, dir string, seed uint64, fills int64, each int) (*venue, error) {
	from := h.path(name)
	if err := os.MkdirAll(from, 0o700); err != nil {
		return nil, err
	}
	v := &venue{harness: h, dir: dir, backups: filepath.Join(from, "backups"), events: filepath.Join(from, sample.EventsName)}
	if v.dir == "" {
		v.dir = filepath.Join(from, "d")
	}
	var all, events bytes.Buffer
	if _, err := sample.Stream(ctx, sample.Config{Fills: fills, Seed: seed}, &all, &events, nil); err != nil {
		return nil, err
	}
	if err := os.WriteFile(v.events, events.Bytes(), 0o600); err != nil {
		return nil, err
	}
	header, rest, _ := bytes.Cut(all.Bytes(), []byte("\n"))
	lines := bytes.SplitAfter(bytes.TrimSuffix(rest, []byte("\n")), []byte("\n"))
	for n := 0; len(lines) > 0; n++ {
		part := lines[:cut(lines, each)]
		lines = lines[len(part):]
		path := filepath.Join(filepath.Dir(v.events), fmt.Sprintf("orderFilled-%05d.csv", n))
		text := append(append(bytes.Clone(header), '\n'), bytes.Join(part, nil)...)
		if err := os.WriteFile(path, text, 0o600); err != nil {
			return nil, err
		}
		v.slices, v.rows = append(v.slices, path), append(v.rows, int64(len(part)))
	}
	out, err := h.run(ctx, v.dir, "import", "--json", v.events)
	if err != nil {
		return nil, fmt.Errorf("%w: %s", err, out)
	}
	return v, v.issue(ctx)
}

// cut returns the number of lines in the next slice: each, and further ones of the same second as
// the last of them. Equal rows are one fill in two files, but two in one.
func cut(lines [][]byte, each int) int {
	n := min(each, len(lines))
	second := func(line []byte) string { at, _, _ := bytes.Cut(line, []byte(",")); return string(at) }
	for n < len(lines) && second(lines[n]) == second(lines[n-1]) {
		n++
	}
	return n
}

// discard removes the venue with all that belongs to it.
func (v *venue) discard() error {
	return errors.Join(os.RemoveAll(v.dir), os.RemoveAll(filepath.Dir(v.events)))
}

// importNext imports the next slice, which a command that did not answer may already have imported.
// If none is left, it does nothing.
func (v *venue) importNext(ctx context.Context) error {
	v.mu.Lock()
	k := v.next
	if k == len(v.slices) {
		v.mu.Unlock()
		return nil
	}
	retried := v.doubt > 0
	v.doubt = v.rows[k]
	v.mu.Unlock()
	out, err := v.run(ctx, v.dir, "import", "--json", v.slices[k])
	if err != nil {
		return err
	}
	var res result
	if err := json.Unmarshal(out, &res); err != nil || len(res.Receipts) != 1 {
		return fmt.Errorf("the receipt cannot be read: %w: %s", err, out)
	}
	r := res.Receipts[0]
	whole := r.Inserted == v.rows[k] || retried && r.Inserted == 0 && r.AlreadyThere == v.rows[k]
	if !whole || r.Read != v.rows[k] {
		v.fail("%s has %d rows, and its receipt says %s", v.slices[k], v.rows[k], out)
	}
	v.mu.Lock()
	defer v.mu.Unlock()
	v.next, v.fills, v.doubt = k+1, v.fills+v.rows[k], 0
	v.count(importsAcknowledged, 1)
	v.count("fills acknowledged", v.rows[k])
	return nil
}

// issue issues a key.
func (v *venue) issue(ctx context.Context) error {
	out, err := v.run(ctx, v.dir, "keys", "issue", "--tier", "alpha", "--label", "soak", "--json")
	if err != nil {
		return err
	}
	var k issued
	if err := json.Unmarshal(out, &k); err != nil {
		return fmt.Errorf("the key cannot be read: %w: %s", err, out)
	}
	v.mu.Lock()
	defer v.mu.Unlock()
	v.keys = append(v.keys, k)
	v.count("keys acknowledged", 1)
	return nil
}

func (v *venue) secrets() []string {
	v.mu.Lock()
	defer v.mu.Unlock()
	all := make([]string, len(v.keys))
	for i, k := range v.keys {
		all[i] = k.Key
	}
	return all
}

// held checks that a server has everything that was acknowledged: every key, and the fills of every
// import, and of the one in doubt all or nothing.
func (v *venue) held(ctx context.Context, s *server) error {
	m, err := s.metrics(ctx)
	if err != nil {
		return err
	}
	v.mu.Lock()
	fills, doubt, keys := v.fills, v.doubt, v.keys
	v.mu.Unlock()
	served, ok := m[`pmx_served_rows{kind="fills"}`]
	if n := int64(served); !ok || n != fills && n != fills+doubt {
		v.fail("%d fills are acknowledged and %d are in doubt, but there are %d", fills, doubt, n)
	}
	for _, k := range keys {
		code, text, err := s.get(ctx, "/me", k.Key)
		if err != nil {
			return err
		}
		if code != 200 {
			v.fail("key %s was issued, but a request with it: status %d: %s", k.ID, code, text)
		}
		v.count("keys checked after a start", 1)
	}
	v.count("imports checked after a start", int64(v.next))
	return nil
}

// verified runs pmx verify.
func (v *venue) verified(ctx context.Context, dir string) {
	v.count("runs of pmx verify", 1)
	if out, err := v.run(ctx, dir, "verify"); err != nil {
		v.fail("%v: %s", err, out)
	}
}
