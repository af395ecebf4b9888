package export_test

import (
	"context"
	"database/sql"
	"encoding/json"
	"fmt"
	"strings"
	"sync"
	"testing"

	"github.com/rs/zerolog"

	"pmx/data/feeds"
	"pmx/engine/enginetest"
	"pmx/engine/export"
	"pmx/rollups/keeper"
)

// statementsOf collects statements on the facts, and those that make the tables that they are joined to.
type statementsOf struct {
	mu    sync.Mutex
	texts []string
}

func (s *statementsOf) add(text string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if strings.Contains(text, "FROM fills") || strings.HasPrefix(text, "CREATE OR REPLACE TEMP TABLE x_") {
		s.texts = append(s.texts, text)
	}
}

func (s *statementsOf) take() (texts []string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	texts, s.texts = s.texts, nil
	return texts
}

// plan is DuckDB's profile of a statement.
type plan struct {
	Scanned  int64 `json:"operator_rows_scanned"`
	Extra    any   `json:"extra_info"`
	Children []plan
}

// ofFills returns the number of rows of fills that were read.
func (p plan) ofFills() (n int64) {
	if extra, ok := p.Extra.(map[string]any); ok && strings.HasSuffix(fmt.Sprint(extra["Table"]), ".fills") {
		n = p.Scanned
	}
	for _, c := range p.Children {
		n += c.ofFills()
	}
	return n
}

// mostRead returns the largest number of rows of fills that one of the statements reads.
func mostRead(t *testing.T, k *keeper.Keeper, texts []string) (most int64) {
	t.Helper()
	err := k.DB().Read(t.Context(), func(conn *sql.Conn) error {
		for _, text := range texts {
			if inner, ok := strings.CutPrefix(strings.TrimSpace(text), "COPY ("); ok {
				text = inner[:strings.LastIndex(inner, ") TO ")]
			}
			var name, out string
			if err := conn.QueryRowContext(t.Context(), "EXPLAIN (ANALYZE, FORMAT json) "+text).Scan(&name, &out); err != nil {
				return fmt.Errorf("%s: %w", text, err)
			}
			var p plan
			if err := json.Unmarshal([]byte(out), &p); err != nil {
				return err
			}
			most = max(most, p.ofFills())
		}
		for _, table := range []string{"x_wallet", "x_token"} {
			if _, err := conn.ExecContext(t.Context(), "DROP TABLE IF EXISTS temp."+table); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return most
}

// The next export reads no unchanged days except for the newest, which shows how far the facts
// reach: 400,000 fills of five days are four row groups of DuckDB. The newest day is in two of
// them, and an additional day in the last.
func TestAnExportReadsTheDaysThatChanged(t *testing.T) {
	seen := &statementsOf{}
	opts := enginetest.Options(t, t.TempDir(), "1GB")
	opts.OnStatement = seen.add
	k, err := keeper.Open(context.Background(), keeper.Config{Engine: opts, Feeds: feeds.Catalog{}, Log: zerolog.Nop()})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := k.Close(); err != nil {
			t.Error(err)
		}
	})
	const fills = 400_000
	mustImport(t, k, write(t, "first.csv", lakeHeader+lakeFill("2026-02-01", "1", "71", "1", "1", "")))
	change(t, k, fmt.Sprintf(`INSERT INTO fills BY NAME SELECT 1770000000 + i AS seconds, 0 AS micros, 0 AS wallet, 0 AS token, 0::TINYINT AS side, 1::TINYINT AS role, 1 + i AS shares,
  1 + i // 2 AS usd, 0 AS fee, unhex(sha256(i::VARCHAR)) AS tx, i::INTEGER AS log_index, 0 AS repeat, 0 AS batch FROM range(%d) AS r(i)`, fills))
	if err := k.Rebuild(t.Context(), nil); err != nil {
		t.Fatal(err)
	}
	had := map[string]string{}
	var known export.LakeKnown
	byDay := &lake{dir: t.TempDir()}
	for _, step := range []struct {
		name, text  string
		days        int // that are written
		least, most int64
	}{
		{"the first", "", 6, fills, 2 * fills},
		{"nothing new", "", 0, 1, fills / 2},
		{"a day more", lakeFill("2026-03-01", "1", "71", "2", "1", ""), 1, 1, fills / 2},
	} {
		if step.text != "" {
			mustImport(t, k, write(t, "more.csv", lakeHeader+step.text))
		}
		seen.take()
		names, written, next := exportLake(t, k, known, had)
		if len(written) != step.days {
			t.Errorf("%s: the days %v were written, want %d", step.name, written, step.days)
		}
		texts := seen.take()
		if n := mostRead(t, k, texts); n < step.least || n > step.most {
			t.Errorf("%s: a statement reads %d of %d fills, want %d to %d:\n%s", step.name, n, fills, step.least, step.most, strings.Join(texts, "\n"))
		}
		known, had = next, names
		seen.take()
		if written := byDay.refresh(t, k); len(written) != step.days {
			t.Errorf("%s: by day, %v were written, want %d", step.name, written, step.days)
		}
		texts = seen.take()
		if n := mostRead(t, k, texts); step.least == fills && n < fills || n > step.most {
			t.Errorf("%s: a statement of an export by day reads %d of %d fills:\n%s", step.name, n, fills, strings.Join(texts, "\n"))
		}
	}
}
