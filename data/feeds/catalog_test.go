package feeds_test

import (
	"os"
	"path/filepath"
	"testing"

	"pmx/data"
	"pmx/data/feeds"
	"pmx/data/reference"
)

// TestCatalog uses the catalog like an import.
func TestCatalog(t *testing.T) {
	own, err := reference.Extended("", "")
	if err != nil {
		t.Fatal(err)
	}
	if (feeds.Catalog{}).Gazetteer() != reference.Gazetteer() || (feeds.Catalog{Cities: own}).Gazetteer() != own {
		t.Error("the gazetteer is neither the given nor the built-in one")
	}
	var c feeds.Catalog
	path := filepath.Join(t.TempDir(), "a.csv")
	if err := os.WriteFile(path, []byte("wallet,token,side,shares,usd,ts\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	head, err := c.Head(path)
	if err != nil || head.Format != data.CSV {
		t.Fatalf("%+v, %v", head, err)
	}
	detected, err := c.Detect(head)
	if err != nil || detected.Name != "pmx-fills" || c.Fits(detected, head) != nil {
		t.Errorf("%s, %v", detected.Name, err)
	}
	other, err := c.ByName("gamma-markets")
	if err != nil || other.Name != "gamma-markets" || c.Fits(other, head) == nil {
		t.Errorf("%s, %v", other.Name, err)
	}
	if c.Explain("past_day") == "" || c.Explain("nothing of ours") != "" {
		t.Error("reasons are not explained")
	}
}
