package api

import (
	"bytes"
	"fmt"
	"iter"
	"math"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/gofiber/fiber/v2"
	"github.com/gofiber/fiber/v2/utils"

	"pmx/data"
)

// Kind is the type of a parameter's value.
type Kind uint8

// The kinds of parameters.
const (
	Integer      Kind = iota // Min to Max
	Decimal                  // Min to Max millionths, at most 6 decimals
	Choice                   // one of Choices
	Text                     // Min to Max characters, no control characters
	WalletArg                // 0x + 40 hex digits in any letter case
	ConditionArg             // 0x + 64 hex digits in any letter case, or 62, to which 00 is appended
	Moment                   // RFC 3339 time, or YYYY-MM-DD for its midnight, UTC; µs
	CursorArg                // a value of next_cursor
	DayArg                   // YYYY-MM-DD; a data.Date
)

// Param is one parameter of a route, and the handle by which its value is read: see Call.value. A
// parameter in the path is always there; one in the query, or in a header, may be left out, and
// then Default applies.
type Param struct {
	Name     string
	InPath   bool
	InHeader bool // Name is that of a request header
	Kind     Kind
	Doc      string
	Default  string
	Choices  []string // of a Choice
	Min, Max int64    // of an Integer, a Decimal in millionths, the length of a Text
	Pattern  string   // pattern of a Text in the OpenAPI document; "": no control characters
	Many     int      // how many values a query parameter may have; 0 and 1: one. Those of a Choice may be separated by commas
	Required bool     // a query parameter that must be given

	place int // in Params of every route that lists it: see prepareRoutes
}

// value is the value of a parameter in one call.
type value struct {
	n     int64     // Integer, Decimal in millionths, index of a Choice, Moment in unix µs, DayArg as a data.Date
	hash  data.Hash // ConditionArg; a WalletArg in its first 20 bytes
	text  string    // Text and CursorArg; a copy
	given bool
	more  []value // those after the first, if Many allows
}

// wallet is the value of a WalletArg.
func (v *value) wallet() data.Address { return data.Address(v.hash[:20]) }

// value is the value of p in this call. The route must list p, otherwise it panics, so it can never
// return the value of another parameter.
func (call *Call) value(p *Param) *value {
	if call.route.Params[p.place] != p {
		panic("route " + call.route.Path + " does not list parameter " + p.Name)
	}
	return &call.values[p.place]
}

// number is the value of an Integer.
func (call *Call) number(p *Param) int { return int(call.value(p).n) }

// all are the values of a parameter that may be repeated; none if it is not given.
func (call *Call) all(p *Param) iter.Seq[*value] {
	return func(yield func(*value) bool) {
		v := call.value(p)
		more := v.given && yield(v)
		for i := 0; more && i < len(v.more); i++ {
			more = yield(&v.more[i])
		}
	}
}

// texts lists the values of a Text that may be repeated; nil if it is not given.
func (call *Call) texts(p *Param) (list []string) {
	for v := range call.all(p) {
		list = append(list, v.text)
	}
	return list
}

// choices lists the values of a Choice that may be repeated; nil if it is not given.
func (call *Call) choices(p *Param) (list []string) {
	for v := range call.all(p) {
		list = append(list, p.Choices[v.n])
	}
	return list
}

// givesNoneBut reports whether call has no parameters, or only p.
func (call *Call) givesNoneBut(p *Param) bool {
	for i, other := range call.route.Params {
		if other != p && call.values[i].given {
			return false
		}
	}
	return true
}

// maxParams is the maximum number of parameters of a route.
const maxParams = 48

// parse parses text as a value of p. The text is not kept.
func (p *Param) parse(text string) (value, *problem) {
	v := value{given: true}
	switch p.Kind {
	case Integer:
		n, ok := parseInteger(text)
		if !ok || n < p.Min || n > p.Max {
			return v, invalid(p.Name, fmt.Sprintf("%s must be a whole number from %d to %d.", p.Name, p.Min, p.Max))
		}
		v.n = n
	case Decimal:
		n, ok := parseDecimal(text)
		if !ok || int64(n) < p.Min || int64(n) > p.Max {
			return v, invalid(p.Name, fmt.Sprintf("%s must be a number from %s to %s with at most 6 decimals and no exponent, such as 0.25.",
				p.Name, data.Micro(p.Min), data.Micro(p.Max)))
		}
		v.n = int64(n)
	case Choice:
		if v.n = int64(slices.Index(p.Choices, text)); v.n < 0 {
			return v, invalid(p.Name, fmt.Sprintf("%s must be one of %s.", p.Name, strings.Join(p.Choices, ", ")))
		}
	case WalletArg:
		wallet, err := parseWallet(text)
		if err != nil {
			return v, invalid(p.Name, p.Name+" must be 0x and 40 hexadecimal digits.")
		}
		copy(v.hash[:], wallet[:])
	default:
		return p.parseText(text)
	}
	return v, nil
}

// parseText parses the kinds whose value is a longer text.
func (p *Param) parseText(text string) (value, *problem) {
	v := value{given: true}
	switch p.Kind {
	case Text:
		n := int64(utf8.RuneCountInString(text))
		if n < p.Min || n > p.Max || !utf8.ValidString(text) || strings.ContainsFunc(text, unicode.IsControl) {
			return v, invalid(p.Name, fmt.Sprintf("%s must be %d to %d characters of text.", p.Name, p.Min, p.Max))
		}
		v.text = strings.Clone(text)
	case ConditionArg:
		hash, err := parseCondition(text)
		if err != nil {
			return v, invalid(p.Name, p.Name+" must be 0x and 64 hexadecimal digits, or 62 if the last two are 00.")
		}
		v.hash = hash
	case Moment:
		at, ok := parseMoment(text)
		if !ok {
			return v, invalid(p.Name, p.Name+" must be a UTC time such as 2026-03-14T15:09:26Z, or a day such as 2026-03-14.")
		}
		v.n = at
	case DayArg:
		day, err := data.ParseDate(text)
		if err != nil || day < firstDay || day > lastDay {
			return v, invalid(p.Name, p.Name+" must be a calendar day such as 2026-03-14.")
		}
		v.n = int64(day)
	case CursorArg:
		if text == "" || len(text) > MaxCursor {
			return v, badCursor()
		}
		v.text = strings.Clone(text)
	}
	return v, nil
}

// The days that may be requested.
var firstDay, lastDay = data.DateFrom(1763, time.January, 1), data.DateFrom(2199, time.December, 31)

// parseMoment returns the unix µs of an RFC 3339 time, or of the midnight at which a UTC day
// begins.
func parseMoment(s string) (int64, bool) {
	for _, layout := range []string{time.RFC3339, time.DateOnly} {
		if at, err := time.Parse(layout, s); err == nil && at.Year() >= 1970 && at.Year() < 2200 {
			return at.UnixMicro(), true
		}
	}
	return 0, false
}

func parseCondition(s string) (data.Hash, error) {
	if len(s) < 2 || s[0] != '0' || s[1]|0x20 != 'x' {
		return data.Hash{}, data.ErrHex
	}
	return data.ParseCondition(s)
}

// parseInteger parses plain digits: no sign except a minus, no blanks, no exponent.
func parseInteger(s string) (int64, bool) {
	if s == "" || s[0] == '+' || len(s) > 19 {
		return 0, false
	}
	n, err := strconv.ParseInt(s, 10, 64)
	return n, err == nil && n != math.MinInt64
}

// parseDecimal parses plain digits with at most six decimals after a point: a value that would have
// to be rounded is an error.
func parseDecimal(s string) (data.Micro, bool) {
	whole, frac, point := strings.Cut(strings.TrimPrefix(s, "-"), ".")
	if whole == "" || point && frac == "" || len(frac) > 6 || strings.Trim(whole+frac, "0123456789") != "" {
		return 0, false
	}
	n, err := strconv.ParseInt(whole+frac+"000000"[len(frac):], 10, 64)
	if s[0] == '-' {
		n = -n
	}
	return data.Micro(n), err == nil
}

func parseWallet(s string) (data.Address, error) {
	if len(s) != 42 || s[0] != '0' || s[1]|0x20 != 'x' {
		return data.Address{}, data.ErrHex
	}
	return data.ParseAddress(s)
}

// readParams fills call with the parameters of its route, or returns a problem that names the
// invalid one.
func (r *Route) readParams(c *fiber.Ctx, call *Call) *problem {
	copy(call.values[:len(r.Params)], r.defaults)
	for i, p := range r.Params {
		text, given := p.pathOrHeader(c)
		if !given {
			continue
		}
		v, bad := p.parse(text)
		if bad != nil {
			return bad
		}
		call.values[i] = v
	}
	query := c.Context().QueryArgs()
	var bad *problem
	if query.Len() > 0 {
		for name, text := range query.All() {
			if bad = r.readQuery(call, name, text); bad != nil {
				break
			}
		}
	}
	for i, p := range r.Params {
		if bad == nil && p.Required && !call.values[i].given {
			bad = invalid(p.Name, "Give "+p.Name+": "+p.Doc+".")
		}
	}
	return bad
}

// pathOrHeader returns the text of a parameter in the path or in a header; false for one in the
// query, and for a header that was not sent.
func (p *Param) pathOrHeader(c *fiber.Ctx) (text string, given bool) {
	switch {
	case p.InPath:
		text = c.Params(p.Name)
		if plain, err := url.PathUnescape(text); err == nil {
			text = plain
		}
		return text, true
	case p.InHeader:
		all := c.Request().Header.PeekAll(p.Name)
		return string(joinLines(all)), len(all) > 0
	}
	return "", false
}

// joinLines joins a header that was sent on several lines.
func joinLines(lines [][]byte) []byte { return bytes.Join(lines, []byte(", ")) }

func (r *Route) readQuery(call *Call, name, text []byte) *problem {
	for i, p := range r.Params {
		if p.InPath || p.InHeader || p.Name != string(name) {
			continue
		}
		all := utils.UnsafeString(text) // parse keeps nothing of it
		if p.Kind != Choice || p.Many <= 1 {
			return call.add(i, all)
		}
		for one := range strings.SplitSeq(all, ",") {
			if bad := call.add(i, one); bad != nil {
				return bad
			}
		}
		return nil
	}
	return &problem{status: fiber.StatusBadRequest, code: "unknown_parameter", param: string(name), detail: r.knownQuery}
}

// add adds a value of the query parameter at a place of the route's list.
func (call *Call) add(place int, text string) *problem {
	p, first := call.route.Params[place], &call.values[place]
	if first.given && len(first.more)+1 >= max(p.Many, 1) {
		return tooManyValues(p)
	}
	v, bad := p.parse(text)
	if first.given {
		first.more = append(first.more, v)
	} else {
		*first = v
	}
	return bad
}

func tooManyValues(p *Param) *problem {
	switch {
	case p.Many <= 1:
		return invalid(p.Name, "Give "+p.Name+" once.")
	case p.Kind == Choice:
		return invalid(p.Name, fmt.Sprintf("%s may have at most %d values.", p.Name, p.Many))
	}
	return invalid(p.Name, fmt.Sprintf("%s may be given at most %d times.", p.Name, p.Many))
}

// describeQuery is the advice for an unknown query parameter.
func describeQuery(params []*Param) string {
	var names []string
	for _, p := range params {
		if !p.InPath && !p.InHeader {
			names = append(names, p.Name)
		}
	}
	if len(names) == 0 {
		return "This endpoint takes no query parameters."
	}
	return "Known parameters: " + strings.Join(names, ", ") + "."
}
