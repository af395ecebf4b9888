package cluster

import (
	"errors"
	"fmt"
	"io/fs"
	"time"

	"pmx/engine/export"
	"pmx/rollups"
)

// Rollups is the manifest of what an engine computed from a lake.
type Rollups struct {
	Generator  string            `json:"generator"`
	Kind       string            `json:"kind"`
	Engine     string            `json:"engine"`
	Lake       string            `json:"lake"`       // SHA-256 of the manifest of the lake
	Statements string            `json:"statements"` // Fingerprint of what was run
	Method     string            `json:"method"`
	AsOf       int64             `json:"as_of"` // of the newest fill, unix µs
	WhaleMin   int64             `json:"whale_min_usd"`
	Facts      []export.LakeFile `json:"facts"`  // the fills of the lake by day
	Tables     []string          `json:"tables"` // all rollups, including those without rows
	Files      []export.LakeFile `json:"files"`  // Dataset is the rollup's name

	id string
}

// ID is the SHA-256 of the manifest.
func (m *Rollups) ID() string { return m.id }

const rollupsKind = "rollups"

// ReadRollups returns the manifest that CURRENT names. It refuses rollups that follow other
// definitions than this program's.
func ReadRollups(dir string) (*Rollups, error) {
	m := &Rollups{}
	id, err := readManifest(dir, m)
	if errors.Is(err, fs.ErrNotExist) && id == "" {
		return nil, fmt.Errorf("%s has no %s: it is not a folder of published rollups, or writing it was not finished", dir, CurrentName)
	}
	if err != nil {
		return nil, err
	}
	if m.Generator != generator || m.Kind != rollupsKind {
		return nil, fmt.Errorf("%s has no rollups of pmx", dir)
	}
	ours, err := Fingerprint()
	if err != nil {
		return nil, err
	}
	if m.Statements != ours || m.Method != export.Method {
		return nil, fmt.Errorf("the rollups in %s follow other definitions than this version of pmx: compute them with its rollups/cluster", dir)
	}
	m.id = id
	return m, checkNames(dir, m.Files)
}

// Days returns the manifest's sums of the fills of each day.
func Days(files []export.LakeFile) (days []rollups.PublishedDay) {
	for _, f := range files {
		date, err := time.Parse(time.DateOnly, f.Day)
		if err != nil || f.Sums == nil {
			continue
		}
		days = append(days, rollups.PublishedDay{Day: date.Unix() / 86_400, Fills: f.Rows, BuyUSD: f.Sums.BuyUSD, SellUSD: f.Sums.SellUSD, FeeUSD: f.Sums.FeeUSD})
	}
	return days
}
