package data

// ListedTrades is the name in the import log of batches from the venue's own list of trades. Their
// fills have no log index, fee or exact dollars, and are replaced by those of the chain's logs.
const ListedTrades = "data API trades"
