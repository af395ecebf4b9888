package export

import (
	"archive/zip"
	"context"
	"database/sql"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strconv"
	"time"

	"pmx/data"
	catalogue "pmx/data/datasets"
	"pmx/engine/export/job"
)

// ErrNoTrader is returned for a wallet without trades.
var ErrNoTrader = errors.New("no trades of this wallet are known")

// traderFiles returns the files of a trader's export, in the order of the zip. Their columns are
// those of the API's responses about the wallet.
func traderFiles() []dataset {
	wallet := []column{{"trades", number}, {"volume", amount}, {"buy_volume_usd", amount}, {"sell_volume_usd", amount}}
	market := []column{{"condition_id", hexed}, {"question", text}, {"slug", text}, {"event_id", text}, {"event_slug", text}}
	join := func(lists ...[]column) (all []column) {
		for _, l := range lists {
			all = append(all, l...)
		}
		return all
	}
	profit := []column{{"fees_usd", amount}, {"net_cash", amount}, {"redemption_value", amount}, {"real_pnl", amount}}
	return []dataset{
		{name: "trader_stats", file: "stats", order: []key{{"address", false}},
			columns: join([]column{{"address", hexed}, {"username", text}}, wallet, []column{{"maker_trades", number}, {"taker_trades", number},
				{"active_days", number}, {"unique_markets", number}, {"first_trade_at", moment}, {"last_trade_at", moment},
				{"fees_usd", amount}, {"realized_pnl", amount}, {"real_pnl", amount}, {"roi", amount}, {"win_rate", amount},
				{"resolved_markets", number}, {"winning_markets", number}, {"net_cash", amount}, {"redemption_value", amount},
				{"unresolved_cash", amount}, {"negative_legs", number}, {"unmapped_fills", number}, {"pnl_method", text}, {"unrealized_pnl", amount}})},
		{name: "trader_daily", file: "daily", order: []key{{"date", false}},
			columns: join([]column{{"date", day}, {"is_partial", flag}}, wallet, profit, []column{{"cumulative_pnl", amount}, {"undated_redemption", amount},
				{"undated_markets", number}})},
		{name: "trader_markets", file: "markets", order: []key{{"volume", true}, {"condition_id", false}},
			columns: join(market, []column{{"category", text}, {"status", text}, {"resolved_at", moment}, {"resolved_at_source", text}}, wallet, profit,
				[]column{{"roi", amount}, {"negative_legs", number}, {"first_trade_at", moment}, {"last_trade_at", moment}})},
		{name: "trader_positions", file: "positions", order: []key{{"condition_id", false}, {"outcome_index", false}},
			columns: join(market, []column{{"outcome", text}, {"outcome_index", number}, {"token_id", text}, {"trades", number}, {"buy_shares", amount},
				{"sell_shares", amount}, {"fee_shares", amount}, {"net_shares", amount}, {"buy_volume_usd", amount}, {"sell_volume_usd", amount},
				{"avg_buy_price", amount}, {"avg_sell_price", amount}, {"payout", amount}})},
		{name: "trader_trades", file: "trades", order: []key{{"ts", true}, {"transaction_hash", true}, {"side", true}, {"shares", true}, {"usd", true},
			{"token_id", true}, {"place", true}, {"repeat", true}},
			columns: join([]column{{"ts", moment}, {"transaction_hash", hexed}, {"log_index", number}, {"ordinal", number}}, market, []column{{"outcome", text},
				{"outcome_index", number}, {"token_id", text}, {"side", text}, {"role", text}, {"price", amount}, {"shares", amount},
				{"usd", amount}, {"fee", amount}, {"fee_asset", text}, {"resolved", flag}, {"payout", amount}})},
	}
}

// manifest is the manifest.json in a trader's zip.
type manifest struct {
	Generator     string         `json:"generator"`
	Kind          string         `json:"kind"`
	Address       string         `json:"address"`
	Format        data.Format    `json:"format"`
	AsOf          string         `json:"as_of"`
	SchemaVersion string         `json:"schema_version"`
	Method        string         `json:"method"`
	HistoryDays   *int           `json:"history_days"` // how many days back days and trades reach; null: all
	Truncated     bool           `json:"truncated"`    // trades or days were left out because of the history limit or the maximum number of rows
	Files         []manifestFile `json:"files"`
}

type manifestFile struct {
	Name   string `json:"name"`
	Rows   int64  `json:"rows"`
	Bytes  int64  `json:"bytes"`
	SHA256 string `json:"sha256"`
}

// WriteTrader writes everything about one wallet as a zip to path: stats, daily, markets, positions and
// trades as Parquet or CSV, and manifest.json. Days and trades reach historyDays back from as_of, 0 for
// all; lifetime figures always cover all trades. The result counts the rows of all files. The error
// is ErrNoTrader for a wallet without trades; for others see Write.
func (e *Exporter) WriteTrader(ctx context.Context, wallet data.Address, format data.Format, historyDays int, path string,
	progress func(float64)) (file job.Result, err error) {
	if format != data.Parquet && format != data.CSV {
		return job.Result{}, fmt.Errorf("%w format %q: use parquet or csv", ErrUnknown, format)
	}
	if e.NoFills {
		return job.Result{}, data.ErrElsewhere
	}
	if progress == nil {
		progress = func(float64) {}
	}
	t := &trader{wallet: wallet, format: format, historyDays: historyDays, path: path}
	in, err := e.freezing(ctx, func(conn *sql.Conn, in *frozen) error { return e.freezeTrader(ctx, conn, in, t) })
	if err == nil {
		defer in.drop(ctx)
		progress(frozenShare)
		file, err = t.write(ctx, func(share float64) { progress(frozenShare + share*(1-frozenShare)) })
	}
	if err != nil {
		return job.Result{}, explain(fmt.Errorf("export of a trader: %w", err))
	}
	return file, nil
}

// trader is a running export of a wallet.
type trader struct {
	databaseState
	wallet      data.Address
	format      data.Format
	historyDays int
	path        string
	cut         bool // the history limit left something out
	tables      []*frozenRows
}

func (e *Exporter) freezeTrader(ctx context.Context, conn *sql.Conn, in *frozen, t *trader) (err error) {
	if t.databaseState, err = e.state(ctx, conn); err != nil {
		return err
	}
	var id int64
	err = conn.QueryRowContext(ctx, statements.Get("TraderWallet", "@address", t.wallet.String()[2:])).Scan(&id)
	if errors.Is(err, sql.ErrNoRows) {
		return ErrNoTrader
	}
	if err != nil {
		return err
	}
	replace := append(t.replacements(id), "@frozen", in.name)
	for _, name := range []string{"TraderFills", "TraderHoldings"} {
		if _, err := conn.ExecContext(ctx, statements.Get(name, replace...)); err != nil {
			return err
		}
	}
	if err := conn.QueryRowContext(ctx, statements.Get("TraderCut", replace...)).Scan(&t.cut); err != nil {
		return err
	}
	for _, d := range traderFiles() {
		r, err := e.freeze(ctx, conn, in, t.databaseState, d, statements.Get(d.name, replace...))
		if err != nil {
			return err
		}
		t.tables = append(t.tables, r)
	}
	return nil
}

// replacements returns the replacements in the statements of a trader.
func (t *trader) replacements(id int64) []string {
	since := int64(0)
	if t.historyDays > 0 {
		since = t.asOf.Add(-time.Duration(t.historyDays) * 24 * time.Hour).UnixMicro()
	}
	return []string{
		"@wallet", strconv.FormatInt(id, 10), "@since", strconv.FormatInt(since, 10), "@as_of", strconv.FormatInt(t.asOf.UnixMicro(), 10),
		"@method", Method, "@roi", ratio("(h.cash + h.redemption)", "h.buy"), "@win_rate", ratio("h.winning_markets", "h.resolved_markets"),
		"@time_source", timeSource("h.resolved_at_source"), "@market_roi", ratio("(h.cash + h.redemption)", "h.buy_usd"), "@price", ratio("f.usd", "f.shares"),
		"@buy_price", ratio("l.buy_usd", "l.buy_shares"), "@sell_price", ratio("l.sell_usd", "l.sell_shares"),
	}
}

// write writes the files one after another and adds them to the zip.
func (t *trader) write(ctx context.Context, progress func(float64)) (file job.Result, err error) {
	m := manifest{Generator: "pmx", Kind: "trader", Address: t.wallet.String(), Format: t.format, AsOf: stamp(t.asOf),
		SchemaVersion: SchemaVersion, Method: Method, Truncated: t.cut, Files: []manifestFile{}}
	if t.historyDays > 0 {
		m.HistoryDays = &t.historyDays
	}
	defer func() {
		for _, f := range m.Files {
			err = errors.Join(err, os.Remove(t.member(f.Name)))
		}
	}()
	total, done := int64(0), int64(0)
	for _, r := range t.tables {
		total += r.count + 1
	}
	for _, r := range t.tables {
		name := r.dataset.file + "." + string(t.format)
		f, err := r.write(ctx, t.format, t.member(name), func(share float64) {
			progress((float64(done) + share*float64(r.count+1)) / float64(total+1))
		})
		if err != nil {
			return job.Result{}, err
		}
		done += r.count + 1
		file.Rows += f.Rows
		m.Truncated = m.Truncated || f.Truncated
		m.Files = append(m.Files, manifestFile{name, f.Rows, f.Bytes, f.SHA256})
	}
	if err := t.zip(&m, &file); err != nil {
		return job.Result{}, err
	}
	progress(1)
	return file, nil
}

// member returns the path of a file before it is added to the zip.
func (t *trader) member(name string) string { return t.path + "." + name }

func (t *trader) zip(m *manifest, file *job.Result) (err error) {
	out, err := newOutputFile(t.path)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, out.discard()) }()
	z := zip.NewWriter(out)
	for _, f := range m.Files {
		if err := t.add(z, f.Name); err != nil {
			return err
		}
	}
	text, err := json.MarshalIndent(m, "", "  ")
	if err != nil {
		return err
	}
	if err := t.addText(z, "manifest.json", append(text, '\n')); err != nil {
		return err
	}
	if err := t.addText(z, "README.md", []byte(t.readme())); err != nil {
		return err
	}
	if err := z.Close(); err != nil {
		return err
	}
	if err := out.publish(readBackZip); err != nil {
		return err
	}
	file.Bytes, file.SHA256 = out.size, hex.EncodeToString(out.sum.Sum(nil))
	file.AsOf, file.Version, file.Truncated = t.asOf, t.version, m.Truncated
	return nil
}

// header returns the header of a file in the zip. Parquet is already compressed.
func (t *trader) header(name string) *zip.FileHeader {
	h := &zip.FileHeader{Name: name, Method: zip.Deflate, Modified: t.asOf.Truncate(2 * time.Second)}
	if t.format == data.Parquet {
		h.Method = zip.Store
	}
	return h
}

// readme returns the meanings of the files' columns.
func (t *trader) readme() string {
	return catalogue.TraderReadme(func(id string) string {
		i := slices.IndexFunc(t.tables, func(r *frozenRows) bool { return r.dataset.name == id })
		return t.tables[i].dataset.file + "." + string(t.format)
	})
}

func (t *trader) addText(z *zip.Writer, name string, text []byte) error {
	w, err := z.CreateHeader(t.header(name))
	if err != nil {
		return err
	}
	_, err = w.Write(text)
	return err
}

func (t *trader) add(z *zip.Writer, name string) (err error) {
	f, err := os.Open(t.member(name))
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	w, err := z.CreateHeader(t.header(name))
	if err != nil {
		return err
	}
	_, err = io.CopyBuffer(w, f, make([]byte, 1<<20))
	return err
}

// readBackZip reads every file of a zip to its end, which verifies its checksum.
func readBackZip(f *os.File) error {
	st, err := f.Stat()
	if err != nil {
		return err
	}
	z, err := zip.NewReader(f, st.Size())
	if err != nil {
		return err
	}
	for _, member := range z.File {
		r, err := member.Open()
		if err != nil {
			return fmt.Errorf("%s: %w", member.Name, err)
		}
		_, err = io.Copy(io.Discard, r)
		if err := errors.Join(err, r.Close()); err != nil {
			return fmt.Errorf("%s: %w", member.Name, err)
		}
	}
	return nil
}
