package chain

import (
	_ "embed"
	"encoding/json"
	"fmt"
	"sync"

	"pmx/data"
)

// Kind says which events of a contract are read, and how.
type Kind string

// Kinds of contracts.
const (
	ExchangeV1        Kind = "exchange_v1"        // OrderFilled with two assets; the fee is in what the order receives
	ExchangeV2        Kind = "exchange_v2"        // OrderFilled with side and token; the fee is in dollars
	ExchangeV3        Kind = "exchange_v3"        // as v2; its tokens are positions of protocol V2
	FeeModule         Kind = "fee_module"         // refunds part of the fees of v1
	ConditionalTokens Kind = "conditional_tokens" // resolves conditions of protocol V1
	Module            Kind = "module"             // resolves conditions of protocol V2
	Other             Kind = "other"              // none of its events is read
)

// Contract is one of the venue's contracts on Polygon.
type Contract struct {
	Name      string
	Kind      Kind
	Address   data.Address
	FromBlock int64 // its first block; 0: not known
	Module    byte  // of a module, the first byte of its ids
}

// IsExchange reports whether the contract matches orders.
func (c *Contract) IsExchange() bool {
	return c.Kind == ExchangeV1 || c.Kind == ExchangeV2 || c.Kind == ExchangeV3
}

//go:embed contracts.json
var contractsJSON []byte

// Contracts returns the venue's contracts, in a new slice.
func Contracts() []Contract {
	list, err := embedded()
	if err != nil {
		panic(err) // the embedded table is broken: a build fault the tests catch
	}
	return append([]Contract(nil), list...)
}

var embedded = sync.OnceValues(func() ([]Contract, error) { return parseContracts(contractsJSON) })

func parseContracts(text []byte) ([]Contract, error) {
	var rows []struct {
		Name, Kind, Address string
		FromBlock           int64 `json:"from_block"`
		Module              byte
	}
	if err := json.Unmarshal(text, &rows); err != nil {
		return nil, fmt.Errorf("contracts.json: %w", err)
	}
	list := make([]Contract, 0, len(rows))
	seen := map[data.Address]bool{}
	for _, r := range rows {
		a, err := data.ParseAddress(r.Address)
		if err != nil {
			return nil, fmt.Errorf("contracts.json: %s: %w", r.Name, err)
		}
		c := Contract{Name: r.Name, Kind: Kind(r.Kind), Address: a, FromBlock: r.FromBlock, Module: r.Module}
		switch c.Kind {
		case ExchangeV1, ExchangeV2, ExchangeV3, FeeModule, ConditionalTokens, Module, Other:
		default:
			return nil, fmt.Errorf("contracts.json: %s: no kind is called %q", r.Name, r.Kind)
		}
		if seen[a] || c.FromBlock < 0 || (c.Kind == Module) != (c.Module > 0) {
			return nil, fmt.Errorf("contracts.json: %s is there twice, has a block below 0, or a module that it is not", r.Name)
		}
		seen[a] = true
		list = append(list, c)
	}
	return list, nil
}
