package api

func marketRoutes() []Route { return nil }

// marketReader is what the market endpoints read from the database.
type marketReader interface{}
