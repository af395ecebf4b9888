package follow

import (
	"context"
	"database/sql"
	"encoding/hex"
	"errors"
	"fmt"

	"pmx/data"
	"pmx/data/upstream/gamma"
)

func ofGamma(found []gamma.Market) []record {
	records := make([]record, len(found))
	for i, r := range found {
		records[i] = record{r.Market, r.Bad}
	}
	return records
}

func only[T any](list []T, ok func(T) bool) (out []T) {
	for _, v := range list {
		if ok(v) {
			out = append(out, v)
		}
	}
	return out
}

// texts gives a column of texts.
func texts(ctx context.Context, conn *sql.Conn, name string, args ...any) (out []string, err error) {
	return queryTexts(ctx, conn, marketStatements.Get(name), args...)
}

func queryTexts(ctx context.Context, conn *sql.Conn, query string, args ...any) (out []string, err error) {
	rows, err := conn.QueryContext(ctx, query, args...)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, rows.Close()) }()
	for rows.Next() {
		var s string
		if err := rows.Scan(&s); err != nil {
			return nil, err
		}
		out = append(out, s)
	}
	return out, rows.Err()
}

// conditionsOf gives a column of conditions.
func conditionsOf(ctx context.Context, conn *sql.Conn, name string, args ...any) (out []data.Hash, err error) {
	return queryConditions(ctx, conn, marketStatements.Get(name), args...)
}

func queryConditions(ctx context.Context, conn *sql.Conn, query string, args ...any) (out []data.Hash, err error) {
	rows, err := conn.QueryContext(ctx, query, args...)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, rows.Close()) }()
	for rows.Next() {
		var b []byte
		if err := rows.Scan(&b); err != nil {
			return nil, err
		}
		c, err := hash(b)
		if err != nil {
			return nil, err
		}
		out = append(out, c)
	}
	return out, rows.Err()
}

func hash(b []byte) (h data.Hash, err error) {
	if len(b) != len(h) {
		return h, fmt.Errorf("the condition %s is none", hex.EncodeToString(b))
	}
	return data.Hash(b), nil
}
