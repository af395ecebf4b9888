package fillseg

import "pmx/data"

// What a sum of a wallet has besides its number of fills.
const (
	hasBought = 1 << iota // shares or dollars that are not 0
	hasSold
	hasFees
	soldAsBought // as many shares were sold as were bought

	shapeBits = iota
)

// Kinds of shapes.
const (
	boughtOnly = iota
	boughtAndSold
	soldOnly
	boughtAndSoldAll
	anyShape // shapeBits follow
)

var shapeOf = [...]uint64{boughtOnly: hasBought, boughtAndSold: hasBought | hasSold, soldOnly: hasSold, boughtAndSoldAll: hasBought | hasSold | soldAsBought, anyShape: 0}

// shapes is of fills less one.
var shapes = newCode(
	class{boughtOnly, 1, 0, 1}, class{boughtOnly, 6, 0, 1}, class{boughtOnly, 5, 1, 1}, class{boughtOnly, 6, 3, 1}, class{boughtOnly, 6, 5, 1},
	class{boughtAndSold, 3, 1, 1}, class{boughtAndSold, 4, 1, 1}, class{boughtAndSold, 5, 2, 1}, class{boughtAndSold, 6, 3, 1}, class{boughtAndSold, 6, 8, 1},
	class{soldOnly, 6, 0, 1}, class{soldOnly, 6, 1, 1}, class{soldOnly, 6, 4, 1},
	class{boughtAndSoldAll, 4, 1, 1}, class{boughtAndSoldAll, 5, 2, 1},
	class{anyShape, 6, 5, 1}, class{anyShape, 6, anyNumber, 1},
)

// trades are shares that were bought or sold, and their dollars.
type trades struct{ shares, usd data.Micro }

func (t trades) some() bool { return t.shares != 0 || t.usd != 0 }

// hasOf are the bits of what a sum has, without soldAsBought.
func hasOf(bought, sold, fees bool) (has uint64) {
	if bought {
		has |= hasBought
	}
	if sold {
		has |= hasSold
	}
	if fees {
		has |= hasFees
	}
	return has
}

// trades writes how many fills a sum has, what it has else, and what was bought and sold.
func (w *sumWriter) trades(fills int64, bought, sold trades, fees bool) {
	has := hasOf(bought.some(), sold.some(), fees)
	if has&(hasBought|hasSold) == hasBought|hasSold && bought.shares == sold.shares {
		has |= soldAsBought
	}
	w.shape(shapes, shapeOf[:], fills, has, shapeBits)
	if has&hasBought != 0 {
		w.amount(bought.shares)
		w.dollars(bought.usd, bought.shares)
	}
	if has&hasSold != 0 {
		if has&soldAsBought == 0 {
			w.amount(sold.shares)
		}
		w.dollars(sold.usd, sold.shares)
	}
}

// trades reads what sumWriter.trades wrote.
func (r *sumReader) trades() (fills int64, bought, sold trades, fees bool) {
	fills, has := r.shape(shapes, shapeOf[:], shapeBits)
	if has&hasBought != 0 {
		bought.shares = r.amount()
		bought.usd = r.dollars(bought.shares)
	}
	if has&hasSold != 0 {
		if sold.shares = bought.shares; has&soldAsBought == 0 {
			sold.shares = r.amount()
		}
		sold.usd = r.dollars(sold.shares)
	}
	return fills, bought, sold, has&hasFees != 0
}

// shape writes the number of fills of a sum and what else it has, in a code whose kinds say the latter, except that
// the last kind has it in so many bits of their own.
func (w *sumWriter) shape(c *code, kinds []uint64, fills int64, has uint64, own uint) {
	last := len(kinds) - 1
	for kind, of := range kinds[:last] {
		if of == has && c.put(&w.bitWriter, uint8(kind), fills-1) {
			return
		}
	}
	c.put(&w.bitWriter, uint8(last), fills-1)
	w.put(has, own)
}

// shape reads what sumWriter.shape wrote.
func (r *sumReader) shape(c *code, kinds []uint64, own uint) (fills int64, has uint64) {
	fills, kind := r.number(c)
	if int(kind) == len(kinds)-1 {
		return fills + 1, r.bits(own)
	}
	return fills + 1, kinds[kind]
}
