package query

import (
	"pmx/data"
	"pmx/rollups/serving"
)

// FillRow is a fill as statements select it.
type FillRow struct {
	Wallet   data.WalletID `sql:"wallet"`
	TS       int64         `sql:"ts"`
	Tx       data.Hash     `sql:"tx,null"`
	LogIndex int32         `sql:"log_index"` // data.NoIndex: none
	Token    data.TokenID  `sql:"token"`
	Side     data.Side     `sql:"side"`
	Role     data.Role     `sql:"role"`
	Repeat   int16         `sql:"repeat"`
	Shares   data.Micro    `sql:"shares"`
	USD      data.Micro    `sql:"usd"`
	Fee      data.Micro    `sql:"fee"`
}

// Fill returns the fill.
func (r *FillRow) Fill() serving.Fill {
	return serving.Fill{Wallet: r.Wallet, TS: r.TS, Tx: r.Tx, LogIndex: r.LogIndex, Token: r.Token, Side: r.Side, Role: r.Role, Repeat: r.Repeat,
		Shares: r.Shares, USD: r.USD, Fee: r.Fee}
}

// ReadingRow is a source's forecast of a day as statements select it.
type ReadingRow struct {
	Target      data.Date   `sql:"target"`
	Metric      data.Metric `sql:"metric"`
	Source      string      `sql:"source"`
	IssuedAt    int64       `sql:"issued_at"`
	ConfirmedAt int64       `sql:"confirmed_at"`
	RunAt       int64       `sql:"run_at,null"`
	Value       data.Temp   `sql:"value"`
	Members     []data.Temp `sql:"members,null"`
}

// TextRow is the long texts of a market as statements select them.
type TextRow struct {
	Description      string                `sql:"description,null"`
	ResolutionSource string                `sql:"resolution_source,null"`
	GroupItemTitle   string                `sql:"group_item_title,null"`
	PayoutSource     data.ResolutionSource `sql:"payout_source,null"`
}

// Texts returns the texts.
func (r *TextRow) Texts() serving.MarketTexts {
	return serving.MarketTexts{Description: r.Description, ResolutionSource: r.ResolutionSource, GroupItemTitle: r.GroupItemTitle,
		PayoutSource: r.PayoutSource}
}
