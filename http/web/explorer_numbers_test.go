package web_test

import (
	"encoding/json"
	"fmt"
	"math/big"
	"regexp"
	"strings"
	"testing"
)

// term is one term of a number's source.
var term = regexp.MustCompile(`([-+]?) ?(/\S+)`)

// compareNumbers compares every number that a page shows with the API.
func compareNumbers(t *testing.T, v venue, path string, r reading, seen map[string]any) {
	t.Helper()
	if len(r.Numbers) == 0 && path != "/docs/style" {
		t.Errorf("%s shows no number", path)
	}
	for _, wrong := range wrongNumbers(t, v, r, seen) {
		t.Errorf("%s shows %s", path, wrong)
	}
	for _, bare := range r.Bare {
		t.Errorf("%s: %q does not say where its number is from", path, bare)
	}
}

// wrongNumbers returns the numbers that differ from the API; seen caches its responses.
func wrongNumbers(t *testing.T, v venue, r reading, seen map[string]any) (wrong []string) {
	t.Helper()
	say := func(format string, args ...any) { wrong = append(wrong, fmt.Sprintf(format, args...)) }
	for _, n := range r.Numbers {
		want := new(big.Rat)
		terms := term.FindAllStringSubmatch(n.Src, -1)
		for _, m := range terms {
			address, pointer, _ := strings.Cut(m[2], "#")
			if seen[address] == nil {
				seen[address] = v.get(t, address)
			}
			number, ok := at(seen[address], pointer).(json.Number)
			if !ok {
				say("%s of %s, which is no number", n.V, m[2])
				continue
			}
			if len(terms) == 1 && number.String() != n.V {
				say("%s, %s has %s", n.V, m[2], number)
			}
			x, _ := new(big.Rat).SetString(number.String())
			if m[1] == "-" {
				x.Neg(x)
			}
			want.Add(want, x)
		}
		if got, ok := new(big.Rat).SetString(n.V); len(terms) > 0 && (!ok || got.Cmp(want) != 0) {
			say("%s, %s gives %s", n.V, n.Src, want.FloatString(6))
		}
		if !shows(n.Text, n.V) {
			say("%q for %s", n.Text, n.V)
		}
	}
	return wrong
}

const statusPath = "/status"

// The status changes every second: it is enough if what was shown is the API's in one of several
// visits. What the server writes itself, such as a lag in words, has another test.
func theStatus(t *testing.T, b *tab, v venue) {
	b.look(t, 1440, "light")
	var wrong []string
	for range 10 {
		b.visit(t, statusPath)
		r := b.unfold(t, statusPath)
		if len(r.Numbers) < 10 {
			t.Fatalf("%d numbers: %+v", len(r.Numbers), r)
		}
		if wrong = wrongNumbers(t, v, r, map[string]any{}); len(wrong) == 0 {
			break
		}
	}
	for _, w := range wrong {
		t.Errorf("%s shows %s", statusPath, w)
	}
	for _, bad := range b.errors() {
		t.Error(bad)
	}
}

// shows reports whether a text is the number, rounded to the decimals that the text has.
func shows(text, exact string) bool {
	want, ok := new(big.Rat).SetString(exact)
	if !ok {
		return false
	}
	scale := big.NewRat(1, 1)
	text = strings.NewReplacer("−", "-", "+", "", ",", "", " ", "", " ", "").Replace(text)
	for unit, by := range map[string]*big.Rat{"¢": big.NewRat(1, 100), "%": big.NewRat(1, 100), "×": big.NewRat(1, 1), "K": big.NewRat(1e3, 1), "M": big.NewRat(1e6, 1), "B": big.NewRat(1e9, 1)} {
		if cut, found := strings.CutSuffix(text, unit); found {
			text, scale = cut, by
			break
		}
	}
	got, ok := new(big.Rat).SetString(text)
	if !ok {
		return false
	}
	_, places, _ := strings.Cut(text, ".")
	half := big.NewRat(1, 2)
	for range places {
		half.Quo(half, big.NewRat(10, 1))
	}
	// A share may be shown as a fraction or a percentage: either is correct.
	for _, by := range []*big.Rat{scale, big.NewRat(1, 1), big.NewRat(1, 100)} {
		d := new(big.Rat).Sub(new(big.Rat).Mul(got, by), want)
		if d.Abs(d).Cmp(new(big.Rat).Mul(half, by)) <= 0 {
			return true
		}
	}
	return false
}
