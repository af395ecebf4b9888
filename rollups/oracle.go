package rollups

func oracleVertical() vertical { return vertical{} }
