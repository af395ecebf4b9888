package e2e_test

import (
	"archive/zip"
	"bytes"
	"encoding/csv"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"pmx/data"
)

// object is a JSON object or a record of a CSV file.
type object = map[string]any

// list requests path and returns its data, an object as a list of one, and the next cursor.
func (v *venue) list(path string) (rows []object, next string) {
	v.t.Helper()
	var reply struct {
		Data json.RawMessage
		Next string `json:"next_cursor"`
	}
	res := v.ask("GET", path, "")
	if err := json.Unmarshal(res.Body(), &reply); err != nil || res.StatusCode() != 200 {
		v.t.Fatalf("%s: status = %d, err = %v", path, res.StatusCode(), err)
	}
	if reply.Data[0] == '{' {
		reply.Data = slices.Concat([]byte{'['}, reply.Data, []byte{']'})
	}
	d := json.NewDecoder(bytes.NewReader(reply.Data))
	d.UseNumber()
	if err := d.Decode(&rows); err != nil {
		v.t.Fatalf("%s: %v", path, err)
	}
	return rows, reply.Next
}

func records(t testing.TB, r io.Reader) (rows []object) {
	t.Helper()
	all, err := csv.NewReader(r).ReadAll()
	if err != nil {
		t.Fatal(err)
	}
	for _, record := range all[1:] {
		row := object{}
		for i, name := range all[0] {
			row[name] = record[i]
		}
		rows = append(rows, row)
	}
	return rows
}

// agrees reports whether a cell of a file equals a value of the API: the API has times in whole
// seconds and no trailing zeros.
func agrees(cell string, value any) bool {
	switch v := value.(type) {
	case nil:
		return cell == ""
	case bool:
		return cell == fmt.Sprint(v)
	case json.Number:
		a, errA := data.ParseMicro(cell)
		b, errB := data.ParseMicro(v.String())
		return errA == nil && errB == nil && a == b
	case string:
		if at, err := time.Parse("2006-01-02T15:04:05.000000Z", cell); err == nil {
			cell = at.Truncate(time.Second).Format(time.RFC3339)
		}
		return cell == v || cell == "'"+v
	}
	return true // lists are shown in another form
}

// sameRows compares all members that the API's rows and the file's have in common.
func sameRows(t *testing.T, what string, file, api []object) {
	t.Helper()
	if len(file) != len(api) || len(api) == 0 {
		t.Fatalf("%s: %d rows in the file, %d of the API", what, len(file), len(api))
	}
	for i := range api {
		shared := 0
		for name, value := range api[i] {
			cell, there := file[i][name].(string)
			if !there {
				continue
			}
			shared++
			if !agrees(cell, value) {
				t.Fatalf("%s, row %d: %s is %q in the file and %v in the API", what, i, name, cell, value)
			}
		}
		if shared < 8 {
			t.Fatalf("%s: the file and the API have %d columns in common", what, shared)
		}
	}
}

// The files of a wallet's export equal the API's responses about it, row by row.
func TestTraderExportsAreWhatTheAPIAnswers(t *testing.T) {
	v := readSample(t)
	leaderboard, _ := v.list("/leaderboard/traders?period=30d&limit=50")
	for _, place := range some([]int{0, 1, 49, 10}, 2) {
		address := leaderboard[place]["address"].(string)
		files := v.traderFiles(address)
		stats, _ := v.list("/trader/" + address + "/stats")
		sameRows(t, "stats", files["stats"], stats)
		days, _ := v.list("/trader/" + address + "/activity/daily?limit=365")
		slices.Reverse(days)
		sameRows(t, "daily", files["daily"], days)
		markets, _ := v.list("/trader/" + address + "/markets?limit=200")
		sameRows(t, "markets", files["markets"][:min(200, len(files["markets"]))], markets)
		positions := positionsOf(markets)
		sameRows(t, "positions", slices.DeleteFunc(files["positions"], func(row object) bool {
			return !slices.ContainsFunc(positions, func(p object) bool { return p["condition_id"] == row["condition_id"] })
		}), positions)
		var trades []object
		for cursor := "?limit=200"; cursor != ""; {
			page, next := v.list("/trader/" + address + "/trades" + cursor)
			trades = append(trades, page...)
			if cursor = next; next != "" {
				cursor = "?limit=200&cursor=" + next
			}
		}
		sameRows(t, "trades", files["trades"], trades)
	}
}

// positionsOf lists the positions in a wallet's markets in the order of their file, each with the id of its market.
func positionsOf(markets []object) (positions []object) {
	markets = slices.Clone(markets)
	slices.SortFunc(markets, func(x, y object) int {
		return strings.Compare(fmt.Sprint(x["condition_id"]), fmt.Sprint(y["condition_id"]))
	})
	for _, m := range markets {
		list, _ := m["positions"].([]any) // in the order of outcomes
		for _, p := range list {
			position := p.(object)
			position["condition_id"] = m["condition_id"]
			positions = append(positions, position)
		}
	}
	return positions
}

// traderFiles exports a wallet and reads the files in the zip.
func (v *venue) traderFiles(address string) map[string][]object {
	v.t.Helper()
	wallet, err := data.ParseAddress(address)
	if err != nil {
		v.t.Fatal(err)
	}
	path := filepath.Join(v.keeper.DB().Dir().Tmp(), address+".zip")
	if _, err := v.keeper.Exporter().WriteTrader(v.t.Context(), wallet, data.CSV, 365, path, nil); err != nil {
		v.t.Fatal(err)
	}
	z, err := zip.OpenReader(path)
	if err != nil {
		v.t.Fatal(err)
	}
	defer func() { _ = z.Close() }()
	files := map[string][]object{}
	for _, f := range z.File {
		name, isCSV := strings.CutSuffix(f.Name, ".csv")
		if !isCSV {
			continue
		}
		r, err := f.Open()
		if err != nil {
			v.t.Fatal(err)
		}
		files[name] = records(v.t, r)
	}
	return files
}

// dataset exports a research dataset and reads it.
func (v *venue) dataset(name string) []object {
	v.t.Helper()
	path := filepath.Join(v.keeper.DB().Dir().Tmp(), name+".csv")
	if _, err := v.keeper.Exporter().Write(v.t.Context(), name, data.CSV, path, nil); err != nil {
		v.t.Fatal(err)
	}
	return records(v.t, v.opened(path))
}

// The datasets equal the API's responses about each of their rows.
func TestDatasetsAreWhatTheAPIAnswers(t *testing.T) {
	v := readSample(t)
	for _, name := range []string{"wallet_pnl", "trader_leaderboard"} {
		rows := v.dataset(name)
		for i := 0; i < len(rows); i += len(rows)/150 + 1 {
			stats, _ := v.list("/trader/" + rows[i]["address"].(string) + "/stats")
			sameRows(t, name, rows[i:i+1], stats)
		}
	}
	rows := v.dataset("oracle_accuracy")
	for i := 0; i < len(rows); i += len(rows)/150 + 1 {
		score, _ := v.list("/oracle/trader/" + rows[i]["address"].(string))
		sameRows(t, "oracle_accuracy", rows[i:i+1], score)
	}
	rows = v.dataset("markets")
	for i := 0; i < len(rows); i += len(rows)/150 + 1 {
		overview, _ := v.list("/market/" + rows[i]["condition_id"].(string) + "/overview")
		sameRows(t, "markets", rows[i:i+1], overview)
	}
}

// opened opens a file until the test ends.
func (v *venue) opened(path string) io.Reader {
	v.t.Helper()
	f, err := os.Open(path)
	if err != nil {
		v.t.Fatal(err)
	}
	v.t.Cleanup(func() { _ = f.Close() })
	return f
}
