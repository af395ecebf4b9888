package ingest_test

import (
	"bytes"
	"compress/gzip"
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"pmx/engine/ingest"
)

// pressed returns content compressed with gzip.
func pressed(t *testing.T, content string) string {
	t.Helper()
	var b bytes.Buffer
	w := gzip.NewWriter(&b)
	if _, err := w.Write([]byte(content)); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

// TestAReplacedFileIsReadAsPlannedOrRefused replaces a planned file. A file of the same feed is
// imported; any other is refused.
func TestAReplacedFileIsReadAsPlannedOrRefused(t *testing.T) {
	v := open(t)
	trades, blocks := v.table(tableCases["jonbecker-trades"]), v.table(tableCases["jonbecker-blocks"])
	wide := strings.Replace(tableCases["jonbecker-trades"], "400000 AS maker_amount", "'400000' AS maker_amount, 1 AS fee", 1)
	fill := func(role string) string {
		return "2026-03-01T10:00:00Z," + addressA + ",71,BUY,10,2,0," + role + ",,,,,\n"
	}
	fills := lineCase{file: "canonical-1/fills.csv"}.content(t)
	header, _, _ := strings.Cut(fills, "\n")
	header += "\n"
	list := "question,winner,token\n"
	for name, c := range map[string]struct {
		file, as     string
		planned, now string
		gone         bool
		rows         int64  // rows read, if it is imported
		refused      string // why it is refused
	}{
		"as it was":            {file: "f.csv", planned: header + fill("taker"), now: header + fill("taker"), rows: 1},
		"longer":               {file: "f.csv", planned: header + fill("taker"), now: header + fill("taker") + fill("maker"), rows: 2},
		"another order":        {file: "f.csv", planned: header + fill("taker"), now: "token,wallet,side,shares,usd,ts\n71," + addressA + ",BUY,10,2,2026-03-01T10:00:00Z\n", rows: 1},
		"compressed by now":    {file: "f.csv", planned: header + fill("taker"), now: pressed(t, header+fill("taker")), rows: 1},
		"compressed before":    {file: "f.csv.gz", planned: pressed(t, header+fill("taker")), now: header + fill("taker"), rows: 1},
		"other columns":        {file: "t.parquet", planned: trades, now: v.table(wide), rows: 2},
		"another feed":         {file: "f.csv", planned: header + fill("taker"), now: mappedHeader + hashOne + `,Q?,[],[],"[""1:72"",""0:71""]"` + "\n", refused: "it is not a file of pmx-fills: it has the shape of pmx-markets"},
		"another feed, Go":     {file: "m.csv", planned: mappedHeader + hashOne + `,Q?,[],[],"[""1:72"",""0:71""]"` + "\n", now: header + fill("taker"), refused: "it is not a file of pmx-markets: it has the shape of pmx-fills"},
		"no known feed":        {file: "f.csv", planned: header + fill("taker"), now: list, refused: "the file is no longer recognised as pmx-fills"},
		"another format":       {file: "f.csv", planned: header + fill("taker"), now: lineCase{file: "canonical-1/fills.ndjson"}.content(t), refused: "it was csv and is ndjson"},
		"empty":                {file: "f.csv", planned: header + fill("taker"), now: "", refused: "the file is no longer recognised as pmx-fills"},
		"an archive":           {file: "f.csv", planned: header + fill("taker"), now: "PK\x03\x04", refused: "this is a zip archive"},
		"another Parquet feed": {file: "t.parquet", planned: trades, now: blocks, refused: "it is not a file of jonbecker-trades: it has the shape of jonbecker-blocks"},
		"text for Parquet":     {file: "t.parquet", planned: trades, now: header + fill("taker"), refused: "it was parquet and is csv"},
		"broken Parquet":       {file: "t.parquet", planned: trades, now: "PAR1 no more", refused: "cut off or damaged"},
		"gone":                 {file: "t.parquet", planned: trades, gone: true, refused: "no such file"},
		"named":                {file: "l.csv", as: "pmx-fills", planned: list, now: header + fill("taker"), rows: 1},
		"named, another feed":  {file: "l.csv", as: "pmx-fills", planned: list, now: mappedHeader, refused: "it is not a file of pmx-fills: it has the shape of pmx-markets"},
	} {
		t.Run(name, func(t *testing.T) {
			v.empty()
			p, _, err := v.im.Identify(v.write(c.file, c.planned), c.as)
			if err != nil {
				t.Fatal(err)
			}
			if err := os.Remove(p.Path); err != nil {
				t.Fatal(err)
			}
			if !c.gone {
				v.write(c.file, c.now)
			}
			p.Name = "what the user calls it"
			r, err := v.im.Import(context.Background(), p, ingest.Options{})
			switch {
			case c.refused == "" && (err != nil || r.Read != c.rows || r.Feed != p.Feed.Name || r.RejectedRows() == r.Read):
				t.Errorf("r = %+v, err = %v", r, err)
			case c.refused != "" && (err == nil || !strings.HasPrefix(err.Error(), "import "+p.Name+": ") || !strings.Contains(err.Error(), c.refused)):
				t.Errorf("%+v, %v, want: %s", r, err, c.refused)
			}
			if n := v.lines("SELECT count(*) FROM batches"); (n == "0|\n") != (c.refused != "") {
				t.Errorf("%s batches", n)
			}
			if left, err := filepath.Glob(filepath.Join(v.im.DB.Dir().Tmp(), "import-*")); err != nil || len(left) > 0 {
				t.Errorf("left in tmp: %v %v", left, err)
			}
		})
	}
}
