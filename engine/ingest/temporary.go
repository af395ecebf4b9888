package ingest

import (
	"context"
	"database/sql"
	"maps"
	"slices"
	"strings"

	"pmx/engine"
)

// staging are the temporary tables of an import.
var staging = []string{"s_raw", "s_late", "s_late_tx", "s_moved", "s_block_of", "s_lost", "s_spare", "s_fit", "s_best", "s_wallet", "s_token", "s_said", "s_fill", "s_suspect", "s_repeat", "s_log", "s_known", "s_contest", "s_replace", "s_block", "e_fill", "n_fill_rows",
	"s_page", "s_stub", "m_raw", "n_market", "n_name", "n_map", "n_first", "n_list", "n_mapped", "n_owner", "s_issue", "s_report", "s_obs", "s_normal", "n_climate"}

// emptyingStatements each create an empty table for something that most batches do not have.
var emptyingStatements = map[string]string{
	"MarketsEmpty": "m_raw", "SpareEmpty": "s_spare", "MapEmpty": "n_map", "BlocksEmpty": "s_block", "NoNames": "n_name",
	"MarketsNextNone": "n_market", "NoPayouts": "n_payout", "NoTokens": "n_token", "NoLabels": "n_label",
	"NoIssue": "n_issue", "NoReport": "n_report", "NoObs": "n_obs", "NoNormal": "n_normal",
}

// emptyTables are the tables of emptyingStatements that the last import left empty, so that the
// next one need not create them: creating and dropping a table costs as much as a small query.
type emptyTables struct {
	conn   any // the driver's connection that has them
	tables map[string]bool
}

// take reports whether a table of a connection exists and is empty. The caller may write to it, so
// the table is forgotten.
func (e *emptyTables) take(conn *sql.Conn, table string) bool {
	if !e.tables[table] || e.conn != driverOf(conn) {
		return false
	}
	delete(e.tables, table)
	return true
}

// driverOf returns the driver's connection; nil for a broken one.
func driverOf(conn *sql.Conn) (own any) {
	if conn.Raw(func(dc any) error { own = dc; return nil }) != nil {
		return nil
	}
	return own
}

// empty runs statements of emptyingStatements whose tables were not left empty.
func (j *fileImport) empty(names ...string) error {
	for _, name := range names {
		table := emptyingStatements[name]
		if j.emptied == nil {
			j.emptied = map[string]bool{}
		}
		j.emptied[table] = true
		if j.im.empty.take(j.conn, table) {
			continue
		}
		if err := j.exec(name); err != nil {
			return err
		}
	}
	return nil
}

// text returns a statement with its replacements. If it creates a table, cleanup drops that.
func (j *fileImport) text(name string, replace ...string) string {
	text := statements.Get(name, replace...)
	if rest, makes := strings.CutPrefix(text, "CREATE OR REPLACE TEMP TABLE "); makes {
		table := strings.FieldsFunc(rest, func(r rune) bool { return r == ' ' || r == '\n' })[0]
		if j.made == nil {
			j.made = map[string]bool{}
		}
		j.made[table] = true
	}
	return text
}

// cleanup frees the staged rows. The deltas stay until they are absorbed, and empty tables until
// the next import.
func (j *fileImport) cleanup() {
	ctx := context.WithoutCancel(j.ctx)
	left, err := j.leftEmpty(ctx)
	_, _ = j.conn.ExecContext(ctx, statements.Get("DropBatch")) // a poisoned connection is replaced anyway
	for _, name := range staging {
		if err != nil || !left[name] && (j.made[name] || j.emptied[name]) {
			_, _ = j.conn.ExecContext(ctx, statements.Get("DropStaged", "@table", name))
		}
	}
	j.im.empty = emptyTables{conn: driverOf(j.conn), tables: left}
}

// leftEmpty returns the tables of empty that are still empty.
func (j *fileImport) leftEmpty(ctx context.Context) (map[string]bool, error) {
	left, parts := map[string]bool{}, make([]string, 0, len(j.emptied))
	for _, table := range slices.Sorted(maps.Keys(j.emptied)) {
		left[table] = true
		parts = append(parts, statements.Get("HasRows", "@table", table))
	}
	if len(parts) == 0 || j.committed && j.onlyFills && !j.conditions && !j.names { // all are empty
		return left, nil
	}
	err := engine.EachValue(ctx, j.conn, strings.Join(parts, "\nUNION ALL\n"), func(table string) error {
		delete(left, table)
		return nil
	})
	if err != nil { // one of them does not exist, as after a transaction that was rolled back
		return nil, err
	}
	return left, nil
}
