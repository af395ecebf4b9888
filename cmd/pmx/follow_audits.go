package main

import (
	"fmt"
	"io"
	"time"

	"pmx/rollups/follow"
	"pmx/rollups/keeper"
	"pmx/rollups/serving"
)

// auditsLane compares the imported fills with the venue's own counts, if the chain is followed.
const auditsLane = "audits"

// addAudits adds the comparison of the chain's fills with the venue's counts.
func (f *followFlags) addAudits(to *follower, k *keeper.Keeper) error {
	host, err := f.data(to)
	if err != nil {
		return err
	}
	counts := host.Caller()
	to.tells.Asks(auditsLane, counts)
	to.audits = follow.NewAudits(follow.AuditOptions{Venue: k, Chain: to.chain, Data: counts, Markets: to.markets != nil, Log: to.log})
	to.lanes = append(to.lanes, lane{auditsLane, to.audits.Run, nil})
	to.tells.Add(func() []serving.Source { s := to.audits.Status(); return []serving.Source{s.Tell()} })
	return nil
}

// printAudits writes the row of the audits.
func printAudits(w io.Writer, a *follow.AuditStatus) {
	if a == nil {
		return
	}
	upTo := "nothing compared yet"
	if !a.Until.IsZero() {
		upTo = a.Until.Format(time.RFC3339)
	}
	differ := a.Stale + a.Unmapped + a.StillOpen + int64(a.Waiting)
	_, _ = fmt.Fprintf(w, "audits\t%s\t%s\t\t%s\t%s mended\t%d\t%s\n", a.Phase, upTo, count(int64(a.Waiting), "transaction"), count(a.Fills, "fill"), differ, visible(a.Error, ""))
}

// printDifferences writes the differences that the audits found, with details for the last day.
func printDifferences(w io.Writer, a *follow.AuditStatus) {
	if a == nil {
		return
	}
	for _, p := range a.Problems() {
		_, _ = fmt.Fprintf(w, "audits: %s\n", p)
	}
	if d := a.Last; d != nil {
		_, _ = fmt.Fprintf(w, "audits: of %s, %d markets of %d events: %d counts differ, %d compared trade by trade; %d transactions only the venue had, %d only we have, %d have different fills\n",
			d.Start.Format(time.DateOnly), d.Conditions, d.Events, d.Differ, d.Scanned, d.VenueOnly, d.OursOnly, d.Others)
	}
	for _, d := range a.List {
		if d.Kind == follow.OursOnly || d.Gone {
			continue
		}
		_, _ = fmt.Fprintf(w, "  %s %s at %s: %d fills of %s tokens at the venue, %d of %s here\n", d.Kind, d.Tx, atOrNever(d.At), d.VenueFills, d.VenueShares, d.OurFills, d.OurShares)
	}
}
