package data

// WalletID is the number of a wallet in a database. Other databases number differently: nothing
// that is shown depends on it.
type WalletID int32

// TokenID is the number of a token in a database, as WalletID is of a wallet. The venue's own id of
// the token is a uint256 in decimal.
type TokenID int32
