package e2e_test

import (
	"bufio"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"math/big"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"pmx/data/testfiles"
)

// TestScenarios runs testdata/scenarios/*.txt, which its README explains: what happened at a venue,
// the requests, and the responses worked out by hand. Every response must be the same after a
// rebuild, and the database must verify.
func TestScenarios(t *testing.T) {
	files, err := filepath.Glob(testfiles.Path("scenarios", "*.txt"))
	if err != nil || len(files) == 0 {
		t.Fatalf("no scenarios: %v", err)
	}
	for nth, file := range files {
		// A short run verifies and rebuilds every ninth venue: whether the rollups follow from the
		// facts does not depend on the scenario.
		rebuild := testfiles.Long() || nth%9 == 0
		t.Run(strings.TrimSuffix(filepath.Base(file), ".txt"), func(t *testing.T) { runScenario(t, file, rebuild) })
	}
}

func runScenario(t *testing.T, file string, rebuild bool) {
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	s := &scenario{t: t, venue: newVenue(t), file: file, names: map[string]string{"@exchange": exchange}}
	s.run(string(text))
	if s.asked == nil {
		t.Fatalf("%s has no request", file)
	}
	if !rebuild {
		return
	}
	s.venue.proved()
	if err := s.venue.keeper.Rebuild(context.Background(), nil); err != nil {
		t.Fatal(err)
	}
	for _, q := range s.asked {
		if q.last == s.imports { // nothing was imported since
			s.ask(q, "after a rebuild")
		}
	}
}

// scenario is one file while it runs.
type scenario struct {
	t       *testing.T
	venue   *venue
	file    string
	line    int
	names   map[string]string // @name → address, condition id, token id
	counts  [2]int            // wallets and markets named so far
	fills   strings.Builder
	markets strings.Builder
	settled strings.Builder
	weather [4]strings.Builder // forecasts, actuals, observations, normals
	imports int
	asked   []question
}

// question is a request and the expected response.
type question struct {
	line, status int
	tier, path   string
	want         any
	last         int // imports before it
}

func (s *scenario) failf(format string, args ...any) {
	s.t.Helper()
	s.t.Fatalf("%s:%d: %s", s.file, s.line, fmt.Sprintf(format, args...))
}

func (s *scenario) run(text string) {
	lines := bufio.NewScanner(strings.NewReader(text))
	for lines.Scan() {
		s.line++
		line := strings.TrimSpace(lines.Text())
		word, rest, _ := strings.Cut(line, " ")
		rest = strings.TrimSpace(rest)
		switch word {
		case "", "#":
		case "market":
			s.market(rest)
		case "match", "fill":
			s.trade(word == "match", strings.Fields(rest))
		case "resolve":
			s.resolve(strings.Fields(rest))
		case "weather":
			s.weatherRow(rest)
		case "import":
			s.load()
		case "get":
			s.get(strings.Fields(rest), lines)
		default:
			s.failf("a line of a scenario cannot begin with %q", word)
		}
	}
}

// wallet returns the address of a name: addresses ascend in the order of first use, except for the
// venue's own, exchange.
func (s *scenario) wallet(name string) string {
	if s.names["@"+name] == "" {
		s.counts[0]++
		s.names["@"+name] = fmt.Sprintf("0x%040x", s.counts[0])
	}
	return s.names["@"+name]
}

// market takes: NAME JSON, the JSON being fields of a canonical market.
func (s *scenario) market(rest string) {
	name, text, _ := strings.Cut(rest, " ")
	fields := map[string]any{"question": name, "outcomes": []any{"Yes", "No"}}
	if text = strings.TrimSpace(text); text != "" {
		if err := json.Unmarshal([]byte(text), &fields); err != nil {
			s.failf("%v", err)
		}
	}
	if s.names["@"+name] == "" {
		s.counts[1]++
		s.names["@"+name] = fmt.Sprintf("0x%064x", s.counts[1])
	}
	fields["condition"] = s.names["@"+name]
	var tokens []string
	for _, outcome := range fields["outcomes"].([]any) {
		token := fmt.Sprintf("%s.%s", name, outcome)
		sum := sha256.Sum256([]byte(token))
		s.names["@"+token] = new(big.Int).SetBytes(sum[:]).String()
		tokens = append(tokens, s.names["@"+token])
	}
	fields["tokens"] = tokens
	row, err := json.Marshal(fields)
	if err != nil {
		s.failf("%v", err)
	}
	fmt.Fprintf(&s.markets, "%s\n", row)
}

// trade takes: TIME TX WALLET buys|sells SHARES MARKET.OUTCOME for USD, then
// "as maker|taker" and "fee AMOUNT" for a fill, "with WALLET" for a match, whose
// first wallet is the taker.
func (s *scenario) trade(match bool, w []string) {
	if len(w) < 8 || w[6] != "for" || w[3] != "buys" && w[3] != "sells" || s.names["@"+w[5]] == "" {
		s.failf("want TIME TX WALLET buys|sells SHARES MARKET.OUTCOME for USD of a market named before")
	}
	side, other := "BUY", "SELL"
	if w[3] == "sells" {
		side, other = other, side
	}
	role, fee, with := "taker", "0", ""
	for i := 8; i+1 < len(w); i += 2 {
		switch w[i] {
		case "as":
			role = w[i+1]
		case "fee":
			fee = w[i+1]
		case "with":
			with = w[i+1]
		default:
			s.failf("%q: want as, fee or with", w[i])
		}
	}
	if match != (with != "") {
		s.failf("a match names its other side with WALLET, a fill does not")
	}
	tx := sha256.Sum256([]byte(w[1]))
	s.names["@"+w[1]] = "0x" + hex.EncodeToString(tx[:])
	row := func(wallet, role, side, fee string) {
		if s.fills.Len() == 0 {
			s.fills.WriteString("tx,ts,wallet,role,token,side,shares,usd,fee\n")
		}
		fmt.Fprintf(&s.fills, "%s,%s,%s,%s,%s,%s,%s,%s,%s\n",
			s.names["@"+w[1]], w[0], s.wallet(wallet), role, s.names["@"+w[5]], side, w[4], w[7], fee)
	}
	row(w[2], role, side, fee)
	if match {
		row(with, "maker", other, "0")
	}
}

// resolve takes: MARKET PAYOUT,PAYOUT… TIME [VERSION]; a later version is a correction; the time is
// - if it is not known.
func (s *scenario) resolve(w []string) {
	if len(w) < 3 || s.names["@"+w[0]] == "" {
		s.failf("want MARKET PAYOUT,PAYOUT TIME [VERSION]")
	}
	version := w[2]
	if len(w) > 3 {
		version = w[3]
	}
	at, said := strings.TrimPrefix(w[2], "-"), strings.TrimPrefix(version, "-")
	fmt.Fprintf(&s.settled, `{"condition":%q,"payouts":[%s],"resolved_at":%q,"source":"api","version":%q}`+"\n",
		s.names["@"+w[0]], w[1], at, said)
}

// weatherRow takes a row of one of pmx's own weather files as JSON. The kind of row is recognised by a
// member that only it has.
func (s *scenario) weatherRow(text string) {
	for i, member := range []string{"target", "kind", "ts", "month_day"} {
		if strings.Contains(text, fmt.Sprintf("%q:", member)) {
			fmt.Fprintln(&s.weather[i], text)
			return
		}
	}
	s.failf("want a row with target, kind, ts or month_day")
}

// load imports what was given since the last import: markets, fills, resolutions and weather.
func (s *scenario) load() {
	s.imports++
	var files []string
	for _, part := range []struct {
		name string
		text *strings.Builder
	}{{"markets.ndjson", &s.markets}, {"fills.csv", &s.fills}, {"resolutions.ndjson", &s.settled}, {"forecasts.ndjson", &s.weather[0]},
		{"actuals.ndjson", &s.weather[1]}, {"observations.ndjson", &s.weather[2]}, {"normals.ndjson", &s.weather[3]}} {
		if part.text.Len() > 0 {
			files = append(files, s.venue.write(part.name, part.text.String()))
			part.text.Reset()
		}
	}
	s.venue.load(files...)
}

// get takes: TIER PATH [STATUS], then JSON up to an empty line.
func (s *scenario) get(w []string, lines *bufio.Scanner) {
	if len(w) < 2 {
		s.failf("want TIER PATH [STATUS]")
	}
	q := question{line: s.line, tier: w[0], path: s.named(w[1]), status: 200, last: s.imports}
	if len(w) > 2 {
		if _, err := fmt.Sscan(w[2], &q.status); err != nil {
			s.failf("status %q: %v", w[2], err)
		}
	}
	var text strings.Builder
	for lines.Scan() {
		s.line++
		if strings.TrimSpace(lines.Text()) == "" {
			break
		}
		text.WriteString(lines.Text())
	}
	if err := json.Unmarshal([]byte(s.named(text.String())), &q.want); err != nil {
		s.failf("expected answer: %v", err)
	}
	s.asked = append(s.asked, q)
	s.ask(q, "")
}

var mention = regexp.MustCompile(`@[\w.-]*\w`)

// named replaces names with addresses, condition ids and token ids.
func (s *scenario) named(text string) string {
	return mention.ReplaceAllStringFunc(text, func(name string) string {
		if known := s.names[name]; known != "" {
			return known
		}
		s.failf("%s was not named before", name)
		return ""
	})
}

func (s *scenario) ask(q question, when string) {
	s.t.Helper()
	status, body := s.venue.get(q.tier, q.path)
	var diffs []string
	if status != q.status {
		diffs = append(diffs, fmt.Sprintf("status %d, want %d", status, q.status))
	}
	diffs = append(diffs, differences("", q.want, body)...)
	if len(diffs) > 0 {
		got, _ := json.MarshalIndent(body, "", " ")
		s.t.Errorf("%s:%d: GET %s as %s %s\n%s\n%s", s.file, q.line, q.path, q.tier, when, strings.Join(diffs, "\n"), got)
	}
}

// differences returns where got lacks what is in want: every member of an object, every element of
// a list and their number.
func differences(at string, want, got any) []string {
	switch w := want.(type) {
	case map[string]any:
		g, ok := got.(map[string]any)
		if !ok {
			return []string{fmt.Sprintf("%s is %v, want an object", at, got)}
		}
		var all []string
		for key, value := range w {
			have, there := g[key]
			if !there {
				all = append(all, fmt.Sprintf("%s.%s is missing", at, key))
				continue
			}
			all = append(all, differences(at+"."+key, value, have)...)
		}
		return all
	case []any:
		g, ok := got.([]any)
		if !ok || len(g) != len(w) {
			return []string{fmt.Sprintf("%s does not have %d elements: %v", at, len(w), got)}
		}
		var all []string
		for i := range w {
			all = append(all, differences(fmt.Sprintf("%s[%d]", at, i), w[i], g[i])...)
		}
		return all
	}
	if want != got {
		return []string{fmt.Sprintf("%s is %v, want %v", at, got, want)}
	}
	return nil
}
