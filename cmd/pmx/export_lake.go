package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"pmx/data"
	"pmx/engine/export"
	"pmx/rollups/cluster"
	"pmx/rollups/keeper"
)

// lakeProgressName names the file with the progress from which a later export continues. It belongs to one database and is
// not part of the lake: without it, everything is written again, into the same files.
const lakeProgressName = "state.json"

// lakeProgress says what exists of a lake, complete or not.
type lakeProgress struct {
	Head   export.LakeHead           `json:"head"`
	Since  *int64                    `json:"since,omitempty"` // as in export.LakeKnown
	Days   map[string]lakeFileEntry  `json:"days"`
	Blocks map[string]lakeBlockEntry `json:"blocks,omitempty"`
	Tables map[string]lakeFileEntry  `json:"tables,omitempty"` // datasets without days
}

// lakeBlockEntry is a complete block of shards.
type lakeBlockEntry struct {
	Print string            `json:"print"`
	Files []export.LakeFile `json:"files"`
}

type lakeFileEntry struct {
	Print string          `json:"print"`
	File  export.LakeFile `json:"file"`
}

// lakeEvent is the moment of the export, which comes first, or a file.
type lakeEvent struct {
	Head      *export.LakeHead `json:"head,omitempty"`
	Continues bool             `json:"continues,omitempty"` // with Head: the known fingerprints belong to its history of imports
	Step      export.LakeStep  `json:"part"`
}

// exportLake writes files into a folder of the data directory, from which the command moves them.
func exportLake(ctx context.Context, k *keeper.Keeper, req export.LakeKnown, emit func(lakeEvent)) (partitioned, error) {
	dir, err := os.MkdirTemp(k.DB().Dir().Tmp(), "export-*")
	if err != nil {
		return partitioned{}, err
	}
	n := 0
	begin := func(head export.LakeHead, continues bool) error {
		emit(lakeEvent{Head: &head, Continues: continues})
		return nil
	}
	err = k.Exporter().WriteLake(ctx, dir, req, begin, func(p export.LakeStep) error {
		if p.Path != "" { // the folder with this name is removed
			n++
			kept := filepath.Join(dir, fmt.Sprintf("%06d.parquet", n))
			if err := os.Rename(p.Path, kept); err != nil {
				return err
			}
			p.Path = kept
		}
		emit(lakeEvent{Step: p})
		return nil
	})
	if err != nil {
		return partitioned{}, errors.Join(err, os.RemoveAll(dir))
	}
	return partitioned{Dir: dir}, nil
}

// lake writes the lake into the folder Out, or adds what changed to it.
func (c *ExportCmd) lake(ctx context.Context, cli *CLI, std stdio) error {
	if c.Format != choice(data.Parquet) || c.Out == "-" || c.PartitionBy != "" {
		return errors.New("a lake is a folder of parquet: pmx export lake --out FOLDER")
	}
	if err := std.makeFolder(c.Out); err != nil {
		return err
	}
	t := &lakeFolder{std: std, dir: c.Out, check: c.Check, shards: c.Shards, meter: newProgressBar(std, c.JSON)}
	known, err := t.open()
	if err != nil {
		return err
	}
	res, err := perform(ctx, cli, lakeWriting, known, func(e lakeEvent) { t.take(ctx, e) })
	t.meter.clear()
	if err := errors.Join(err, t.err); err != nil {
		return err
	}
	if err := errors.Join(os.RemoveAll(res.Dir), t.finish()); err != nil {
		return err
	}
	if c.JSON {
		return printJSON(std.out, map[string]any{"dataset": c.Dataset, "folder": c.Out, "manifest": t.id, "files": len(t.files), "written": t.written, "rows": t.fills()})
	}
	_, err = fmt.Fprintf(std.err, "%s: %s in %s, %d of them written\n", c.Out, count(t.fills(), "fill"), count(int64(len(t.files)), "file"), t.written)
	return err
}

// lakeFolder is a folder that a lake is written to.
type lakeFolder struct {
	std      stdio
	dir      string
	check    bool
	shards   bool
	block    []export.LakeFile // of shards, so far
	before   *cluster.Lake     // the lake that CURRENT named, by wasID
	wasID    string
	progress lakeProgress
	had      lakeProgress // that was found
	files    []export.LakeFile
	written  int
	id       string
	meter    *progressBar
	err      error // the first
}

func (t *lakeFolder) fills() (n int64) {
	for _, f := range t.files {
		if f.Dataset == "fills" {
			n += f.Rows
		}
	}
	return n
}

func (t *lakeFolder) path(name string) string { return filepath.Join(t.dir, filepath.FromSlash(name)) }

// open reads what exists. A day is known if its file has not changed.
func (t *lakeFolder) open() (known export.LakeKnown, err error) {
	if t.before, t.wasID, err = cluster.ReadLake(t.dir); err != nil {
		return known, err
	}
	text, err := data.ReadRegular(t.path(lakeProgressName))
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return known, err
	}
	if err != nil || json.Unmarshal(text, &t.progress) != nil || t.progress.Days == nil {
		t.progress = lakeProgress{Head: export.LakeHead{Batch: -1}, Days: map[string]lakeFileEntry{}}
		if t.before == nil {
			if err := refuseOccupied(t.dir, "a lake"); err != nil {
				return known, err
			}
			if err := t.saveProgress(); err != nil {
				return known, err
			}
		}
	}
	if t.progress.Blocks == nil {
		t.progress.Blocks = map[string]lakeBlockEntry{}
	}
	if t.progress.Tables == nil {
		t.progress.Tables = map[string]lakeFileEntry{}
	}
	t.had = t.progress
	known = export.LakeKnown{Head: t.progress.Head, Since: t.progress.Since, Prints: map[string]string{}, Blocks: map[string]string{}, Tables: map[string]string{}, Shards: t.shards}
	for day, s := range t.progress.Days {
		if t.isThere(s.File) {
			known.Prints[day] = s.Print
		}
	}
	for dataset, s := range t.progress.Tables {
		if t.isThere(s.File) {
			known.Tables[dataset] = s.Print
		}
	}
	for from, s := range t.progress.Blocks {
		if t.shards && !slices.ContainsFunc(s.Files, func(f export.LakeFile) bool { return !t.isThere(f) }) {
			known.Blocks[from] = s.Print
		}
	}
	return known, nil
}

// isThere reports whether a file exists unchanged.
func (t *lakeFolder) isThere(f export.LakeFile) bool {
	return filepath.IsLocal(filepath.FromSlash(f.Name)) && cluster.CheckFile(t.dir, f, t.check) == nil
}

// begin records the moment of the export. Fingerprints from another history of imports are not
// saved under its head, where they would count as its own: they are used only for what the export
// leaves out. A server that does not say whether they are from another history is an older version.
func (t *lakeFolder) begin(head export.LakeHead, continues bool) {
	t.progress = lakeProgress{Head: head, Days: map[string]lakeFileEntry{}, Blocks: map[string]lakeBlockEntry{}, Tables: map[string]lakeFileEntry{}}
	if continues {
		t.progress.Days, t.progress.Blocks, t.progress.Tables, t.progress.Since = maps.Clone(t.had.Days), maps.Clone(t.had.Blocks), maps.Clone(t.had.Tables), t.had.Since
	}
}

func (t *lakeFolder) take(ctx context.Context, e lakeEvent) {
	if t.err != nil {
		return
	}
	if e.Head != nil {
		t.begin(*e.Head, e.Continues)
		return
	}
	p := e.Step
	t.meter.show("exporting the lake", p.Done, "")
	if p.Path == "" {
		t.err = t.leave(p.File)
		return
	}
	if cluster.CheckFile(t.dir, p.File, true) == nil { // the same bytes
		t.err = os.Remove(p.Path)
	} else {
		t.written++
		if t.err = t.std.makeFolder(filepath.Dir(t.path(p.File.Name))); t.err == nil {
			t.err = t.std.moveInto(ctx, t.path(p.File.Name), p.Path)
		}
	}
	t.files = append(t.files, p.File)
	switch {
	case t.err != nil:
	case p.File.Day != "":
		t.progress.Days[p.File.Day] = lakeFileEntry{p.Print, p.File}
		t.err = t.saveProgress()
	case p.File.From != "":
		if t.block = append(t.block, p.File); p.Last {
			t.progress.Blocks[p.File.From] = lakeBlockEntry{p.Print, t.block}
			t.block = nil
			t.err = t.saveProgress()
		}
	default: // these come last, and finish saves them
		t.progress.Tables[p.File.Dataset] = lakeFileEntry{p.Print, p.File}
	}
}

// leave keeps what the export left out because it has not changed: a block of shards, a day or a
// dataset without days.
func (t *lakeFolder) leave(f export.LakeFile) error {
	if f.From != "" {
		was, ok := t.had.Blocks[f.From]
		if !ok {
			return fmt.Errorf("the export left out the shards from %s on, which are not in %s", f.From, t.dir)
		}
		t.progress.Blocks[f.From] = was
		t.files = append(t.files, was.Files...)
		return nil
	}
	was, ok := t.had.Days[f.Day]
	if f.Day == "" {
		was, ok = t.had.Tables[f.Dataset]
	}
	if !ok {
		return fmt.Errorf("the export left out %s %s, which is not in %s", f.Dataset, f.Day, t.dir)
	}
	if f.Day != "" {
		t.progress.Days[f.Day] = was
	} else {
		t.progress.Tables[f.Dataset] = was
	}
	t.files = append(t.files, was.File)
	return nil
}

// saveProgress saves the progress, so that an interrupted export can continue.
func (t *lakeFolder) saveProgress() error {
	text, err := json.Marshal(t.progress)
	if err != nil {
		return err
	}
	return t.std.replaceFile(t.path(lakeProgressName), text)
}

// hasShards returns an error if shards were requested and complete blocks have none: a server of an
// earlier version does not know them.
func (t *lakeFolder) hasShards(m *cluster.Lake) error {
	blocks, err := m.Blocks()
	if err != nil || !t.shards {
		return err
	}
	days := cluster.Days(m.Files)
	for _, d := range days {
		first, over := export.ShardBlock(d.Day, days[len(days)-1].Day)
		if b := blocks[first]; over && (b.Wallets == nil || b.Tokens == nil) {
			return fmt.Errorf("the running server wrote no shards of the days from %s on, because it is an earlier version of pmx. Start it with this one, or leave out --shards",
				time.Unix(first*86_400, 0).UTC().Format(time.DateOnly))
		}
	}
	return nil
}

// finish writes the manifest, makes CURRENT name it, and removes files that neither it nor the
// previous one names: a reader of the previous one still finds its files.
func (t *lakeFolder) finish() error {
	m := cluster.NewLake(t.progress.Head, t.files)
	if err := t.hasShards(m); err != nil {
		return err
	}
	name, text, err := m.Encode()
	if err != nil {
		return err
	}
	t.id = strings.TrimSuffix(filepath.Base(name), ".json")
	whole := lakeProgress{Head: t.progress.Head, Since: &t.progress.Head.Batch, Days: map[string]lakeFileEntry{}, Blocks: map[string]lakeBlockEntry{}, Tables: map[string]lakeFileEntry{}}
	for _, f := range t.files {
		switch {
		case f.Day != "":
			whole.Days[f.Day] = t.progress.Days[f.Day]
		case f.From != "":
			whole.Blocks[f.From] = t.progress.Blocks[f.From]
		default:
			whole.Tables[f.Dataset] = t.progress.Tables[f.Dataset]
		}
	}
	t.progress = whole
	if err := errors.Join(t.saveProgress(), t.std.makeFolder(filepath.Dir(t.path(name)))); err != nil {
		return err
	}
	if err := errors.Join(t.std.replaceFile(t.path(name), text), t.std.replaceFile(t.path(cluster.CurrentName), []byte(t.id+"\n"))); err != nil {
		return err
	}
	return t.sweep(m)
}

// sweep removes files of the lake that are named by none of the last two manifests.
func (t *lakeFolder) sweep(m *cluster.Lake) error {
	keep := map[string]bool{cluster.ManifestName(t.id): true, cluster.ManifestName(t.wasID): true}
	files := m.Files
	if t.before != nil {
		files = append(files, t.before.Files...)
	}
	for _, f := range files {
		keep[f.Name] = true
	}
	old, err := cluster.Unnamed(t.dir, keep)
	for _, name := range old {
		err = errors.Join(err, os.Remove(t.path(name)))
		changed()
		_ = os.Remove(filepath.Dir(t.path(name))) // fails if there is anything else in it
		changed()
	}
	return err
}
