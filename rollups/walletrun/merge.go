package walletrun

import (
	"context"
	"errors"
	"fmt"
	"os"
)

// input is a run that is merged with others.
type input struct {
	*run
	skip     map[int32]bool // wallets whose rows are left out
	txBase   uint32         // where its transactions lie in the output
	wideBase uint64
}

// errTooMany is returned where more transactions would come together than a row
// can tell apart.
var errTooMany = errors.New("more than four thousand million transactions")

// merge writes the rows of all inputs to one file, made durable by sync.
func merge(ctx context.Context, path string, c Covers, inputs []input, from int, sync func(*os.File) error) (err error) {
	w, err := newWriter(path, from)
	if err != nil {
		return err
	}
	defer func() {
		if err != nil {
			_ = w.close()
		}
	}()
	wallets, err := w.shared(inputs)
	if err != nil {
		return err
	}
	m := merger{w: w, inputs: inputs}
	for id := range wallets {
		if id%4096 == 0 && ctx.Err() != nil {
			return ctx.Err()
		}
		if err := m.wallet(int32(id)); err != nil {
			return fmt.Errorf("merge wallet %d: %w", id, err)
		}
	}
	return w.finish(c, sync)
}

// shared writes the transactions and wide parts of all inputs one behind the
// other, and gives the number of wallets.
func (w *writer) shared(inputs []input) (wallets int, err error) {
	for i := range inputs {
		in := &inputs[i]
		if w.h.counts[txs]+in.h.counts[txs] >= noTx {
			return 0, errTooMany
		}
		in.txBase = uint32(w.h.counts[txs])
		if err := w.add(txs, in.part[txs]); err != nil {
			return 0, err
		}
		wallets = max(wallets, in.wallets())
	}
	if err := w.pad(); err != nil {
		return 0, err
	}
	for i := range inputs {
		in := &inputs[i]
		in.wideBase = w.h.counts[wide]
		if err := w.add(wide, in.part[wide]); err != nil {
			return 0, err
		}
	}
	return wallets, w.pad()
}

type merger struct {
	w      *writer
	inputs []input
	heads  []head // of the wallet at hand
}

// head is the part of an input's rows that is not written yet.
type head struct {
	in     *input
	lo, hi int
}

func (m *merger) wallet(id int32) error {
	m.heads = m.heads[:0]
	total := 0
	for i := range m.inputs {
		in := &m.inputs[i]
		lo, hi := in.span(id)
		if lo == hi || in.skip[id] {
			continue
		}
		m.heads = append(m.heads, head{in, lo, hi})
		total += hi - lo
	}
	if total == 0 {
		return nil
	}
	if err := m.w.wallet(id, uint64(total)); err != nil {
		return err
	}
	for len(m.heads) > 1 {
		if err := m.least(); err != nil {
			return err
		}
	}
	return m.rest(&m.heads[0])
}

// least writes the first of what is left of several inputs.
func (m *merger) least() error {
	best := 0
	for i := 1; i < len(m.heads); i++ {
		x, y := &m.heads[i], &m.heads[best]
		if x.in.compare(x.lo, y.in.run, y.lo) < 0 {
			best = i
		}
	}
	h := &m.heads[best]
	if err := m.one(h); err != nil {
		return err
	}
	if h.lo == h.hi {
		m.heads = append(m.heads[:best], m.heads[best+1:]...)
	}
	return nil
}

func (m *merger) one(h *head) error {
	r := h.in.row(h.lo)
	part := h.in.widePart(&r)
	h.lo++
	r = r.moved(h.in.txBase, h.in.wideBase)
	return m.w.fill(&r, part)
}

// rest writes what is left of the only input left.
func (m *merger) rest(h *head) error {
	if h.in.txBase == 0 && h.in.wideBase == 0 && m.w.sums == nil {
		return m.w.add(rows, h.in.part[rows][h.lo*rowSize:h.hi*rowSize])
	}
	for h.lo < h.hi {
		if err := m.one(h); err != nil {
			return err
		}
	}
	return nil
}
