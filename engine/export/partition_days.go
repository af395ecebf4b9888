package export

import (
	"database/sql/driver"
	"slices"
	"strconv"
	"strings"

	"pmx/data"
	"pmx/engine"
)

// PartitionsKnown says what of an export of all facts is there already: its files by name, and its state; nil: not known.
type PartitionsKnown struct {
	Files map[string]Partition `json:"files"`
	State *PartitionState      `json:"state,omitempty"`
}

// PartitionState is what an export that came to its end left of the moment that all of its files are of: the last import, a fingerprint of the imports
// up to it, and what there was of that which is joined to fills.
type PartitionState struct {
	Version string `json:"version"`
	Batch   int64  `json:"batch"`
	History int64  `json:"history"`
	Tokens  joined `json:"tokens"` // what each is a token of
	Names   joined `json:"names"`  // of wallets
}

// joined is how many tokens or wallets there are, and a fingerprint of what is said of each so many of them, by number.
type joined struct {
	Known int64            `json:"known"`
	Sums  map[string]int64 `json:"sums"`
}

// joinedBlock is of how many tokens or wallets a fingerprint is. Where one of them changes, the days of all are looked at.
const joinedBlock = 256

// mostStretches is how many separate stretches of days may be read before all days are.
const mostStretches = 32

// fillDay is a day of fills before it is written.
type fillDay struct {
	Partition
	day int64
}

func (d fillDay) where() string {
	return " " + statements.Get("FillsOfDay", lakeSpan(d.day, d.day+1)...)
}

// partitionName is the name of the file of a day.
func partitionName(day int64) string {
	return "fills/day=" + dateOf(day) + "/fills.parquet"
}

// partitions returns the days there are with the prints of their rows, and the state. Where an earlier export of the same history is known,
// only the rows of those days are read that gained fills since, that have another number of them by the rollups, of which no print is
// known, or on which a token or a wallet was traded of which, or of one of whose neighbours, something else is said.
func (w *lakeWriter) partitions(known PartitionsKnown) (days []fillDay, state *PartitionState, err error) {
	was := known.State
	if was == nil {
		was = &PartitionState{}
	}
	head, err := w.head()
	if err != nil {
		return nil, nil, err
	}
	state = &PartitionState{Version: FactsVersion, Batch: head.Batch, History: head.History}
	touched := map[int64]bool{}
	same := known.State != nil && was.Version == FactsVersion
	if same {
		same, err = w.continues(LakeHead{Batch: was.Batch, History: was.History})
	}
	if err == nil {
		err = w.conn.QueryRowContext(w.ctx, statements.Get("JoinedCounts")).Scan(&state.Tokens.Known, &state.Names.Known)
	}
	if err == nil {
		err = w.joined("JoinedTokens", "DaysOfTokens", was.Tokens, &state.Tokens, same, touched)
	}
	if err == nil {
		err = w.joined("JoinedNames", "DaysOfWallets", was.Names, &state.Names, same, touched)
	}
	var counted []lakeDay
	if err == nil && same {
		counted, err = w.countedDays()
	}
	if err != nil {
		return nil, nil, err
	}
	if len(counted) == 0 { // or the rollups lack facts
		days, err = w.hashedDays("true")
		return days, state, err
	}
	gained, err := w.gainedDays(was.Batch)
	if err != nil {
		return nil, nil, err
	}
	days, err = w.daysSince(known.Files, counted, func(day int64) bool { return gained[day] || touched[day] })
	return days, state, err
}

// daysSince reads the days that changed or may have, and takes the others as they are known.
func (w *lakeWriter) daysSince(known map[string]Partition, counted []lakeDay, changed func(day int64) bool) (days []fillDay, err error) {
	var stretches [][2]int64
	for _, d := range counted {
		name := partitionName(d.day)
		if p, ok := known[name]; ok && p.Rows == d.rows && !changed(d.day) {
			days = append(days, fillDay{Partition{Name: name, Rows: p.Rows, Fingerprint: p.Fingerprint, Provisional: p.Provisional}, d.day})
			continue
		}
		if n := len(stretches); n > 0 && stretches[n-1][1] == d.day {
			stretches[n-1][1]++
		} else {
			stretches = append(stretches, [2]int64{d.day, d.day + 1})
		}
	}
	if len(stretches) > mostStretches {
		return w.hashedDays("true")
	}
	for _, s := range stretches {
		read, err := w.hashedDays(statements.Get("LakeSpan", lakeSpan(s[0], s[1])...))
		if err != nil {
			return nil, err
		}
		days = append(days, read...)
	}
	slices.SortFunc(days, func(a, b fillDay) int { return int(a.day - b.day) })
	return days, nil
}

// hashedDays reads days for which a condition holds.
func (w *lakeWriter) hashedDays(which string) (days []fillDay, err error) {
	rows, err := w.conn.QueryContext(w.ctx, statements.Get("FillDays", "@version", FactsVersion, "@listed", data.ListedTrades, "@which", which))
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	for rows.Next() {
		var d fillDay
		if err := rows.Scan(&d.day, &d.Rows, &d.Provisional, &d.Fingerprint); err != nil {
			return nil, err
		}
		d.Name = partitionName(d.day)
		days = append(days, d)
	}
	return days, rows.Err()
}

// joined reads what is said of tokens or wallets now. With compare it adds those days to touched on which one was traded that was there before, in a
// block of which something else was said; a newer one has newer fills alone.
func (w *lakeWriter) joined(name, days string, was joined, now *joined, compare bool, touched map[int64]bool) error {
	now.Sums = map[string]int64{}
	var changed []string
	err := engine.Each(w.ctx, w.conn, statements.Get(name, "@block", strconv.Itoa(joinedBlock), "@known", strconv.FormatInt(was.Known, 10)), func(row []driver.Value) error {
		block := strconv.FormatInt(engine.Int(row[0]), 10)
		if engine.Int(row[1]) != was.Sums[block] {
			changed = append(changed, block)
		}
		now.Sums[block] = engine.Int(row[2])
		return nil
	})
	for block, sum := range was.Sums {
		if _, there := now.Sums[block]; sum != 0 && !there {
			changed = append(changed, block)
		}
	}
	if err != nil || !compare || len(changed) == 0 {
		return err
	}
	return engine.Each(w.ctx, w.conn, statements.Get(days, "@block", strconv.Itoa(joinedBlock), "@changed", strings.Join(changed, ", ")), func(row []driver.Value) error {
		touched[engine.Int(row[0])] = true
		return nil
	})
}
