package data

import "strings"

// FormulaStarts are the characters that make a spreadsheet run a cell that begins with them,
// including full-width forms and line ends. https://owasp.org/www-community/attacks/CSV_Injection
const FormulaStarts = "=+-@\t\r\n＝＋－＠"

// EscapeFormula returns a cell of CSV that a spreadsheet takes for text: a cell that it would run
// gets a leading apostrophe. So does one that already has leading apostrophes, so that
// UnescapeFormula restores every text.
func EscapeFormula(cell string) string {
	if isFormula(strings.TrimLeft(cell, "'")) {
		return "'" + cell
	}
	return cell
}

// UnescapeFormula undoes EscapeFormula.
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
