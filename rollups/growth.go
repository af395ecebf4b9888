package rollups

func growthVertical() vertical { return vertical{} }
