package serving

// Index is the PMX index and its history.
type Index struct{}
