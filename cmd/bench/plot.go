package main

import (
	"bytes"
	"fmt"
	"html"
	"math"
	"slices"
)

// The plot: a panel for each figure, both axes logarithmic, a line for each day and note.
const (
	panelWidth, panelHeight = 300, 230
	panelsInRow             = 3
	marginLeft, marginTop   = 62, 30
	marginRight, marginLow  = 20, 26
	legendLine              = 18
)

var lineColours = []string{"#0072b2", "#d55e00", "#009e73", "#cc79a7", "#56b4e9", "#e69f00", "#000000"}

// decades is a logarithmic axis between two powers of ten.
type decades struct {
	low, high int
	from, to  float64 // positions of its ends
}

// newDecades makes an axis that contains all values and is at least one decade long.
func newDecades(values []float64, from, to float64) decades {
	d := decades{from: from, to: to, low: int(math.Floor(math.Log10(slices.Min(values)))), high: int(math.Ceil(math.Log10(slices.Max(values))))}
	d.high = max(d.high, d.low+1)
	return d
}

func (d decades) at(v float64) float64 {
	return d.from + (math.Log10(v)-float64(d.low))/float64(d.high-d.low)*(d.to-d.from)
}

// series are the runs of one day and note, by size.
type series struct {
	name, colour string
	runs         []measuredRun
}

func seriesOf(runs []measuredRun) (all []series) {
	for _, r := range runs {
		name := r.On + ", " + r.Note
		if n := len(all); n == 0 || all[n-1].name != name {
			all = append(all, series{name: name, colour: lineColours[n%len(lineColours)]})
		}
		s := &all[len(all)-1]
		s.runs = append(s.runs, r)
	}
	return all
}

// drawRuns draws runs, in their order, as SVG.
func drawRuns(runs []measuredRun) []byte {
	var b bytes.Buffer
	all := seriesOf(runs)
	shown := slices.DeleteFunc(slices.Clone(plotted), func(f figure) bool {
		return !slices.ContainsFunc(runs, func(r measuredRun) bool { return len(r.Figures[f.name]) > 0 })
	})
	rows := (len(shown) + panelsInRow - 1) / panelsInRow
	width, height := panelsInRow*panelWidth, rows*panelHeight+(len(all)+1)*legendLine
	fmt.Fprintf(&b, `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 %d %d" width="%d" height="%d" font-family="sans-serif" font-size="11">`+"\n", width, height, width, height)
	fmt.Fprintf(&b, `<rect width="%d" height="%d" fill="#fff"/>`+"\n", width, height)
	for i := range shown {
		fmt.Fprintf(&b, `<g transform="translate(%d %d)">`+"\n", i%panelsInRow*panelWidth, i/panelsInRow*panelHeight)
		drawPanel(&b, &shown[i], runs, all)
		b.WriteString("</g>\n")
	}
	for i, s := range all {
		y := rows*panelHeight + (i+1)*legendLine
		fmt.Fprintf(&b, `<circle cx="%d" cy="%d" r="4" fill="%s"/><text x="%d" y="%d">%s</text>`+"\n", marginLeft, y-4, s.colour, marginLeft+12, y, html.EscapeString(s.name))
	}
	b.WriteString("</svg>\n")
	return b.Bytes()
}

// drawPanel draws a figure that some of the runs have.
func drawPanel(b *bytes.Buffer, f *figure, runs []measuredRun, all []series) {
	values, sizes := []float64{f.goal}, []float64{1e6, 1e9}
	for _, r := range runs {
		values, sizes = append(values, r.Figures[f.name]...), append(sizes, float64(r.Fills))
	}
	x := newDecades(sizes, marginLeft, panelWidth-marginRight)
	y := newDecades(values, panelHeight-marginLow, marginTop)
	fmt.Fprintf(b, `<text x="%d" y="16" font-weight="bold">%s</text>`+"\n", 8, html.EscapeString(f.title))
	for p := x.low; p <= x.high; p++ {
		at := x.at(math.Pow10(p))
		fmt.Fprintf(b, `<path d="M%.1f %.1fV%.1f" stroke="#ddd"/><text x="%.1f" y="%d" text-anchor="middle" fill="#555">%s</text>`+"\n",
			at, y.from, y.to, at, panelHeight-marginLow+14, count(int64(math.Pow10(p))))
	}
	for p := y.low; p <= y.high; p++ {
		at := y.at(math.Pow10(p))
		fmt.Fprintf(b, `<path d="M%.1f %.1fH%.1f" stroke="#ddd"/><text x="%d" y="%.1f" text-anchor="end" fill="#555">%g %s</text>`+"\n",
			x.from, at, x.to, marginLeft-4, at+4, math.Pow10(p), f.unit)
	}
	goal := y.at(f.goal)
	fmt.Fprintf(b, `<path d="M%.1f %.1fH%.1f" stroke="#888" stroke-dasharray="4 3"/><text x="%.1f" y="%.1f" text-anchor="end" fill="#555">goal %g %s</text>`+"\n",
		x.from, goal, x.to, x.to-2, goal-3, f.goal, f.unit)
	for _, s := range all {
		path, move := "", "M"
		for _, r := range s.runs {
			for _, v := range r.Figures[f.name] {
				fmt.Fprintf(b, `<circle cx="%.1f" cy="%.1f" r="3" fill="%s"><title>%s: %g %s at %s fills</title></circle>`+"\n",
					x.at(float64(r.Fills)), y.at(v), s.colour, html.EscapeString(s.name), v, f.unit, count(r.Fills))
			}
			if middle := r.Figures[f.name]; len(middle) > 0 {
				path += fmt.Sprintf("%s%.1f %.1f", move, x.at(float64(r.Fills)), y.at(mean(middle)))
				move = "L"
			}
		}
		if path != "" {
			fmt.Fprintf(b, `<path d="%s" fill="none" stroke="%s"/>`+"\n", path, s.colour)
		}
	}
}

func mean(values []float64) float64 {
	sum := 0.0
	for _, v := range values {
		sum += v
	}
	return sum / float64(len(values))
}
