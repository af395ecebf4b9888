package api

import (
	"context"
	"fmt"
	"strconv"

	"github.com/gofiber/fiber/v2"

	"pmx/data"
	"pmx/http/wire"
	"pmx/rollups/serving"
)

const (
	holderRows   = 200 // the maximum number of holders in a response
	firstHolders = 250 // that are kept of a market if no more are requested
)

// The parameters of GET /market/{condition_id}/holders.
var (
	holdersOutcome = &Param{Name: "outcome", Kind: Integer, Min: 0, Max: 127, Doc: candleOutcome.Doc}
	holdersSide    = &Param{Name: "side", Kind: Choice, Choices: []string{"long", "short"}, Default: "long",
		Doc: "long: wallets that bought more than they sold; short: wallets that sold more than they bought"}
	holdersLimit  = limitParam("50", holderRows)
	holdersOffset = offsetParam()
)

func holdersRoute() Route {
	return Route{
		Method: fiber.MethodGet, Path: "/market/{condition_id}/holders", Section: wire.Market, MaxRows: holderRows,
		Summary: "Largest holders of a market, by outcome tokens", serve: (*API).holders, Reply: wire.Holders{},
		Params: []*Param{marketID, holdersOutcome, holdersSide, holdersLimit, holdersOffset}, Codes: []string{"market_not_found"},
		Doc: "What wallets hold according to their fills: tokens bought, minus tokens sold and tokens paid as fees, lifetime. Splits, merges, " +
			"redemptions and transfers of tokens are not included, so a wallet that sold tokens from one of these is `short`. A resolution " +
			"does not change the list. Sorted by tokens, most first, ties by address, then by outcome. The sums in `outcomes` always cover " +
			"all wallets, on every plan and with any filter.",
	}
}

// holders answers GET /market/{condition_id}/holders.
func (a *API) holders(c *fiber.Ctx, call *Call) error {
	v, m, err := a.currentMarket(call)
	if err != nil {
		return err
	}
	q := serving.HolderQuery{Outcome: -1, Short: call.value(holdersSide).n == 1, N: firstHolders}
	if only := call.value(holdersOutcome); only.given {
		q.Outcome = int(only.n)
	}
	offset := call.number(holdersOffset)
	if offset+call.number(holdersLimit) > q.N {
		q.N = maxOffset + holderRows
	}
	list, err := cachedRead(a, v, fmt.Sprint("holders ", m.ID, " ", q), func(ctx context.Context) (serving.HolderList, error) {
		return a.reader.Holders(ctx, v.snap, m.ID, q)
	})
	if err != nil {
		return err
	}
	e, n := call.listEnvelope(call.number(holdersLimit), max(list.Total-offset, 0))
	mark, start := a.beginReply(call, v.asOf, e)
	b := strconv.AppendInt(append(call.buf, `,"total":`...), int64(list.Total), 10)
	b = append(append(append(b, `,"side":"`...), holdersSide.Choices[call.value(holdersSide).n]...), `","basis":"fills","outcomes":`...)
	b = appendRows(b, outcomeCount(v.snap.Catalog, m), func(b []byte, i int) []byte {
		return appendOutcomeHolders(b, v.snap.Catalog.LabelOf(m, int8(i)), list.Of(int8(i)))
	})
	call.buf = appendRows(append(b, `,"data":`...), n, func(b []byte, i int) []byte { return appendHolder(b, v.snap, m, &list, offset+i) })
	return a.finishReply(c, call, mark, start, a.secondsToRefresh(call))
}

// appendOutcomeHolders writes wire.OutcomeHolders.
func appendOutcomeHolders(b []byte, label string, o serving.OutcomeHolders) []byte {
	b = appendText(append(b, `{"outcome":`...), label)
	b = strconv.AppendInt(append(b, `,"outcome_index":`...), int64(o.Outcome), 10)
	b = strconv.AppendInt(append(b, `,"holders":`...), int64(o.Holders), 10)
	b = o.LongShares.Append(append(b, `,"long_shares":`...))
	b = strconv.AppendInt(append(b, `,"shorts":`...), int64(o.Shorts), 10)
	return append(o.ShortShares.Append(append(b, `,"short_shares":`...)), '}')
}

// appendHolder writes wire.Holder of the i-th row of a list.
func appendHolder(b []byte, snap *serving.Snapshot, m *serving.Market, list *serving.HolderList, i int) []byte {
	h, rank := &list.Rows[i], i
	for rank > 0 && list.Rows[rank-1].Net == h.Net {
		rank--
	}
	all := list.Of(h.Outcome)
	whole := all.LongShares
	if h.Net < 0 {
		whole = -all.ShortShares
	}
	b = strconv.AppendInt(append(b, `{"rank":`...), int64(rank+1), 10)
	b = appendWallet(append(b, ','), snap, h.Wallet)
	b = appendText(append(b, `,"outcome":`...), snap.Catalog.LabelOf(m, h.Outcome))
	b = strconv.AppendInt(append(b, `,"outcome_index":`...), int64(h.Outcome), 10)
	b = h.Net.Append(append(b, `,"net_shares":`...))
	b = data.MulDiv(h.Net, 100*data.One, whole).Append(append(b, `,"share_pct":`...))
	b = appendRatio(append(b, `,"avg_buy_price":`...), h.BuyUSD, h.BuyShares)
	b = h.BuyUSD.Append(append(b, `,"buy_volume_usd":`...))
	b = h.SellUSD.Append(append(b, `,"sell_volume_usd":`...))
	b = h.NetCash.Append(append(b, `,"net_cash":`...))
	return append(h.RealPnL.Append(append(b, `,"real_pnl":`...)), '}')
}
