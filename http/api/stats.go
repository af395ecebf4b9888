package api

func statsRoutes() []Route { return nil }
