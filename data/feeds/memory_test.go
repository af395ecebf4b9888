package feeds_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"pmx/data"
	"pmx/data/feeds"
	"pmx/data/reference"
	"pmx/data/testfiles"
)

// readWith reads a file with a memory budget, and checks that no temporary file remains.
func readWith(t *testing.T, f data.Feed, h data.Head, path string, memory int) (*collect, error) {
	t.Helper()
	dir, c := t.TempDir(), &collect{}
	r, err := feeds.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	src := data.Source{Path: path, Name: "ohio_senate.csv", Format: h.Format, Cities: reference.Gazetteer(), Spill: dir, Memory: memory}
	err = f.Read(context.Background(), src, r, c)
	if left, _ := os.ReadDir(dir); len(left) > 0 {
		t.Errorf("%s leaves %v", f.Name, left)
	}
	return c, err
}

// TestMemoryDoesNotShowInFeeds: a feed gives the same rows in the same order whatever its memory
// budget. Files are read as they are, doubled and truncated; large ones repeat transactions, events
// and labels.
func TestMemoryDoesNotShowInFeeds(t *testing.T) {
	files := wholeFiles(t)
	files["shared.ndjson"], files["repeated.ndjson"], files["pages.ndjson"] = sharedTrades(), repeatedEvents(), sharedPages()
	for name, content := range files {
		for _, whole := range []string{content, content + content, content[:len(content)*2/3]} {
			path := text(t, name, whole)
			h, err := feeds.ReadHead(path)
			if err != nil {
				continue
			}
			f, err := feeds.Detect(h)
			if err != nil || f.Read == nil {
				continue
			}
			wide, err := readWith(t, f, h, path, 0)
			memories := []int{1, 2000}
			if !testfiles.Long() {
				memories = memories[len(whole)%2:][:1] // in turns
			}
			for _, memory := range memories {
				tight, tightErr := readWith(t, f, h, path, memory)
				if fmt.Sprint(err) != fmt.Sprint(tightErr) {
					t.Errorf("%s: %v, with %d bytes %v", name, err, memory, tightErr)
				}
				if diff := cmp.Diff(wide, tight, cmp.AllowUnexported(collect{})); diff != "" {
					t.Errorf("%s with %d bytes:\n%s", name, memory, diff)
				}
			}
		}
	}
}

// sharedTrade is a row of a transaction that may have rows of several wallets; some rows
// cannot be used but count as well.
func sharedTrade(rng *rand.Rand) string {
	size := []string{"1.5", "x"}[rng.IntN(6)/5]
	return fmt.Sprintf(`{"proxyWallet":"0x%040x","side":"BUY","asset":"7%d","conditionId":"0x%064x","size":"%s","price":"0.5","timestamp":%d,"title":"T%d","outcomeIndex":0,"transactionHash":"0x%064x"}`,
		1+rng.IntN(4), rng.IntN(9), 1+rng.IntN(5), size, 1700000000+rng.IntN(100), rng.IntN(3), 1+rng.IntN(120))
}

func sharedTrades() string {
	rng := rand.New(rand.NewPCG(1, 1))
	var b strings.Builder
	for range 300 {
		b.WriteString(sharedTrade(rng) + "\n")
	}
	return b.String()
}

// sharedPages has several rows per line.
func sharedPages() string {
	rng := rand.New(rand.NewPCG(1, 2))
	var b strings.Builder
	for range 60 {
		fmt.Fprintf(&b, "{\"data\":[%s,%s,%s]}\n", sharedTrade(rng), sharedTrade(rng), sharedTrade(rng))
	}
	return b.String()
}

func repeatedEvents() string {
	rng := rand.New(rand.NewPCG(1, 3))
	var b strings.Builder
	for range 300 {
		id := 1 + rng.IntN(150)
		amount := []string{"1000", "x"}[rng.IntN(8)/7]
		fmt.Fprintf(&b, `{"id":"0x%064x_0x%064x","timestamp":"1700000000","maker":"0x%040x","taker":"0x%040x","makerAssetId":"0","takerAssetId":"77","makerAmountFilled":"%s","takerAmountFilled":"2000","fee":"0"}`+"\n",
			id, id, 1+id%7, 9, amount)
	}
	return b.String()
}

// TestRolesOfSharedTransactions: rows of a transaction that names several wallets have no
// role, all others are a taker's.
func TestRolesOfSharedTransactions(t *testing.T) {
	path := text(t, "shared.ndjson", sharedTrades())
	h, f := head(t, path)
	c, err := readWith(t, f, h, path, 1)
	if err != nil {
		t.Fatal(err)
	}
	wallets := map[data.Hash]map[data.Address]bool{}
	for line := range strings.Lines(sharedTrades()) {
		var w, tx int
		at := strings.Index(line, `"transactionHash":"0x`)
		if _, err := fmt.Sscanf(line[len(`{"proxyWallet":"0x`):], "%040x", &w); err != nil {
			t.Fatal(err)
		}
		if _, err := fmt.Sscanf(line[at+len(`"transactionHash":"0x`):], "%064x", &tx); err != nil {
			t.Fatal(err)
		}
		hash, _ := data.ParseHash(fmt.Sprintf("0x%064x", tx))
		address, _ := data.ParseAddress(fmt.Sprintf("0x%040x", w))
		if wallets[hash] == nil {
			wallets[hash] = map[data.Address]bool{}
		}
		wallets[hash][address] = true
	}
	unknown := 0
	for _, fill := range c.fills {
		want := data.Taker
		if len(wallets[fill.Tx]) > 1 {
			want = data.RoleUnknown
			unknown++
		}
		if fill.Role != want {
			t.Errorf("%v has the role %d, want %d", fill.Tx, fill.Role, want)
		}
	}
	if unknown == 0 || unknown == len(c.fills) {
		t.Errorf("%d of %d are unknown", unknown, len(c.fills))
	}
}

// TestAFileOfManyOutcomesIsRefused: the labels of a market are kept in memory, so a file with more
// labels than a market can have is refused.
func TestAFileOfManyOutcomesIsRefused(t *testing.T) {
	var b strings.Builder
	b.WriteString("Timestamp,Account,Type,Outcome,Amount,Shares,Price\n")
	for n := range 101 {
		fmt.Fprintf(&b, "2022-10-01 10:00:00,0x%040x,Buy,L%d,1.5,2,0.75\n", 1, n)
	}
	path := text(t, "ohio_senate.csv", b.String())
	h, f := head(t, path)
	if _, err := readWith(t, f, h, path, 0); err == nil || !strings.Contains(err.Error(), "more than 100 outcomes") {
		t.Errorf("%v", err)
	}
}
