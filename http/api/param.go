package api

import (
	"fmt"
	"math"
	"strconv"
	"strings"

	"github.com/gofiber/fiber/v2"
	"github.com/gofiber/fiber/v2/utils"

	"pmx/data"
)

// Kind is the type of a parameter's value.
type Kind uint8

// The kinds of parameters.
const (
	Integer   Kind = iota // Min to Max
	Choice                // one of Choices
	WalletArg             // 0x + 40 hex digits in any letter case
)

// Param is one parameter of a route. A parameter in the path is always there;
// one in the query may be left out, and then Default holds.
type Param struct {
	Name     string
	InPath   bool
	Kind     Kind
	Doc      string
	Default  string
	Choices  []string // of a Choice
	Min, Max int64    // of an Integer
}

// value is what a parameter holds in one call.
type value struct {
	n      int64 // an Integer, or the index of a Choice
	wallet data.Address
	given  bool
}

// maxParams is how many parameters a route has at most.
const maxParams = 12

// parse reads text as p. The text is not kept.
func (p *Param) parse(text string) (value, *problem) {
	v := value{given: true}
	switch p.Kind {
	case Integer:
		n, ok := parseInteger(text)
		if !ok || n < p.Min || n > p.Max {
			return v, invalid(p.Name, fmt.Sprintf("%s must be a whole number from %d to %d.", p.Name, p.Min, p.Max))
		}
		v.n = n
	case Choice:
		v.n = -1
		for i, choice := range p.Choices {
			if choice == text {
				v.n = int64(i)
			}
		}
		if v.n < 0 {
			return v, invalid(p.Name, fmt.Sprintf("%s must be one of %s.", p.Name, strings.Join(p.Choices, ", ")))
		}
	case WalletArg:
		wallet, err := parseWallet(text)
		if err != nil {
			return v, invalid(p.Name, p.Name+" must be 0x and 40 hexadecimal digits.")
		}
		v.wallet = wallet
	}
	return v, nil
}

// parseInteger reads plain digits: no sign but a minus, no blanks, no exponent.
func parseInteger(s string) (int64, bool) {
	if s == "" || s[0] == '+' || len(s) > 19 {
		return 0, false
	}
	n, err := strconv.ParseInt(s, 10, 64)
	return n, err == nil && n != math.MinInt64
}

func parseWallet(s string) (data.Address, error) {
	if len(s) != 42 || s[0] != '0' || s[1]|0x20 != 'x' {
		return data.Address{}, data.ErrHex
	}
	return data.ParseAddress(s)
}

// readParams fills call with the parameters of its route, or tells which one is
// at fault.
func (r *Route) readParams(c *fiber.Ctx, call *Call) *problem {
	copy(call.values[:len(r.Params)], r.defaults[:])
	for i := range r.Params {
		p := &r.Params[i]
		if !p.InPath {
			continue
		}
		v, bad := p.parse(c.Params(p.Name))
		if bad != nil {
			return bad
		}
		call.values[i] = v
	}
	query := c.Context().QueryArgs()
	if query.Len() == 0 {
		return nil
	}
	var bad *problem
	query.VisitAll(func(name, text []byte) {
		if bad == nil {
			bad = r.readQuery(call, name, text)
		}
	})
	return bad
}

func (r *Route) readQuery(call *Call, name, text []byte) *problem {
	for i := range r.Params {
		p := &r.Params[i]
		if p.InPath || p.Name != string(name) {
			continue
		}
		if call.values[i].given {
			return invalid(p.Name, "Give "+p.Name+" once.")
		}
		v, bad := p.parse(utils.UnsafeString(text)) // parse keeps nothing of it
		call.values[i] = v
		return bad
	}
	return &problem{status: fiber.StatusBadRequest, code: "unknown_parameter", param: string(name), detail: r.knownQuery}
}

// describeQuery is the advice for an unknown query parameter.
func describeQuery(params []Param) string {
	var names []string
	for _, p := range params {
		if !p.InPath {
			names = append(names, p.Name)
		}
	}
	if len(names) == 0 {
		return "This endpoint takes no query parameters."
	}
	return "Known parameters: " + strings.Join(names, ", ") + "."
}
