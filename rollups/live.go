package rollups

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"sync"
	"sync/atomic"
	"time"

	"pmx/data"
	"pmx/engine/guard"
	"pmx/rollups/serving"
)

// Live keeps the in-memory state that snapshots are made from. Load and Absorb
// run on the writing connection, so they never overlap; Snapshot may be called
// from anywhere.
type Live struct {
	// Publish is called with every new snapshot before it is served; may be nil.
	Publish func(*serving.Snapshot)
	// PublishTraders is called once all wallets are read, while everything else is still being read, with a snapshot that has only
	// leaderboards of traders and the totals of wallets. Only the first ReadImage or LoadBeside that gets there calls it, and sets it
	// to nil; LoadBeside does not without another connection. May be nil.
	PublishTraders func(*serving.Snapshot)
	// Venue are the venue's own wallets, left out of rankings.
	Venue map[data.Address]bool
	// Cities are those of the weather desk; nil: the built-in ones.
	Cities *data.Gazetteer

	current atomic.Pointer[serving.Snapshot]
	ahead   *Live  // has the data of the snapshot that Prepare showed last; nil: none
	lineage uint64 // counts the databases that replaced another and were read as a whole
	quoted  uint64 // snapshots since the start that differ from the one before only in quotes

	liveData
}

// liveData is what Live has read. The tag image of a field says which part of an image has it; "-": none (live_image.go).
type liveData struct {
	incomplete    bool                           `image:"-"` // a batch was only partly applied
	walletBuilder *serving.WalletBuilder         `image:"wallets"`
	excluded      map[data.WalletID]bool         `image:"wallets"` // those of Venue
	early         map[data.WalletID]data.Address `image:"-"`       // wallets that were read before one with a smaller id
	catalog       *serving.CatalogBuilder        `image:"markets"`
	interned      interner                       `image:"markets"` // shared by markets
	tokens        []tokenLifetime                `image:"markets"`
	tokenIDs      tokenIDs                       `image:"-"`
	// venueTraded lists the venue's own wallets that traded a token.
	venueTraded      map[data.TokenID][]data.WalletID `image:"markets"`
	traders          []int32                          `image:"markets"` // distinct wallets by market id, including the venue's own
	eventFirsts      []int32                          `image:"markets"` // of those, the ones whose first market of its event it is
	day              dayTraders                       `image:"markets"`
	recentlyResolved resolutionHeap                   `image:"markets"`
	walletWindows    [serving.Periods]walletWindow    `image:"windows"`
	tokenWindows     [serving.Periods]tokenWindow     `image:"markets"`
	tradedMarkets    [serving.Periods]marketSet       `image:"markets"` // mapped markets traded
	freed            []data.TokenID                   `image:"markets"` // tokens that the batch removes from their market
	lifetimeVolume   legs                             `image:"markets"` // of all tokens
	whaleFlows       map[data.TokenID]data.Micro      `image:"markets"` // net flow of whales into each token in the last 24 hours
	sections         []section                        `image:"-"`       // each is a value of a part
	progress         rollupProgress                   `image:"wallets"` // that of the snapshot
	next             rollupProgress                   `image:"-"`       // the one after what is being applied
	kinds            batchKinds                       `image:"-"`       // of the batch that is being applied
	made             *batchSums                       `image:"-"`       // what it adds, nil where temporary tables have it
	counts           serving.Counts                   `image:"markets"`
	reload           func(section) bool               `image:"-"` // which sections read everything while the others apply a difference; nil: none
	beside           Beside                           `image:"-"` // reads wallets and tokens while everything is loaded; nil: there is no other connection
	aside            aside                            `image:"-"` // what it reads
}

// gazetteer returns the cities of the weather desk.
func (l *Live) gazetteer() *data.Gazetteer { return (&desk{cities: l.Cities}).gazetteer() }

// Wallet returns the id of a wallet; false where Live has not seen it.
func (l *Live) Wallet(a data.Address) (data.WalletID, bool) {
	return l.walletBuilder.Wallets().Lookup(a)
}

// Token returns the id of a token; false where Live has not seen it.
func (l *Live) Token(tokenID string) (data.TokenID, bool) {
	return l.tokenIDs.find(l.tokens, tokenID)
}

// Known is how many wallets and tokens Live has seen.
func (l *Live) Known() (wallets, tokens int) {
	if l.walletBuilder == nil {
		return 0, 0
	}
	return l.walletBuilder.Wallets().Len(), len(l.tokens)
}

// Snapshot is the newest one; nil before the first Load.
func (l *Live) Snapshot() *serving.Snapshot { return l.current.Load() }

// Load reads the whole state from the database and publishes it. The new state is built separately;
// if that fails, the current one stays.
func (l *Live) Load(ctx context.Context, conn *sql.Conn) error {
	return l.LoadBeside(ctx, conn, nil)
}

// load is Load into a new Live.
func (l *Live) load(ctx context.Context, conn *sql.Conn) error {
	var wallets int64
	if err := conn.QueryRowContext(ctx, statements.Get("WalletCount")).Scan(&wallets); err != nil {
		return err
	}
	s, err := readProgress(ctx, conn)
	if err != nil {
		return err
	}
	l.progress, l.next, l.counts, l.lifetimeVolume, l.whaleFlows = s, s, serving.Counts{}, legs{}, nil
	l.walletBuilder, l.catalog, l.interned = serving.NewWalletBuilder(int(wallets)), serving.NewCatalogBuilder(), newInterner()
	l.excluded, l.tokens, l.traders, l.eventFirsts, l.tokenIDs = map[data.WalletID]bool{}, nil, nil, nil, newTokenIDs()
	l.venueTraded, l.day, l.recentlyResolved = map[data.TokenID][]data.WalletID{}, newDayTraders(), nil
	for p := range serving.Periods {
		l.walletWindows[p], l.tokenWindows[p], l.tradedMarkets[p] = walletWindow{}, tokenWindow{}, marketSet{}
	}
	l.sections = newSections()
	if l.beside != nil {
		if err := l.readWallets(ctx, conn); err != nil {
			return err
		}
		defer l.startAside(ctx)()
	}
	if err := l.loadCatalog(ctx, conn, "true"); err != nil {
		return err
	}
	for _, p := range l.sections {
		if early, ok := p.(earlySection); ok {
			defer early.begin(l)()
		}
	}
	// All rows are added to the state one by one, like the changes of a batch.
	return l.follow(ctx, conn, table.baseAndDelta, "LoadNames", "")
}

// Absorb applies the batch merged last on conn, described by added, and publishes a snapshot. If it
// fails halfway, the next call reads everything.
func (l *Live) Absorb(ctx context.Context, conn *sql.Conn, added Added) error {
	if l.walletBuilder == nil || l.incomplete {
		return l.Load(ctx, conn)
	}
	s, err := readProgress(ctx, conn)
	if err != nil {
		return err
	}
	if s.epoch == l.progress.epoch || s.stale {
		return nil // nothing was merged
	}
	if s.epoch != l.progress.epoch+1 || s.epoch != added.epoch {
		return l.Load(ctx, conn) // a batch was missed
	}
	if l.kinds, err = readKinds(ctx, conn); err != nil {
		return err
	}
	l.incomplete, l.next, l.made = true, s, added.sums
	defer func() { l.made = nil }()
	if l.kinds.has("markets") {
		if err := l.loadCatalog(ctx, conn, "market IN (SELECT market FROM n_market)"); err != nil {
			return err
		}
	}
	err = l.follow(ctx, conn, func(t table) string { return t.rows(t.batchTable()) }, "BatchNames", "BatchTokens")
	l.incomplete = err != nil
	return err
}

// walletSteps add the rows of wallets. They use nothing that marketSteps and windowStep use.
func (l *Live) walletSteps(from func(table) string, names string, whole bool) []step {
	steps := []step{eachRow(known("LoadWallets", l.walletBuilder.Wallets().Len()), l.addWallet)}
	if whole || l.kinds.has("names") {
		steps = append(steps, eachRow(statements.Get(names), func(row *nameRow) { l.walletBuilder.SetName(row.Wallet, row.Name) }))
	}
	return append(steps, eachAdded(l, madeWalletTotals, from(tableNamed("wallet_total")), l.addTotals))
}

// windowStep adds what wallets did in the windows.
func (l *Live) windowStep(from func(table) string) step {
	return eachAdded(l, func(b *batchSums) []walletWindowRow { return b.walletWindows.rows }, from(tableNamed("wallet_window")),
		func(row *walletWindowRow) { l.walletWindows[row.Span].add(row) })
}

// known returns a statement that reads what comes after the first n.
func known(name string, n int) string { return statements.Get(name, "@known", strconv.Itoa(n)) }

// marketSteps add the rows of tokens and markets. Wallets in them are ids, which need not be loaded.
func (l *Live) marketSteps(from func(table) string) []step {
	return []step{
		eachAdded(l, madeTokenTotals, from(tableNamed("token_total")), l.addTokenTotal),
		eachAdded(l, func(b *batchSums) []marketWalletsRow { return b.marketWallets.rows }, from(tableNamed("market_wallets")),
			func(row *marketWalletsRow) { l.addTraders(&l.traders, row) }),
		eachAdded(l, func(b *batchSums) []marketWalletsRow { return b.eventWallets }, from(tableNamed("event_wallets")),
			func(row *marketWalletsRow) { l.addTraders(&l.eventFirsts, row) }),
		eachAdded(l, func(b *batchSums) []tokenWindowRow { return b.tokenWindows.rows }, from(tableNamed("token_window")), l.addTokenWindow),
		eachAdded(l, (*batchSums).priceRows, statements.Get("LoadPrices", "@rows", from(tableNamed("token_price"))), l.addPrices),
	}
}

// take runs steps one after another.
func take(ctx context.Context, conn *sql.Conn, steps []step) error {
	for _, s := range steps {
		if err := s(ctx, conn); err != nil {
			return fmt.Errorf("follow: %w", err)
		}
	}
	return nil
}

// follow adds rows to the state: all of them, or those of a batch.
func (l *Live) follow(ctx context.Context, conn *sql.Conn, from func(table) string, names, remapped string) error {
	whole := remapped == ""
	mapped, err := l.aside.tokens(l)
	if err != nil {
		return fmt.Errorf("follow: %w", err)
	}
	steps := l.marketSteps(from)
	if !mapped {
		steps = slices.Insert(steps, 0, eachRow(known("LoadTokens", len(l.tokens)), l.mapToken))
	}
	if !whole && l.kinds.has("mappings", "labels") {
		steps = append(steps, eachRow(statements.Get(remapped), l.mapToken))
	}
	if err := take(ctx, conn, steps); err != nil {
		return err
	}
	if l.beside == nil { // else readWallets has added them
		if err := take(ctx, conn, append(l.walletSteps(from, names, whole), l.windowStep(from))); err != nil {
			return err
		}
	}
	if err := errors.Join(l.followDay(ctx, conn, whole), l.followVenue(ctx, conn, whole)); err != nil {
		return fmt.Errorf("follow traders: %w", err)
	}
	for _, p := range l.sections {
		if l.aside.reads(p) {
			continue
		}
		of, all := from, whole
		if l.reload != nil && l.reload(p) {
			of, all = table.baseAndDelta, true
		}
		if err := p.follow(ctx, conn, l, of, all); err != nil {
			return fmt.Errorf("follow: %w", err)
		}
	}
	if err := l.aside.rest(ctx, conn, l); err != nil {
		return err
	}
	return l.publish(ctx, conn)
}

// begin begins the next snapshot with what it says of wallets, apart from leaderboards.
func (l *Live) begin() (*serving.Snapshot, error) {
	if len(l.early) > 0 {
		return nil, fmt.Errorf("the ids in table wallets have a gap before %d of them", len(l.early))
	}
	l.progress = l.next
	snap := &serving.Snapshot{Epoch: uint64(l.progress.epoch) + l.quoted, Lineage: l.lineage}
	if l.progress.asOf > 0 {
		snap.AsOf = time.UnixMicro(l.progress.asOf).UTC()
	}
	l.walletBuilder.Seal(snap)
	snap.Venue = slices.Sorted(maps.Keys(l.excluded))
	return snap, nil
}

// publish makes the next snapshot and swaps it in.
func (l *Live) publish(ctx context.Context, conn *sql.Conn) error {
	snap, err := l.begin()
	if err != nil {
		return err
	}
	if snap.Batch, err = LastBatch(ctx, conn, l.shownBatch()); err != nil {
		return err
	}
	l.refresh()
	snap.Catalog = l.catalog.Seal()
	l.count(snap)
	if err := l.publishSections(ctx, conn, snap); err != nil {
		return err
	}
	if l.Publish != nil {
		l.Publish(snap)
	}
	l.current.Store(snap)
	return nil
}

// publishSections fills in the leaderboards and what sections publish, the one beside the other: they use nothing that
// the other changes. After a load, sections that need only the catalog publish beside the others too.
func (l *Live) publishSections(ctx context.Context, conn *sql.Conn, snap *serving.Snapshot) error {
	apart := func(p section) bool {
		_, alone := p.(catalogSection)
		return alone && l.beside != nil
	}
	publish := func(which bool) error {
		for _, p := range l.sections {
			if apart(p) == which {
				if err := p.publish(ctx, conn, l, snap); err != nil {
					return err
				}
			}
		}
		return nil
	}
	done := guard.Start(func() error {
		for p := range serving.Periods {
			snap.Traders[p], snap.Markets[p] = l.traderLeaderboard(p), l.marketLeaderboard(snap.Catalog, p)
		}
		return publish(true)
	})
	ranked := sync.OnceValue(func() error { return <-done })
	defer ranked() // nothing is changed before its end, even if a section panics
	if err := publish(false); err != nil {
		return err
	}
	return guard.Repanic(ranked())
}

// shownBatch is the last import that the snapshot has; −1: none.
func (l *Live) shownBatch() int64 {
	if was := l.Snapshot(); was != nil {
		return was.Batch
	}
	return -1
}

// count fills in the whole venue's figures.
func (l *Live) count(snap *serving.Snapshot) {
	c := &l.counts
	l.catalog.Count(c)
	c.Wallets, c.Tokens = int64(l.walletBuilder.Wallets().Len()), int64(len(l.tokens))
	c.Fills, c.Basis = l.lifetimeVolume.TakerFills+l.lifetimeVolume.MakerFills, l.lifetimeVolume.basis()
	c.Trades, c.VolumeUSD, c.VolumeShares = l.lifetimeVolume.by(c.Basis)
	snap.Counts = *c
}
