package serving

// Stats is the venue's activity over time.
type Stats struct{}
