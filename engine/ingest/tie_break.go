package ingest

import (
	"cmp"
	"encoding/json"
	"time"

	"pmx/data"
)

// breakTie gives the larger value of every field of two records of the same
// version: any fixed choice will do that does not ask which came first. Lists
// are compared by their JSON text, as the database compares them.
func breakTie(a, b data.Market) (data.Market, error) {
	out := overlay(a, b)
	larger(&out.GammaID, a.GammaID)
	larger(&out.QuestionID, a.QuestionID)
	larger(&out.Question, a.Question)
	larger(&out.Slug, a.Slug)
	larger(&out.Description, a.Description)
	larger(&out.ResolutionSource, a.ResolutionSource)
	larger(&out.GroupItemTitle, a.GroupItemTitle)
	larger(&out.GroupItemThreshold, a.GroupItemThreshold)
	larger(&out.Icon, a.Icon)
	larger(&out.EventID, a.EventID)
	larger(&out.EventSlug, a.EventSlug)
	larger(&out.EventTitle, a.EventTitle)
	larger(&out.SeriesSlug, a.SeriesSlug)
	larger(&out.NegRiskMarketID, a.NegRiskMarketID)
	if rank := categoryRank(&a) - categoryRank(&b); a.Category != "" && (b.Category == "" || rank > 0 || rank == 0 && a.Category > b.Category) {
		out.Category, out.CategorySource = a.Category, a.CategorySource
	}
	for _, t := range []struct {
		dst *time.Time
		v   time.Time
	}{{&out.CreatedAt, a.CreatedAt}, {&out.StartAt, a.StartAt}, {&out.EndAt, a.EndAt}, {&out.ClosedAt, a.ClosedAt},
		{&out.GameStartAt, a.GameStartAt}} {
		if t.v.After(*t.dst) {
			*t.dst = t.v
		}
	}
	for _, f := range []struct{ dst, v **bool }{{&out.NegRisk, &a.NegRisk}, {&out.Active, &a.Active},
		{&out.Closed, &a.Closed}, {&out.AcceptingOrders, &a.AcceptingOrders}} {
		if *f.v != nil && **f.v {
			*f.dst = *f.v
		}
	}
	if a.ReportedVolume != nil && *a.ReportedVolume > *out.ReportedVolume {
		out.ReportedVolume = a.ReportedVolume
	}
	err := largerList(&out.Tags, a.Tags)
	if err == nil {
		err = largerList(&out.Outcomes, a.Outcomes)
	}
	if err == nil {
		err = largerList(&out.TokenIDs, a.TokenIDs)
	}
	if err == nil {
		err = largerList(&out.Prices, a.Prices)
	}
	return out, err
}

func larger[T cmp.Ordered](dst *T, v T) { *dst = max(*dst, v) }

// largerList takes the longer list: a file that was cut off knows fewer outcomes.
func largerList[T any](dst *[]T, v []T) error {
	if len(v) == 0 || len(v) < len(*dst) {
		return nil
	}
	if len(v) > len(*dst) {
		*dst = v
		return nil
	}
	mine, err := json.Marshal(*dst)
	if err != nil {
		return err
	}
	other, err := json.Marshal(v)
	if err == nil && string(other) > string(mine) {
		*dst = v
	}
	return err
}
