package rollups

import (
	"context"
	"database/sql"
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// Published are rollups that another engine computed from facts.
type Published struct {
	AsOf     int64          // of the newest fill, unix µs
	WhaleMin int64          // millionths
	Days     []PublishedDay // the sums of each day's facts
	// Rows gives a query of a rollup's rows, in which wallets, tokens and markets have their names; ""
	// if it was not published.
	Rows func(table string) string
	// Tables are the published ones, including those without rows.
	Tables []string
}

// PublishedDay is what the fills of a day add up to.
type PublishedDay struct {
	Day                            int64 // since 1970
	Fills, BuyUSD, SellUSD, FeeUSD int64
}

// Names of all rollups.
func Names() (names []string) {
	for _, t := range tables {
		names = append(names, t.name)
	}
	return names
}

// Keys are the columns of a rollup's key, by which the rows of most bases are sorted; nil if there is no such rollup.
func Keys(name string) []string {
	for _, t := range tables {
		if t.name == name {
			return slices.Clone(t.keys)
		}
	}
	return nil
}

// Against compares published rollups with those of the database: all columns, row by row, in both
// directions. Published keys are names, the database's are numbers.
func Against(ctx context.Context, conn *sql.Conn, p Published, step func(name string, done, of int)) (checks []Check, err error) {
	var asOf, whale int64
	var stale bool
	if err := conn.QueryRowContext(ctx, statements.Get("PublishedHead")).Scan(&asOf, &stale, &whale); err != nil {
		return nil, err
	}
	checks = append(checks, Check{Name: "rollups_current", OK: !stale, Detail: "the rollups lack some of the facts: run pmx rebuild"},
		Check{Name: "same_as_of", OK: asOf == p.AsOf, Rows: 1, Bad: abs01(asOf != p.AsOf), Detail: "the published rollups were computed from other facts than those of the database"},
		Check{Name: "same_whale_rule", OK: whale == p.WhaleMin, Rows: 1, Bad: abs01(whale != p.WhaleMin), Detail: "the database has another minimum for whale moves"})
	for i, t := range tables {
		if step != nil {
			step("against_"+t.name, i, len(tables)+1)
		}
		c, err := against(ctx, conn, t, p)
		if err != nil {
			return nil, fmt.Errorf("against %s: %w", t.name, err)
		}
		checks = append(checks, c)
	}
	days, err := publishedDays(ctx, conn, p)
	return append(checks, days), err
}

func abs01(is bool) int64 {
	if is {
		return 1
	}
	return 0
}

func against(ctx context.Context, conn *sql.Conn, t table, p Published) (c Check, err error) {
	c = Check{Name: "against_" + t.name, Detail: "what was published differs from the database"}
	published := p.Rows(t.name)
	if published == "" && slices.Contains(p.Tables, t.name) {
		published = t.noRows()
	}
	if published == "" {
		c.Detail = "was not published"
		return c, nil
	}
	theirs, ours := t.published(published), t.merged("")
	if t.name == "event_wallets" {
		byEvent := func(rows string) string {
			return statements.Get("ByEvent", "@rows", rows, "@events", marketEvents("true"))
		}
		theirs, ours = byEvent(theirs), byEvent(ours)
	}
	kept := "published_" + t.name
	exec := func(query string) {
		if err == nil {
			_, err = conn.ExecContext(ctx, query)
		}
	}
	exec(statements.Get("KeepRows", "@table", kept, "@rows", t.counting(theirs)))
	if err == nil {
		query := statements.Get("CompareRows", "@columns", t.columnList(), "@merged", ours, "@rebuilt", t.rows(kept))
		err = conn.QueryRowContext(ctx, query).Scan(&c.Rows, &c.Bad)
	}
	exec(statements.Get("DropTable", "@table", kept))
	c.OK = err == nil && c.Bad == 0
	return c, err
}

// noRows is a query that gives no published rows: a rollup without rows may have no file.
func (t table) noRows() string {
	columns := slices.Clone(t.columns())
	for i, column := range columns {
		if slices.Contains([]string{"wallet", "token", "market", "tx"}, column) {
			columns[i] = "NULL::VARCHAR AS " + column
		} else {
			columns[i] = "NULL::BIGINT AS " + column
		}
	}
	return statements.Get("NoRows", "@columns", strings.Join(columns, ", "))
}

// published turns rows with names into rows of the rollup.
func (t table) published(rows string) string {
	columns, joins := slices.Clone(t.columns()), ""
	for i, column := range columns {
		switch column {
		case "wallet":
			columns[i], joins = "w.wallet", joins+" "+statements.Get("WalletOfName")
		case "token":
			columns[i], joins = "t.token", joins+" "+statements.Get("TokenOfName")
		case "market":
			columns[i], joins = "m.market", joins+" "+statements.Get("MarketOfName")
		case "tx":
			columns[i] = "unhex(substr(p.tx, 3)) AS tx"
		default:
			columns[i] = "p." + column
		}
	}
	return statements.Get("PublishedRows", "@columns", strings.Join(columns, ", "), "@published", rows, "@joins", joins)
}

// publishedDays compares the days of wallets with the sums of each day's facts.
func publishedDays(ctx context.Context, conn *sql.Conn, p Published) (c Check, err error) {
	c = Check{Name: "sums_of_days", Detail: "a day of wallets does not add up to the facts of that day"}
	var days []string
	for _, d := range p.Days {
		row := []string{strconv.FormatInt(d.Day, 10)}
		for _, n := range []int64{d.Fills, d.BuyUSD, d.SellUSD, d.FeeUSD} {
			row = append(row, strconv.FormatInt(n, 10))
		}
		days = append(days, "("+strings.Join(row, ", ")+")")
	}
	if rows := p.Rows("wallet_day"); rows != "" && len(days) > 0 {
		err = conn.QueryRowContext(ctx, statements.Get("PublishedDays", "@days", strings.Join(days, ", "), "@wallet_day", rows)).Scan(&c.Rows, &c.Bad)
		c.OK = err == nil && c.Bad == 0
	}
	return c, err
}
