package rollups

func indexVertical() vertical { return vertical{} }
