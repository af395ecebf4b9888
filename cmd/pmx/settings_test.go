package main

import (
	"flag"
	"os"
	"strings"
	"testing"
)

var update = flag.Bool("update", false, "rewrite the table of docs/settings.md")

// The table is generated from the flags, so that none is missing and no default differs.
func TestSettingsTableIsThatOfTheFlags(t *testing.T) {
	const file = "../../docs/settings.md"
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	parser, err := newParser(&CLI{}, stdio{}, &configResolver{}, func(int) {})
	if err != nil {
		t.Fatal(err)
	}
	before, _, found := strings.Cut(string(text), "| flag |")
	if !found {
		t.Fatalf("%s has no table", file)
	}
	want := before + settingsTable(parser.Model)
	for _, row := range []string{"| `--listen` | `PMX_LISTEN` | `listen` | `127.0.0.1:8080` |", "| `--memory` | `PMX_MEMORY` | `memory` |", "| `--sync-rpc` | `PMX_SYNC_RPC` |"} {
		if !strings.Contains(want, row) {
			t.Errorf("no row begins with %s", row)
		}
	}
	if string(text) == want {
		return
	}
	if !*update {
		t.Fatalf("%s is not what the flags say: run go generate ./cmd/pmx", file)
	}
	if err := os.WriteFile(file, []byte(want), 0o644); err != nil {
		t.Fatal(err)
	}
}

func TestSecretsOfSettingsAreHidden(t *testing.T) {
	for _, c := range []struct {
		text   string
		secret bool
		want   string
	}{
		{"", true, ""},
		{"https://rpc.example", true, "https://rpc.example"},
		{"https://rpc.example/", true, "https://rpc.example"},
		{"https://rpc.example/hush", true, "https://rpc.example/***"},
		{"https://rpc.example:8/?hush", true, "https://rpc.example:8?***"},
		{"https://hush:hush@rpc.example/hush?hush#hush", true, "https://***@rpc.example/***?***"},
		{"hush", true, "***"},
		{"https://rpc.example/%hush", true, "***"},
		{"https://gamma.example/base", false, "https://gamma.example/base"},
		{"https://hush@gamma.example/base?hush", false, "https://***@gamma.example/base?***"},
		{"https://gamma.example/%hush", false, "***"},
		{"127.0.0.1:8080", false, "127.0.0.1:8080"},
		{"*", false, "*"},
	} {
		if got := withoutSecrets(c.text, c.secret); got != c.want {
			t.Errorf("%q, secret %v: got %q, want %q", c.text, c.secret, got, c.want)
		}
	}
}

func TestSizesAreShownAsFlagsTakeThem(t *testing.T) {
	for _, want := range []string{"20GB", "500MB", "1500MB", "1001kB", "1000001B"} {
		var s byteSize
		if err := s.UnmarshalText([]byte(want)); err != nil || s.String() != want {
			t.Errorf("%s: s = %s, err = %v", want, s, err)
		}
	}
}

// The example of the document has the message that the program prints.
func TestTheExampleOfSettingsHasTheProgramsMessage(t *testing.T) {
	text, err := os.ReadFile("../../docs/settings.md")
	if err != nil {
		t.Fatal(err)
	}
	var cli CLI
	parser, err := newParser(&cli, stdio{}, &configResolver{}, func(int) {})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := parser.Parse([]string{"serve", "--listen", "0.0.0.0:80"}); err != nil {
		t.Fatal(err)
	}
	for _, err := range cli.Serve.check(&cli) {
		if line := "\npmx: pmx.json:3: " + err.Error() + "\n"; !strings.Contains(string(text), line) {
			t.Errorf("docs/settings.md lacks %q", line)
		}
	}
}
