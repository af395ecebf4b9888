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
	As  string // the named feed
	Why string // what the file is
}

// Error names the feed and describes the file.
func (e *MisfitError) Error() string { return fmt.Sprintf("it is not a file of %s: %s", e.As, e.Why) }

// Fits checks whether a file that begins with h may be read as feed f, which the user named. It may
// if it has the shape of f or an unknown one, and may not if it has the shape of another feed. The
// error is a *MisfitError or a *ForeignError.
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
		return &MisfitError{f.Name, "it has the shape of one of " + strings.Join(several.Names, ", ")}
	case err == nil:
		return &MisfitError{f.Name, fmt.Sprintf("it has the shape of %s (%s)", other.Name, other.About)}
	}
	if wallet := walletIn(h); wallet != "" && (f.Kind == data.KindMarkets || f.Kind == data.KindResolutions) {
		return &MisfitError{f.Name, fmt.Sprintf("its rows name wallets (%s), like trades and positions and unlike markets", wallet)}
	}
	return nil
}

// walletIn returns the column or key of a wallet; "" if there is none.
func walletIn(h data.Head) string {
	for _, name := range slices.Concat(h.Columns, h.Keys) {
		switch name[strings.LastIndexByte(name, '.')+1:] {
		case "proxyWallet", "proxy_wallet", "wallet", "wallet_address", "user", "user_address", "trader", "maker", "taker", "makerAddress", "takerAddress":
			return clipped(name)
		}
	}
	return ""
}
