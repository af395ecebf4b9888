package ingest

import (
	"cmp"
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"time"

	"pmx/data"
)

// namedConflicts is the maximum number of conflicting markets listed in a receipt; the rejects file
// has all of them.
const namedConflicts = 10

// compareResolutions orders the payouts of a market in two records like MarketsNext: by the better
// source, the later version or correction, and the larger payouts.
func compareResolutions(a, b *data.Resolution) int {
	return cmp.Or(cmp.Compare(a.Source, b.Source), effective(a).Compare(effective(b)), slices.Compare(a.Payouts, b.Payouts),
		a.CorrectedAt.Compare(b.CorrectedAt), a.Version.Compare(b.Version))
}

// effective returns the version by which the payouts of r are compared: a correction is newer than
// the record that it corrects.
func effective(r *data.Resolution) time.Time { return later(r.Version, r.CorrectedAt) }

func later(a, b time.Time) time.Time {
	if b.After(a) {
		return b
	}
	return a
}

// contradict reports whether two records with equal source and version have different payouts, and
// whether they have different times.
func contradict(a, b *data.Resolution) (payouts, times bool) {
	payouts = a.Source == b.Source && effective(a).Equal(effective(b)) && !slices.Equal(a.Payouts, b.Payouts)
	times = a.TimeBy() != data.TimeUnknown && a.TimeBy() == b.TimeBy() && atVersion(a).Equal(atVersion(b)) && !a.ResolvedAt.Equal(b.ResolvedAt)
	return payouts, times
}

// addResolution adds the payouts next of another record of the market, at line. If the two
// contradict each other, it returns the one that is not used.
func (g *gathered) addResolution(line int64, old, next *data.Resolution) (lost lostResolution, contradicts bool) {
	payouts, times := contradict(old, next)
	lost = lostResolution{Resolution: *next, Line: line}
	order := compareResolutions(next, old)
	if !payouts {
		order = timeOrder(next, old)
	}
	if order > 0 {
		lost.Resolution, lost.Line = *old, g.Line
	}
	if compareResolutions(next, old) > 0 {
		g.Line = line
	}
	return lost, payouts || times
}

// lostResolution stores a resolution of the file that is not used because of another one.
func (j *fileImport) lostResolution(lost lostResolution) error {
	return j.conflict(lost.First, lost.Line, lost.Resolution, "another record of this file with equal source and version differs and is used")
}

// conflict stores a row that contradicts what is known of a market. If it is the first such row of
// the market, the market is counted and listed.
func (j *fileImport) conflict(first bool, line int64, said data.Resolution, detail string) error {
	if first {
		if j.receipt.Conflicts++; len(j.receipt.ConflictMarkets) < namedConflicts {
			j.receipt.ConflictMarkets = append(j.receipt.ConflictMarkets, said.Condition.String())
		}
	}
	raw, err := json.Marshal(canonicalResolution(said))
	if err != nil {
		return err
	}
	return j.rejects.keep(line, "conflict", detail, string(raw))
}

// resolutionRecord is a resolution as in pmx's own files.
type resolutionRecord struct {
	Condition   string   `json:"condition_id"`
	Payouts     []string `json:"payouts"`
	ResolvedAt  string   `json:"resolved_at,omitempty"`
	AtSource    string   `json:"resolved_at_source,omitempty"`
	Source      string   `json:"source"`
	Version     string   `json:"version,omitempty"`
	CorrectedAt string   `json:"corrected_at,omitempty"`
}

func canonicalResolution(r data.Resolution) resolutionRecord {
	w := resolutionRecord{Condition: r.Condition.String(), Source: r.Source.String(), AtSource: r.TimeBy().String(), ResolvedAt: instant(r.ResolvedAt),
		Version: instant(r.Version), CorrectedAt: instant(r.CorrectedAt)}
	for _, p := range r.Payouts {
		w.Payouts = append(w.Payouts, p.String())
	}
	return w
}

func instant(t time.Time) string {
	if t.IsZero() {
		return ""
	}
	return t.UTC().Format(time.RFC3339Nano)
}

// checkPayouts stores payouts with the wrong length for later, and uses those with the right length
// that were stored before; spare is set if there may be any.
func (j *fileImport) checkPayouts(spare bool) error {
	if !j.hasPayouts && !spare {
		return nil
	}
	outcomes := fieldAt("outcomes")
	if err := j.exec("Fit", "@pairs", pairs(marketFields[outcomes:outcomes+1]), "@outcomes", standing(outcomes)); err != nil {
		return err
	}
	if j.hasPayouts {
		if err := j.comparePayouts(); err != nil {
			return err
		}
		if err := j.keepSpare(); err != nil {
			return err
		}
	}
	return j.exec("TakeSpare", resolutionArgs()...)
}

// comparePayouts compares the payouts of the file with the known ones. Conflicts are stored, and
// payouts that a better source or a later version overrules are counted. With --correct, those of
// this import are first made the newest of their source.
func (j *fileImport) comparePayouts() error {
	if err := j.dropUnfit(); err != nil {
		return err
	}
	if j.opts.Correct {
		if err := j.exec("Correct", resolutionArgs("@now", strconv.FormatInt(j.started.UnixMicro(), 10))...); err != nil {
			return err
		}
	}
	err := j.conn.QueryRowContext(j.ctx, statements.Get("Overruled", resolutionArgs()...)).Scan(&j.receipt.Overruled)
	if err != nil {
		return err
	}
	if err := j.knownConflicts(); err != nil {
		return err
	}
	return j.dropOther()
}

// resolutionArgs returns the replacements for the compared columns of the new and the known
// payouts, followed by others. Longer names come first.
func resolutionArgs(others ...string) []string {
	version := func(name string) string { return statements.Get("WordVersion", "@w", name) }
	whole := func(name string) string { return statements.Get("Word", "@version", version(name), "@w", name) }
	return append([]string{"@newversion", version("n"), "@oldversion", version("o"), "@newword", whole("n"), "@oldword", whole("o")}, others...)
}

// disputedRow is a row of the file whose payouts are in conflict, as queries return it.
type disputedRow struct {
	line        int64
	condition   []byte
	contradicts bool // an earlier row of the market is in conflict too
	payouts     string
	source      int8
	version, at *int64
	atSource    *int8
}

// columns returns the destinations of the first columns of these queries.
func (r *disputedRow) columns() []any {
	return []any{&r.line, &r.condition, &r.contradicts, &r.payouts, &r.source, &r.version, &r.at, &r.atSource}
}

// disputed stores a row in conflict; detail says what it contradicts.
func (j *fileImport) disputed(r *disputedRow, detail string) (err error) {
	said := data.Resolution{Source: data.ResolutionSource(r.source), Version: moment(r.version), ResolvedAt: moment(r.at)}
	if r.atSource != nil {
		said.AtSource = data.TimeSource(*r.atSource)
	}
	copy(said.Condition[:], r.condition)
	if said.Payouts, err = microList(r.payouts); err != nil {
		return err
	}
	return j.conflict(!r.contradicts, r.line, said, detail)
}

// knownConflicts stores the rows that contradict what is known.
func (j *fileImport) knownConflicts() error {
	var (
		row              disputedRow
		known            string
		knownAt          *int64
		byPayouts, yield bool
	)
	return j.pages(statements.Get("Conflicts", resolutionArgs()...), "line, condition").each(func() error {
		detail, err := knownDetail(known, knownAt, byPayouts, yield)
		if err != nil {
			return err
		}
		return j.disputed(&row, detail)
	}, append(row.columns(), &known, &knownAt, &byPayouts, &yield)...)
}

// knownDetail says what was known and which of the two is used.
func knownDetail(known string, at *int64, byPayouts, yields bool) (string, error) {
	what := "resolved at " + instant(moment(at))
	if byPayouts {
		payouts, err := microList(known)
		if err != nil {
			return "", err
		}
		text := canonicalResolution(data.Resolution{Payouts: payouts}).Payouts
		what = fmt.Sprintf("payouts %v", text)
	}
	stands := "this row is used"
	if yields {
		stands = "that is used"
	}
	return fmt.Sprintf("known from equal source and version, or by a correction: %s; %s. With pmx import --correct this row is used", what, stands), nil
}

func moment(us *int64) time.Time {
	if us == nil {
		return time.Time{}
	}
	return time.UnixMicro(*us).UTC()
}

func microList(text string) (out []data.Micro, err error) {
	var whole []int64
	if err := json.Unmarshal([]byte(text), &whole); err != nil {
		return nil, fmt.Errorf("payouts %q: %w", text, err)
	}
	for _, p := range whole {
		out = append(out, data.Micro(p))
	}
	return out, nil
}
