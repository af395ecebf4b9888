package ingest

import (
	"database/sql/driver"
	"fmt"
	"strconv"

	"pmx/data"
	"pmx/engine"
)

// Directory has the ids of wallets and tokens in memory.
type Directory interface {
	Wallet(a data.Address) (data.WalletID, bool)
	Token(tokenID string) (data.TokenID, bool)
	// Known returns how many of each it has. It may only be used if it has all.
	Known() (wallets, tokens int)
}

// memoryRows is the maximum number of staged rows whose ids are looked up one by one.
const memoryRows = 200_000

// internFromMemory sets the ids of the staged rows by the Directory; false if there is none, it is
// not up to date, or the file is so large that a join is faster.
func (j *fileImport) internFromMemory() (bool, error) {
	wallets, tokens, current, err := j.inDirectory()
	if err != nil || !current {
		return false, err
	}
	if rows, err := j.count("s_raw"); err != nil || rows > memoryRows {
		return false, err
	}
	if err := j.execAll("MemoryEmpty", "MemoryTokensEmpty"); err != nil {
		return false, err
	}
	stagedWallets, stagedTokens := j.stagedNames()
	newWallets, err := j.lookUp(stagedWallets, "s_wallet", wallets, func(v driver.Value) (int32, bool) {
		id, known := j.im.Directory.Wallet(data.Address(v.([]byte)))
		return int32(id), known
	})
	if err != nil {
		return false, err
	}
	newTokens, err := j.lookUp(stagedTokens, "s_token", tokens, func(v driver.Value) (int32, bool) {
		id, known := j.im.Directory.Token(engine.Text(v))
		return int32(id), known
	})
	if err != nil {
		return false, err
	}
	if newWallets {
		if err := j.exec("AddWallets", "@first", strconv.Itoa(wallets)); err != nil {
			return false, err
		}
	}
	if newTokens {
		if err := j.exec("AddTokens", "@first", strconv.Itoa(tokens)); err != nil {
			return false, err
		}
	}
	return true, j.exec("Interned", "@time", j.saidTime(), "@wallets", "s_wallet", "@tokens", "s_token")
}

// eachValue calls f with values one by one.
type eachValue func(f func(driver.Value)) error

// valuesOf reads the values of a statement.
func valuesOf[T any](j *fileImport, name string) eachValue {
	return func(f func(driver.Value)) error {
		err := engine.EachValue(j.ctx, j.conn, statements.Get(name), func(v T) error { f(v); return nil })
		if err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
		return nil
	}
}

// stagedNames returns the wallets and the tokens of the staged rows in the order in which new ones
// get their ids.
func (j *fileImport) stagedNames() (wallets, tokens eachValue) {
	s := j.staged
	if s == nil || s.byLog != nil {
		return valuesOf[[]byte](j, "StagedWallets"), valuesOf[string](j, "StagedTokens")
	}
	wallets = func(f func(driver.Value)) error {
		for _, a := range s.addresses() {
			f(a[:])
		}
		return nil
	}
	return wallets, func(f func(driver.Value)) error {
		for _, id := range s.tokenIDs() {
			f(id)
		}
		return nil
	}
}

// lookUp writes the ids of values into table. Unknown values get the next ids in order; fresh
// reports whether there are any.
func (j *fileImport) lookUp(values eachValue, table string, next int, find func(driver.Value) (int32, bool)) (fresh bool, err error) {
	type entry struct {
		id    int32
		value driver.Value
	}
	var list []entry
	err = values(func(v driver.Value) {
		id, known := find(v)
		if !known {
			id = int32(next)
			next++
			fresh = true
		}
		list = append(list, entry{id, v})
	})
	if err != nil {
		return false, err
	}
	return fresh, engine.AppendTemp(j.conn, table, len(list), func(i int) []driver.Value {
		return []driver.Value{list[i].id, list[i].value}
	})
}
