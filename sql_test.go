package pmx_test

import (
	"context"
	"database/sql"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"pmx/engine"
	"pmx/engine/enginetest"
	"pmx/engine/statement"
)

// sqlDirs are the folders of named statements, in an order in which the temporary tables
// of one may be those that another reads.
var sqlDirs = []string{"engine", "engine/schema", "engine/ingest", "engine/ledger", "rollups", "rollups/follow", "rollups/query", "rollups/keeper", "rollups/cluster", "engine/export"}

var (
	placeholder = regexp.MustCompile(`@[a-z_0-9]+`)
	statementIn = regexp.MustCompile(`\{(\w+)((?: @\w+=[^ }]+)*)\}`)
	creates     = regexp.MustCompile(`^CREATE `)
)

// A misspelled name in a rarely used statement fails here: every named statement is prepared in an
// empty database with every migration applied. placeholders has the values of placeholders.
// Temporary tables are created by the statements themselves.
func TestEveryNamedStatementIsPrepared(t *testing.T) {
	pending := map[string]string{}
	part := map[string]bool{} // of another statement, which is prepared with it
	for _, dir := range sqlDirs {
		all, err := statement.Load(os.DirFS(dir))
		if err != nil {
			t.Fatal(err)
		}
		if len(all) == 0 {
			t.Errorf("%s has no statements", dir)
		}
		for _, name := range composed[dir] {
			if all[name] == "" {
				t.Errorf("%s: there is no statement %s", dir, name)
			}
		}
		for name := range all {
			if slices.Contains(composed[dir], name) {
				continue
			}
			pending[dir+" "+name] = fill(t, dir, name, all, part, "")
			for _, also := range others[dir+" "+name] {
				pending[dir+" "+name+" "+also] = fill(t, dir, name, all, part, also)
			}
		}
	}
	db, err := engine.Open(context.Background(), enginetest.Options(t, t.TempDir(), "1GB"))
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = db.Close() }()
	err = db.Write(context.Background(), func(conn *sql.Conn) error {
		failed := map[string]error{}
		for before := -1; before != len(pending); {
			before = len(pending)
			for _, name := range slices.Sorted(maps.Keys(pending)) {
				if failed[name] = prepare(conn, pending[name]); failed[name] == nil {
					delete(pending, name)
				}
			}
		}
		for _, name := range slices.Sorted(maps.Keys(pending)) {
			if !part[name] {
				t.Errorf("%s: %v (is what the code puts into it listed in placeholders?)\n%s", name, failed[name], pending[name])
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
}

// prepare prepares a statement, and runs it if it creates a table.
func prepare(conn *sql.Conn, text string) error {
	stmt, err := conn.PrepareContext(context.Background(), text)
	if err != nil {
		return err
	}
	defer func() { _ = stmt.Close() }()
	if creates.MatchString(text) {
		_, err = stmt.ExecContext(context.Background())
	}
	return err
}

// fill replaces a statement's placeholders like the code, and records the statements among the
// values. also has values of some of them, as in "@when=before".
func fill(t *testing.T, dir, name string, all statement.Set, part map[string]bool, also string) string {
	t.Helper()
	given := map[string]string{}
	for _, pair := range strings.Fields(also) {
		p, value, _ := strings.Cut(pair, "=")
		given[p] = value
	}
	text := all[name]
	for depth := 0; placeholder.MatchString(text) || statementIn.MatchString(text); depth++ {
		if depth > 9 {
			t.Fatalf("%s %s: placeholders without end: %s", dir, name, text)
		}
		text = placeholder.ReplaceAllStringFunc(text, func(p string) string {
			if value, ok := given[p]; ok {
				return value
			}
			for _, key := range []string{dir + " " + name + " " + p, dir + " " + p, p} {
				if value, ok := placeholders[key]; ok {
					return value
				}
			}
			return "0"
		})
		text = statementIn.ReplaceAllStringFunc(text, func(call string) string {
			m := statementIn.FindStringSubmatch(call)
			if _, ok := all[m[1]]; !ok {
				t.Errorf("%s %s: there is no statement %s", dir, name, m[1])
				return ""
			}
			part[dir+" "+m[1]] = true
			return all.Get(m[1], strings.FieldsFunc(m[2], func(r rune) bool { return r == ' ' || r == '=' })...)
		})
	}
	return text
}

// TestFewStatementsWriteFacts: an importer holds the transactions of facts in memory (see
// engine/ingest/known_transactions.go), so only known statements may write facts: AddFills,
// AddLost, and the compaction, which does not change the transactions of a day. NoteBlocks, whose
// table is a placeholder, only changes the block.
func TestFewStatementsWriteFacts(t *testing.T) {
	writes := regexp.MustCompile(`(?i)\b(INTO|UPDATE)\s+(lost_)?fills\b`)
	var found []string
	for _, dir := range sqlDirs {
		files, err := filepath.Glob(filepath.Join(dir, "*", "*.sql"))
		sources, err2 := filepath.Glob(filepath.Join(dir, "*.go"))
		if err != nil || err2 != nil {
			t.Fatal(err, err2)
		}
		for _, file := range append(files, sources...) {
			text, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			if n := len(writes.FindAll(text, -1)); n > 0 && !strings.HasSuffix(file, "_test.go") {
				found = append(found, fmt.Sprintf("%s %d", filepath.ToSlash(file), n))
			}
		}
	}
	if want := []string{"engine/ingest/sql/fills.sql 1", "engine/ingest/sql/logs.sql 1", "rollups/sql/compact.sql 1"}; !slices.Equal(found, want) {
		t.Errorf("facts are written by %q, want %q", found, want)
	}
}

// TestRangesOfFactsCompareSeconds: the time of a fact is computed from two columns, of which zone maps know the seconds.
// A statement that only compares ts with a bound reads all facts.
func TestRangesOfFactsCompareSeconds(t *testing.T) {
	comment := regexp.MustCompile(`(?m)^--.*$`)
	facts := regexp.MustCompile(`\b(FROM|JOIN)\s+(served\.)?fills\b`)
	bound := regexp.MustCompile(`\bts\s*(<|>|=|BETWEEN)\s*'?[@?(]|(min|max)\(ts\)(, \d+\))? FROM fills`)
	ranges := 0
	for _, dir := range sqlDirs {
		all, err := statement.Load(os.DirFS(dir))
		if err != nil {
			t.Fatal(err)
		}
		for name, text := range all {
			text = comment.ReplaceAllString(text, "")
			if !facts.MatchString(text) || !bound.MatchString(text) || name == "RebuildTokenPrice" { // which reads all of them
				continue
			}
			if ranges++; !strings.Contains(text, "seconds") {
				t.Errorf("%s %s: a range of facts by ts alone: compare seconds as well", dir, name)
			}
		}
	}
	if ranges < 15 {
		t.Errorf("%d ranges of facts were found", ranges)
	}
}

// composed are statements and parts of them that Go puts together from its tables of
// columns or that name a file, and that every import of a market and every export of
// fills runs; and those about a database that a replica serves, which has to be attached, or that make the
// temporary tables of a merge with fewer columns: rollups/advance_test.go runs them.
var composed = map[string][]string{
	"engine":        {"InsertRows"},     // which reads rows of Go: engine/insert_rows_test.go runs it
	"engine/schema": {"CreateVersions"}, // which every new database runs
	"engine/ingest": {"MarketsNext", "Pairs", "Both", "FieldVersions", "ClosingVersions", "ClosingVersion", "Standing", "StandsScalar", "StandsList",
		"StandsCategory", "StandsClosing"},
	"engine/export": {"FillsOfDay", "FillsOfWallets", "FillsOfTokens", "LakeSpan", "CopyTo"},
	// They read files.
	"rollups": {"PullWallets", "PullNames", "PullTokens", "PulledTokensDiffer", "PullMappings", "PulledRows", "PulledCount", "PullPositions", "PullFills",
		"AttachServed", "DetachServed", "ServedState", "FactsSince", "StoredAlike", "StoredIn", "ServedDelta", "DeltaUpTo", "DeltaBehind", "LessRows", "BothRows", "OtherRows", "NoneOf",
		"FillsSince", "HoldersSince", "DayFillsSince", "OtherMarkets", "SameMarkets", "OtherTokens", "SameTokens", "NoLabels", "OtherNames", "NoDeskTokens", "CountSince"},
	"rollups/query": {"LakeFills", "LakeSums"},
	// They read published tables: rollups/compare_published_test.go runs them.
	"rollups/cluster": {"TokenDays", "WalletDays", "Grains", "ZeroSum", "Shards", "SomeWallets", "ViewOfFiles", "AllFills", "FillsOfWallets", "Relation"},
}

// others are further values with which a statement is prepared if it creates tables that others
// read.
var others = map[string][]string{
	"rollups KeepRows": {"@table=n_traded @rows={Traded}", "@table=touched @rows={Touched}", "@table=n_desk_batch @rows={DeskBatch}", "@table=d_day @rows={NewDays}", "@table=d_pair @rows={NewPairs}",
		"@table=leg_before @rows={HeldLegs}", "@table=leg_after @rows={HeldLegs}"},
	"rollups NoHoldings":      {"@when=before", "@when=all"},
	"rollups ForecastsKept":   {"@into=o_before"},
	"rollups NothingAdded":    {"@table=whale_move @delta=whale_move_delta", "@table=position @delta=position_delta"},
	"rollups MovedMarketDays": {"@into=g_after"},
	"engine/ingest WeatherNew": {"@short=issue @table=weather_issue @order={IssueOrder} @key={IssueKey}",
		"@short=obs @table=weather_obs @order={ObsOrder} @key={ObsKey}",
		"@short=normal @table=weather_normal @order={NormalOrder} @key={NormalKey}"},
}

// placeholders are the values of placeholders, of one statement, of those of a folder, or
// of all. {Name} is the statement of that name, with what follows put in. What is not
// listed is a number.
var placeholders = map[string]string{
	"@which":                               "true",
	"rollups/query LeaderboardDays @which": "wallet BETWEEN 1 AND 2",
	"@like":                                "{DeskLike}",
	"@by":                                  "x",

	"engine/export @time": "0 AS ts,",

	"rollups/cluster @table": "position", "rollups/cluster NoDataset @dataset": "conditions", "rollups/cluster NoDataset @columns": "'' AS condition_id",

	"rollups/query @fills": "fills", "rollups PullRollup @table": "position", "rollups @stored": "* EXCLUDE (buy_shares, sell_shares, buy_usd, sell_usd)",
	"rollups PullRollup @rows": "FROM position", "rollups NoRows @columns": "1",

	"rollups @issue": "weather_issue", "rollups @obs": "weather_obs", "rollups @leads": "{Leads}", "rollups CitySkills @consensus": "consensus",
	"rollups QuotesTold @rows": "('00', 1, 1, 1, 1)",
	"rollups DeskDays @rows":   "FROM token_day", "rollups BatchDeskDays @rows": "FROM token_day", "rollups LongWindowMoves @rows": "{LongWindowMove}", "rollups LoadPrices @rows": "FROM token_price", "rollups LoadHeldBy @rows": "{LoadHolders}",
	"rollups @joined": "{DeskJoinedMarkets}", "rollups DeskWalletBatch @gained": "{DeskGained}", "rollups @wallets": "0, 1",
	"rollups DeskWalletBatch @figures": "FROM desk_wallet", "rollups DeskWalletBatch @notgained": " {DeskNotGained}",
	"rollups DeskWalletBatch @pairs": "{DeskPairs}", "rollups DeskWalletBatch @notjoined": " {DeskNotJoined}", "rollups DeskWalletBatch @held": "{DeskHeld}",
	"rollups DeskWalletBatch @after":  "{HeldContribution @held=@now @sign=1}",
	"rollups DeskWalletBatch @before": "{HeldContribution @held=@then @sign=-1}",
	"rollups @now":                    "{DeskHeldNow}",
	"rollups @then":                   "{DeskHeldThen}",
	"rollups @activedays":             "{NewDaysOfAll}", "rollups @newdays": "{NewDaysOfWallets}", "rollups @newpairs": "{NewPairsOfWallets}",
	"rollups @redeemed": "{WindowRedemption}", "rollups @windowundated": "{WindowUndated}", "rollups @heldmarkets": "{HeldByMarket}",
	"rollups @heldwallets": "{HeldOfWallets}", "rollups @untouched": "{NotTouched}", "rollups @mapped": "{TouchedByMarkets}",
	"rollups @candlesredone": "{CandlesRedone}", "rollups @paid": "{Price @usd=usd @shares=shares}", "rollups @spans": "true", "rollups @candles": "candle",
	"rollups @movedtokens": "{IndexMovedTokens}", "rollups @movedflow": "{IndexMovedSums}", "rollups IndexLate @moved": "{IndexLateMoved}",
	"rollups IntoWindows @rows":           "{WindowFills} UNION ALL {EnteringFills}",
	"rollups RedemptionIntoWindows @rows": "{MovingRedemption} UNION ALL {BatchRedemption}",
	"rollups HoldingsWithBatch @batch":    "d_position",
	"rollups HeldWalletRows @after":       "{HeldContribution @held=held_after @sign=1}", "rollups HeldWalletRows @before": "{HeldContribution @held=held_before @sign=-1}",
	"rollups DeskHeldRows @after": "{HeldContribution @held=held_after @sign=1}", "rollups DeskHeldRows @before": "{HeldContribution @held=held_before @sign=-1}",
	"rollups DeltaWalletTotal @after":   "{HeldContribution @held=held_after @sign=1}",
	"rollups DeltaWalletTotal @before":  "{HeldContribution @held=held_before @sign=-1}",
	"rollups HeldContribution @held":    "held_after",
	"rollups HeldContribution @sign":    "1",
	"rollups @positions":                "position",
	"rollups DeskWalletOf @positions":   "{PositionsNow}",
	"rollups DeskWalletOf @which":       "{DeskTokensNow}",
	"rollups DeskWalletOf @span":        "{FillsBetween}",
	"rollups DeskWalletOf @held":        "{HeldContribution @held=held_after @sign=1}",
	"rollups PositionsOf @which":        "{TouchedTokens}",
	"rollups TradedTokens @rows":        "{Traded}",
	"rollups HeldTokens @same":          "{OneOf @token=m.market @which=1}",
	"rollups AtMost @of":                "{LoadHolders}",
	"rollups @weights":                  "SELECT market AS key, 1 AS n FROM markets",
	"rollups OneSided @when":            "true",
	"rollups @width":                    "1",
	"rollups KeysOf @table":             "fills",
	"rollups KeysOf @key":               "token",
	"rollups DaysOf @table":             "wallet_day",
	"rollups DaysOf @key":               "(day + 3) // 7",
	"rollups PairsOf @table":            "fills",
	"rollups PairsOf @key":              "token",
	"rollups PairsOf @second":           "wallet",
	"rollups KeyWeights @count":         "SUM(n)",
	"rollups TableDefinition @table":    "position",
	"rollups RowsInRange @rows":         "FROM position",
	"rollups IntoTable @table":          "held_all",
	"rollups IntoTable @rows":           "FROM held_all",
	"rollups WhaleChunks @rows":         "8",
	"rollups TokensOfMarkets @markets":  "{DeskJoinedMarkets}",
	"rollups ByEvent @rows":             "FROM event_wallets",
	"rollups PublishedDays @days":       "(0, 0, 0, 0, 0)",
	"rollups PublishedDays @wallet_day": "FROM wallet_day",
	"rollups PublishedRows @columns":    "w.wallet, t.token, m.market",
	"rollups @published":                "SELECT '0x' AS wallet, '' AS token, '0x' AS market",
	"rollups @joins":                    " {WalletOfName} {TokenOfName} {MarketOfName}",
	"rollups @suffix":                   "",
	"rollups @events":                   "{MarketEvents}",
	"rollups DaysEmpty @into":           "d_days",
	"rollups @days":                     "wallet_day",
	"rollups CityNormals @days":         "101, 102",
	"rollups VenueDays @days":           "FROM wallet_day",
	"rollups LongWindow @days":          "FROM platform_day",
	"rollups @wallet_day":               "wallet_day",
	"rollups @indays":                   "day BETWEEN 1 AND 9",
	"rollups @token_day":                "token_day",
	"rollups MovedMarketDays @into":     "g_before",
	"rollups MovedMarketDays @batch":    "n_fill",
	"rollups @moved":                    "g_before",
	"rollups BatchMarketDays @moved":    " {NotMoved}",
	"rollups NewMarketDays @days":       "({BatchMarketDays})",
	"rollups MarketDays @days":          "({BatchMarketDays})",
	"rollups MarketDays @moved":         " {NotMoved}",
	"rollups @fills":                    "fills",
	"rollups @legs":                     "{Legs}",
	"rollups Holdings @legs":            "leg_after",
	"rollups Forecasts @legs":           "{PricedLegs @legs=leg_after}",
	"rollups PricedLegs @legs":          "leg_after",
	"rollups @flow":                     "FROM index_flow",
	"rollups FewTokens @which":          "{TouchedTokens}",
	"rollups @when":                     "after",
	"rollups NothingAdded @table":       "redemption", "rollups NothingAdded @delta": "redemption_delta",
	"rollups @among":                   "true",
	"rollups HoldingsOfTouched @among": "{OneOf @token=token @which=1}",
	"rollups HoldingsWithBatch @held":  "position_delta",
	"rollups TotalsOfTouched @batch":   "n_fill", "rollups PricedLegs @batch": "n_fill",
	"rollups @totals":                   "{TotalsOfTouched}",
	"rollups @taker":                    "{Price @usd=taker_usd @shares=taker_shares}",
	"rollups @maker":                    "{Price @usd=maker_usd @shares=maker_shares}",
	"rollups @probability":              "{Price @usd=l.buy_usd @shares=l.buy_shares}",
	"rollups @prices":                   "{OutcomePrices}",
	"rollups @forecasts":                "{Forecasts}",
	"rollups ForecastsKept @into":       "o_after",
	"rollups @bins":                     "FROM oracle_bin",
	"rollups @price":                    "{PriceKey}",
	"rollups @of":                       "{Price @usd=usd @shares=shares}",
	"rollups @holdings":                 "{Holdings}",
	"rollups RebuildWalletTotal @held":  "{HeldContribution @held=held_all @sign=1}",
	"rollups @redemption":               "redemption",
	"rollups UndatedTokens @touched":    " AND t.token IN (SELECT token FROM touched)",
	"rollups UndatedHoldings @held":     "held_after",
	"rollups UndatedHoldings @tokens":   "{UndatedTokens}",
	"rollups @parts":                    "{UndatedLeaves} UNION ALL {UndatedEnters}",
	"rollups @undated":                  "{Undated}",
	"rollups WhaleBefore @ranges":       "SELECT * FROM fills",
	"rollups @moves":                    "FROM whale_move",
	"rollups CountRegrouped @positions": "{HoldingsOfTouched}",
	"rollups LoadHolders @which":        "true",
	"rollups @base":                     "position", "rollups @delta": "position_delta", "rollups @keys": "token, wallet", "rollups @order": "token, wallet", "rollups @range": "token BETWEEN 1 AND 2",
	"rollups @merged": "FROM position", "rollups FillBase @rows": "FROM position",
	"rollups @columns": "token, wallet", "rollups @where": "", "rollups @counts": "token > 0", "rollups TableRows @table": "position",
	"rollups RowsByKey @rows": "{BaseAndDelta}", "rollups TypedRows @rows": "{BaseAndDelta}", "rollups RowsThatCount @rows": "{BaseAndDelta}",
	"rollups KeepRows @table": "d_token_total", "rollups KeepRows @rows": "FROM token_total", "rollups DropTable @table": "held_all", "rollups RenameTable @table": "position_delta", "rollups RenameTable @name": "position_new",
	"rollups AppendDelta @delta": "token_total_delta", "rollups AppendRows @rows": "FROM position_delta", "rollups AppendDelta @table": "d_token_total",
	"rollups CompareRows @rebuilt": "FROM position_delta",
	"rollups KeySpan @first":       "token", "rollups RangeRows @first": "token", "rollups @same": "d.token IS NOT DISTINCT FROM b.token",
	"rollups BaseAlone @grouped": "{BaseOfDelta}", "rollups ViewRows @table": "position_rebuilt", "rollups ViewRows @rows": "FROM position", "rollups DropView @table": "position_rebuilt",
	"rollups RebuildOracleBin @legs": "{PayingLegs}",
	"rollups ForecastsKept @legs":    "{PricedLegs @legs=leg_after}",
	"rollups DeskHeldAll @held":      "{HeldContribution @held=@ofdesk @sign=1}", "rollups @ofdesk": "{OfDesk @held=held_all}",
	"rollups EventsBefore @which":        "{InEventScope}",
	"rollups NewMarketDays @moved":       " {NotMoved}",
	"rollups UndatedLeaves @which":       "{Revalued}",
	"rollups @touched":                   " AND t.token IN (SELECT token FROM touched)",
	"rollups/query @ranges":              "{FillRange}",
	"rollups/query MarketFills @behind":  "{FillsBehind}",
	"rollups/query @positions":           "{PositionRange}",
	"rollups/query Candles @candles":     "{CandleRange}",
	"rollups/query @moves":               "{WhaleMovesOf}",
	"rollups/query WalletsByAddress @lo": "00", "rollups/query WalletsByAddress @hi": "ff", "rollups/query @prefix": "61",
	"rollups/query @which":              "token BETWEEN 1 AND 2",
	"rollups/query WhaleMovesOf @which": "{WhaleCategory}",

	"engine/ingest LateTransactions @staged": " {LateStaged}",
	"engine/ingest Count @of":                "s_raw",
	"engine/ingest NoteBlocks @table":        "fills",
	"engine/ingest NoteBlocks @rid":          "fills.rowid",
	"engine/ingest RawFromQuery @query":      "SELECT * FROM s_raw",
	"engine/ingest WalletTexts @query":       "SELECT NULL::VARCHAR AS text, NULL::BLOB AS address, 1 AS first_row",
	"engine/ingest SaidTexts @query":         "SELECT NULL::VARCHAR AS text, NULL::VARCHAR AS token, NULL::BLOB AS condition, 1::TINYINT AS outcome, true AS usable, 1 AS first_row",
	"engine/ingest FillsOfTexts @query":      "SELECT * REPLACE (NULL::VARCHAR AS wallet) FROM s_raw",
	"engine/ingest NamesInTexts @query":      "FROM s_raw",
	"engine/ingest StubsLikeFirst @given":    ", f.field_versions",
	"engine/ingest MapFromFills @from":       "s_raw",
	"engine/ingest FirstToSay @from":         "s_raw",
	"engine/ingest FirstToSay @row":          "row",
	"engine/ingest Labels @from":             "s_raw",
	"engine/ingest @named":                   "s_raw",
	"engine/ingest Names @key":               "address",
	"engine/ingest @staged":                  "s_raw",
	"engine/ingest @reason":                  "{Reason}",
	"engine/ingest @collapse":                "true",
	"engine/ingest @time":                    "NULL::BIGINT",
	"engine/ingest @wallets":                 "s_wallet",
	"engine/ingest @tokens":                  "s_token",
	"engine/ingest @order":                   "{UnknownOrder}",
	"engine/ingest @ranges":                  "{KnownRange}",
	"engine/ingest @newlogs":                 "{NewLogs}",
	"engine/ingest @fee":                     "{BetterFee @a=s.fee @b=o.fee}",
	"engine/ingest KnownLogs @fee":           "{BetterFee @a=s.fee @b=e.fee}",
	"engine/ingest @bestfee":                 "{BestFee}",
	"engine/ingest Logs @bestfee":            "max(fee) OVER same",
	"engine/ingest @over":                    "",
	"engine/ingest @rank":                    "{RoleRank @role=s.role}",
	"engine/ingest SignedReplacing @rank":    "{RoleRank @role=k.rank}",
	"engine/ingest MergeLogs @rank":          "{RoleRank @role=k.rank}",
	"engine/ingest @srank":                   "{RoleRank @role=s.role}",
	"engine/ingest @erank":                   "{RoleRank @role=e.role}",
	"engine/ingest @content":                 "{LogContent @f=s}",
	"engine/ingest @ncontent":                "{LogContent @f=s}",
	"engine/ingest @ocontent":                "{LogContent @f=e}",
	"engine/ingest @said":                    "{LogSaid @f=s}",
	"engine/ingest @nsaid":                   "{LogSaid @f=s}",
	"engine/ingest @osaid":                   "{LogSaid @f=e}",
	"engine/ingest @bestrole":                "{RoleRank @role=max(role)}",
	"engine/ingest @role":                    "role",
	"engine/ingest @repeat":                  ", repeat",
	"engine/ingest @same":                    " AND k.repeat = s_fill.repeat",
	"engine/ingest @among":                   "{Suspect}",
	"engine/ingest AddFills @order":          " ORDER BY ts",
	"engine/ingest @member":                  "row >> 40",
	"engine/ingest @group":                   " GROUP BY ALL",
	"engine/ingest @shift":                   "40",
	"engine/ingest @newversion":              "{WordVersion @w=n}",
	"engine/ingest @oldversion":              "{WordVersion @w=o}",
	"engine/ingest @newword":                 "{Word @w=n @version=0}",
	"engine/ingest @oldword":                 "{Word @w=o @version=0}",
	"engine/ingest @pairs":                   "SELECT n, o FROM m_raw AS n LEFT JOIN markets AS o ON o.condition = n.condition",
	"engine/ingest @outcomes":                "n.outcomes",
	"engine/ingest SpareUnfit @columns":      "{SpareColumns @w=n}",
	"engine/ingest SpareUnresolved @columns": "{SpareColumns @w=o}",
	"engine/ingest @ncolumns":                "{SpareColumns @w=n}",
	"engine/ingest @ocolumns":                "{SpareColumns @w=o}",
	"engine/ingest @word":                    "{Word @w=w @version=0}",
	"engine/ingest RawEmpty @columns":        "tx BLOB, log_index BIGINT, ts BIGINT, wallet BLOB, role TINYINT, token VARCHAR, side TINYINT, shares BIGINT, usd BIGINT, fee BIGINT, row BIGINT",
	"engine/ingest FirstPage @query":         "SELECT 1 AS nth",
	"engine/ingest FirstPage @order":         "nth",
	"engine/ingest Pages @query":             "SELECT 1 AS row",
	"engine/ingest Pages @order":             "row",
	"engine/ingest Stubs @query":             "SELECT ''::BLOB AS condition, '' AS token, 0 AS index, '' AS outcome, '' AS label, '' AS question, '' AS slug, '' AS event_slug, '' AS icon",
	"engine/ingest WeatherNew @order":        "{ReportOrder}",
	"engine/ingest WeatherKnown @order":      "{ReportOrder}",
	"engine/ingest @key":                     "{ReportKey}",
	"engine/ingest @short":                   "report",
	"engine/ingest @table":                   "weather_report",

	"engine/export @frozen":                  "main",
	"engine/export Attach @name":             "frozen_1",
	"engine/export Detach @name":             "frozen_1",
	"engine/export @table":                   "frozen",
	"engine/export @block":                   "256",
	"engine/export @changed":                 "0, 1",
	"engine/export @known":                   "1",
	"engine/export @columns":                 "*",
	"engine/export @by":                      "ts",
	"engine/export @rows":                    "FROM fills",
	"engine/export FillTable @table":         "x_wallet",
	"engine/export FillTable @rows":          "{FillWallets}",
	"engine/export @wallets":                 "({FillWallets})",
	"engine/export @tokens":                  "({FillTokens})",
	"engine/export fills @address":           "{FillAddress}",
	"engine/export FillWalletTexts @address": "{FillAddress}",
	"engine/export @condition":               "{FillCondition}",
	"engine/export @outcome":                 "{FillOutcome}",
	"engine/export DropFillTable @table":     "x_wallet",
	"engine/export Freeze @rows":             "SELECT 1 AS n",
	"engine/export @wallet_total":            "wallet_total",
	"engine/export @venue":                   "''::BLOB",
	"engine/export @unit":                    "{unit}",
	"engine/export @all":                     "true",
	"engine/export forecasts @value":         "{degrees @v=w.value}",
	"engine/export normals @deviation":       "{difference @v=deviation}",
	"engine/export conditions @prices":       "prices",
	"engine/export conditions @quote":        "quote",
	"rollups ForecastsKept @which":           "{TouchedTokens}",
	"rollups ForecastsKept @batch":           "n_fill",
	"engine/export @address":                 "",
	"engine/export @version":                 "1",
}
