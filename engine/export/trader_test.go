package export_test

import (
	"archive/zip"
	"context"
	"encoding/json"
	"errors"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/parquet-go/parquet-go/format"

	"pmx/data"
	"pmx/data/testfiles"
	"pmx/engine/export"
	"pmx/engine/export/job"
	"pmx/rollups/keeper"
)

// busiest returns the n wallets with the most fills.
func busiest(t testing.TB, k *keeper.Keeper, n string) (wallets []data.Address) {
	t.Helper()
	for _, row := range query(t, k, `SELECT '0x' || lower(hex(w.address)) AS address FROM fills AS f JOIN wallets AS w ON w.wallet = f.wallet
GROUP BY address ORDER BY count(*) DESC, address LIMIT `+n) {
		a, err := data.ParseAddress(row["address"])
		if err != nil {
			t.Fatal(err)
		}
		wallets = append(wallets, a)
	}
	return wallets
}

// archive is an unpacked zip.
type archive struct {
	file     job.Result
	paths    map[string]string // by name in the zip
	manifest struct {
		Address, Format, Method, Generator, Kind string
		AsOf                                     string `json:"as_of"`
		SchemaVersion                            string `json:"schema_version"`
		HistoryDays                              *int   `json:"history_days"`
		Truncated                                bool
		Files                                    []struct {
			Name, SHA256 string
			Rows, Bytes  int64
		}
	}
}

func unpacked(t testing.TB, k *keeper.Keeper, e export.Exporter, wallet data.Address, format data.Format, days int) archive {
	t.Helper()
	dir, err := os.MkdirTemp(k.DB().Dir().Tmp(), "zip-*")
	if err != nil {
		t.Fatal(err)
	}
	e.DB = k.DB()
	a := archive{paths: map[string]string{}}
	path := filepath.Join(dir, "trader.zip")
	if a.file, err = e.WriteTrader(context.Background(), wallet, format, days, path, nil); err != nil {
		t.Fatal(err)
	}
	z, err := zip.OpenReader(path)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = z.Close() }()
	for _, f := range z.File {
		in, err := f.Open()
		if err != nil {
			t.Fatal(err)
		}
		text, err := io.ReadAll(in)
		if err != nil {
			t.Fatal(err)
		}
		a.paths[f.Name] = filepath.Join(dir, f.Name)
		if err := os.WriteFile(a.paths[f.Name], text, 0o600); err != nil {
			t.Fatal(err)
		}
		if f.Name == "manifest.json" {
			d := json.NewDecoder(strings.NewReader(string(text)))
			d.DisallowUnknownFields()
			if err := d.Decode(&a.manifest); err != nil {
				t.Fatal(err)
			}
		}
	}
	return a
}

var traderFiles = []string{"stats", "daily", "markets", "positions", "trades"}

// The zips of both formats have the same rows, and a manifest of their contents.
func TestTraderExport(t *testing.T) {
	k := readSample(t)
	for _, wallet := range busiest(t, k, strconv.Itoa(testfiles.Cases(1, 3))) {
		parquet, csv := unpacked(t, k, export.Exporter{}, wallet, data.Parquet, 0), unpacked(t, k, export.Exporter{}, wallet, data.CSV, 0)
		for i, name := range traderFiles {
			rows, file := readParquet(t, parquet.paths[name+".parquet"])
			lines := readCSV(t, csv.paths[name+".csv"])
			if len(rows) == 0 || len(rows) != len(lines) || int64(len(rows)) != parquet.manifest.Files[i].Rows {
				t.Fatalf("%s has %d rows of Parquet, %d of CSV, %d by the manifest", name, len(rows), len(lines), parquet.manifest.Files[i].Rows)
			}
			for n := range rows {
				for column, want := range rows[n] {
					if got := asParquet(lines[n][column]); got != want {
						t.Fatalf("%s row %d: %s is %q in CSV and %q in Parquet", name, n, column, got, want)
					}
				}
			}
			if kv := file.Metadata().KeyValueMetadata; !slices.ContainsFunc(kv, func(p format.KeyValue) bool { return p.Key == "dataset" && p.Value == name }) {
				t.Errorf("metadata of %s: %v", name, kv)
			}
		}
		m := parquet.manifest
		if m.Address != wallet.String() || m.Format != "parquet" || m.Kind != "trader" || m.Method != "cash_basis_v3" || m.HistoryDays != nil || m.Truncated ||
			m.AsOf != k.Snapshot().AsOf.UTC().Format("2006-01-02T15:04:05Z") {
			t.Errorf("the manifest says %+v", m)
		}
		again := unpacked(t, k, export.Exporter{}, wallet, data.Parquet, 0)
		if again.file.SHA256 != parquet.file.SHA256 {
			t.Error("two zips of the same data differ")
		}
	}
}

// Every column of every file has its meaning in README.md, which has no others, and in the metadata
// of Parquet.
func TestTraderExportSaysWhatColumnsMean(t *testing.T) {
	k := readSample(t)
	wallet := busiest(t, k, "1")[0]
	for _, f := range []data.Format{data.Parquet, data.CSV} {
		a := unpacked(t, k, export.Exporter{}, wallet, f, 0)
		text, err := os.ReadFile(a.paths["README.md"])
		if err != nil {
			t.Fatal(err)
		}
		said := map[string][]string{}
		name := ""
		for line := range strings.Lines(string(text)) {
			if heading, ok := strings.CutPrefix(line, "## "); ok {
				name = strings.TrimSpace(heading)
			} else if cells := strings.Split(line, " | "); len(cells) == 3 && cells[0] != "| column" && len(cells[2]) > 5 {
				said[name] = append(said[name], strings.TrimPrefix(cells[0], "| "))
			}
		}
		for _, table := range traderFiles {
			file := table + "." + string(f)
			if f == data.CSV {
				table, err := os.ReadFile(a.paths[file])
				if err != nil {
					t.Fatal(err)
				}
				head, _, _ := strings.Cut(string(table), "\r\n")
				if got := strings.Join(said[file], ","); got != head {
					t.Errorf("%s has %s and README.md says %s", file, head, got)
				}
				continue
			}
			_, parquet := readParquet(t, a.paths[file])
			for _, column := range said[file] {
				if kv := parquet.Metadata().KeyValueMetadata; !slices.ContainsFunc(kv, func(p format.KeyValue) bool { return p.Key == "column."+column && p.Value != "" }) {
					t.Errorf("%s does not say what %s means", file, column)
				}
			}
			if len(said[file]) == 0 {
				t.Errorf("README.md does not mention %s", file)
			}
		}
	}
}

// The wallet's file of trades adds up to its stats, and so do days and markets.
func TestTraderFilesAddUp(t *testing.T) {
	k := readSample(t)
	for _, wallet := range busiest(t, k, strconv.Itoa(testfiles.Cases(2, 5))) {
		a := unpacked(t, k, export.Exporter{}, wallet, data.CSV, 0)
		stats := readCSV(t, a.paths["stats.csv"])[0]
		sums := map[string]data.Micro{}
		for _, name := range []string{"daily", "markets"} {
			for _, row := range readCSV(t, a.paths[name+".csv"]) {
				for _, column := range []string{"volume", "net_cash", "redemption_value", "real_pnl", "buy_volume_usd"} {
					sums[name+column] += micro(t, row[column])
				}
			}
		}
		for _, row := range readCSV(t, a.paths["trades.csv"]) {
			sums["trades"] += data.One
			sums["usd"] += micro(t, row["usd"])
		}
		for sum, want := range map[string]string{"trades": "trades", "usd": "volume", "dailyvolume": "volume", "dailynet_cash": "net_cash",
			"marketsvolume": "volume", "marketsnet_cash": "net_cash", "marketsredemption_value": "redemption_value",
			"marketsreal_pnl": "real_pnl", "marketsbuy_volume_usd": "buy_volume_usd"} {
			if got := sums[sum]; got != micro(t, stats[want]) {
				t.Errorf("%s: %s: sum %s, stats %s", wallet, sum, got, stats[want])
			}
		}
	}
}

func micro(t testing.TB, text string) data.Micro {
	t.Helper()
	m, err := data.ParseMicro(text)
	if err != nil {
		t.Fatal(err)
	}
	return m
}

// The history limit and the maximum number of rows leave out days and trades, never lifetime
// figures, and the running total includes what was left out.
func TestTraderExportIsCutToThePlan(t *testing.T) {
	k := readSample(t)
	wallet := busiest(t, k, "1")[0]
	all, cut := unpacked(t, k, export.Exporter{}, wallet, data.CSV, 0), unpacked(t, k, export.Exporter{}, wallet, data.CSV, 7)
	if !cut.file.Truncated || !cut.manifest.Truncated || *cut.manifest.HistoryDays != 7 || all.file.Truncated {
		t.Errorf("truncated: %v, manifest %+v", cut.file.Truncated, cut.manifest)
	}
	for _, name := range []string{"stats.csv", "markets.csv", "positions.csv"} {
		a, errA := os.ReadFile(all.paths[name])
		b, errB := os.ReadFile(cut.paths[name])
		if errA != nil || errB != nil || string(a) != string(b) {
			t.Errorf("%s was cut: %v %v", name, errA, errB)
		}
	}
	since := k.Snapshot().AsOf.AddDate(0, 0, -7).UTC().Format("2006-01-02T15:04:05.000000Z")
	whole, part := readCSV(t, all.paths["trades.csv"]), readCSV(t, cut.paths["trades.csv"])
	if len(part) == 0 || len(part) >= len(whole) || part[len(part)-1]["ts"] < since || whole[len(part)]["ts"] >= since {
		t.Errorf("%d of %d trades since %s", len(part), len(whole), since)
	}
	days, shown := readCSV(t, all.paths["daily.csv"]), readCSV(t, cut.paths["daily.csv"])
	if len(shown) == 0 || len(shown) >= len(days) || shown[0]["cumulative_pnl"] != days[len(days)-len(shown)]["cumulative_pnl"] {
		t.Errorf("%d of %d days, the first: %v", len(shown), len(days), shown[0])
	}
	few := unpacked(t, k, export.Exporter{MaxRows: 3}, wallet, data.CSV, 0)
	if rows := readCSV(t, few.paths["trades.csv"]); !few.file.Truncated || len(rows) != 3 || rows[2]["ts"] != whole[2]["ts"] {
		t.Errorf("capped at 3: %v", rows)
	}
}

func TestTraderExportOfNobody(t *testing.T) {
	k := open(t, 1)
	e := export.Exporter{DB: k.DB()}
	path := filepath.Join(k.DB().Dir().Exports(), "a.zip")
	if _, err := e.WriteTrader(t.Context(), data.Address{1}, data.CSV, 0, path, nil); !errors.Is(err, export.ErrNoTrader) {
		t.Errorf("the error is %v", err)
	}
	if left, err := os.ReadDir(k.DB().Dir().Exports()); err != nil || len(left) > 0 {
		t.Errorf("left over: %v %v", left, err)
	}
}

// Only the day that contains as_of is partial.
func TestTraderDaysSayWhichIsPartial(t *testing.T) {
	k := readSample(t)
	today := k.Snapshot().AsOf.UTC().Format("2006-01-02")
	partial := 0
	for _, wallet := range busiest(t, k, "3") {
		for _, row := range readCSV(t, unpacked(t, k, export.Exporter{}, wallet, data.CSV, 0).paths["daily.csv"]) {
			if row["is_partial"] != strconv.FormatBool(row["date"] == today) {
				t.Errorf("%s of %s: is_partial = %q, as_of is on %s", row["date"], wallet, row["is_partial"], today)
			}
			if row["date"] == today {
				partial++
			}
		}
	}
	if partial == 0 {
		t.Error("none of the wallets did anything today: this test has nothing to find")
	}
}
