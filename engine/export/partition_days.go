package export

import (
	"slices"
	"strconv"
	"strings"

	"pmx/data"
	"pmx/engine"
)

// PartitionsKnown describes an existing export of all facts: its files by name, and its state; nil:
// not known.
type PartitionsKnown struct {
	Files map[string]Partition `json:"files"`
	State *PartitionState      `json:"state,omitempty"`
}

// PartitionState is the state of the database of a completed export: the last import, a fingerprint
// of the imports up to it, and fingerprints of the tables that are joined to fills.
type PartitionState struct {
	Version string `json:"version"`
	Batch   int64  `json:"batch"`
	History int64  `json:"history"`
	Tokens  joined `json:"tokens"` // of tokens and their markets
	Names   joined `json:"names"`  // of wallets
}

// joined is the number of tokens or wallets, and fingerprints of their rows in blocks by id.
type joined struct {
	Known int64            `json:"known"`
	Sums  map[string]int64 `json:"sums"`
}

// joinedBlock is the number of tokens or wallets of a fingerprint. If one of them changes, the days
// of all of them are read.
const joinedBlock = 256

// mostStretches is the maximum number of separate ranges of days that are read; with more, all days
// are.
const mostStretches = 32

// fillDay is a day of fills before it is written.
type fillDay struct {
	Partition
	day int64
}

func (d fillDay) where() string {
	return " " + statements.Get("FillsOfDay", lakeSpan(d.day, d.day+1)...)
}

// partitionName returns the name of the file of a day.
func partitionName(day int64) string {
	return "fills/day=" + dateOf(day) + "/fills.parquet"
}

// partitions returns all days with the prints of their rows, and the state. If an earlier export
// with the same history is known, it reads only the rows of days that gained fills since, whose
// number of fills differs by the rollups, without a known print, or with fills of a token or wallet
// in a block that has changed.
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

// daysSince reads the days that may have changed, and copies the others from known.
func (w *lakeWriter) daysSince(known map[string]Partition, counted []lakeDay, changed func(day int64) bool) (days []fillDay, err error) {
	var stretches [][2]int64
	for _, d := range counted {
		name := partitionName(d.Day)
		if p, ok := known[name]; ok && p.Rows == d.Fills && !changed(d.Day) {
			days = append(days, fillDay{Partition{Name: name, Rows: p.Rows, Fingerprint: p.Fingerprint, Provisional: p.Provisional}, d.Day})
			continue
		}
		if n := len(stretches); n > 0 && stretches[n-1][1] == d.Day {
			stretches[n-1][1]++
		} else {
			stretches = append(stretches, [2]int64{d.Day, d.Day + 1})
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

// hashedDays reads the days that meet a condition.
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

// joinedRow is a row of JoinedTokens and JoinedNames.
type joinedRow struct {
	Block int64 `sql:"block"`
	Known int64 `sql:"known"` // the fingerprint of those that existed before
	Sum   int64 `sql:"sum"`   // of all
}

// joined reads the fingerprints of tokens or wallets. With compare it adds days to touched on which
// tokens or wallets of changed blocks were traded, except for new ones, which only have newer
// fills.
func (w *lakeWriter) joined(name, days string, was joined, now *joined, compare bool, touched map[int64]bool) error {
	now.Sums = map[string]int64{}
	var changed []string
	err := engine.EachRow(w.ctx, w.conn, statements.Get(name, "@block", strconv.Itoa(joinedBlock), "@known", strconv.FormatInt(was.Known, 10)), func(row *joinedRow) error {
		block := strconv.FormatInt(row.Block, 10)
		if row.Known != was.Sums[block] {
			changed = append(changed, block)
		}
		now.Sums[block] = row.Sum
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
	return engine.EachValue(w.ctx, w.conn, statements.Get(days, "@block", strconv.Itoa(joinedBlock), "@changed", strings.Join(changed, ", ")), func(day int64) error {
		touched[day] = true
		return nil
	})
}
