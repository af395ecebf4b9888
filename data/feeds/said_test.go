package feeds_test

import (
	"fmt"
	"reflect"
	"slices"
	"strings"
	"time"

	"pmx/data"
)

// said formats everything that a feed gave, one row per line and in the same order, for comparison
// with the expected contents of a file.
func (c *collect) said() string {
	var out []string
	for _, f := range c.fills {
		out = append(out, fmt.Sprintf("fill %d: ", f.Row)+c.fill(f))
	}
	var inPassing []string // a statement may return these in any order
	for i, m := range c.markets {
		m.Resolution = nil // part of the resolutions
		if i < len(c.lines) {
			out = append(out, fmt.Sprintf("market %d:", c.lines[i])+fieldsOf(m))
		} else {
			inPassing = append(inPassing, "market:"+fieldsOf(m))
		}
	}
	for _, t := range c.tokens {
		inPassing = append(inPassing, "token:"+fieldsOf(t))
	}
	slices.Sort(inPassing)
	out = append(out, inPassing...)
	for _, r := range c.resolutions {
		out = append(out, "resolution:"+fieldsOf(r))
	}
	for _, b := range c.blocks {
		out = append(out, fmt.Sprintf("block %d: %s", b.Number, instant(b.TS)))
	}
	for _, f := range c.forecasts {
		out = append(out, "forecast:"+fieldsOf(f))
	}
	for _, a := range c.actuals {
		out = append(out, "actual:"+fieldsOf(a))
	}
	for _, o := range c.observations {
		out = append(out, "observation:"+fieldsOf(o))
	}
	for _, n := range c.normals {
		out = append(out, "normal:"+fieldsOf(n))
	}
	for _, r := range c.rejects {
		out = append(out, fmt.Sprintf("reject %d: %s", r.Line, r.Reason))
	}
	return strings.Join(out, "\n") + "\n"
}

func (c *collect) fill(f numbered) string {
	side := map[data.Side]string{data.Buy: "buys", data.Sell: "sells"}[f.Side]
	role := map[data.Role]string{data.Maker: "maker", data.Taker: "taker", data.RoleUnknown: "of unknown role"}[f.Role]
	text := fmt.Sprintf("%s %s, %s, %s %s of %s for %s", instant(f.TS), f.Wallet, role, side, f.Shares, f.TokenID, f.USD)
	if f.Fee != 0 {
		text += ", fee " + f.Fee.String()
	}
	if !f.Tx.IsZero() {
		text += ", in " + f.Tx.String()
	}
	if f.LogIndex != data.NoIndex {
		text += fmt.Sprintf(", log %d", f.LogIndex)
	}
	if f.Block != 0 {
		text += fmt.Sprintf(", block %d", f.Block)
	}
	if !f.Condition.IsZero() {
		text += fmt.Sprintf(", outcome %d of %s", f.Outcome, f.Condition)
	}
	if f.Name != "" {
		text += fmt.Sprintf(", called %q", f.Name)
	}
	return text
}

func instant(us int64) string {
	if us == 0 {
		return "at an unknown time"
	}
	return time.UnixMicro(us).UTC().Format(time.RFC3339Nano)
}

// fieldsOf formats the fields of a row that are not zero, and always an outcome, a metric and a
// value.
func fieldsOf(row any) string {
	v := reflect.ValueOf(row)
	var b strings.Builder
	for i := range v.NumField() {
		name, field := v.Type().Field(i).Name, v.Field(i)
		if field.IsZero() && name != "Outcome" && name != "Metric" && name != "Value" {
			continue
		}
		if field.Kind() == reflect.Pointer {
			field = field.Elem()
		}
		fmt.Fprintf(&b, " %s=%s", name, written(name, field.Interface()))
	}
	return b.String()
}

// written formats a value with its unit. Whole numbers with these names are times.
func written(name string, value any) string {
	switch v := value.(type) {
	case time.Time:
		return v.UTC().Format(time.RFC3339Nano)
	case int64:
		if slices.Contains([]string{"TS", "IssuedAt", "RunAt", "SeenAt"}, name) {
			return instant(v)
		}
	case data.Temp:
		if name == "Deviation" {
			return "±" + v.Difference(data.Fahrenheit).String() + "°F"
		}
		return v.Text(scale(v)) + "°" + scale(v).String()
	case []data.Temp:
		var list []string
		for _, one := range v {
			list = append(list, written("", one))
		}
		return strings.Join(list, ",")
	case string:
		if len(v) > 200 {
			return fmt.Sprintf("%q and %d bytes more", v[:50], len(v)-50)
		}
		return fmt.Sprintf("%q", v)
	case []string:
		return fmt.Sprintf("%q", v)
	}
	return fmt.Sprint(value)
}
