package rollups

func whaleVertical() vertical { return vertical{} }
