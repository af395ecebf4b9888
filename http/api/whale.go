package api

func whaleRoutes() []Route { return nil }

// whaleReader is what the whale endpoints read from the database.
type whaleReader interface{}
