package main

import (
	"bytes"
	"encoding/xml"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// TestThePlotIsOfWhatIsKept fails if the plot is out of date: make bench ARGS='--plot' draws it
// from the stored figures.
func TestThePlotIsOfWhatIsKept(t *testing.T) {
	runs, err := readRuns("../../docs/measured.json")
	if err != nil || len(runs) == 0 {
		t.Fatalf("%d runs, %v", len(runs), err)
	}
	drawn, err := os.ReadFile("../../docs/measured.svg")
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(drawn, drawRuns(runs)) {
		t.Error("docs/measured.svg is not drawn from docs/measured.json")
	}
}

// elements returns the attributes and the text of all elements with a name.
func elements(t *testing.T, svg []byte, name string) (attributes []map[string]string, texts []string) {
	t.Helper()
	d := xml.NewDecoder(bytes.NewReader(svg))
	depth := 0
	for {
		token, err := d.Token()
		if errors.Is(err, io.EOF) {
			return attributes, texts
		}
		if err != nil {
			t.Fatalf("%v in %s", err, svg)
		}
		switch e := token.(type) {
		case xml.StartElement:
			if e.Name.Local == name {
				of := map[string]string{}
				for _, a := range e.Attr {
					of[a.Name.Local] = a.Value
				}
				attributes, texts, depth = append(attributes, of), append(texts, ""), depth+1
			}
		case xml.EndElement:
			if e.Name.Local == name {
				depth--
			}
		case xml.CharData:
			if depth > 0 {
				texts[len(texts)-1] += string(e)
			}
		}
	}
}

// There is a dot for each value, one decade to the right for ten times the fills, and a line for
// the goal.
func TestAPlotHasEveryValueInItsPlace(t *testing.T) {
	runs := []measuredRun{
		{"2026-11-22", "a <busy> machine & more", 1_000_000, map[string][]float64{"start_ms": {100}, "commit_ms": {40, 60}}},
		{"2026-11-22", "a <busy> machine & more", 10_000_000, map[string][]float64{"start_ms": {1000}}},
		{"2026-11-23", "quiet", 1_000_000_000, map[string][]float64{"start_ms": {10_000}}},
	}
	svg := drawRuns(runs)
	var got []string
	attributes, titles := elements(t, svg, "circle")
	for i, of := range attributes {
		if title := titles[i]; title != "" {
			got = append(got, title+" "+of["cx"]+" "+of["cy"]+" "+of["fill"])
		}
	}
	want := []string{
		"2026-11-22, a <busy> machine & more: 40 ms at 1M fills 62.0 99.2 #0072b2", // 0.602 of the decade from 10 to 100
		"2026-11-22, a <busy> machine & more: 60 ms at 1M fills 62.0 68.6 #0072b2",
		"2026-11-22, a <busy> machine & more: 100 ms at 1M fills 62.0 204.0 #0072b2",
		"2026-11-22, a <busy> machine & more: 1000 ms at 10M fills 134.7 117.0 #0072b2",
		"2026-11-23, quiet: 10000 ms at 1000M fills 280.0 30.0 #d55e00",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
	_, texts := elements(t, svg, "text")
	all := strings.Join(texts, "\n")
	for text, there := range map[string]bool{"goal 50 ms": true, "goal 80 B": false, "2026-11-22, a <busy> machine & more": true, plotted[2].title: true, plotted[3].title: false} {
		if strings.Contains(all, text) != there {
			t.Errorf("text %q is in the plot: %v", text, !there)
		}
	}
	if paths, _ := elements(t, svg, "path"); strings.Count(string(svg), `fill="none"`) != 3 || len(paths) < 3 {
		t.Errorf("got %d lines, want 3", strings.Count(string(svg), `fill="none"`))
	}
}

// Figures that are measured again on the same day, in the same way, replace the previous ones.
func TestFiguresAreKept(t *testing.T) {
	b := &bench{options: options{Measured: filepath.Join(t.TempDir(), "measured.json"), Note: "quiet"}}
	if err := b.plot(); err == nil {
		t.Error("a plot of nothing was drawn")
	}
	record := func(fills int64, name string, values ...float64) {
		t.Helper()
		b.kept = nil
		b.keep(fills, name, values...)
		if err := b.record(); err != nil {
			t.Fatal(err)
		}
	}
	record(10, "start_ms", 5)
	record(2, "start_ms", 3, 4)
	record(10, "fresh_ms", 7)
	record(10, "start_ms", 6)
	runs, err := readRuns(b.Measured)
	if err != nil || len(runs) != 2 {
		t.Fatalf("runs = %v, err = %v", runs, err)
	}
	want := []map[string][]float64{{"start_ms": {3, 4}}, {"start_ms": {6}, "fresh_ms": {7}}}
	if diff := cmp.Diff(want, []map[string][]float64{runs[0].Figures, runs[1].Figures}); diff != "" || runs[0].Fills != 2 || runs[1].Note != "quiet" {
		t.Errorf("%v -want +got:\n%s", runs, diff)
	}
	if err := b.plot(); err != nil {
		t.Error(err)
	}
	if _, err := os.Stat(strings.TrimSuffix(b.Measured, "json") + "svg"); err != nil {
		t.Error(err)
	}
	for _, bad := range []string{"{", `[{"on":"2026-11-22","note":"","fills":1,"figures":{"start_ms":[0]}}]`, `[{"on":"2026-11-22","note":"","fills":1,"figures":{"unknown":[1]}}]`,
		`[{"on":"2026-11-22","note":"","fills":0,"figures":{"start_ms":[1]}}]`} {
		if err := os.WriteFile(b.Measured, []byte(bad), 0o600); err != nil {
			t.Fatal(err)
		}
		if err := b.record(); err == nil {
			t.Errorf("figures were added to the invalid file %s", bad)
		}
	}
}
