package api

func screenerRoutes() []Route { return nil }
