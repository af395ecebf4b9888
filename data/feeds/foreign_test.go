package feeds_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"strconv"
	"strings"
	"testing"

	"pmx/data"
	"pmx/data/feeds"
	"pmx/data/feeds/fpmm"
)

func TestRefusesWhatItKnowsToBeForeign(t *testing.T) {
	for in, want := range map[string]string{
		`[{"ticker":"KX","yes_bid":1,"no_bid":2}]`:                                 "Kalshi",
		`{"markets":[{"ticker":"KX","event_ticker":"K","yes_bid":1}],"cursor":""}`: "Kalshi",
		"trade_id,ticker,count,yes_price,no_price,taker_side,created_time\n":       "Kalshi",
		`[{"fill_id":"1","condition_id":"0x","side":"BUY","notional_value":1}]`:    "without wallets",
		"tx_hash,log_index,token_id,from_address,to_address,value\n":               "transfers",
		"\n<!DOCTYPE html>\n<html><head><title>a, b</title>\n":                     "web page",
		"<HTML>\n<body>":                                                  "web page",
		"<?xml version=\"1.0\"?>\n<rows/>\n":                              "XML",
		`{"history":[{"t":1,"p":0.5}]}`:                                   "price history",
		"block_number,fpmm_address,trader,amount,outcome_tokens,is_buy\n": "pool",
	} {
		h, err := feeds.HeadOf(strings.NewReader(in))
		if err != nil {
			t.Fatal(err)
		}
		_, err = feeds.Detect(h)
		var foreign *feeds.ForeignError
		if !errors.As(err, &foreign) || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want a word of %q", in, err, want)
		}
	}
}

// TestUnknownSaysWhatItSaw: the message has the format, the columns and the most similar feeds, and
// stays short whatever the names of the columns.
func TestUnknownSaysWhatItSaw(t *testing.T) {
	h, err := feeds.HeadOf(strings.NewReader("colour,weight\nred,3\n"))
	if err != nil {
		t.Fatal(err)
	}
	_, err = feeds.Detect(h)
	for _, want := range []string{"csv", "colour, weight", "--as", "--help"} {
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v does not say %q", err, want)
		}
	}
	h, err = feeds.HeadOf(strings.NewReader("ts,address,shares,usd\n1,2,3,4\n"))
	if err != nil {
		t.Fatal(err)
	}
	if _, err = feeds.Detect(h); err == nil || !strings.Contains(err.Error(), "the most similar feeds are pmx-fills") {
		t.Errorf("nearly fills: %v", err)
	}
	prices := make(map[string]int)
	for i := range 40 {
		prices[strings.Repeat("1", 76)+strconv.Itoa(10+i)] = i
	}
	text, _ := json.Marshal(prices)
	if h, err = feeds.HeadOf(bytes.NewReader(text)); err != nil {
		t.Fatal(err)
	}
	if _, err = feeds.Detect(h); err == nil || len(err.Error()) > 250 || strings.Contains(err.Error(), strings.Repeat("1", 40)) {
		t.Errorf("keys that are ids: %v", err)
	}
	if _, err = feeds.Detect(data.Head{Format: data.CSV}); err == nil || !strings.Contains(err.Error(), "empty") {
		t.Errorf("an empty file gives %v", err)
	}
}

// TestFPMMLabels: the same outcome with two names is one token, and a market with trades of one
// side only has both outcomes.
func TestFPMMLabels(t *testing.T) {
	const header = "\"\",\"Timestamp\",\"Account\",\"Type\",\"Outcome\",\"Direction\",\"Amount\",\"Shares\",\"Price\"\n"
	row := "\"1\",2022-11-19 22:21:29,\"" + hexA + "\",\"Buy\",\"LABEL\",\"x\",0.25,183.64,NA\n"
	a := read(t, text(t, "some_senate.csv", header+strings.Replace(row, "LABEL", "Democratic", 1)))
	b := read(t, text(t, "some_senate.csv", header+strings.Replace(row, "LABEL", "Democrat", 1)))
	if len(a.fills) != 1 || a.fills[0] != b.fills[0] || a.fills[0].Outcome != 0 || len(a.markets[0].Outcomes) != 2 {
		t.Errorf("%+v\n%+v", a, b)
	}
	if m := a.markets[0]; m.Question != "Some senate" || m.Slug != "some-senate" || m.Condition != fpmm.Condition("some_senate") {
		t.Errorf("market %+v", m)
	}
	if got := fpmm.MarketKey(`C:\data\ohio.csv.gz`); got != "ohio" {
		t.Errorf("key %q", got)
	}
}

// TestManifestsAreKnown checks that manifests of exports are recognised and refused.
func TestManifestsAreKnown(t *testing.T) {
	for content, want := range map[string]string{
		`{"generator":"pmx","kind":"facts","complete":true,"files":[]}`:                             "the manifest of an export by pmx",
		`{"generator":"pmx","kind":"facts","complete":false,"files":[{"file":"a","rows":1}]}`:       "the manifest of an export by pmx",
		`{"generator":"pmx sample venue","version":2,"seed":0,"fills":500,"matches":174}`:           "the manifest of a sample venue by pmx",
		`{"generator":"pmx","kind":"trader","address":"0x00","format":"parquet","files":[]}` + "\n": "the manifest of a wallet's export by pmx",
	} {
		h, err := feeds.ReadHead(text(t, "manifest.json", content))
		if err != nil {
			t.Fatal(err)
		}
		var foreign *feeds.ForeignError
		if _, err := feeds.Detect(h); !errors.As(err, &foreign) || foreign.What != want {
			t.Errorf("%s: %v", content, err)
		}
	}
}

// A name that no feed has is answered with similar ones, and not with any three.
func TestOnlySimilarNamesAreSuggested(t *testing.T) {
	for name, want := range map[string]string{
		"pmx-fils":        "the most similar are pmx-fills",
		"trades":          "polymarket-trades",
		"nonsense":        `no feed is named "nonsense": pmx import --help lists all`,
		"something-else!": `no feed is named "something-else!": pmx import --help lists all`,
	} {
		_, err := feeds.ByName(name)
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: err = %v, want %s", name, err, want)
		}
	}
}

// Text without a table, and a file without anything, are called so: naming a feed would not help.
func TestTextIsNotCalledATable(t *testing.T) {
	for in, want := range map[string]string{
		"# Trades\n\nSome text, with commas.\n": `text without columns, which begins with "# Trades"`,
		"## Buy, sell\n":                        `text without columns, which begins with "## Buy"`,
		"Dear all\nthis is a note\n":            `text without columns, which begins with "Dear all"`,
		"":                                      "empty file",
		" \n\n":                                 "empty file",
	} {
		h, err := feeds.HeadOf(strings.NewReader(in))
		if err != nil {
			t.Fatal(err)
		}
		_, err = feeds.Detect(h)
		var unknown *feeds.UnknownError
		if !errors.As(err, &unknown) || !strings.Contains(err.Error(), want) || strings.Contains(err.Error(), "--as") {
			t.Errorf("%q: err = %v, want %s", in, err, want)
		}
	}
}
