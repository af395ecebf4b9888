package weather

import (
	"fmt"
	"regexp"
	"strconv"
	"strings"

	"pmx/data"
)

// Bracket is one outcome of an event's ladder in whole degrees, inclusive of both bounds. An
// open-ended bracket has one bound.
type Bracket struct {
	Lo, Hi   int // the bound of an open side is 0
	OpenLow  bool
	OpenHigh bool
	// Unit is 0 if the label leaves it out: it is the event's.
	Unit data.Unit
}

// Label writes b as Gamma's groupItemTitle does: "53°F or below", "54-55°F",
// "24°C", "32°C or higher".
func (b Bracket) Label() string {
	switch {
	case b.OpenLow:
		return fmt.Sprintf("%d°%s or below", b.Hi, b.Unit)
	case b.OpenHigh:
		return fmt.Sprintf("%d°%s or higher", b.Lo, b.Unit)
	case b.Lo == b.Hi:
		return fmt.Sprintf("%d°%s", b.Lo, b.Unit)
	}
	return fmt.Sprintf("%d-%d°%s", b.Lo, b.Hi, b.Unit)
}

// Holds reports whether a settled value in whole degrees falls into b.
func (b Bracket) Holds(degrees int) bool {
	return (b.OpenLow || degrees >= b.Lo) && (b.OpenHigh || degrees <= b.Hi)
}

// Middle returns the temperature that a closed bracket stands for: halfway between the ends of the
// values that settle in it, so that 28 °C of a source that is truncated to whole degrees is 28.5;
// false for an open-ended bracket, which has none.
func (b Bracket) Middle(r Rounding) (data.Temp, bool) {
	if b.OpenLow || b.OpenHigh || b.Unit == 0 {
		return 0, false
	}
	iv := b.Interval(r)
	return (iv.From + iv.To) / 2, true
}

var (
	rangeForm = regexp.MustCompile(`^(-?\d{1,3})\s*°?\s*([FC])?\s*(?:-|to)\s*(-?\d{1,3})\s*°?\s*([FC])$`)
	exactForm = regexp.MustCompile(`^(-?\d{1,3})\s*°?\s*([FC])$`)
	lowForm   = regexp.MustCompile(`^(-?\d{1,3})\s*°?\s*([FC])?\s*(?:or below|or lower|or less|or under)$`)
	highForm  = regexp.MustCompile(`^(-?\d{1,3})\s*°?\s*([FC])?\s*(?:or higher|or above|or more|or over|\+)$`)
	boundForm = regexp.MustCompile(`^(≤|<=|<|≥|>=|>|below|under|above|over)\s*(-?\d{1,3})\s*°?\s*([FC])?$`)
)

// spelling normalises the signs in labels.
var spelling = strings.NewReplacer("º", "°", "˚", "°", "℉", "°F", "℃", "°C", "\u00A0", " ", "\u202F", " ",
	"‐", "-", "‑", "-", "‒", "-", "–", "-", "—", "-", "―", "-", "−", "-")

// ParseLabel reads a bracket's label ("23°C or below", "98-99°F", "-3--2°C", "≥ 90°F"); false for
// anything else, including a range that runs backwards.
func ParseLabel(label string) (Bracket, bool) {
	s := strings.TrimSpace(spelling.Replace(label))
	s = strings.TrimPrefix(strings.TrimPrefix(s, "between "), "Between ")
	if m := rangeForm.FindStringSubmatch(s); m != nil {
		b := Bracket{Lo: atoi(m[1]), Hi: atoi(m[3]), Unit: unitOf(m[4])}
		return b, b.Lo < b.Hi && (m[2] == "" || m[2] == m[4])
	}
	if m := exactForm.FindStringSubmatch(s); m != nil {
		return Bracket{Lo: atoi(m[1]), Hi: atoi(m[1]), Unit: unitOf(m[2])}, true
	}
	if m := lowForm.FindStringSubmatch(s); m != nil {
		return Bracket{Hi: atoi(m[1]), OpenLow: true, Unit: unitOf(m[2])}, true
	}
	if m := highForm.FindStringSubmatch(s); m != nil {
		return Bracket{Lo: atoi(m[1]), OpenHigh: true, Unit: unitOf(m[2])}, true
	}
	if m := boundForm.FindStringSubmatch(s); m != nil {
		return bounded(m[1], atoi(m[2]), unitOf(m[3])), true
	}
	return Bracket{}, false
}

// bounded returns the open-ended bracket of a sign and a number: "<" and ">" leave the number out.
func bounded(sign string, n int, unit data.Unit) Bracket {
	switch sign {
	case "≤", "<=":
		return Bracket{Hi: n, OpenLow: true, Unit: unit}
	case "<", "below", "under":
		return Bracket{Hi: n - 1, OpenLow: true, Unit: unit}
	case "≥", ">=":
		return Bracket{Lo: n, OpenHigh: true, Unit: unit}
	}
	return Bracket{Lo: n + 1, OpenHigh: true, Unit: unit}
}

func atoi(s string) int {
	n, _ := strconv.Atoi(s) // the forms accept digits only
	return n
}

func unitOf(s string) data.Unit {
	u, _ := data.ParseUnit(s)
	return u
}

// slugBracketForm is what follows the event's slug in a market's slug: "22corbelow", "74-75f",
// "neg-3c", "neg-5-neg-4f", "neg-4corbelow".
var slugBracketForm = regexp.MustCompile(`^(neg-)?(\d{1,3})(?:-(neg-)?(\d{1,3}))?([fc])(orbelow|orlower|orhigher|orabove)?$`)

// ParseSlugBracket parses the bracket at the end of a market's slug, given the slug of its event.
func ParseSlugBracket(market, event string) (Bracket, bool) {
	label, ok := strings.CutPrefix(market, event+"-")
	if !ok {
		return Bracket{}, false
	}
	m := slugBracketForm.FindStringSubmatch(label)
	if m == nil {
		return Bracket{}, false
	}
	lo, unit := signed(m[1], m[2]), unitOf(m[5])
	switch m[6] {
	case "orbelow", "orlower":
		return Bracket{Hi: lo, OpenLow: true, Unit: unit}, m[4] == ""
	case "orhigher", "orabove":
		return Bracket{Lo: lo, OpenHigh: true, Unit: unit}, m[4] == ""
	}
	if m[4] == "" {
		return Bracket{Lo: lo, Hi: lo, Unit: unit}, true
	}
	b := Bracket{Lo: lo, Hi: signed(m[3], m[4]), Unit: unit}
	return b, b.Lo < b.Hi
}

func signed(minus, digits string) int {
	if minus != "" {
		return -atoi(digits)
	}
	return atoi(digits)
}

// questionForm is a bracket's question: "Will the highest temperature in Munich be
// between 24-25°C on July 3?".
var questionForm = regexp.MustCompile(`(?i)^\s*will the (highest|lowest) temperature in (.+?) be (.+?) on ([a-z]+)\.? (\d{1,2})(?:st|nd|rd|th)?(?:,? (\d{4}))?\s*\?\s*$`)

// ParseQuestion parses a bracket's question: what its event's title would say, and the bracket.
func ParseQuestion(s string) (Title, Bracket, bool) {
	m := questionForm.FindStringSubmatch(s)
	if m == nil {
		return Title{}, Bracket{}, false
	}
	b, ok := ParseLabel(m[3])
	if !ok {
		return Title{}, Bracket{}, false
	}
	t, ok := finish(Title{Metric: metricOf(m[1]), Place: m[2]}, m[4], m[5], m[6])
	return t, b, ok
}
