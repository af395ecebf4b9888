package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"

	"pmx/data"
	"pmx/engine/export"
	"pmx/engine/guard"
	"pmx/rollups/keeper"
)

// factsManifest is manifest.json in a folder with all facts: the list of its files.
type factsManifest struct {
	Generator string `json:"generator"`
	Kind      string `json:"kind"`
	Complete  bool   `json:"complete"` // every file exists
	// Provisional is how many fills come from the venue's list of trades and are not confirmed by
	// the chain.
	Provisional int64              `json:"provisional_fills"`
	Files       []export.Partition `json:"files"`
	// State is the state from which the next export continues. It belongs to one database; without
	// it, all facts are read again.
	State *export.PartitionState `json:"state,omitempty"`
}

const (
	manifestName = "manifest.json"
	factsKind    = "facts"
)

// readManifest returns the manifest of a folder; nil if it has no manifest of facts.
func readManifest(dir string) (*factsManifest, error) {
	text, err := data.ReadRegular(filepath.Join(dir, manifestName))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	var m factsManifest
	if json.Unmarshal(text, &m) != nil || m.Generator != "pmx" || m.Kind != factsKind {
		return nil, nil
	}
	return &m, nil
}

// write saves the manifest of a folder; a reader sees the old one or this one.
func (m *factsManifest) write(dir string, std stdio) error {
	text, err := json.MarshalIndent(m, "", "  ")
	if err != nil {
		return err
	}
	return std.replaceFile(filepath.Join(dir, manifestName), append(text, '\n'))
}

// checkFacts compares every file of a folder of facts with its manifest before any of it is
// imported. Other paths are ignored.
func checkFacts(ctx context.Context, dir string) error {
	if st, err := os.Stat(dir); err != nil || !st.IsDir() {
		return nil // a file or a glob; errors are reported when it is opened
	}
	m, err := readManifest(dir)
	if err != nil || m == nil {
		return err
	}
	if !m.Complete {
		return fmt.Errorf("%s is an incomplete export: run pmx export fills --partition-by day --out %s again, or import single files", dir, dir)
	}
	for _, p := range m.Files {
		if err := ctx.Err(); err != nil {
			return err
		}
		if err := checkPartition(ctx, dir, p); err != nil {
			return err
		}
	}
	return nil
}

func checkPartition(ctx context.Context, dir string, p export.Partition) error {
	if !filepath.IsLocal(filepath.FromSlash(p.Name)) {
		return fmt.Errorf("the manifest of %s names %q, which is outside the folder", dir, p.Name)
	}
	f, err := data.OpenRegular(filepath.Join(dir, filepath.FromSlash(p.Name)))
	if err != nil {
		return fmt.Errorf("%s lacks a file of its manifest: %w", dir, err)
	}
	defer func() { _ = f.Close() }() // it is only read
	st, err := f.Stat()
	if err != nil {
		return err
	}
	if st.Size() != p.Bytes {
		return fmt.Errorf("%s in %s does not match the manifest: it has %d bytes, not %d; copy or export it again", p.Name, dir, st.Size(), p.Bytes)
	}
	sum, _, err := export.FileSum(guard.Reader(ctx, f))
	if err != nil {
		return err
	}
	if sum != p.SHA256 {
		return fmt.Errorf("%s in %s does not match the manifest: its SHA-256 is %s, not %s; copy or export it again", p.Name, dir, sum, p.SHA256)
	}
	return nil
}

type partitionRequest struct {
	Known export.PartitionsKnown `json:"there"`
}

// partitionEvent is an unchanged file, or one that is ready at Path.
type partitionEvent struct {
	Partition export.Partition `json:"part"`
	Path      string           `json:"path"` // "": unchanged
	Done      float64          `json:"done"`
}

type partitioned struct {
	Dir   string                 `json:"dir"` // the folder of the written files, which the command removes
	State *export.PartitionState `json:"state,omitempty"`
}

func exportPartition(ctx context.Context, k *keeper.Keeper, req partitionRequest, emit func(partitionEvent)) (partitioned, error) {
	dir, err := os.MkdirTemp(k.DB().Dir().Tmp(), "export-*")
	if err != nil {
		return partitioned{}, err
	}
	n := 0
	state, err := k.Exporter().WritePartitions(ctx, dir, req.Known, func(p export.Partition, path string, share float64) error {
		if path != "" { // away from the name that is removed
			n++
			kept := filepath.Join(dir, fmt.Sprintf("%06d.parquet", n))
			if err := os.Rename(path, kept); err != nil {
				return err
			}
			path = kept
		}
		emit(partitionEvent{p, path, share})
		return nil
	})
	if err != nil {
		return partitioned{}, errors.Join(err, os.RemoveAll(dir))
	}
	return partitioned{dir, state}, nil
}

// partition writes all facts into the folder Out, or updates it.
func (c *ExportCmd) partition(ctx context.Context, cli *CLI, std stdio) error {
	if c.Dataset != "fills" || c.Format != "parquet" || c.Out == "-" {
		return wrong("partition-by", " day is for fills, as parquet, into a folder: pmx export fills --partition-by day --out FOLDER")
	}
	if err := std.makeFolder(c.Out); err != nil {
		return err
	}
	before, err := readManifest(c.Out)
	if err != nil {
		return err
	}
	t := &partitionWriter{std: std, dir: c.Out, known: export.PartitionsKnown{Files: map[string]export.Partition{}}, meter: newProgressBar(std, c.JSON)}
	if before != nil {
		if before.Complete { // otherwise its files are of several moments
			t.known.State = before.State
		}
		for _, p := range before.Files {
			if checkPartition(ctx, c.Out, p) == nil {
				t.known.Files[p.Name] = p
				t.had = append(t.had, p)
			}
		}
	} else {
		if err := refuseOccupied(c.Out, "a folder of exported facts"); err != nil {
			return err
		}
		if err := t.manifest(false).write(c.Out, std); err != nil { // from now on the folder is one of them
			return err
		}
	}
	res, err := perform(ctx, cli, partitioning, partitionRequest{t.known}, func(e partitionEvent) { t.take(ctx, e) })
	t.meter.clear()
	if err := errors.Join(err, t.err); err != nil {
		return err
	}
	if err := errors.Join(os.RemoveAll(res.Dir), t.finish(before, res.State)); err != nil {
		return err
	}
	if c.JSON {
		return printJSON(std.out, map[string]any{"dataset": c.Dataset, "folder": c.Out, "files": len(t.files), "written": t.written, "rows": t.rows(),
			"provisional_fills": provisional(t.files)})
	}
	text := fmt.Sprintf("%s: %s in %s, %d of them written\n", c.Out, count(t.rows(), "row"), count(int64(len(t.files)), "file"), t.written)
	if n := provisional(t.files); n > 0 {
		text += fmt.Sprintf("%s fills are provisional: they come from the venue's list of trades and are not confirmed by the chain\n", thousands(n))
	}
	_, err = io.WriteString(std.err, text)
	return err
}

// partitionWriter moves the files of an export to their places as they arrive.
type partitionWriter struct {
	std     stdio
	dir     string
	known   export.PartitionsKnown
	had     []export.Partition // files of an earlier export
	files   []export.Partition // files of this one
	written int
	meter   *progressBar
	err     error // the first
}

func (t *partitionWriter) rows() (n int64) {
	for _, p := range t.files {
		n += p.Rows
	}
	return n
}

// provisional returns how many fills of files are not confirmed by the chain.
func provisional(files []export.Partition) (n int64) {
	for _, p := range files {
		n += p.Provisional
	}
	return n
}

func (t *partitionWriter) take(ctx context.Context, e partitionEvent) {
	if t.err != nil {
		return
	}
	t.meter.show("exporting all facts", e.Done, "")
	if e.Path == "" {
		at := slices.IndexFunc(t.had, func(p export.Partition) bool { return p.Name == e.Partition.Name })
		if at < 0 {
			t.err = fmt.Errorf("the export left out %s, which is not in %s", e.Partition.Name, t.dir)
			return
		}
		was := t.had[at]
		was.Provisional = e.Partition.Provisional // an earlier version did not record it
		t.files = append(t.files, was)
		return
	}
	target := filepath.Join(t.dir, filepath.FromSlash(e.Partition.Name))
	if t.err = t.std.makeFolder(filepath.Dir(target)); t.err != nil {
		return
	}
	if t.err = t.std.moveInto(ctx, target, e.Path); t.err != nil {
		return
	}
	t.files, t.written = append(t.files, e.Partition), t.written+1
	t.err = t.manifest(false).write(t.dir, t.std)
}

// manifest returns the manifest of the files so far, and of those of an earlier export that this
// one has not reached.
func (t *partitionWriter) manifest(complete bool) *factsManifest {
	m := &factsManifest{Generator: "pmx", Kind: factsKind, Complete: complete, Files: slices.Clone(t.files)}
	for _, p := range t.had {
		if !complete && !slices.ContainsFunc(t.files, func(f export.Partition) bool { return f.Name == p.Name }) {
			m.Files = append(m.Files, p)
		}
	}
	m.Provisional = provisional(m.Files)
	return m
}

// finish removes files of an earlier export that do not belong to this one, with the folders of their days.
func (t *partitionWriter) finish(before *factsManifest, state *export.PartitionState) error {
	if before != nil {
		for _, p := range before.Files {
			if slices.ContainsFunc(t.files, func(f export.Partition) bool { return f.Name == p.Name }) || !filepath.IsLocal(filepath.FromSlash(p.Name)) {
				continue
			}
			path := filepath.Join(t.dir, filepath.FromSlash(p.Name))
			if err := os.Remove(path); err != nil && !errors.Is(err, fs.ErrNotExist) {
				return err
			}
			if day := filepath.Dir(path); day != filepath.Clean(t.dir) {
				_ = os.Remove(day) // fails if something else is in it
			}
		}
	}
	m := t.manifest(true)
	m.State = state
	return m.write(t.dir, t.std)
}
