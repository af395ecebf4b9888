package data

// WalletID is the number of a wallet in a database. Another database has other numbers:
// nothing that is shown depends on one.
type WalletID int32

// TokenID is the number of a token in a database, as WalletID is of a wallet. What the
// venue calls the token is another thing: a uint256 in decimal.
type TokenID int32
