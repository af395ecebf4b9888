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

// namedConflicts is how many markets in conflict a receipt names; the rejects file
// has all of them.
const namedConflicts = 10

// compareWords orders what two records say of the payouts of a market, as
// MarketsNext does: the better source, the later version or correction, the larger
// payouts are the greater.
func compareWords(a, b *data.Resolution) int {
	return cmp.Or(cmp.Compare(a.Source, b.Source), effective(a).Compare(effective(b)), slices.Compare(a.Payouts, b.Payouts),
		a.CorrectedAt.Compare(b.CorrectedAt), a.Version.Compare(b.Version))
}

// effective is the version by which the payouts of r stand: a correction is newer
// than the record that it corrects.
func effective(r *data.Resolution) time.Time { return later(r.Version, r.CorrectedAt) }

func later(a, b time.Time) time.Time {
	if b.After(a) {
		return b
	}
	return a
}

// contradict tells whether two records of equal source and version say different
// payouts, or different times, and whether it is the payouts.
func contradict(a, b *data.Resolution) (payouts, times bool) {
	payouts = a.Source == b.Source && effective(a).Equal(effective(b)) && !slices.Equal(a.Payouts, b.Payouts)
	times = a.TimeBy() != data.TimeUnknown && a.TimeBy() == b.TimeBy() && atVersion(a).Equal(atVersion(b)) && !a.ResolvedAt.Equal(b.ResolvedAt)
	return payouts, times
}

// addPaid is add of a market that another record of the file was about: where they
// contradict each other, conflict is told of the record that gives way. A file that
// contradicts itself has no word that could correct anything.
func (m *markets) addPaid(i int, line int64, old, next *data.Resolution) error {
	payouts, times := contradict(old, next)
	lost, lostLine, order := next, line, compareWords(next, old)
	if !payouts {
		order = timeOrder(next, old)
	}
	if order > 0 {
		lost, lostLine = old, m.lines[i]
	}
	if compareWords(next, old) > 0 {
		m.lines[i] = line
	}
	if !payouts && !times {
		return nil
	}
	m.contradicts[i] = true
	return m.conflict(lostLine, *lost, "another record of this file, of equal source and version, says otherwise and stands")
}

// conflict counts and names a market of which the file says something else than is
// known, and keeps the row.
func (j *job) conflict(line int64, said data.Resolution, detail string) error {
	if !j.disputed[said.Condition] {
		if j.disputed == nil {
			j.disputed = map[data.Hash]bool{}
		}
		j.disputed[said.Condition] = true
		if j.receipt.Conflicts++; j.receipt.Conflicts <= namedConflicts {
			j.receipt.ConflictMarkets = append(j.receipt.ConflictMarkets, said.Condition.String())
		}
	}
	raw, err := json.Marshal(canonicalWord(said))
	if err != nil {
		return err
	}
	return j.rejects.keep(line, "conflict", detail, string(raw))
}

// word is a resolution as pmx's own files have it.
type word struct {
	Condition   string   `json:"condition_id"`
	Payouts     []string `json:"payouts"`
	ResolvedAt  string   `json:"resolved_at,omitempty"`
	AtSource    string   `json:"resolved_at_source,omitempty"`
	Source      string   `json:"source"`
	Version     string   `json:"version,omitempty"`
	CorrectedAt string   `json:"corrected_at,omitempty"`
}

func canonicalWord(r data.Resolution) word {
	w := word{Condition: r.Condition.String(), Source: r.Source.String(), AtSource: r.TimeBy().String(), ResolvedAt: instant(r.ResolvedAt),
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

// checkWords compares the payouts of the file with those that are known: conflicts
// are kept, and what a better source or a later version overrules is counted. With
// --correct this import's word is made the newest of its rank before that.
func (j *job) checkWords() error {
	if !j.paid {
		return nil
	}
	if j.opts.Correct {
		if err := j.exec("Correct", words("@now", strconv.FormatInt(j.started.UnixMicro(), 10))...); err != nil {
			return err
		}
	}
	err := j.conn.QueryRowContext(j.ctx, statements.Get("Overruled", words()...)).Scan(&j.receipt.Overruled)
	if err != nil {
		return err
	}
	return j.knownConflicts()
}

// words are the replacements of what is compared of the payouts of the new record and
// of the one that is known, before others: longer names come first.
func words(others ...string) []string {
	version := func(name string) string { return statements.Get("WordVersion", "@w", name) }
	whole := func(name string) string { return statements.Get("Word", "@version", version(name), "@w", name) }
	return append([]string{"@newversion", version("n"), "@oldversion", version("o"), "@newword", whole("n"), "@oldword", whole("o")}, others...)
}

// knownConflicts keeps the rows that are in conflict with what is known.
func (j *job) knownConflicts() error {
	rows, err := j.conn.QueryContext(j.ctx, statements.Get("Conflicts", words()...))
	if err != nil {
		return err
	}
	defer func() { _ = rows.Close() }()
	for rows.Next() {
		var (
			line             int64
			condition        []byte
			payouts, known   string
			source           int8
			version, at      *int64
			atSource         *int8
			knownAt          *int64
			byPayouts, yield bool
		)
		if err := rows.Scan(&line, &condition, &payouts, &source, &version, &at, &atSource, &known, &knownAt, &byPayouts, &yield); err != nil {
			return err
		}
		said := data.Resolution{Source: data.ResolutionSource(source), Version: moment(version), ResolvedAt: moment(at)}
		if atSource != nil {
			said.AtSource = data.TimeSource(*atSource)
		}
		copy(said.Condition[:], condition)
		if said.Payouts, err = microList(payouts); err != nil {
			return err
		}
		detail, err := knownDetail(known, knownAt, byPayouts, yield)
		if err != nil {
			return err
		}
		if err := j.conflict(line, said, detail); err != nil {
			return err
		}
	}
	return rows.Err()
}

// knownDetail says what was known and which of both stands.
func knownDetail(known string, at *int64, byPayouts, yields bool) (string, error) {
	what := "resolved at " + instant(moment(at))
	if byPayouts {
		payouts, err := microList(known)
		if err != nil {
			return "", err
		}
		text := canonicalWord(data.Resolution{Payouts: payouts}).Payouts
		what = fmt.Sprintf("payouts %v", text)
	}
	stands := "this row stands"
	if yields {
		stands = "that stands"
	}
	return fmt.Sprintf("known from equal source and version, or by a correction: %s; %s. pmx import --correct makes this row stand", what, stands), nil
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
