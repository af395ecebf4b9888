package main

import (
	"bytes"
	"os"
	"path/filepath"
	"testing"
)

func TestOpenAPIPrintsTheDocumentOfTheRepository(t *testing.T) {
	var out, errs bytes.Buffer
	if status := run([]string{"openapi"}, stdio{out: &out, err: &errs}); status != 0 {
		t.Fatalf("status %d: errs = %s", status, errs.String())
	}
	kept, err := os.ReadFile(filepath.Join("..", "..", "docs", "openapi.json"))
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(out.Bytes(), kept) {
		t.Error("pmx openapi does not print docs/openapi.json: run go generate ./http/openapi")
	}
}
