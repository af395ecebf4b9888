package data

// ListedTrades is what the import log calls batches of the venue's own list of trades. Their fills
// have no log index, fee or exact dollars, and give way to those of the chain's logs.
const ListedTrades = "data API trades"
