package main

import (
	"context"
	"encoding/json"
	"io"
	"maps"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/alecthomas/kong"
	"github.com/oasdiff/yaml"
	"github.com/prometheus/client_golang/prometheus/testutil/promlint"
	"github.com/prometheus/common/expfmt"
	"github.com/prometheus/common/model"

	"pmx/data/sample"
	"pmx/data/testfiles"
	"pmx/http/replay"
)

const (
	alertsFile    = "../../docs/monitoring/alerts.yml"
	dashboardFile = "../../docs/monitoring/dashboard.json"
)

// notScraped are metrics of Prometheus itself, and those that a server has only in other states
// than that of the sample venue. Tests of the documents check their names against the code.
var notScraped = map[string]string{
	"up":                                    "Prometheus makes it",
	"pmx_replica_current_timestamp_seconds": "only with --follow",
	"pmx_checkpoint_owed_since_timestamp_seconds":  "only while a checkpoint is put off",
	"pmx_export_queued_since_timestamp_seconds":    "only while an export waits",
	"pmx_tls_certificate_expiry_timestamp_seconds": "only with --tls-cert",
	"pmx_tls_certificate_failing":                  "only with --tls-cert",
}

// selector is a metric as used in an expression: its labels, and the literal values of one of them.
type selector struct {
	metric string
	labels map[string][]string
}

var (
	promSelector = regexp.MustCompile(`([a-zA-Z_:][a-zA-Z0-9_:]*)\s*(\{[^}]*\})?`)
	promMatcher  = regexp.MustCompile(`([a-zA-Z_][a-zA-Z0-9_]*)\s*(=~|!=|!~|=)\s*"([^"]*)"`)
	promLabels   = regexp.MustCompile(`\b(by|without|on|ignoring|group_left|group_right)\s*\(([^)]*)\)`)
	promRange    = regexp.MustCompile(`\[[^\]]*\]`)
	plainValues  = regexp.MustCompile(`^[a-z_]+(\|[a-z_]+)*$`)
)

// promWords are the words in expressions that are not metrics.
var promWords = []string{"and", "or", "unless", "bool", "offset", "sum", "rate", "increase", "time", "topk", "histogram_quantile"}

// selectorsOf returns the metrics that a PromQL expression uses, and the labels by which it groups.
func selectorsOf(expr string) (all []selector, grouped []string) {
	for _, m := range promLabels.FindAllStringSubmatch(expr, -1) {
		for label := range strings.SplitSeq(m[2], ",") {
			if label = strings.TrimSpace(label); label != "" {
				grouped = append(grouped, label)
			}
		}
	}
	expr = promRange.ReplaceAllString(promLabels.ReplaceAllString(expr, ""), "")
	for _, m := range promSelector.FindAllStringSubmatch(expr, -1) {
		if slices.Contains(promWords, m[1]) {
			continue
		}
		s := selector{metric: m[1], labels: map[string][]string{}}
		for _, l := range promMatcher.FindAllStringSubmatch(m[2], -1) {
			s.labels[l[1]] = nil
			if plainValues.MatchString(l[3]) {
				s.labels[l[1]] = strings.Split(l[3], "|")
			}
		}
		all = append(all, s)
	}
	return all, grouped
}

func TestSelectorsOfAnExpression(t *testing.T) {
	for expr, want := range map[string]string{
		`up{job="pmx"} == 0`: "up job=pmx|",
		`time() - (a_seconds or b{job="$job"}) > 3 * 86400`:                           "a_seconds;b job=|",
		`sum by (le, x) (rate(c_bucket{s=~"5.."}[10m])) > 2`:                          "c_bucket s=|le x",
		`d{state=~"fails|blocked"} > 600 and on (source) e[$__rate_interval] != 0.01`: "d state=fails,blocked;e|source",
	} {
		all, grouped := selectorsOf(expr)
		var parts []string
		for _, s := range all {
			text := s.metric
			for _, label := range slices.Sorted(maps.Keys(s.labels)) {
				text += " " + label + "=" + strings.Join(s.labels[label], ",")
			}
			parts = append(parts, text)
		}
		if got := strings.Join(parts, ";") + "|" + strings.Join(grouped, " "); got != want {
			t.Errorf("%s: got %s, want %s", expr, got, want)
		}
	}
}

// alertExpressions returns the expressions of the alert file by alert.
func alertExpressions(t *testing.T) map[string]string {
	t.Helper()
	text, err := os.ReadFile(alertsFile)
	if err != nil {
		t.Fatal(err)
	}
	var file struct {
		Groups []struct {
			Name  string `json:"name"`
			Rules []struct {
				Alert       string            `json:"alert"`
				Expr        string            `json:"expr"`
				For         string            `json:"for"`
				Labels      map[string]string `json:"labels"`
				Annotations map[string]string `json:"annotations"`
			} `json:"rules"`
		} `json:"groups"`
	}
	if _, err := yaml.Unmarshal(text, &file, yaml.DecodeOpts{}); err != nil {
		t.Fatal(err)
	}
	all := map[string]string{}
	for _, g := range file.Groups {
		for _, r := range g.Rules {
			if all[r.Alert] != "" || r.Alert == "" || r.Expr == "" {
				t.Errorf("%s: the alert %q is defined twice, or is incomplete", g.Name, r.Alert)
			}
			if s := r.Labels["severity"]; s != "page" && s != "ticket" {
				t.Errorf("%s has the severity %q", r.Alert, s)
			}
			if !strings.HasSuffix(r.Annotations["summary"], ".") || !strings.HasSuffix(r.Annotations["action"], ".") {
				t.Errorf("%s does not say what is wrong and what to do, each in a sentence", r.Alert)
			}
			if r.For != "" {
				if _, err := model.ParseDuration(r.For); err != nil {
					t.Errorf("%s: %v", r.Alert, err)
				}
			}
			all[r.Alert] = r.Expr
		}
	}
	return all
}

// dashboardExpressions returns the expressions of the dashboard by panel.
func dashboardExpressions(t *testing.T) map[string]string {
	t.Helper()
	text, err := os.ReadFile(dashboardFile)
	if err != nil {
		t.Fatal(err)
	}
	var dashboard struct {
		Panels []struct {
			ID      int
			Title   string
			Type    string
			GridPos struct{ H, W, X, Y int }
			Targets []struct{ RefID, Expr string }
		}
	}
	if err := json.Unmarshal(text, &dashboard); err != nil {
		t.Fatal(err)
	}
	all, ids := map[string]string{}, map[int]bool{}
	for _, p := range dashboard.Panels {
		if ids[p.ID] || p.GridPos.X+p.GridPos.W > 24 || p.GridPos.W == 0 || p.GridPos.H == 0 || p.Title == "" {
			t.Errorf("panel %d (%s) is defined twice, or does not fit", p.ID, p.Title)
		}
		ids[p.ID] = true
		if len(p.Targets) == 0 && p.Type != "row" {
			t.Errorf("panel %s shows nothing", p.Title)
		}
		for _, target := range p.Targets {
			all[p.Title+" "+target.RefID] = target.Expr
		}
	}
	return all
}

// exposition is the result of a scrape: by name of the samples, their labels with the values.
type exposition map[string]map[string]map[string]bool

// lacks returns what an expression uses and the exposition does not have.
func (e exposition) lacks(expr string) (missing []string) {
	all, grouped := selectorsOf(expr)
	for _, s := range all {
		labels, there := e[s.metric]
		if !there {
			missing = append(missing, s.metric)
			continue
		}
		for label, values := range s.labels {
			if label == "job" || label == "instance" { // of Prometheus
				continue
			}
			if labels[label] == nil {
				missing = append(missing, s.metric+"{"+label+"}")
			}
			for _, v := range values {
				if !labels[label][v] {
					missing = append(missing, s.metric+"{"+label+"="+v+"}")
				}
			}
		}
		for _, label := range grouped {
			if labels[label] == nil {
				missing = append(missing, s.metric+" by "+label)
			}
		}
	}
	return missing
}

// parseExposition parses the result of a scrape.
func parseExposition(t *testing.T, text string) exposition {
	t.Helper()
	parser := expfmt.NewTextParser(model.UTF8Validation)
	families, err := parser.TextToMetricFamilies(strings.NewReader(text))
	if err != nil {
		t.Fatal(err)
	}
	e := exposition{}
	add := func(name, label, value string) {
		if e[name] == nil {
			e[name] = map[string]map[string]bool{}
		}
		if label == "" {
			return
		}
		if e[name][label] == nil {
			e[name][label] = map[string]bool{}
		}
		e[name][label][value] = true
	}
	for name, f := range families {
		names := []string{name}
		if f.GetMetric()[0].GetHistogram() != nil {
			names = []string{name + "_bucket", name + "_sum", name + "_count"}
			add(names[0], "le", "+Inf")
		}
		for _, m := range f.GetMetric() {
			for _, n := range names {
				add(n, "", "")
				for _, l := range m.GetLabel() {
					add(n, l.GetName(), l.GetValue())
				}
			}
		}
	}
	return e
}

// followingServer serves the sample venue, also follows a simulated one, and returns the address of
// its metrics. It stops with the test.
func followingServer(t *testing.T) string {
	t.Helper()
	keepUmask(t)
	played, err := replay.New(t.Context(), replay.Options{Config: sample.Config{Fills: 2_000, Days: 8, End: time.Date(2026, 11, 7, 0, 0, 0, 0, time.UTC), Seed: 5},
		Start: time.Date(2026, 11, 7, 0, 10, 0, 0, time.UTC)})
	if err != nil {
		t.Fatal(err)
	}
	web := httptest.NewServer(played.Handler())
	ctx, stop := context.WithCancel(t.Context())
	log := filepath.Join(t.TempDir(), "log")
	dir, filled := t.TempDir(), "--sample"
	if !testfiles.Long() { // a smaller venue
		venue := t.TempDir()
		if _, err := sample.Write(ctx, sample.Config{Fills: 3_000, Days: testfiles.Cases(8, 0)}, venue, nil); err != nil {
			t.Fatal(err)
		}
		if code := run([]string{"import", "--data-dir", dir, venue}, stdio{out: io.Discard, err: io.Discard}); code != 0 {
			t.Fatalf("import: %d", code)
		}
		filled = "--historical"
	}
	var cli CLI
	args := []string{"serve", "--data-dir", dir, "--listen", "127.0.0.1:0", "--metrics-listen", "127.0.0.1:0", filled, "--threads", "1", "--log", log,
		"--sync", "polymarket", "--sync-at", web.URL, "--sync-contact", "me@example.org", "--sync-only", "chain,markets", "--sync-rpc-rate", "1000",
		"--verify-cron", "@every 5s", "--backup-dir", t.TempDir(), "--backup-cron", "@every 5s", "--publish-dir", t.TempDir(), "--sync-from-block", strconv.FormatInt(sample.BlockAt(played.Venue().Manifest.Start), 10)}
	ready, err := os.Create(filepath.Join(t.TempDir(), "ready"))
	if err != nil {
		t.Fatal(err)
	}
	defer ready.Close()
	std := stdio{out: ready, err: io.Discard}
	parser, err := newParser(&cli, std, &configResolver{}, func(int) {}, kong.BindTo(ctx, (*context.Context)(nil)))
	if err != nil {
		t.Fatal(err)
	}
	command, err := parser.Parse(args)
	if err != nil {
		t.Fatal(err)
	}
	ended := make(chan error, 1)
	go func() { ended <- command.Run(&cli, std) }()
	t.Cleanup(func() {
		stop()
		if err := <-ended; err != nil {
			t.Errorf("the server: %v", err)
		}
		web.Close()
		played.Close()
	})
	served := regexp.MustCompile(`"address":"([^"]+)","[^\n]*metrics_served`)
	for {
		select {
		case err := <-ended:
			ended <- err
			t.Fatalf("the server ended: %v", err)
		case <-time.After(50 * time.Millisecond):
		}
		text, err := os.ReadFile(log)
		url, errReady := os.ReadFile(ready.Name())
		m := served.FindSubmatch(text)
		if err != nil || errReady != nil || m == nil || !strings.HasSuffix(string(url), "\n") {
			continue
		}
		res, err := http.Get(strings.TrimSpace(strings.TrimPrefix(string(url), "ready ")) + "/health") // a request to be counted
		if err != nil {
			t.Fatal(err)
		}
		res.Body.Close()
		return string(m[1])
	}
}

// Alerts and panels with metrics that do not exist would show nothing, unnoticed.
func TestAlertsAndDashboardUseWhatIsExposed(t *testing.T) {
	testfiles.InLong(t, "TestMetricsOfTheDocumentsExist finds every metric that they name in the code")
	expressions := alertExpressions(t)
	maps.Copy(expressions, dashboardExpressions(t))
	if len(expressions) < 50 {
		t.Fatalf("got %d expressions", len(expressions))
	}
	address := followingServer(t)
	var missing []string
	for end := time.Now().Add(10 * time.Minute); ; { // followed data takes a while to arrive
		res, err := http.Get("http://" + address + "/metrics")
		if err != nil {
			t.Fatal(err)
		}
		text, err := io.ReadAll(res.Body)
		res.Body.Close()
		if err != nil {
			t.Fatal(err)
		}
		problems, err := promlint.New(strings.NewReader(string(text))).Lint()
		for _, p := range problems {
			if strings.HasPrefix(p.Metric, "pmx_") {
				t.Errorf("%+v", p)
			}
		}
		if err != nil || t.Failed() {
			t.Fatal(err)
		}
		shown := parseExposition(t, string(text))
		missing = nil
		for where, expr := range expressions {
			for _, what := range shown.lacks(expr) {
				if name, _, _ := strings.Cut(what, "{"); notScraped[name] == "" {
					missing = append(missing, where+": "+what)
				}
			}
		}
		if len(missing) == 0 || time.Now().After(end) {
			break
		}
		time.Sleep(time.Second)
	}
	slices.Sort(missing)
	for _, m := range missing {
		t.Error("not exposed: " + m)
	}
}

// Prometheus refuses the whole file if it cannot parse one expression.
func TestPromtoolReadsTheAlerts(t *testing.T) {
	promtool, err := exec.LookPath("promtool")
	if err != nil {
		t.Skip("promtool is not installed (Debian package prometheus): the alert file is checked by its metrics and labels only")
	}
	files := []string{alertsFile}
	rules := map[string]any{}
	var records []map[string]string
	for _, expr := range dashboardExpressions(t) { // as rules, which promtool can check
		records = append(records, map[string]string{"record": "x", "expr": strings.ReplaceAll(expr, "$__rate_interval", "5m")})
	}
	slices.SortFunc(records, func(a, b map[string]string) int { return strings.Compare(a["expr"], b["expr"]) })
	for i, r := range records { // rules of one name are refused as repeated
		r["record"] = "x" + strconv.Itoa(i)
	}
	rules["groups"] = []any{map[string]any{"name": "dashboard", "rules": records}}
	text, err := json.Marshal(rules) // is YAML too
	if err != nil {
		t.Fatal(err)
	}
	dashboard := filepath.Join(t.TempDir(), "dashboard.yml")
	if err := os.WriteFile(dashboard, text, 0o600); err != nil {
		t.Fatal(err)
	}
	if out, err := exec.Command(promtool, append([]string{"check", "rules"}, append(files, dashboard)...)...).CombinedOutput(); err != nil {
		t.Errorf("err = %v, out = %s", err, out)
	}
}
