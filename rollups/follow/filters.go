package follow

import (
	"encoding/json"
	"fmt"
	"slices"

	"pmx/data"
	"pmx/data/chain"
	"pmx/engine/ledger"
)

// chainSource is the lane's name in the ledger.
const chainSource = "chain"

// chainMemory is what the chain lane stores in the ledger.
type chainMemory struct {
	Start   int64         `json:"start"` // the first block to follow from; 0: not known yet
	Filters []chainFilter `json:"filters"`
	Audits  []audit       `json:"audits,omitempty"` // ranges to be requested again
}

// chainFilter is what was requested in the ranges of one version: contracts, by
// chain.Contract.Filter, from a first block on.
type chainFilter struct {
	From      int64    `json:"from"`
	Contracts []string `json:"contracts"`
}

func readMemory(text string) (m chainMemory, err error) {
	if text == "" {
		return m, nil
	}
	if err = json.Unmarshal([]byte(text), &m); err != nil {
		err = fmt.Errorf("the stored state of the chain lane cannot be read: %w", err)
	}
	return m, err
}

func (m chainMemory) text() (string, error) {
	b, err := json.Marshal(m)
	return string(b), err
}

// extend adds a version for contracts that no version has yet; false if there are none. They are
// requested from their own first block on.
func (m *chainMemory) extend(contracts []chain.Contract) bool {
	var f chainFilter
	for i := range contracts {
		c := &contracts[i]
		key := c.Filter()
		if !c.IsAsked() || slices.ContainsFunc(m.Filters, func(f chainFilter) bool { return slices.Contains(f.Contracts, key) }) {
			continue
		}
		if len(f.Contracts) == 0 || c.Start() < f.From {
			f.From = c.Start()
		}
		f.Contracts = append(f.Contracts, key)
	}
	if len(f.Contracts) == 0 {
		return false
	}
	m.Filters = append(slices.Clone(m.Filters), f)
	return true
}

// asking is a version with its current contracts.
type asking struct {
	ledger    ledger.Filter
	from      int64
	addresses []data.Address
}

// asked returns the versions that still have contracts, because an operator may have removed some.
func (m *chainMemory) asked(contracts []chain.Contract) (out []asking) {
	for i, f := range m.Filters {
		a := asking{ledger: ledger.Filter{Source: chainSource, Version: i + 1}, from: max(f.From, m.Start)}
		for j := range contracts {
			if slices.Contains(f.Contracts, contracts[j].Filter()) {
				a.addresses = append(a.addresses, contracts[j].Address)
			}
		}
		if len(a.addresses) > 0 {
			out = append(out, a)
		}
	}
	return out
}
