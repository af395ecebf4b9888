package rollups

import (
	"bytes"
	"cmp"
	"context"
	"database/sql"
	"fmt"
	"slices"
	"strings"
	"sync/atomic"

	"pmx/data"
	"pmx/rollups/segments/fillseg"
	"pmx/rollups/serving"
)

// NameIndex is serving.NameOrder for segments. Wallets and tokens of the snapshot are looked up
// there; later ones, and all of them if there is no snapshot, are read from the database. One
// goroutine may load names while any number compare.
type NameIndex struct {
	Snapshot func() *serving.Snapshot // the newest one; may be nil or return nil: there is none
	later    atomic.Pointer[laterNames]
}

// laterNames are the names of wallets and tokens from two ids on.
type laterNames struct {
	firstWallet, firstToken int
	wallets                 []data.Address
	tokens                  []string
}

func (n *NameIndex) snapshot() *serving.Snapshot {
	if n.Snapshot == nil {
		return nil
	}
	return n.Snapshot()
}

// known returns the first ids of wallets and tokens that are not in the snapshot.
func (n *NameIndex) known() (wallets, tokens int) {
	if s := n.snapshot(); s != nil {
		return s.Wallets(), int(s.Counts.Tokens)
	}
	return 0, 0
}

// Load reads the names of all wallets and tokens that the snapshot does not have.
func (n *NameIndex) Load(ctx context.Context, conn *sql.Conn) error {
	next := &laterNames{}
	next.firstWallet, next.firstToken = n.known()
	err := eachRow(statements.Get("LaterWallets", "@known", itoa(int64(next.firstWallet))), func(row *walletRow) {
		next.wallets = append(next.wallets, row.Address)
	})(ctx, conn)
	if err != nil {
		return fmt.Errorf("names: %w", err)
	}
	err = eachRow(statements.Get("LoadTokens", "@known", itoa(int64(next.firstToken))), func(row *tokenRow) {
		next.tokens = append(next.tokens, row.ID)
	})(ctx, conn)
	if err != nil {
		return fmt.Errorf("names: %w", err)
	}
	n.later.Store(next)
	return nil
}

// LoadMissing is Load, if a batch has wallets or tokens whose names are not known yet.
func (n *NameIndex) LoadMissing(ctx context.Context, conn *sql.Conn, b fillseg.Batch) error {
	wallets, tokens := n.known()
	if l := n.later.Load(); l != nil {
		wallets, tokens = max(wallets, l.firstWallet+len(l.wallets)), max(tokens, l.firstToken+len(l.tokens))
	}
	if slices.ContainsFunc(b.Fills, func(f serving.Fill) bool { return int(f.Wallet) >= wallets || int(f.Token) >= tokens }) {
		return n.Load(ctx, conn)
	}
	return nil
}

// CompareTokens orders tokens by their ids, as text.
func (n *NameIndex) CompareTokens(a, b data.TokenID) int {
	return cmp.Or(strings.Compare(n.token(a), n.token(b)), cmp.Compare(a, b))
}

// CompareWallets orders wallets by address.
func (n *NameIndex) CompareWallets(a, b data.WalletID) int {
	x, y := n.wallet(a), n.wallet(b)
	return cmp.Or(bytes.Compare(x[:], y[:]), cmp.Compare(a, b))
}

// token returns a token's id; "" if it was never loaded. A token that is not among the later names
// was in a snapshot when these were read, and is in every one since.
func (n *NameIndex) token(id data.TokenID) string {
	if l := n.later.Load(); l != nil && int(id) >= l.firstToken && int(id)-l.firstToken < len(l.tokens) {
		return l.tokens[int(id)-l.firstToken]
	}
	if s := n.snapshot(); s != nil {
		return s.Catalog.Token(id).ID
	}
	return ""
}

// wallet is token for wallets.
func (n *NameIndex) wallet(id data.WalletID) (a data.Address) {
	if l := n.later.Load(); l != nil && int(id) >= l.firstWallet && int(id)-l.firstWallet < len(l.wallets) {
		return l.wallets[int(id)-l.firstWallet]
	}
	if s := n.snapshot(); s != nil && id >= 0 && int(id) < s.Wallets() {
		return s.WalletAt(id)
	}
	return a
}
