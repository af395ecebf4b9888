package chain

import (
	"bytes"
	"cmp"
	"encoding/hex"
	"fmt"
	"hash/fnv"
	"slices"

	"pmx/data"
)

// IsAsked reports whether logs of the contract are requested.
func (c *Contract) IsAsked() bool { return len(Topics([]Contract{*c})) > 0 }

// Topics are the first topics of the events that are read from the contracts, each once, in order.
func Topics(contracts []Contract) (topics []data.Hash) {
	for i := range contracts {
		for text, e := range readEvents {
			h, err := data.ParseHash(text)
			if err != nil {
				panic(err) // a constant is not a hash: the first test finds it
			}
			if contracts[i].emits(e) && !slices.Contains(topics, h) {
				topics = append(topics, h)
			}
		}
	}
	slices.SortFunc(topics, func(a, b data.Hash) int { return bytes.Compare(a[:], b[:]) })
	return topics
}

// Filter identifies what is requested from the contract: its address and the events that are read.
// If either changes, its logs have to be requested again.
func (c *Contract) Filter() string {
	sum := fnv.New32a()
	for _, t := range Topics([]Contract{*c}) {
		_, _ = sum.Write(t[:]) // it never fails
	}
	return fmt.Sprintf("0x%s/%s/%08x", hex.EncodeToString(c.Address[:]), c.Kind, sum.Sum32())
}

// firstOfV2 is the first known block of protocol V2. Contracts whose own first block is not known
// are requested from there.
const firstOfV2 = 84_902_353

// Start is the first block that is requested from the contract.
func (c *Contract) Start() int64 { return cmp.Or(c.FromBlock, firstOfV2) }

// Extended are the venue's contracts and those of an operator's list, which has the format of
// contracts.json; for a contract in both, the operator's entry counts. text is "" if there is none.
func Extended(text string) ([]Contract, error) {
	list := Contracts()
	if text == "" {
		return list, nil
	}
	more, err := parseContracts([]byte(text))
	if err != nil {
		return nil, err
	}
	for _, c := range more {
		if i := slices.IndexFunc(list, func(known Contract) bool { return known.Address == c.Address }); i >= 0 {
			list[i] = c
		} else {
			list = append(list, c)
		}
	}
	return list, nil
}
