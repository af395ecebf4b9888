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

// texts returns a column of texts.
func texts(ctx context.Context, conn *sql.Conn, name string, args ...any) (out []string, err error) {
	return queryTexts(ctx, conn, marketStatements.Get(name), args...)
}

// eachRow runs a query and calls f at each of its rows.
func eachRow(ctx context.Context, conn *sql.Conn, f func(rows *sql.Rows) error, query string, args ...any) (err error) {
	rows, err := conn.QueryContext(ctx, query, args...)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, rows.Close()) }()
	for rows.Next() {
		if err := f(rows); err != nil {
			return err
		}
	}
	return rows.Err()
}

// scanHash scans a row whose first column is a hash.
func scanHash(rows *sql.Rows, others ...any) (data.Hash, error) {
	var b []byte
	if err := rows.Scan(append([]any{&b}, others...)...); err != nil {
		return data.Hash{}, err
	}
	return hash(b)
}

func queryTexts(ctx context.Context, conn *sql.Conn, query string, args ...any) (out []string, err error) {
	err = eachRow(ctx, conn, func(rows *sql.Rows) error {
		out = append(out, "")
		return rows.Scan(&out[len(out)-1])
	}, query, args...)
	return out, err
}

// conditionsOf returns a column of conditions.
func conditionsOf(ctx context.Context, conn *sql.Conn, name string, args ...any) (out []data.Hash, err error) {
	return queryConditions(ctx, conn, marketStatements.Get(name), args...)
}

func queryConditions(ctx context.Context, conn *sql.Conn, query string, args ...any) (out []data.Hash, err error) {
	err = eachRow(ctx, conn, func(rows *sql.Rows) error {
		c, err := scanHash(rows)
		out = append(out, c)
		return err
	}, query, args...)
	return out, err
}

func hash(b []byte) (h data.Hash, err error) {
	if len(b) != len(h) {
		return h, fmt.Errorf("%s is not a condition", hex.EncodeToString(b))
	}
	return data.Hash(b), nil
}
