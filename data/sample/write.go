package sample

import (
	"bufio"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"hash"
	"io"
	"os"
	"path/filepath"

	"pmx/data"
)

// Names of the files in a venue's folder. A venue of more than one file of fills numbers
// its fill files: orderFilled-000.csv, orderFilled-001.csv and so on.
const (
	ManifestName = "manifest.json"
	EventsName   = "events.ndjson"
	FillsName    = "orderFilled.csv"
)

// ErrOccupied is returned if the folder already has files with the names of a venue's files.
var ErrOccupied = errors.New("folder is occupied")

// Stream writes the venue to two streams: all fills as one CSV with a header, then the events as
// NDJSON. If progress is not nil, it is called with the number of fills written after every hour of
// the venue. FillFiles of the Manifest has one entry.
func Stream(ctx context.Context, cfg Config, fills, events io.Writer, progress func(done int64)) (Manifest, error) {
	cfg, err := cfg.withDefaults()
	if err != nil {
		return Manifest{}, err
	}
	out := &stream{file: newOutFile(fills, FillsName)}
	m, _, err := generate(ctx, cfg, out, func() (*outFile, error) { return newOutFile(events, EventsName), nil }, progress)
	return m, err
}

// Write writes the venue into dir, which is created if it does not exist: fill files of at most
// FileRows rows, the events, and the weather of the desk's cities. The manifest is written last and
// atomically: a folder without it is incomplete. If the folder has files with these names, the
// error is ErrOccupied. On an error, and if ctx ends, all files that were written are removed.
func Write(ctx context.Context, cfg Config, dir string, progress func(done int64)) (Manifest, error) {
	return WriteEach(ctx, cfg, dir, progress, nil)
}

// WriteEach is like Write, for venues larger than the disk: if each is not nil, it is called with
// the path of every fill file as soon as that is complete, and may remove it. An error of each ends
// the writing.
func WriteEach(ctx context.Context, cfg Config, dir string, progress func(done int64), each func(path string) error) (m Manifest, err error) {
	cfg, err = cfg.withDefaults()
	if err != nil {
		return m, err
	}
	if err := vacant(dir); err != nil {
		return m, err
	}
	d := &folder{path: dir, cfg: cfg, each: each}
	defer func() {
		if err != nil {
			err = errors.Join(err, d.discard())
		}
	}()
	m, list, err := generate(ctx, cfg, d, func() (*outFile, error) { return d.create(EventsName) }, progress)
	if err != nil {
		return m, err
	}
	if m.WeatherFiles, err = writeWeather(ctx, cfg, list, d.create); err != nil {
		return m, err
	}
	text, err := json.MarshalIndent(m, "", "  ")
	if err != nil {
		return m, fmt.Errorf("manifest: %w", err)
	}
	p, err := d.create(ManifestName)
	if err != nil {
		return m, err
	}
	if _, err := p.Write(append(text, '\n')); err != nil {
		return m, err
	}
	_, err = p.finish(1)
	return m, err
}

// vacant creates the folder and checks that it has no venue.
func vacant(dir string) error {
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return fmt.Errorf("sample venue: %w", err)
	}
	for _, pattern := range append([]string{ManifestName, EventsName, "orderFilled*.csv"}, weatherNames...) {
		found, err := filepath.Glob(filepath.Join(dir, pattern))
		if err != nil {
			return fmt.Errorf("sample venue: %w", err)
		}
		if len(found) > 0 {
			return fmt.Errorf("sample venue: %s: %w: choose an empty one", found[0], ErrOccupied)
		}
	}
	return nil
}

// filler is a rowSink that returns its files when it is closed.
type filler interface {
	rowSink
	close() ([]File, error)
}

// generate plans the venue, makes its fills and then writes its events, whose volumes and prices
// are known by then. It also returns the events.
func generate(ctx context.Context, cfg Config, out filler, events func() (*outFile, error), progress func(int64)) (Manifest, []*event, error) {
	list, err := plan(cfg)
	if err != nil {
		return Manifest{}, nil, err
	}
	x, enc := newExchange(cfg), encoder{cfg: cfg, seed: cfg.Seed}
	if err := x.run(ctx, list, enc.into(out), progress); err != nil {
		return Manifest{}, nil, err
	}
	if x.sum.FillFiles, err = out.close(); err != nil {
		return Manifest{}, nil, err
	}
	x.sum.Wallets = x.wallets.count
	x.sum.count(list)
	p, err := events()
	if err != nil {
		return Manifest{}, nil, err
	}
	if err := writeEvents(ctx, p, cfg, list, x.normal); err != nil {
		return Manifest{}, nil, err
	}
	x.sum.EventsFile, err = p.finish(x.sum.Events)
	return x.sum, list, err
}

// outFile is a file that is being written, and its digest.
type outFile struct {
	name  string
	file  *os.File // nil for a stream
	final string   // path of the complete file
	buf   *bufio.Writer
	hash  hash.Hash
	bytes int64
	count int64
}

func newOutFile(w io.Writer, name string) *outFile {
	p := &outFile{name: name, hash: sha256.New()}
	p.buf = bufio.NewWriterSize(io.MultiWriter(w, p.hash), 1<<18)
	return p
}

// Write implements io.Writer.
func (p *outFile) Write(b []byte) (int, error) {
	p.bytes += int64(len(b))
	n, err := p.buf.Write(b)
	if err != nil {
		return n, fmt.Errorf("write %s: %w", p.name, err)
	}
	return n, nil
}

// finish flushes the output; a file is synced and renamed to its final name.
func (p *outFile) finish(rows int64) (File, error) {
	if err := p.buf.Flush(); err != nil {
		return File{}, fmt.Errorf("write %s: %w", p.name, err)
	}
	if p.file != nil {
		if err := p.file.Sync(); err != nil {
			return File{}, fmt.Errorf("write %s: %w", p.name, err)
		}
		if err := p.file.Close(); err != nil {
			return File{}, fmt.Errorf("write %s: %w", p.name, err)
		}
		if err := os.Rename(p.file.Name(), p.final); err != nil {
			return File{}, fmt.Errorf("write %s: %w", p.name, err)
		}
	}
	return File{Name: p.name, Rows: rows, Bytes: p.bytes, SHA256: hex.EncodeToString(p.hash.Sum(nil))}, nil
}

// stream is the filler of Stream.
type stream struct{ file *outFile }

func (s *stream) rows(lines []byte, n int64) error {
	if s.file.bytes == 0 {
		if _, err := s.file.Write([]byte(header)); err != nil {
			return err
		}
	}
	s.file.count += n
	_, err := s.file.Write(lines)
	return err
}

func (s *stream) close() ([]File, error) {
	f, err := s.file.finish(s.file.count)
	return []File{f}, err
}

// folder is the filler of Write: it divides the fills into files between matches.
type folder struct {
	path    string
	cfg     Config
	each    func(path string) error // called with every complete fill file; may be nil
	file    *outFile
	files   []File
	written []*outFile
}

// create opens a file under a temporary name.
func (d *folder) create(name string) (*outFile, error) {
	final := filepath.Join(d.path, name)
	f, err := data.CreateRegular(final + ".part")
	if err != nil {
		return nil, fmt.Errorf("sample venue: %w", err)
	}
	p := newOutFile(f, name)
	p.file, p.final = f, final
	d.written = append(d.written, p)
	return p, nil
}

func (d *folder) rows(lines []byte, n int64) error {
	if d.file != nil && d.file.count+n > d.cfg.FileRows {
		if err := d.finish(); err != nil {
			return err
		}
	}
	if d.file == nil {
		name := FillsName
		if d.cfg.Fills > d.cfg.FileRows {
			name = fmt.Sprintf("orderFilled-%03d.csv", len(d.files))
		}
		p, err := d.create(name)
		if err != nil {
			return err
		}
		if _, err := p.Write([]byte(header)); err != nil {
			return err
		}
		d.file = p
	}
	d.file.count += n
	_, err := d.file.Write(lines)
	return err
}

func (d *folder) finish() error {
	f, err := d.file.finish(d.file.count)
	if err != nil {
		return err
	}
	path := d.file.final
	d.files, d.file = append(d.files, f), nil
	if d.each == nil {
		return nil
	}
	return d.each(path)
}

func (d *folder) close() ([]File, error) {
	if d.file == nil {
		return d.files, nil
	}
	err := d.finish()
	return d.files, err
}

// discard removes all files of an unfinished venue.
func (d *folder) discard() error {
	var errs []error
	for _, p := range d.written {
		_ = p.file.Close() // complete files are already closed
		for _, path := range []string{p.file.Name(), p.final} {
			if err := os.Remove(path); err != nil && !errors.Is(err, os.ErrNotExist) {
				errs = append(errs, err)
			}
		}
	}
	return errors.Join(errs...)
}
