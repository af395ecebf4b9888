package rollups

import (
	"cmp"
	"context"
	"database/sql"
	"errors"
	"fmt"
	"strconv"
	"strings"

	"pmx/data"
	"pmx/engine"
)

// A rebuild makes each rollup as a new table and commits it. Within one transaction, DuckDB 1.5 has no statistics of tables that
// were made there, scans them on one thread, and nothing else can be made beside. The last transaction drops the former
// tables and renames the new ones. Until then everybody reads the former ones, and whatever ends the rebuild leaves these as they were.

// newSuffix is that of the tables that a rebuild makes.
const newSuffix = "_new"

// newBase is the rollup as a rebuild makes it: its base is a new table. It has no delta.
func (t table) newBase() table {
	t.name += newSuffix
	return t
}

// makeNew makes the new base of a rollup, without rows, also if there is one that was given up.
func (t table) makeNew(ctx context.Context, conn *sql.Conn) error {
	definition, err := tableDefinition(ctx, conn, t.name)
	if err != nil {
		return err
	}
	_, columns, ok := strings.Cut(definition, "(")
	if !ok || !strings.HasPrefix(definition, "CREATE TABLE ") {
		return fmt.Errorf("the definition of %s is no table's: %s", t.name, definition)
	}
	for _, query := range []string{statements.Get("DropTable", "@table", t.newBase().name), "CREATE TABLE " + t.newBase().name + "(" + columns} {
		if _, err := conn.ExecContext(ctx, query); err != nil {
			return fmt.Errorf("make a new %s: %w", t.name, err)
		}
	}
	return nil
}

// takeNew puts the new base in the place of the base, and empties the delta.
func (t table) takeNew(ctx context.Context, conn *sql.Conn) error {
	if err := remake(ctx, conn, t.deltaTable()); err != nil {
		return err
	}
	for _, query := range []string{statements.Get("DropTable", "@table", t.name), statements.Get("RenameTable", "@table", t.newBase().name, "@name", t.name)} {
		if _, err := conn.ExecContext(ctx, query); err != nil {
			return fmt.Errorf("replace %s: %w", t.name, err)
		}
	}
	return nil
}

// storeNew stores the rows of chunks, in ascending order of keys, as the new base of rollup t.
func (b *rebuilder) storeNew(t table, chunks []chunk) error {
	return engine.InTx(b.ctx, b.conn, func() error {
		if err := t.makeNew(b.ctx, b.conn); err != nil {
			return err
		}
		for _, p := range chunks {
			if err := t.newBase().fill(b.ctx, b.conn, p.query); err != nil {
				return err
			}
		}
		return nil
	})
}

// errFactsChanged cannot happen while one connection writes.
var errFactsChanged = errors.New("there are other facts than when the rebuild began")

// finish replaces all rollups by the new ones, which hold so many facts.
func (b *rebuilder) finish(facts int64) error {
	return engine.InTx(b.ctx, b.conn, func() error {
		if now, err := FillCount(b.ctx, b.conn); err != nil || now != facts {
			return cmp.Or(err, errFactsChanged)
		}
		for _, t := range tables {
			if err := t.takeNew(b.ctx, b.conn); err != nil {
				return err
			}
		}
		b.suffix = "" // the new tables have their names
		if err := b.exec(statements.Get("FinishRebuild", "@to", strconv.FormatInt(b.asOf, 10))); err != nil {
			return err
		}
		for _, v := range verticals() {
			if v.rebuilt == nil {
				continue
			}
			if err := v.rebuilt(b); err != nil {
				return err
			}
		}
		return nil
	})
}

// DropUnfinished drops the tables of a rebuild that did not come to its end, and returns how many there were. Their blocks can be used again
// after a checkpoint. conn has no transaction.
func DropUnfinished(ctx context.Context, conn *sql.Conn) (dropped int, err error) {
	var names []string
	err = engine.EachValue(ctx, conn, statements.Get("TablesThatEndWith", "@suffix", newSuffix), func(name string) error {
		names = append(names, name)
		return nil
	})
	if err != nil {
		return 0, fmt.Errorf("TablesThatEndWith: %w", err)
	}
	for i, name := range names {
		if _, err := conn.ExecContext(ctx, statements.Get("DropTable", "@table", name)); err != nil {
			return i, fmt.Errorf("drop %s: %w", name, err)
		}
	}
	return len(names), nil
}

// rebuildDesk rebuilds the weather desk, which rollups depend on. If that changed it, the rollups are stale until they are rebuilt.
func rebuildDesk(ctx context.Context, conn *sql.Conn, cities *data.Gazetteer) error {
	d := &desk{ctx: ctx, conn: conn, cities: cities}
	return engine.InTx(ctx, conn, func() error {
		if err := d.rebuild(); err != nil || !d.changed {
			return err
		}
		return d.exec("MarkStale")
	})
}
