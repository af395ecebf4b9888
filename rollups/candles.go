package rollups

import "fmt"

// candleVertical keeps the trades of every hour. They are read from the database and not kept in
// the snapshot.
func candleVertical() vertical {
	return vertical{
		tables: []table{candleTable()},
		after:  candlesAgain,
	}
}

// byPlainHour tells hours with one price, at which whole hundredths of shares were traded, from others, by the columns of the base.
// token_stretch_sums.go writes candles in this order.
const byPlainHour = "CASE WHEN beyond = 0 AND rest BETWEEN 0 AND 1 AND above = 0 AND below = 0 THEN 0 ELSE 1 END"

func candleTable() table {
	return table{name: "candle", delta: "DeltaCandle", by: byTokenHour, with: withFills, unread: true, keys: []string{"token", "hour"},
		sums: []string{"fills", "usd", "shares"}, greatest: []string{"opened", "highest", "lowest", "closed"},
		order:  []string{"token // 256", byPlainHour, "fills > 1", "token", "hour"},
		packed: packedCandle()}
}

// candlesAgain recomputes the hours from which the batch removes a fill, and drops their former
// rows. Hours that it only adds to are not read.
func candlesAgain(m *merge) error {
	if m.replaced == 0 {
		return nil
	}
	if err := m.exec("CandlesAgain"); err != nil {
		return err
	}
	var spans string
	if err := m.conn.QueryRowContext(m.ctx, statements.Get("CandleSpans")).Scan(&spans); err != nil {
		return fmt.Errorf("CandleSpans: %w", err)
	}
	t := candleTable()
	for _, candles := range []string{t.name, t.deltaTable()} {
		if err := m.exec("ForgetCandles", "@candles", candles); err != nil {
			return err
		}
	}
	return m.exec("CandlesLeft", "@paid", price("usd", "shares"), "@price", priceKey(), "@spans", spans)
}
