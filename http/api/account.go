package api

func accountRoutes() []Route { return nil }
