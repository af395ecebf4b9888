package engine

import (
	"cmp"
	"context"
	"database/sql"
	"database/sql/driver"
	"errors"
	"fmt"
	"net/url"
	"runtime"
	"strings"
	"sync"

	duckdb "github.com/duckdb/duckdb-go/v2"
)

// pools are the connection pools over one connector.
type pools struct {
	connector *duckdb.Connector
	shared    driver.Connector // connector, which closing it does not close
	writer    *sql.DB
	second    *sql.DB // of WriteBeside
	readers   *sql.DB
	helpers   helpers

	replacement bool // of an instance that failed: one is allowed in a process's life
}

// CheckThreads returns the reason why DuckDB does not accept a number of threads, as in
// Options.Threads, without opening a database.
func CheckThreads(ctx context.Context, threads int) error {
	db, err := sql.Open("duckdb", "?"+url.Values{"threads": {fmt.Sprint(cmp.Or(threads, runtime.NumCPU()))}}.Encode())
	if err != nil {
		return err
	}
	return errors.Join(db.PingContext(ctx), db.Close())
}

func openPools(ctx context.Context, opts Options) (*pools, error) {
	var keep func() error
	if opts.journal != nil {
		if err := opts.journal.restore(); err != nil {
			return nil, err
		}
		keep = opts.journal.keep
	}
	threads := cmp.Or(opts.Threads, runtime.NumCPU())
	path, mode, spill := opts.target()
	dsn := path + "?" + url.Values{
		"access_mode":                   {mode},
		"threads":                       {fmt.Sprint(threads)},
		"external_threads":              {fmt.Sprint(threads)}, // all: the helpers
		"memory_limit":                  {opts.memoryLimit()},
		"default_block_size":            {fmt.Sprint(blockSize)},
		"storage_compatibility_version": {storageVersion},
	}.Encode()
	var boot sync.Once
	var connector *duckdb.Connector
	// DuckDB's own threads begin here, with the priority of the thread that makes them.
	err := LowPriority(func() (err error) {
		connector, err = duckdb.NewConnector(dsn, func(ex driver.ExecerContext) error {
			var err error
			boot.Do(func() { err = bootSettings(context.WithoutCancel(ctx), ex, opts, spill) })
			return err
		})
		return err
	})
	if err != nil {
		return nil, explainOpen(opts.Dir, err)
	}
	shared := sharedConnector{Connector: connector, tell: opts.OnStatement}
	writing := shared
	writing.before, writing.ends = keep, &sync.Mutex{}
	p := &pools{connector: connector, shared: shared, writer: sql.OpenDB(writing), second: sql.OpenDB(writing), readers: sql.OpenDB(shared)}
	p.writer.SetMaxOpenConns(1)
	p.second.SetMaxIdleConns(-1)
	p.readers.SetMaxOpenConns(maxReaders)
	p.readers.SetMaxIdleConns(maxReaders)
	// Not interrupted: without bootSettings, closing would make a checkpoint that the journal knows nothing of.
	if err := p.writer.PingContext(context.WithoutCancel(ctx)); err != nil {
		return nil, errors.Join(explainOpen(opts.Dir, err), p.close())
	}
	if err := ctx.Err(); err != nil {
		return nil, errors.Join(err, p.close())
	}
	if err := p.offerRows(context.WithoutCancel(ctx)); err != nil {
		return nil, errors.Join(err, p.close())
	}
	if err := p.helpers.begin(connector, threads-1); err != nil {
		return nil, errors.Join(err, p.close())
	}
	return p, nil
}

// bootSettings are global to the instance: set once, in this order, and then
// locked. After them nothing outside the data directory and Options.Reads can be read or written
// and no extension is ever downloaded.
func bootSettings(ctx context.Context, ex driver.ExecerContext, opts Options, spill string) error {
	quote := func(s string) string { return "'" + strings.ReplaceAll(s, "'", "''") + "'" }
	allowed := quote(string(opts.Dir))
	if opts.Reads != "" {
		allowed += ", " + quote(opts.Reads)
	}
	// No statement precedes that checkpoint, so the journal may be out of date. Close makes one by a statement.
	if _, err := ex.ExecContext(ctx, "PRAGMA disable_checkpoint_on_shutdown", nil); err != nil {
		return err
	}
	for _, set := range []string{
		"autoinstall_known_extensions = false",
		"autoload_known_extensions = false",
		// Without GLOBAL, it would be set for the first connection only.
		"GLOBAL TimeZone = 'UTC'",
		"temp_directory = " + quote(spill),
		"max_temp_directory_size = '200GB'",
		// Turns WHERE wallet = ? ORDER BY ts LIMIT 50 on a sorted table into a
		// scan of tens of milliseconds.
		"disabled_optimizers = 'late_materialization'",
		"checkpoint_threshold = '256MB'",
		// A transaction that adds many rows compresses and writes each row group as soon as it is full. By default it
		// does so with five at once, so who appends the rows is busy for so long that who reads them has to wait.
		"write_buffer_row_group_count = 1",
		"allowed_directories = [" + allowed + "]",
		"enable_external_access = false",
		"allowed_configs = ['memory_limit']", // for ReleaseBlocks, BoundMemory and LimitMemory
		"lock_configuration = true",
	} {
		if _, err := ex.ExecContext(ctx, "SET "+set, nil); err != nil {
			return fmt.Errorf("SET %s: %w", set, err)
		}
	}
	return nil
}

func (o Options) memoryLimit() string { return cmp.Or(o.MemoryLimit, DefaultMemory) }

func (p *pools) close() error {
	err := errors.Join(p.readers.Close(), p.second.Close(), p.writer.Close())
	p.helpers.close()
	return errors.Join(err, p.connector.Close())
}
