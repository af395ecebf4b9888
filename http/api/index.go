package api

func indexRoutes() []Route { return nil }

// indexReader is what the index endpoints read from the database.
type indexReader interface{}
