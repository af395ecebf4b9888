package keeper_test

import (
	"context"
	"database/sql"
	"path/filepath"
	"strings"
	"testing"

	"pmx/rollups"
	"pmx/rollups/segments/fillseg"
	"pmx/rollups/serving"
)

// Verification finds a file of tokens whose sums differ from the facts although its newest fills do
// not.
func TestVerificationFindsWrongSumsOfTokens(t *testing.T) {
	k := openFacts(t, t.TempDir())
	var rows strings.Builder
	for i := range rollups.NewestFills + 9 {
		rows.WriteString(fillRow(i, i, walletAnn, "0"))
	}
	mustImport(t, k, write(t, "fills.csv", strings.Replace(plainFills, "tx,", "tx,log_index,", 1)+rows.String()))
	for name, change := range map[string]func(*serving.Fill){
		"nothing":              func(*serving.Fill) {},
		"a wallet":             func(f *serving.Fill) { f.Wallet++ },
		"what a wallet paid":   func(f *serving.Fill) { f.USD++ },
		"the price of an hour": func(f *serving.Fill) { f.LogIndex = -1 },
	} {
		err := k.DB().Write(context.Background(), func(conn *sql.Conn) error {
			check, err := verifyTokens(conn, filepath.Join(t.TempDir(), "tokens.seg"), change)
			if err == nil && (check.OK != (name == "nothing") || check.Rows != rollups.NewestFills) {
				t.Errorf("if %s differs in the file: check = %+v", name, check)
			}
			return err
		})
		if err != nil {
			t.Error(err)
		}
	}
}

// verifyTokens compares with the facts a file in which the oldest fill was changed.
func verifyTokens(conn *sql.Conn, path string, change func(*serving.Fill)) (rollups.Check, error) {
	ctx := context.Background()
	last, err := rollups.LastBatch(ctx, conn, -1)
	if err != nil {
		return rollups.Check{}, err
	}
	var names rollups.NameIndex // no two fills have the same time
	wallets, tokens := fillseg.NewWalletStore(path+".none", &names), fillseg.NewTokenStore(path, &names, rollups.NewestFills)
	defer func() { _ = tokens.Close() }()
	if err := tokens.Restart(last, false); err != nil {
		return rollups.Check{}, err
	}
	var facts []serving.Fill
	err = rollups.EachFact(ctx, conn, rollups.FactQuery{Batch: last, After: -1}, func(_ int64, f *serving.Fill) error {
		facts = append(facts, *f)
		return nil
	})
	if err != nil {
		return rollups.Check{}, err
	}
	oldest := 0
	for i := range facts {
		if facts[i].TS < facts[oldest].TS {
			oldest = i
		}
	}
	change(&facts[oldest])
	err = tokens.Build(ctx, tokens.Plan(), func(add func(int64, *serving.Fill) error) error {
		for i := range facts {
			if err := add(last, &facts[i]); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		return rollups.Check{}, err
	}
	checks, err := rollups.VerifyFillSegments(ctx, conn, wallets, tokens)
	if err != nil {
		return rollups.Check{}, err
	}
	return checks[1], nil
}
