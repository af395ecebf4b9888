package main

import (
	"context"
	"encoding/json"
	"fmt"
	"time"

	"pmx/data/sample"
)

// SampleCmd writes a synthetic venue.
type SampleCmd struct {
	Fills int64     `help:"Number of fills." default:"200000"`
	Seed  uint64    `help:"Seed of the generator; each seed gives a different venue." default:"0"`
	End   time.Time `help:"Time of the newest data, RFC 3339." placeholder:"TIME"`
	Days  int       `help:"Days of trading, 7 to 2000; 0 chooses by the number of fills: 30 to 400." default:"0" placeholder:"N"`
	Out   string    `help:"Folder to write into; created if it does not exist." required:"" type:"path" placeholder:"DIR"`
	Chain bool      `help:"Generate the venue as it would be on the chain, as pmx replay does: block times, the exchange contract of each day, protocol V2."`
	JSON  bool      `help:"End with the manifest as one JSON object."`
}

// Help is the longer help.
func (SampleCmd) Help() string {
	return `Writes fills in the format of poly_data's orderFilled.csv, events in Gamma's, and weather in those of
Open-Meteo, airport reports and climate records. The same flags give the same bytes on every machine. A manifest
states the totals that an import must reach. The defaults give the bundled venue.

  pmx sample --fills 10000000 --out /tmp/venue && pmx import /tmp/venue`
}

// Run writes the venue.
func (c *SampleCmd) Run(ctx context.Context, std stdio) error {
	if c.Fills == 0 { // which would mean the default
		return wrong("fills", " 0: at least 2 make a match")
	}
	m := newProgressBar(std, c.JSON)
	began := time.Now()
	man, err := sample.Write(ctx, sample.Config{Fills: c.Fills, Seed: c.Seed, End: c.End, Days: c.Days, Chain: c.Chain}, c.Out, func(done int64) {
		m.show("writing fills", float64(done)/float64(max(c.Fills, 1)), "")
	})
	m.clear()
	if err != nil {
		return err
	}
	if c.JSON {
		return json.NewEncoder(std.out).Encode(man)
	}
	_, err = fmt.Fprintf(std.out, "%s: %s of %s in %s, %s … %s, %.1f s\n", c.Out, count(man.Fills, "fill"),
		count(man.Wallets, "wallet"), count(man.Markets, "market"), man.Start.Format(time.DateOnly), man.End.Format(time.DateOnly),
		time.Since(began).Seconds())
	return err
}
