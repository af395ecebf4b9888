package main

import (
	"database/sql"
	"fmt"
	"path/filepath"
	"time"

	"pmx/data"
	"pmx/engine/export"
)

func (b *bench) prof() error {
	s, err := b.crowded()
	if err != nil {
		return err
	}
	for range 3 {
		for _, f := range []data.Format{data.Parquet} {
			d, err := b.bareExport(s, "FORMAT parquet, COMPRESSION zstd, ROW_GROUP_SIZE 122880")
			if err != nil {
				return err
			}
			t0 := time.Now()
			var fr, done time.Duration
			e := export.Exporter{DB: s.keeper.DB()}
			_, err = e.Write(b.ctx, "trader_leaderboard", f, filepath.Join(s.keeper.DB().Dir().Exports(), "bench."+string(f)), func(p float64) {
				if p == 0.3 {
					fr = time.Since(t0)
				}
				if p == 1 {
					done = time.Since(t0)
				}
			})
			fmt.Println(f, "bare", d, "freeze", fr, "copies", done-fr, "finish", time.Since(t0)-done, "all", time.Since(t0), err)
		}
	}
	err = s.keeper.DB().Read(b.ctx, func(conn *sql.Conn) error {
		for _, q := range []string{"ATTACH ':memory:' AS frozen_1", "CREATE TABLE frozen_1.x AS FROM range(10)", } {
			_, err := conn.ExecContext(b.ctx, q)
			fmt.Println(q, err)
		}
		err := s.keeper.DB().Read(b.ctx, func(conn *sql.Conn) error {
		  var n int
		  err := conn.QueryRowContext(b.ctx, "SELECT count(*) FROM frozen_1.x").Scan(&n)
		  fmt.Println(n, err)
		  return nil
		})
		_, err = conn.ExecContext(b.ctx, "DETACH frozen_1")
		fmt.Println(err)
		return nil
	})
	return s.close()
}
