package main

import (
	"context"
	"encoding/json"
	"fmt"
	"time"

	"pmx/data/sample"
)

// SampleCmd writes a made-up venue.
type SampleCmd struct {
	Fills int64     `help:"How many fills." default:"200000"`
	Seed  uint64    `help:"Another seed gives another venue of the same size." default:"0"`
	End   time.Time `help:"The venue's present, RFC 3339." placeholder:"TIME"`
	Out   string    `help:"Folder to write into; it is made where it is missing." required:"" type:"path" placeholder:"DIR"`
	JSON  bool      `help:"End with the manifest as one JSON object."`
}

// Help is the longer help.
func (SampleCmd) Help() string {
	return `Writes fills in poly_data's orderFilled shape, events in Gamma's, and the weather of the desk's cities as
Open-Meteo, airports and climate records would give it: the same bytes for the same numbers on every machine,
with a manifest of what an import must come to. The bundled venue is the default.

  pmx sample --fills 10000000 --out /tmp/venue && pmx import /tmp/venue`
}

// Run writes the venue.
func (c *SampleCmd) Run(ctx context.Context, std stdio) error {
	m := newProgressBar(std, c.JSON)
	began := time.Now()
	man, err := sample.Write(ctx, sample.Config{Fills: c.Fills, Seed: c.Seed, End: c.End}, c.Out, func(done int64) {
		m.show("writing fills", float64(done)/float64(max(c.Fills, 1)), "")
	})
	m.clear()
	if err != nil {
		return err
	}
	if c.JSON {
		return json.NewEncoder(std.out).Encode(man)
	}
	_, err = fmt.Fprintf(std.out, "%s: %s fills of %s wallets in %s markets, %s … %s, %.1f s\n", c.Out, thousands(man.Fills),
		thousands(man.Wallets), thousands(man.Markets), man.Start.Format(time.DateOnly), man.End.Format(time.DateOnly),
		time.Since(began).Seconds())
	return err
}
