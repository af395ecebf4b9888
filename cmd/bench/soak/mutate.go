//go:build linux

package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// mutate imports damaged files.
type mutate struct {
	Count   int      `help:"Files to import." default:"2500"`
	From    []string `help:"Folders of good files, one below the other; each file is damaged in turn." default:"testdata/feeds" type:"path"`
	Largest int64    `help:"Files larger than this are left out." default:"300000"`
}

// Run imports them, through one server, and verifies.
func (c *mutate) Run(ctx context.Context, h *harness) error {
	files, err := c.files()
	if err != nil || len(files) == 0 {
		return fmt.Errorf("there are no files below %v: %w", c.From, cmpErr(err))
	}
	v, err := h.newVenue(ctx, "mutate", "", h.seed, 500, 500)
	if err != nil {
		return err
	}
	s, err := h.serve(ctx, v.dir, 0)
	if err != nil {
		return err
	}
	random := rand.New(rand.NewPCG(h.seed, 2))
	for n := range c.Count {
		if ctx.Err() != nil {
			return ctx.Err()
		}
		if err := v.importMutated(ctx, files[n%len(files)], n, random); err != nil {
			return err
		}
		if err := s.alive(); err != nil {
			return err
		}
		if n%100 == 99 {
			h.say("%d files of %d, from %d good ones", n+1, c.Count, len(files))
		}
	}
	m, err := s.metrics(ctx)
	if err != nil {
		return err
	}
	for name, value := range m {
		if value > 0 && (strings.HasPrefix(name, "pmx_background_panics_total") || strings.HasPrefix(name, "pmx_database_faults_total")) {
			h.fail("%s is %v", name, value)
		}
	}
	if err := s.stop(); err != nil {
		h.fail("%v", err)
	}
	v.verified(ctx, v.dir)
	return nil
}

// files are the good files, in order of their paths.
func (c *mutate) files() (all []string, err error) {
	for _, root := range c.From {
		err := filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
			if err != nil || !d.Type().IsRegular() || strings.HasSuffix(path, ".md") {
				return err
			}
			info, err := d.Info()
			if err == nil && info.Size() > 0 && info.Size() <= c.Largest {
				all = append(all, path)
			}
			return err
		})
		if err != nil {
			return nil, err
		}
	}
	slices.Sort(all)
	return all, nil
}

// importMutated damages a file and imports it. It must be refused with a reason, or every row of it
// must be accounted for.
func (v *venue) importMutated(ctx context.Context, path string, n int, r *rand.Rand) error {
	text, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	how := changes[r.IntN(len(changes))]
	file := filepath.Join(filepath.Dir(v.events), "damaged", filepath.Base(path))
	if err := os.MkdirAll(filepath.Dir(file), 0o700); err != nil {
		return err
	}
	if err := os.WriteFile(file, how.change(bytes.Clone(text), r), 0o600); err != nil {
		return err
	}
	out, err := v.run(ctx, v.dir, "import", "--json", file)
	v.count("damaged files imported", 1)
	v.count("  "+how.name, 1)
	if err := v.judge(out, err); err != nil {
		kept := v.path(fmt.Sprintf("kept-%05d-%s", n, filepath.Base(path)))
		v.fail("%s, %s (%s): %v", path, how.name, filepath.Base(kept), err)
		if err := os.Rename(file, kept); err != nil {
			return err
		}
	}
	return os.RemoveAll(filepath.Dir(file))
}

// judge reports what is wrong with how an import ended.
func (v *venue) judge(out []byte, err error) error {
	if code := status(err); code != 0 && code != 1 {
		return fmt.Errorf("it ended with status %d: %w", code, err)
	}
	if err != nil {
		for _, word := range []string{"panic", "INTERNAL", "FATAL", "goroutine "} {
			if strings.Contains(err.Error(), word) {
				return err
			}
		}
	}
	var res result
	if jsonErr := json.Unmarshal(out, &res); jsonErr != nil {
		if status(err) == 1 && len(err.Error()) > 20 { // refused before it was read
			v.count("    refused, with a reason", 1)
			return nil
		}
		return fmt.Errorf("the answer cannot be read: %w: %s", jsonErr, out)
	}
	switch {
	case len(res.Receipts) == 1 && err == nil:
		if err := res.Receipts[0].accounted(); err != nil {
			return err
		}
		v.count("    imported, with every row accounted for", 1)
		if total(res.Receipts[0].Rejected) > 0 {
			v.count("      of them with rows rejected", 1)
		}
		return nil
	case len(res.Failed) == 1 && res.Failed[0].Error != "" && status(err) == 1:
		v.count("    refused, with a reason", 1)
		return nil
	}
	return fmt.Errorf("neither a receipt nor a refusal: %w: %s", cmpErr(err), out)
}

// changes are the ways in which a file is damaged.
var changes = []struct {
	name   string
	change func([]byte, *rand.Rand) []byte
}{
	{"cut short", func(b []byte, r *rand.Rand) []byte { return b[:r.IntN(len(b))] }},
	{"begun late", func(b []byte, r *rand.Rand) []byte { return b[r.IntN(len(b)):] }},
	{"bytes changed", func(b []byte, r *rand.Rand) []byte {
		for range 1 + r.IntN(5) {
			b[r.IntN(len(b))] = byte(r.Uint32())
		}
		return b
	}},
	{"bits flipped", func(b []byte, r *rand.Rand) []byte {
		for range 1 + r.IntN(3) {
			b[r.IntN(len(b))] ^= 1 << r.IntN(8)
		}
		return b
	}},
	{"a part left out", func(b []byte, r *rand.Rand) []byte {
		from := r.IntN(len(b))
		return append(b[:from], b[min(len(b), from+1+r.IntN(200)):]...)
	}},
	{"a part repeated", func(b []byte, r *rand.Rand) []byte {
		from := r.IntN(len(b))
		return slices.Insert(b, from, bytes.Clone(b[from:min(len(b), from+1+r.IntN(200))])...)
	}},
	{"lines shuffled", func(b []byte, r *rand.Rand) []byte {
		lines := bytes.SplitAfter(b, []byte("\n"))
		r.Shuffle(len(lines), func(i, j int) { lines[i], lines[j] = lines[j], lines[i] })
		return bytes.Join(lines, nil)
	}},
	{"digits changed", func(b []byte, r *rand.Rand) []byte {
		for i := range b {
			if b[i] >= '0' && b[i] <= '9' && r.IntN(50) == 0 {
				b[i] = '0' + byte(r.IntN(10))
			}
		}
		return b
	}},
	{"separators and quotes put in", func(b []byte, r *rand.Rand) []byte {
		for range 1 + r.IntN(4) {
			const odd = "\",;\n\r\t{}[]:\\-.eE\x00\xff"
			b = slices.Insert(b, r.IntN(len(b)+1), odd[r.IntN(len(odd))])
		}
		return b
	}},
	{"numbers made huge, negative or no numbers", func(b []byte, r *rand.Rand) []byte {
		words := []string{"-1", "1e400", "NaN", "Infinity", "9223372036854775808", "-9223372036854775809", "0x10", "1,5", "", "null", "1e-400", "99999999999999999999999999999999999999999"}
		for range 1 + r.IntN(4) {
			from := r.IntN(len(b) + 1)
			at := bytes.IndexAny(b[from:], "0123456789")
			if at < 0 {
				continue
			}
			end := from + at
			for end < len(b) && b[end] >= '0' && b[end] <= '9' {
				end++
			}
			b = slices.Replace(b, from+at, end, []byte(words[r.IntN(len(words))])...)
		}
		return b
	}},
	{"other line ends and a mark of byte order", func(b []byte, r *rand.Rand) []byte {
		ends := []string{"\r\n", "\r", "\n\n"}
		b = bytes.ReplaceAll(b, []byte("\n"), []byte(ends[r.IntN(len(ends))]))
		return append([]byte("\xef\xbb\xbf"), b...)
	}},
}
