package data

import "strings"

// LineMark begins a cell of CSV whose line ends are escaped.
const LineMark = `'\`

// Line ends and backslashes, and their escapes.
var (
	lineEscapes   = strings.NewReplacer(`\`, `\b`, "\n", `\n`, "\r", `\r`)
	lineUnescapes = strings.NewReplacer(`\b`, `\`, `\n`, "\n", `\r`, "\r")
)

// EscapeCell returns a cell of CSV that is on one line, and that a spreadsheet takes for text. A
// text with a line end gets LineMark in front, and \n, \r and \b for its line feeds, carriage
// returns and backslashes; so does one that begins with LineMark itself. All others are treated by
// EscapeFormula.
func EscapeCell(text string) string {
	if strings.ContainsAny(text, "\r\n") || strings.HasPrefix(text, LineMark) {
		return LineMark + lineEscapes.Replace(text)
	}
	return EscapeFormula(text)
}

// UnescapeCell undoes EscapeCell, or EscapeFormula.
func UnescapeCell(cell string) string {
	if text, ok := strings.CutPrefix(cell, LineMark); ok {
		return lineUnescapes.Replace(text)
	}
	return UnescapeFormula(cell)
}
