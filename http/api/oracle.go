package api

func oracleRoutes() []Route { return nil }
