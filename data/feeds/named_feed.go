package feeds

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"pmx/data"
)

// MisfitError says that a file does not belong to the feed that was named for it.
type MisfitError struct {
	As  string // the feed that was named
	Why string // what the file is
}

// Error says what the file is and what was asked for.
func (e *MisfitError) Error() string { return fmt.Sprintf("it is not of %s: %s", e.As, e.Why) }

// Fits checks whether a file that begins with h may be read as feed f, which the user named: if it
// has f's shape or no known one it may, if it has another's it may not. The error is a *MisfitError
// or a *ForeignError.
func Fits(f data.Feed, h data.Head) error {
	if slices.Contains(f.Formats, h.Format) && f.Match(h) {
		return foreign(h)
	}
	other, err := Detect(h)
	var foreigner *ForeignError
	var several *AmbiguousError
	switch {
	case errors.As(err, &foreigner):
		return err
	case errors.As(err, &several):
		return &MisfitError{f.Name, "by its shape it is of one of " + strings.Join(several.Names, ", ")}
	case err == nil:
		return &MisfitError{f.Name, fmt.Sprintf("by its shape it is of %s (%s)", other.Name, other.About)}
	}
	if wallet := walletIn(h); wallet != "" && (f.Kind == data.KindMarkets || f.Kind == data.KindResolutions) {
		return &MisfitError{f.Name, fmt.Sprintf("its rows name wallets (%s), as trades and positions do and markets do not", wallet)}
	}
	return nil
}

// walletIn returns the column or key that names a wallet, "" if none does.
func walletIn(h data.Head) string {
	for _, name := range slices.Concat(h.Columns, h.Keys) {
		switch name[strings.LastIndexByte(name, '.')+1:] {
		case "proxyWallet", "proxy_wallet", "wallet", "wallet_address", "user", "user_address", "trader", "maker", "taker", "makerAddress", "takerAddress":
			return clipped(name)
		}
	}
	return ""
}
