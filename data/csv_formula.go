package data

import "strings"

// FormulaStarts are the characters that make a spreadsheet run the cell that begins
// with them, full-width forms and the ends of a cell's first line among them.
// https://owasp.org/www-community/attacks/CSV_Injection
const FormulaStarts = "=+-@\t\r\n＝＋－＠"

// EscapeFormula returns a cell of CSV that a spreadsheet takes for text: one that it would run gets
// an apostrophe in front. So does one that has apostrophes there already, so that UnescapeFormula
// gives every text back.
func EscapeFormula(cell string) string {
	if isFormula(strings.TrimLeft(cell, "'")) {
		return "'" + cell
	}
	return cell
}

// UnescapeFormula returns the text of which EscapeFormula made the cell.
func UnescapeFormula(cell string) string {
	if text, ok := strings.CutPrefix(cell, "'"); ok && isFormula(strings.TrimLeft(text, "'")) {
		return text
	}
	return cell
}

func isFormula(text string) bool {
	for _, r := range text {
		return strings.ContainsRune(FormulaStarts, r)
	}
	return false
}
