package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"

	"github.com/rs/zerolog"

	"pmx/data"
	"pmx/data/feeds"
	"pmx/data/reference"
	"pmx/engine"
	"pmx/engine/export"
	"pmx/http/access"
	"pmx/http/admin"
	"pmx/rollups"
	"pmx/rollups/keeper"
	"pmx/rollups/replica"
)

// Files that an operator may put into the data directory.
const (
	citiesName       = "cities.csv"
	stationsName     = "stations.csv"
	venueWalletsName = "venue_wallets.txt"
)

// cities returns the cities of the weather desk: the built-in table, and cities.csv and
// stations.csv in the data directory.
func cities(dir engine.Dir) (*data.Gazetteer, error) {
	var texts [2]string
	for i, name := range []string{citiesName, stationsName} {
		text, err := data.ReadRegular(underDir(dir, name))
		if err != nil && !errors.Is(err, os.ErrNotExist) {
			return nil, err
		}
		texts[i] = string(text)
	}
	g, err := reference.Extended(texts[0], texts[1])
	if err != nil {
		return nil, fmt.Errorf("%s: %w", dir, err)
	}
	return g, nil
}

// venueWallets returns the venue's own addresses: the built-in table, and venue_wallets.txt in the
// data directory, with one address per line.
func venueWallets(dir engine.Dir) (map[data.Address]bool, error) {
	out := map[data.Address]bool{}
	for _, w := range reference.VenueWallets() {
		out[w.Address] = true
	}
	path := underDir(dir, venueWalletsName)
	text, err := data.ReadRegular(path)
	if errors.Is(err, os.ErrNotExist) {
		return out, nil
	}
	if err != nil {
		return nil, err
	}
	for i, line := range lines(string(text)) {
		if line == "" || line[0] == '#' {
			continue
		}
		a, err := data.ParseAddress(line)
		if err != nil {
			return nil, fmt.Errorf("%s: line %d: %w", path, i+1, err)
		}
		out[a] = true
	}
	return out, nil
}

// openKeeper opens the venue in this process, if no server is running.
func (c *CLI) openKeeper(ctx context.Context, dir engine.Dir, log zerolog.Logger) (*keeper.Keeper, error) {
	return c.openVenue(ctx, dir, keeper.Config{Log: log})
}

// openVenue is openKeeper with further settings in cfg.
func (c *CLI) openVenue(ctx context.Context, dir engine.Dir, cfg keeper.Config) (*keeper.Keeper, error) {
	if follows, ok := replica.Of(dir); ok {
		return nil, follows.Refuse("opening its database for writing")
	}
	venue, err := venueWallets(dir)
	if err != nil {
		return nil, err
	}
	places, err := cities(dir)
	if err != nil {
		return nil, err
	}
	cfg.Engine, cfg.Feeds, cfg.Venue = c.faultedOptions(dir, cfg.Log), feeds.Catalog{Cities: places}, venue
	cfg.Engine.Reads, cfg.Memory = cfg.Lake, c.memory
	return keeper.Open(ctx, cfg)
}

// faultedOptions returns the options of an engine that ends the process if it cannot recover.
func (c *CLI) faultedOptions(dir engine.Dir, log zerolog.Logger) engine.Options {
	opts := c.engineOptions(dir)
	opts.OnFault = func(err error, recovered bool) {
		log.Error().Err(err).Bool("recovered", recovered).Msg("database fault")
		if !recovered {
			os.Exit(3) // a failed database cannot serve; a supervisor restarts the process
		}
	}
	return opts
}

// The operations that a command passes to a running server over its socket.
const (
	opImport    = "import"
	opRefresh   = "refresh"
	opRebuild   = "rebuild"
	opVerify    = "verify"
	opAgainst   = "verify-against"
	opExport    = "export"
	opPartition = "export-all"
	opLake      = "export-lake"
	opBackup    = "backup"
	opKeys      = "keys" // a key was changed: reload them
)

// operation is the part of a command that runs in the process that has the database.
type operation[Req, Event, Res any] struct {
	name string // name on the socket
	do   func(context.Context, *keeper.Keeper, Req, func(Event)) (Res, error)
}

// The operations on a venue.
var (
	importing    = operation[keeper.Request, keeper.Event, keeper.Result]{opImport, importFiles}
	refreshing   = operation[none, stage, none]{opRefresh, refresh}
	rebuilding   = operation[rebuildRequest, stage, none]{opRebuild, rebuild}
	verifying    = operation[none, stage, []rollups.Check]{opVerify, verify}
	comparing    = operation[compareRequest, stage, []rollups.Check]{opAgainst, verifyAgainst}
	exporting    = operation[exportRequest, share, exported]{opExport, exportDataset}
	partitioning = operation[partitionRequest, partitionEvent, partitioned]{opPartition, exportPartition}
	lakeWriting  = operation[export.LakeKnown, lakeEvent, partitioned]{opLake, exportLake}
)

// perform runs an operation where the database is open: in the server of this data directory if one
// is running, otherwise in this process.
func perform[Req, Event, Res any](ctx context.Context, c *CLI, op operation[Req, Event, Res], req Req, onEvent func(Event)) (res Res, err error) {
	name := op.name
	dir, err := c.ownDir()
	if err != nil {
		return res, err
	}
	if err := refusedByReplica(dir, name); err != nil {
		return res, err
	}
	if admin.Running(dir.AdminSocket()) {
		raw, err := admin.Call(ctx, dir.AdminSocket(), name, req, func(raw json.RawMessage) {
			var e Event
			if json.Unmarshal(raw, &e) == nil {
				onEvent(e)
			}
		})
		if err != nil {
			return res, operationError(ctx, name, err)
		}
		return res, json.Unmarshal(raw, &res)
	}
	if _, err := os.Stat(dir.Database()); name != opImport && errors.Is(err, os.ErrNotExist) {
		return res, fmt.Errorf("%s has no database yet: check --data-dir, or import something first", dir)
	}
	k, err := c.openKeeper(ctx, dir, quiet())
	if err != nil {
		return res, err
	}
	res, err = op.do(ctx, k, req, onEvent)
	return res, errors.Join(err, k.Close())
}

// operationError explains the state of an operation that the server or the command gave up.
func operationError(ctx context.Context, name string, err error) error {
	var remote *admin.Error
	lost := errors.Is(err, admin.ErrLost)
	switch canceled := errors.As(err, &remote) && remote.Code == admin.CodeCanceled; {
	case lost && ctx.Err() != nil:
		return interruption("the server did not report the outcome: it may be done; running the command again does no harm")
	case lost:
		return fmt.Errorf("the server stopped before it reported that %s was done, which may or may not be so: run the command again", name)
	case canceled && ctx.Err() == nil:
		return fmt.Errorf("the server stopped before %s was done; nothing incomplete was kept: run the command again", name)
	}
	return err
}

// stage is one stage of long work, as an event.
type stage struct {
	Name string `json:"name"`
	Done int    `json:"done"`
	Of   int    `json:"of"`
}

type none struct{}

func stages(emit func(stage)) keeper.Step {
	return func(name string, done, of int) { emit(stage{name, done, of}) }
}

func importFiles(ctx context.Context, k *keeper.Keeper, req keeper.Request, emit func(keeper.Event)) (keeper.Result, error) {
	return k.Import(ctx, req, emit)
}

func refresh(ctx context.Context, k *keeper.Keeper, _ none, emit func(stage)) (none, error) {
	return none{}, k.Refresh(ctx, stages(emit))
}

func rebuild(ctx context.Context, k *keeper.Keeper, req rebuildRequest, emit func(stage)) (none, error) {
	if err := k.SetWhale(ctx, req.Whale); err != nil {
		return none{}, err
	}
	return none{}, k.Rebuild(ctx, stages(emit))
}

// rebuildRequest has the parameters of a rebuild.
type rebuildRequest struct {
	Whale data.Micro `json:"whale"` // dollars; 0: unchanged
}

// whaleThreshold is the smallest size of a whale move in dollars.
type whaleThreshold struct {
	WhaleThreshold int64 `help:"Smallest order, in dollars, that counts as a whale move. It is stored in the database, initially 10000; a change rebuilds the rollups." placeholder:"USD"`
}

// maxWhaleUSD is the maximum of the threshold: a trillion dollars.
const maxWhaleUSD = 1_000_000_000_000

// usd returns the threshold; 0 if it is not to be changed.
func (w whaleThreshold) usd() (data.Micro, error) {
	if w.WhaleThreshold < 0 || w.WhaleThreshold > maxWhaleUSD {
		return 0, wrong("whale-threshold", " %d: give whole dollars, 1 to %d", w.WhaleThreshold, int64(maxWhaleUSD))
	}
	return data.Micro(w.WhaleThreshold) * data.One, nil
}

func verify(ctx context.Context, k *keeper.Keeper, _ none, emit func(stage)) ([]rollups.Check, error) {
	return k.Verify(ctx, stages(emit))
}

// compareRequest names a folder of published rollups.
type compareRequest struct {
	Dir string `json:"dir"`
}

func verifyAgainst(ctx context.Context, k *keeper.Keeper, req compareRequest, emit func(stage)) ([]rollups.Check, error) {
	return k.VerifyAgainst(ctx, req.Dir, stages(emit))
}

// registerOperations registers the operations on a server's socket.
func registerOperations(s *admin.Server, k *keeper.Keeper, gate *access.Gate, r *replica.Follower) {
	s.Handle(opKeys, func(ctx context.Context, _ json.RawMessage, _ func(any)) (any, error) {
		return none{}, gate.Refresh(ctx)
	})
	if r != nil {
		registerReplica(s, k, r)
		return
	}
	registerVenue(s, k)
}

// registerVenue registers the operations that do not need a server of the API.
func registerVenue(s *admin.Server, k *keeper.Keeper) {
	handle(s, k, importing)
	handle(s, k, refreshing)
	handle(s, k, rebuilding)
	handle(s, k, verifying)
	handle(s, k, comparing)
	handle(s, k, exporting)
	handle(s, k, partitioning)
	handle(s, k, lakeWriting)
	handle(s, k, backingUp)
}

func handle[Req, Event, Res any](s *admin.Server, k *keeper.Keeper, op operation[Req, Event, Res]) {
	s.Handle(op.name, func(ctx context.Context, raw json.RawMessage, emit func(any)) (any, error) {
		var req Req
		if len(raw) > 0 {
			if err := json.Unmarshal(raw, &req); err != nil {
				return nil, fmt.Errorf("%s: %w", op.name, err)
			}
		}
		return op.do(ctx, k, req, func(e Event) { emit(e) })
	})
}
