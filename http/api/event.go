package api

func eventRoutes() []Route { return nil }

// eventReader is what the event endpoints read from the database.
type eventReader interface{}
