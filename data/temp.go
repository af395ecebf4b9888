package data

import (
	"errors"
	"fmt"
	"math"
	"strconv"
	"strings"
)

// Temp is a temperature in nine-hundredths of a degree Celsius (1/900 °C) above 0 °C. It is the
// coarsest unit in which hundredths of a degree are whole numbers on both scales: 0.01 °C is 9 of
// them and 0.01 °F is 5. So 71 °F, 21.7 °C and the 22.222… °C that an office writes for 72 °F are
// all kept exactly, are compared as integers whatever their scale, and are printed as they were
// given.
type Temp int32

// Unit is a temperature scale.
type Unit byte

// The two scales.
const (
	Celsius    Unit = 'C'
	Fahrenheit Unit = 'F'
)

// Degree is one degree of the scale as a difference: 900 for Celsius, 500 for
// Fahrenheit.
func (u Unit) Degree() Temp {
	if u == Fahrenheit {
		return 500
	}
	return 900
}

// zero is the Temp of 0 degrees of the scale.
func (u Unit) zero() int64 {
	if u == Fahrenheit {
		return -16_000
	}
	return 0
}

// String returns "C" or "F".
func (u Unit) String() string { return string(rune(u)) }

// ParseUnit reads a scale as the sources write it: "C", "°F", "celsius", "wmoUnit:degC"; false for
// anything else, including kelvin.
func ParseUnit(s string) (Unit, bool) {
	s = strings.ToLower(strings.TrimSpace(s))
	s = s[strings.LastIndexByte(s, ':')+1:]
	for _, mark := range []string{"°", "º", "deg"} {
		s = strings.TrimPrefix(s, mark)
	}
	switch s {
	case "c", "celsius", "℃":
		return Celsius, true
	case "f", "fahrenheit", "℉":
		return Fahrenheit, true
	}
	return 0, false
}

// ErrTemp is returned for text that is not a temperature, or not one that was ever measured near
// the ground.
var ErrTemp = errors.New("not a temperature between -100 and 70 °C")

// Bounds of a Temp that ParseTemp accepts.
const (
	minTemp Temp = -100 * 900
	maxTemp Temp = 70 * 900
)

// ParseTemp reads decimal degrees of scale u. Up to two decimals are kept as they
// are; a longer fraction becomes the nearest hundredth of either scale, because
// sources that compute in °F and print °C write 22.2222 for 72 °F.
func ParseTemp(s string, u Unit) (Temp, error) {
	s = strings.TrimSpace(s)
	m, ok := parsePlain(s)
	if !ok {
		f, err := strconv.ParseFloat(s, 64)
		if err != nil || math.IsNaN(f) || math.Abs(f) > 1000 {
			return 0, fmt.Errorf("%q: %w", s, ErrTemp)
		}
		m = Micro(math.Round(f * 1e6))
	}
	t := tempOf(m, u)
	if t < minTemp || t > maxTemp {
		return 0, fmt.Errorf("%q: %w", s, ErrTemp)
	}
	return t, nil
}

// tempOf returns the Temp of micro-degrees of u: exact for hundredths, else the nearest hundredth
// of either scale; of its own scale if both are equally near.
func tempOf(m Micro, u Unit) Temp {
	own := nearest(m, u, u)
	other := Celsius
	if u == Celsius {
		other = Fahrenheit
	}
	if m%10_000 == 0 {
		return own
	}
	if across := nearest(m, u, other); distance(across, m, u) < distance(own, m, u) {
		return across
	}
	return own
}

// nearest returns the Temp of the hundredth of scale to that is nearest to m of u.
func nearest(m Micro, u, to Unit) Temp {
	step := Micro(to.Degree()) / 100 // Temps in a hundredth of to
	scaled := Micro(int64(m)*int64(u.Degree()) + (u.zero()-to.zero())*int64(One))
	return Temp(int64(MulDiv(scaled, 1, One*step))*int64(step) + to.zero())
}

// distance is the difference between t and m of u, in millionths of a Temp.
func distance(t Temp, m Micro, u Unit) int64 {
	d := (int64(t)-u.zero())*int64(One) - int64(m)*int64(u.Degree())
	return max(d, -d)
}

// Degrees returns t of n whole degrees of u.
func Degrees(n int, u Unit) Temp { return Temp(int64(n)*int64(u.Degree()) + u.zero()) }

// Hundredths returns t in hundredths of a degree of u, rounded half away from zero.
func (t Temp) Hundredths(u Unit) int64 { return t.in(u, 100) }

// In returns t in degrees of u, rounded half away from zero to a millionth.
func (t Temp) In(u Unit) Micro { return Micro(t.in(u, int64(One))) }

func (t Temp) in(u Unit, scale int64) int64 {
	return int64(MulDiv(Micro(int64(t)-u.zero()), Micro(scale), Micro(u.Degree())))
}

// Difference returns t as a difference between two temperatures, in degrees of u: a difference has
// no zero point to convert, so 1 °C is 1.8 °F.
func (t Temp) Difference(u Unit) Micro { return MulDiv(Micro(t), One, Micro(u.Degree())) }

// Scale is the scale on which t has at most two decimals: Celsius if that is so on both, and false
// if on neither, which does not happen for parsed values.
func (t Temp) Scale() (u Unit, ok bool) {
	switch {
	case t%9 == 0:
		return Celsius, true
	case t%5 == 0: // 32 °F is 16,000 Temps, itself a multiple of 5
		return Fahrenheit, true
	}
	return Celsius, false
}

// Append adds the degrees of u with one decimal or two to b: 71.6, 22.25, -0.5;
// rounded half away from zero where t has more.
func (t Temp) Append(b []byte, u Unit) []byte { return AppendHundredths(b, t.Hundredths(u)) }

// AppendHundredths adds hundredths of a degree to b as Temp.Append prints them.
func AppendHundredths(b []byte, h int64) []byte {
	if h < 0 {
		b, h = append(b, '-'), -h
	}
	b = append(strconv.AppendInt(b, h/100, 10), '.', byte('0'+h/10%10))
	if h%10 != 0 {
		b = append(b, byte('0'+h%10))
	}
	return b
}

// Text returns the degrees of u as Append writes them.
func (t Temp) Text(u Unit) string { return string(t.Append(nil, u)) }
