package serving

// Oracle is forecasting accuracy.
type Oracle struct{}
