package replay

import (
	"errors"
	"testing"

	"pmx/data"
	"pmx/data/chain"
	"pmx/data/chain/encode"
	"pmx/data/sample"
	"pmx/data/upstream/rpc"
)

// asked returns the addresses and topics that a follower requests.
func asked() (addresses []data.Address, topics []data.Hash) {
	for _, c := range chain.Contracts() {
		if c.Kind != chain.Other {
			addresses = append(addresses, c.Address)
		}
	}
	for _, t := range []string{encode.FilledV1Topic, encode.FilledV2Topic, encode.RefundTopic, encode.CTFTopic, encode.ModuleTopic} {
		topics = append(topics, encode.Hash(t))
	}
	return addresses, topics
}

// TestAFollowersClient checks that the client reads ranges and headers, understands every limit,
// and detects responses that cannot be right by themselves.
func TestAFollowersClient(t *testing.T) {
	v := venue(t, sample.Config{Fills: 6000, Seed: 3, Chain: true})
	s, url := startServer(t, Options{Venue: v})
	addresses, topics := asked()
	latest, final := s.Latest()
	read := func(from int64) (*rpc.Range, error) {
		return rpc.New(host(t, url+"/rpc")).Logs(t.Context(), from, final, addresses, topics)
	}
	r, err := read(final - 9000)
	if err != nil || r.Finalized.Number != final || r.End.Number != final || r.End.Hash != s.history.hash(final, fork{}) || r.Count() < 40 {
		t.Fatalf("%+v: %v", r, err)
	}
	plain := r.Count()
	if h, err := rpc.New(host(t, url+"/rpc")).Headers(t.Context(), []int64{final - 3, latest}); err != nil || len(h) != 2 || h[1].Time != sample.BlockTime(latest) {
		t.Errorf("%+v: %v", h, err)
	}
	tooWide := func(r *rpc.Range, err error) bool {
		var wide *rpc.TooWide
		return errors.As(err, &wide)
	}
	refused := func(_ *rpc.Range, err error) bool { return err != nil }
	passes := func(r *rpc.Range, err error) bool { return err == nil && r.Count() == plain }
	for name, fits := range map[string]func(*rpc.Range, error) bool{
		"range-publicnode:5000": tooWide, "range-quicknode:5000": tooWide, "range-alchemy": tooWide, "range-drpc:5000": tooWide, "range-ankr": tooWide,
		"range-infura:10": tooWide, "range-geth:5000": tooWide, "range-merkle:5000": tooWide, "413": tooWide,
		"batch-order": passes, "batch-twice": passes, "batch-foreign": passes, "no-header": refused, "no-finalized": refused, "finalized-back": refused,
		"lost-logs": func(r *rpc.Range, err error) bool { return err == nil && r.Count() < plain }, // lost logs are found by checking matches
	} {
		if err := s.SetFaults("rpc", Faults{Names: []string{name}, Rate: 1}); err != nil {
			t.Fatal(err)
		}
		if r, err := read(final - 9000); !fits(r, err) {
			t.Errorf("%s: r = %+v, err = %v", name, r, err)
		}
	}
}
