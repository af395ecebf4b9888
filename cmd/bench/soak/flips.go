//go:build linux

package main

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math/rand/v2"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// flipsCmd flips one bit at a time.
type flipsCmd struct {
	Count int      `help:"Bits to flip, over all kinds of files." default:"520"`
	Only  []string `help:"Kinds: database, log, segments, backup, keys, export. All by default."`
}

// flipKind is one kind of file. see reports whether a flipped bit is detected; if it is not, the
// data must be unchanged.
type flipKind struct {
	name  string
	share int // share of the bits, out of parts
	files func() ([]string, error)
	see   func(ctx context.Context, file string) (noticed bool, err error)
}

// parts is the sum of the shares of all kinds.
const parts = 26

// Run flips.
func (c *flipsCmd) Run(ctx context.Context, h *harness) error {
	v, err := h.newVenue(ctx, "flips", "", h.seed, 1000, 250)
	if err != nil {
		return err
	}
	f := &flipped{venue: v, good: filepath.Join(filepath.Dir(v.events), "good")}
	if err := f.prepare(ctx); err != nil {
		return err
	}
	random := rand.New(rand.NewPCG(h.seed, 1))
	for _, kind := range f.kinds() {
		if len(c.Only) > 0 && !slices.Contains(c.Only, kind.name) {
			continue
		}
		files, err := kind.files()
		if err == nil && len(files) == 0 {
			err = fmt.Errorf("there is no file of the kind %s", kind.name)
		}
		if err != nil {
			return err
		}
		for range c.Count * kind.share / parts {
			if ctx.Err() != nil {
				return ctx.Err()
			}
			if err := f.flip(ctx, kind, files[random.IntN(len(files))], random); err != nil {
				return err
			}
		}
		h.say("%s: %d bits, %d noticed, %d without effect", kind.name, h.counted("bits flipped in "+kind.name), h.counted("  noticed in "+kind.name), h.counted("  without effect in "+kind.name))
	}
	return nil
}

// flipped is a data directory whose files get flipped bits, and a good copy of everything.
type flipped struct {
	*venue
	good  string // copies of d and backups
	facts string // SHA-256 of all facts
	keys_ string // output of keys list
	job   string // the path of a download
}

// prepare makes files of every kind: a database with a log, segments, backups, keys, exports.
func (f *flipped) prepare(ctx context.Context) error {
	s, err := f.serve(ctx, f.dir, 0, "--refresh-cron", "@every 1s")
	if err != nil {
		return err
	}
	for range 3 {
		if err := f.importNext(ctx); err != nil {
			return err
		}
	}
	for range 5 {
		if err := f.issue(ctx); err != nil {
			return err
		}
	}
	if _, err := f.run(ctx, f.dir, "backup", f.backups); err != nil {
		return err
	}
	if f.job, err = f.exportJob(ctx, s); err != nil {
		return err
	}
	if err := s.stop(); err != nil {
		return err
	}
	// The last import stays in the log: its process is killed after its receipt.
	if s, err = f.serve(ctx, f.dir, 0, "--refresh-cron", "0 0 1 1 *"); err != nil {
		return err
	}
	if err := f.importNext(ctx); err != nil {
		return err
	}
	s.kill()
	if err := os.MkdirAll(f.good, 0o700); err != nil {
		return err
	}
	if err := errors.Join(copyTree(f.dir, filepath.Join(f.good, "d")), copyTree(f.backups, filepath.Join(f.good, "backups"))); err != nil {
		return err
	}
	if f.facts, err = f.sums(ctx); err != nil {
		return err
	}
	f.keys_, err = f.keyList(ctx)
	return errors.Join(err, f.mend())
}

// mend restores everything from the copies.
func (f *flipped) mend() error {
	return errors.Join(os.RemoveAll(f.dir), os.RemoveAll(f.backups), copyTree(filepath.Join(f.good, "d"), f.dir),
		copyTree(filepath.Join(f.good, "backups"), f.backups))
}

// sums returns the SHA-256 of all exported facts.
func (f *flipped) sums(ctx context.Context) (string, error) {
	var all strings.Builder
	for _, dataset := range []string{"fills", "conditions", "resolutions", "markets", "wallet_pnl"} {
		out, err := f.run(ctx, f.dir, "export", dataset, "--format", "csv", "--out", "-")
		if err != nil {
			return "", err
		}
		fmt.Fprintf(&all, "%x ", sha256.Sum256(out))
	}
	return all.String(), nil
}

func (f *flipped) keyList(ctx context.Context) (string, error) {
	out, err := f.run(ctx, f.dir, "keys", "list", "--json")
	return string(out), err
}

// flip flips a bit, checks whether it is detected, and undoes it.
func (f *flipped) flip(ctx context.Context, kind flipKind, path string, r *rand.Rand) error {
	text, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	if len(text) == 0 {
		return fmt.Errorf("%s is empty", path)
	}
	at, bit := r.IntN(len(text)), r.IntN(8)
	text[at] ^= 1 << bit
	if err := os.WriteFile(path, text, 0o600); err != nil {
		return err
	}
	f.count("bits flipped in "+kind.name, 1)
	noticed, err := kind.see(ctx, path)
	switch {
	case err != nil:
		f.fail("bit %d of byte %d of %s: %v", bit, at, filepath.Base(path), err)
	case noticed:
		f.count("  noticed in "+kind.name, 1)
	default:
		f.count("  without effect in "+kind.name, 1)
	}
	return f.mend()
}

func (f *flipped) kinds() []flipKind {
	in := func(root string, patterns ...string) func() ([]string, error) {
		return func() (all []string, err error) {
			for _, pattern := range patterns {
				found, err := filepath.Glob(filepath.Join(root, pattern))
				if err != nil {
					return nil, err
				}
				all = append(all, found...)
			}
			return all, nil
		}
	}
	return []flipKind{
		{"database", 4, in(f.dir, "pmx.duckdb"), f.seeFacts},
		{"log", 2, in(f.dir, "pmx.duckdb.wal"), f.seeFacts},
		{"segments", 3, in(f.dir, "segments/*.seg"), f.seeSegment},
		{"backup", 10, in(f.backups, "CURRENT", "pmx-backup.json", "manifests/*", "blocks/*/*"), f.seeBackup},
		{"keys", 4, in(f.dir, "control.db"), f.seeKeys},
		{"export", 3, in(f.dir, "exports/*"), f.seeExport},
	}
}

// seeFacts opens and verifies the database. If both succeed, the exports must be unchanged; a
// damaged log is kept and named.
func (f *flipped) seeFacts(ctx context.Context, _ string) (bool, error) {
	_, err := f.run(ctx, f.dir, "verify")
	if code := status(err); err != nil {
		if code < 0 || code > 3 || strings.Contains(err.Error(), "panic") {
			return true, fmt.Errorf("pmx verify ended badly: %w", err)
		}
		return true, nil
	}
	kept, _ := filepath.Glob(filepath.Join(f.dir, "pmx.duckdb.wal.*"))
	sums, err := f.sums(ctx)
	switch {
	case len(kept) > 0:
		return true, nil
	case err != nil: // detected when it is read
		f.count("  noticed in exports of it alone", 1)
		return true, nil
	case sums != f.facts:
		return false, errors.New("the database is verified, but its facts have changed")
	}
	return false, nil
}

// seeSegment starts a server with the damaged file and verifies: it must name the file, or not use
// it and write a new one.
func (f *flipped) seeSegment(ctx context.Context, file string) (bool, error) {
	good, err := os.ReadFile(filepath.Join(f.good, "d", "segments", filepath.Base(file)))
	if err != nil {
		return false, err
	}
	s, err := f.serve(ctx, f.dir, 0)
	if err != nil {
		return false, err
	}
	_, verified := f.run(ctx, f.dir, "verify")
	renamed := exists(file + ".damaged")
	if err := s.stop(); err != nil {
		return renamed, err
	}
	if verified != nil || renamed {
		return true, nil
	}
	if now, err := os.ReadFile(file); err == nil && len(now) != len(good) {
		return true, nil // written again
	}
	now, err := os.ReadFile(file)
	if err != nil {
		return false, err
	}
	differ := 0
	for i := range now {
		if now[i] != good[i] {
			differ++
		}
	}
	if differ == 1 {
		return false, errors.New("the damaged file is still in use, but verified")
	}
	return true, nil
}

// seeBackup checks the folder of backups.
func (f *flipped) seeBackup(ctx context.Context, file string) (bool, error) {
	_, err := f.run(ctx, f.dir, "backup", f.backups, "--verify")
	if status(err) != 1 {
		return false, fmt.Errorf("pmx backup --verify does not notice it in %s: %w", file, err)
	}
	return true, nil
}

// seeKeys reads the keys, and runs pmx doctor on the file.
func (f *flipped) seeKeys(ctx context.Context, _ string) (bool, error) {
	list, err := f.keyList(ctx)
	if err != nil {
		return true, nil
	}
	if said, _ := f.run(ctx, f.dir, "doctor"); strings.Contains(string(said), "control.db") && strings.Contains(string(said), "damaged") {
		return true, nil
	}
	if list != f.keys_ {
		return false, errors.New("the keys have changed without an error")
	}
	return false, nil
}

// seeExport downloads the file of a job: the damage is detected if the headers do not match the
// body.
func (f *flipped) seeExport(ctx context.Context, _ string) (bool, error) {
	s, err := f.serve(ctx, f.dir, 0)
	if err != nil {
		return false, err
	}
	defer s.kill()
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, "http://"+s.addr+"/api/v3"+f.job, nil)
	if err != nil {
		return false, err
	}
	req.Close = true
	req.Header.Set("X-API-Key", f.secrets()[0])
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		return true, nil // it is not sent at all
	}
	defer res.Body.Close()
	text, err := io.ReadAll(res.Body)
	if err != nil || res.StatusCode != http.StatusOK {
		return true, nil
	}
	if res.Header.Get("ETag") == fmt.Sprintf("%q", fmt.Sprintf("%x", sha256.Sum256(text))) {
		return false, errors.New("the file is damaged, but its ETag matches")
	}
	return true, nil
}

// copyTree copies a folder without sockets.
func copyTree(from, to string) error {
	return filepath.WalkDir(from, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		rel, err := filepath.Rel(from, path)
		if err != nil {
			return err
		}
		dest := filepath.Join(to, rel)
		switch {
		case d.IsDir():
			return os.MkdirAll(dest, 0o700)
		case !d.Type().IsRegular():
			return nil
		}
		text, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		return os.WriteFile(dest, text, 0o600)
	})
}
