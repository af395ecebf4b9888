package cluster

import (
	"strings"
	"testing"

	"pmx/engine/export"
)

// A server reads a wallet's fills from one shard: a manifest that has none for it, or several, is
// refused.
func TestShardsAreOfDifferentWallets(t *testing.T) {
	for _, c := range []struct {
		name     string
		prefixes []string
		rows     int64
		why      string
	}{
		{"all wallets", []string{"0x"}, 6, ""},
		{"a digit; nobody has another", []string{"0x0", "0x3", "0xf"}, 2, ""},
		{"two digits", []string{"0x3a", "0x3b"}, 3, ""},
		{"none", []string{""}, 6, `with "", which is not 0x`},
		{"none for one of them", []string{"0x3", ""}, 3, `with "", which is not 0x`},
		{"too many digits", []string{"0x3ab"}, 6, "which is not 0x"},
		{"capitals", []string{"0xA"}, 6, "which is not 0x"},
		{"no digit", []string{"0xg"}, 6, "which is not 0x"},
		{"twice", []string{"0x3", "0x4", "0x3"}, 2, "shards 0x3 and shards 0x3 overlap: both have wallets"},
		{"two lengths", []string{"0x3", "0x3b"}, 3, "shards 0x3 and shards 0x3b overlap: both have wallets"},
		{"by token", []string{"t"}, 6, ""},
		{"by token and by wallet", []string{"0x", "t"}, 6, ""},
		{"by a digit of the token", []string{"t0", "t7"}, 3, ""},
		{"too many digits of the token", []string{"t123"}, 6, `with "123", which is not 2 digits at most`},
		{"no digit of a token", []string{"ta"}, 6, "which is not 2 digits"},
		{"two lengths of tokens", []string{"t3", "t34"}, 3, "shards t3 and shards t34 overlap: both have tokens"},
		{"a shard by token less", []string{"0x", "t"}, 5, "of the days from 2026-01-11 on differ from these days: they have -1 more fills"},
		{"a shard less", []string{"0x3", "0x4"}, 2, "of the days from 2026-01-11 on differ from these days: they have -2 more fills"},
	} {
		m := &Lake{Generator: generator, Kind: lakeKind, Files: []export.LakeFile{
			{Name: "a", Dataset: "fills", Day: "2026-01-11", Rows: 4, Sums: &export.LakeSums{}},
			{Name: "b", Dataset: "fills", Day: "2026-01-26", Rows: 2, Sums: &export.LakeSums{}},
			{Name: "c", Dataset: "fills", Day: "2026-01-27", Rows: 9, Sums: &export.LakeSums{}},
		}}
		for _, p := range c.prefixes {
			f := export.LakeFile{Name: "shards " + p, Dataset: "shards", From: "2026-01-11", Prefix: p, Rows: c.rows}
			if suffix, ok := strings.CutPrefix(p, "t"); ok {
				f.Dataset, f.Prefix, f.Suffix = export.TokenShards, "", suffix
			}
			m.Files = append(m.Files, f)
		}
		err := m.check("lake")
		if err == nil && c.why != "" || err != nil && (c.why == "" || !strings.Contains(err.Error(), c.why)) {
			t.Errorf("%s: %v", c.name, err)
		}
		if blocks, err := m.Blocks(); err == nil && (len(blocks) != 1 || len(blocks[20_464].Wallets)+len(blocks[20_464].Tokens) != len(c.prefixes)) {
			t.Errorf("%s: blocks = %v", c.name, blocks)
		}
	}
}
