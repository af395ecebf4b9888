package main

import (
	"io"
	"os"

	"github.com/rivo/uniseg"
	"golang.org/x/term"
)

// usualColumns is the width of a terminal that does not tell its own.
const usualColumns = 80

// columnsOf returns how many columns the terminal w has.
func columnsOf(w io.Writer) int {
	if f, ok := w.(*os.File); ok {
		if n, _, err := term.GetSize(int(f.Fd())); err == nil && n > 0 {
			return n
		}
	}
	return usualColumns
}

// Columns that the progress bar needs besides its text: the share, the times, and a short bar; and
// without a share, the sign that turns and the time.
const (
	besideBar  = 40
	besideSign = 18
	leastText  = 16
)

// fitted returns a label and a note about it, shortened to what fits on a line of the terminal
// beside the bar. A line that is longer would not be overwritten by the next one.
func fitted(label, note string, columns int, share float64) string {
	room := columns - besideBar
	if share < 0 {
		room = columns - besideSign
	}
	room = max(room, min(leastText, columns-besideSign))
	if note == "" {
		return shortened(label, room)
	}
	label = shortened(label, max(room-uniseg.StringWidth(note)-1, leastText))
	return shortened(label+" "+note, room)
}

// shortened returns text with at most the given width. One sign replaces what is left out before
// its last third, so that a file's name keeps its extension.
func shortened(text string, width int) string {
	if uniseg.StringWidth(text) <= width {
		return text
	}
	var signs []string // what is seen as one
	for g := uniseg.NewGraphemes(text); g.Next(); {
		signs = append(signs, g.Str())
	}
	end, last := len(signs), ""
	for end > 0 && uniseg.StringWidth(signs[end-1]+last) <= (width-1)/3 {
		end--
		last = signs[end] + last
	}
	first := ""
	for _, sign := range signs[:end] {
		if uniseg.StringWidth(first+sign+last)+1 > width {
			break
		}
		first += sign
	}
	return first + "…" + last
}
