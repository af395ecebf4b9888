package rollups

import (
	"database/sql/driver"
	"fmt"
	"time"

	"pmx/engine"
	"pmx/rollups/weather"
)

// leadVertical keeps the forecasts that sources are scored by. They are rebuilt with the desk,
// whose cities determine the local date.
func leadVertical() vertical {
	return vertical{
		after: func(m *merge) error {
			if m.issued == 0 {
				return nil
			}
			return (&desk{ctx: m.ctx, conn: m.conn, cities: m.cities}).followLeads()
		},
		check: leadCheck,
	}
}

// calendar makes n_calendar: the local days on which the forecasts of a table were given. It
// reports whether there are any.
func (d *desk) calendar(issue string) (bool, error) {
	var rows [][]driver.Value
	type issuedRow struct {
		City  string `sql:"city"`
		First int64  `sql:"first_ts"`
		Last  int64  `sql:"last_ts"`
	}
	err := eachRow(statements.Get("LeadIssued", "@issue", issue), func(row *issuedRow) {
		if c, ok := d.gazetteer().City(row.City); ok {
			first, last := c.DateOf(time.UnixMicro(row.First)), c.DateOf(time.UnixMicro(row.Last))
			for day := first; day <= last; day++ {
				start, _ := c.Day(day)
				rows = append(rows, []driver.Value{c.Slug, int32(day), start.UnixMicro(), weather.Noon(c, day).UnixMicro()})
			}
		}
	})(d.ctx, d.conn)
	if err != nil || len(rows) == 0 {
		return false, err
	}
	if err := d.exec("LeadCalendarEmpty"); err != nil {
		return false, err
	}
	return true, engine.AppendTemp(d.conn, "n_calendar", len(rows), func(i int) []driver.Value { return rows[i] })
}

func leadsOf(issue string) string { return statements.Get("Leads", "@issue", issue) }

// followLeads adds the new forecasts of a batch.
func (d *desk) followLeads() error {
	if any, err := d.calendar("n_issue"); err != nil || !any {
		return err
	}
	if err := d.exec("LeadBatch", "@leads", leadsOf("n_issue")); err != nil {
		return err
	}
	if err := d.exec("LeadReplace"); err != nil {
		return err
	}
	return d.exec("LeadAdd")
}

// rebuildLeads recomputes the leads of every forecast.
func (d *desk) rebuildLeads() error {
	if err := d.exec("LeadForget"); err != nil {
		return err
	}
	if any, err := d.calendar("weather_issue"); err != nil || !any {
		return err
	}
	return d.exec("LeadAll", "@leads", leadsOf("weather_issue"))
}

// leadCheck verifies that the kept forecasts are those that follow from all forecasts.
func leadCheck(v *verifier) (Check, error) {
	c := Check{Name: "weather_leads"}
	d := &desk{ctx: v.ctx, conn: v.conn, cities: v.cities}
	any, err := d.calendar("weather_issue")
	if err != nil {
		return c, err
	}
	if !any {
		if err := d.exec("LeadCalendarEmpty"); err != nil {
			return c, err
		}
	}
	err = v.conn.QueryRowContext(v.ctx, statements.Get("LeadCheck", "@leads", leadsOf("weather_issue"))).Scan(&c.Rows, &c.Bad)
	if err != nil {
		return c, fmt.Errorf("LeadCheck: %w", err)
	}
	if c.OK = c.Bad == 0; !c.OK {
		c.Detail = "the forecasts that sources are scored by differ from those that follow from all: run pmx rebuild"
	}
	return c, nil
}
