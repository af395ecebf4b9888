package sample

import (
	"bufio"
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"flag"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"pmx/data/testfiles"
)

var update = flag.Bool("update", false, "write the golden files")

func digest(b []byte) string {
	sum := sha256.Sum256(b)
	return hex.EncodeToString(sum[:])
}

func TestSameConfigGivesTheSameBytes(t *testing.T) {
	cfg := Config{Fills: 10_000, Seed: 42}
	f1, e1, _ := stream1(t, cfg)
	f2, e2, _ := stream1(t, cfg)
	if !bytes.Equal(f1, f2) || !bytes.Equal(e1, e2) {
		t.Error("two runs differ")
	}
	cfg.Seed++
	if f3, _, _ := stream1(t, cfg); bytes.Equal(f1, f3) {
		t.Error("another seed gave the same venue")
	}
}

// The bytes of a tiny venue are fixed: a change here requires a new Version.
func TestTinyVenueIsTheGoldenOne(t *testing.T) {
	fills, events, m := stream1(t, Config{Fills: 1000, Seed: 1})
	got := m.FillFiles[0].SHA256 + "\n" + m.EventsFile.SHA256 + "\n"
	if digest(fills)+"\n"+digest(events)+"\n" != got {
		t.Error("the manifest's digests are not those of the bytes")
	}
	golden := testfiles.Path("golden", "sample-tiny.sha256")
	if *update {
		if err := os.WriteFile(golden, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(golden)
	if err != nil {
		t.Fatal(err)
	}
	if got != string(want) {
		t.Errorf("digests\n%swant\n%s", got, want)
	}
}

func TestVenueHasExactlyTheFillsAskedFor(t *testing.T) {
	for fills := int64(2); fills < 60; fills += int64(testfiles.Cases(3, 1)) {
		if v := load(t, Config{Fills: fills, Seed: uint64(fills)}); int64(len(v.rows)) != fills {
			t.Errorf("%d rows, want %d", len(v.rows), fills)
		}
	}
}

func TestWriteCutsPartsBetweenMatches(t *testing.T) {
	dir := t.TempDir()
	cfg := Config{Fills: 5000, Seed: 9, FileRows: 700}
	m, err := Write(context.Background(), cfg, dir, nil)
	if err != nil {
		t.Fatal(err)
	}
	whole, events, _ := stream1(t, Config{Fills: 5000, Seed: 9})
	joined, rows := []byte(header), int64(0)
	for i, f := range m.FillFiles {
		b, err := os.ReadFile(filepath.Join(dir, f.Name))
		if err != nil {
			t.Fatal(err)
		}
		body, found := bytes.CutPrefix(b, []byte(header))
		n := int64(bytes.Count(body, []byte("\n")))
		if !found || digest(b) != f.SHA256 || int64(len(b)) != f.Bytes || n != f.Rows || n > 700 {
			t.Errorf("part %d is not as in its manifest: %d rows, %+v", i, n, f)
		}
		last := body[bytes.LastIndexByte(body[:len(body)-1], '\n')+1:]
		if taker := strings.Split(string(last), ",")[4]; taker != plainExchange && taker != negRiskExchange {
			t.Errorf("part %d ends within a match", i)
		}
		joined, rows = append(joined, body...), rows+n
	}
	if !bytes.Equal(joined, whole) || rows != 5000 || m.FillFiles[1].Name != "orderFilled-001.csv" {
		t.Errorf("%d rows in %d parts: incomplete", rows, len(m.FillFiles))
	}
	if b, err := os.ReadFile(filepath.Join(dir, EventsName)); err != nil || !bytes.Equal(b, events) {
		t.Errorf("events differ: %v", err)
	}
	var back Manifest
	if b, err := os.ReadFile(filepath.Join(dir, ManifestName)); err != nil || json.Unmarshal(b, &back) != nil || back.TakerUSD != m.TakerUSD {
		t.Errorf("manifest %+v: %v", back, err)
	}
}

func TestWriteCancelledLeavesNothing(t *testing.T) {
	dir := t.TempDir()
	ctx, cancel := context.WithCancel(context.Background())
	progress := func(done int64) {
		if done > 2000 {
			cancel()
		}
	}
	_, err := Write(ctx, Config{Fills: 5000, FileRows: 500}, dir, progress)
	if !errors.Is(err, context.Canceled) {
		t.Fatalf("error %v", err)
	}
	left, err := os.ReadDir(dir)
	if err != nil || len(left) != 0 {
		t.Errorf("left behind: %v %v", left, err)
	}
}

func TestWriteRefusesAFolderThatHoldsFills(t *testing.T) {
	dir := t.TempDir()
	own := filepath.Join(dir, "orderFilled.csv")
	if err := os.WriteFile(own, []byte("somebody's\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	if _, err := Write(context.Background(), Config{Fills: 10}, dir, nil); !errors.Is(err, ErrOccupied) {
		t.Errorf("error %v", err)
	}
	if b, err := os.ReadFile(own); err != nil || string(b) != "somebody's\n" {
		t.Errorf("the file was touched: %q %v", b, err)
	}
}

type brokenPipe struct{ after int }

func (b *brokenPipe) Write(p []byte) (int, error) {
	if b.after -= len(p); b.after < 0 {
		return 0, io.ErrClosedPipe
	}
	return len(p), nil
}

func TestStreamStopsWhenItsReaderDoes(t *testing.T) {
	_, err := Stream(context.Background(), Config{Fills: 5000}, &brokenPipe{after: 300_000}, io.Discard, nil)
	if !errors.Is(err, io.ErrClosedPipe) {
		t.Errorf("error %v", err)
	}
	_, err = Stream(context.Background(), Config{Fills: 5000}, io.Discard, &brokenPipe{after: 300_000}, nil)
	if !errors.Is(err, io.ErrClosedPipe) {
		t.Errorf("error %v", err)
	}
}

func TestConfigOutOfRangeIsRefused(t *testing.T) {
	end := time.Date(2026, 11, 20, 0, 0, 0, 0, time.UTC)
	for name, cfg := range map[string]Config{
		"one fill":    {Fills: 1},
		"negative":    {Fills: -5},
		"half hour":   {Fills: 10, End: end.Add(30 * time.Minute)},
		"far future":  {Fills: 10, End: end.AddDate(80, 0, 0)},
		"one day":     {Fills: 10, Days: 1},
		"small parts": {Fills: 10, FileRows: 3},
	} {
		if _, err := Stream(context.Background(), cfg, io.Discard, io.Discard, nil); !errors.Is(err, ErrConfig) {
			t.Errorf("%s: error %v", name, err)
		}
	}
}

func TestZeroConfigIsTheBundledVenue(t *testing.T) {
	cfg, err := Config{}.withDefaults()
	if err != nil || cfg.Fills != 200_000 || cfg.Days != 120 || cfg.End.Format(time.DateOnly) != "2026-11-20" {
		t.Errorf("%+v %v", cfg, err)
	}
}

func BenchmarkFills(b *testing.B) {
	const fills = 200_000
	var m Manifest
	var err error
	for b.Loop() {
		if m, err = Stream(context.Background(), Config{Fills: fills}, bufio.NewWriter(io.Discard), io.Discard, nil); err != nil {
			b.Fatal(err)
		}
	}
	b.SetBytes(m.FillFiles[0].Bytes)
	b.ReportMetric(float64(fills)*float64(b.N)/b.Elapsed().Seconds(), "fills/s")
}

// TestTheWeatherIsTheSameEveryTime also checks the names and numbers in the manifest.
func TestTheWeatherIsTheSameEveryTime(t *testing.T) {
	var digests [2]string
	for i := range digests {
		dir := t.TempDir()
		m, err := Write(context.Background(), Config{Fills: 1000, Seed: 7}, dir, nil)
		if err != nil {
			t.Fatal(err)
		}
		for _, f := range m.WeatherFiles {
			b, err := os.ReadFile(filepath.Join(dir, f.Name))
			if err != nil || digest(b) != f.SHA256 || int64(len(b)) != f.Bytes || f.Rows == 0 {
				t.Errorf("%s is not as in its manifest: %v, %+v", f.Name, err, f)
			}
			digests[i] += f.Name + f.SHA256
		}
	}
	if digests[0] != digests[1] {
		t.Error("two runs differ")
	}
}

// A caller that removes each file of fills when it is complete gets the same bytes, in order, and
// its error ends the writing.
func TestFilesOfFillsMayBeTakenAsTheyAreWritten(t *testing.T) {
	cfg, dir := Config{Fills: 1000, Seed: 1, FileRows: 300}, t.TempDir()
	want, err := Write(t.Context(), cfg, t.TempDir(), nil)
	if err != nil {
		t.Fatal(err)
	}
	var sums []string
	got, err := WriteEach(t.Context(), cfg, dir, nil, func(path string) error {
		b, err := os.ReadFile(path)
		sums = append(sums, digest(b))
		return errors.Join(err, os.Remove(path))
	})
	if err != nil {
		t.Fatal(err)
	}
	for i, f := range want.FillFiles {
		if i >= len(sums) || sums[i] != f.SHA256 || got.FillFiles[i] != f {
			t.Errorf("file %d: %v, want %v", i, got.FillFiles, f)
		}
	}
	if left, err := filepath.Glob(filepath.Join(dir, "orderFilled*")); err != nil || len(left) > 0 || len(sums) != len(want.FillFiles) {
		t.Errorf("%v are left (%v) of %d files, want none of %d", left, err, len(sums), len(want.FillFiles))
	}
	full := errors.New("full")
	empty := t.TempDir()
	if _, err := WriteEach(t.Context(), cfg, empty, nil, func(string) error { return full }); !errors.Is(err, full) {
		t.Errorf("error %v", err)
	}
	if left, err := os.ReadDir(empty); err != nil || len(left) > 0 {
		t.Errorf("%d files are left after an error (%v)", len(left), err)
	}
}
