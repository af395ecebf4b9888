package data

import (
	"context"
	"io"
)

// Format is the outer shape of a file.
type Format string

// The formats that are read, after decompression.
const (
	CSV     Format = "csv"
	NDJSON  Format = "ndjson"
	JSON    Format = "json"
	Parquet Format = "parquet"
)

// Head is the input of detection: the first bytes of a file and what they say about its shape.
// Nothing here depends on the file's name.
type Head struct {
	Format  Format
	Columns []string // CSV header cells or Parquet column names, in file order
	Types   []string // Parquet: the type of each column, as its schema writes it
	Keys    []string // JSON: keys of the first record, or of the top object
	Bytes   []byte   // up to the first 64 KiB, byte-order mark removed
	Rows    int64    // Parquet: how many there are; others are counted only by reading them
}

// Source is one plain (uncompressed) file of a feed.
type Source struct {
	Path string // local path, in a folder DuckDB may read
	// Rest are the paths of further Parquet files with the same columns and types, which are read
	// after it as if all were one file; only for feeds with Several.
	Rest   []string
	Name   string // what the user called it: for messages and for feeds that name their market by file
	Format Format
	Size   int64
	Cities *Gazetteer // for feeds of the weather, which name places
	Spill  string     // folder for spill files of a feed, "" for the system's default
	Memory int        // how many bytes a feed holds in memory before it spills, 0 for the default
}

// Kind orders the files of one import: those that others refer to come first.
type Kind int

// Kinds in the order they are imported.
const (
	KindReference Kind = iota // blocks, token maps
	KindMarkets
	KindResolutions
	KindFills
	KindWeather
)

// Identity is how a feed distinguishes a repeated row from a second, equal fill.
type Identity int

// Identities. A log index always decides if a row has one.
const (
	// KeepRepeats: the file was written by a gapless scan, so equal rows within
	// one file are distinct fills; across files the larger count is used.
	KeepRepeats Identity = iota
	// CollapseRepeats: the feed pages by offset and repeats pages, so equal rows
	// are one fill.
	CollapseRepeats
)

// Query is a fill feed read by DuckDB itself: a SELECT over Source.Path giving
// exactly the columns of FillColumns, in that order.
type Query struct {
	Fills   string
	Markets string // optional: a SELECT of StubColumns, what the rows say about their markets
	Texts   *Texts // optional: the same as Fills, if the file can be read more than once
	// Plain is optional. It reads the file of r, in which every line after the header is a fill in its plainest form, and
	// calls each with the fills that Fills selects, in order. At any other line it returns false: the file is then to
	// be read by Fills, which knows all forms, and what was passed on is void. An error is that of r or of each.
	Plain func(r io.Reader, each func(*PlainFill) error) (plain bool, err error)
	// PlainRows is the same for a file that DuckDB reads; optional.
	PlainRows *PlainRows
}

// PlainRows reads fills in their plainest form from a file that DuckDB reads, and that can be read more than once. Rows have
// hashes of their texts, since few wallets and tokens have many rows. The hashes are DuckDB's, of 63 bits: different texts
// may have the same one, which shows when the texts are read.
type PlainRows struct {
	Wallets string                                 // each text of a wallet once, as PlainWallet
	Tokens  string                                 // each triple of token, condition and outcome once, as PlainToken
	Mixed   string                                 // a row: whether some rows have a log index and others none
	Select  string                                 // one PlainRow for each record of the file, in order
	Fill    func(row *PlainRow, f *PlainFill) bool // reports whether a row is plain, and sets every field of f that Wallets and Tokens do not have
}

// PlainWallet is a row of PlainRows.Wallets.
type PlainWallet struct {
	Hash int64  `sql:"hash"`
	Text string `sql:"text,view"` // valid until the next row; "" also stands for NULL
}

// PlainToken is a row of PlainRows.Tokens. Its texts are valid until the next row; "" also stands for NULL.
type PlainToken struct {
	Hash      int64  `sql:"hash"`
	Token     string `sql:"token,view"`
	Condition string `sql:"condition,view"`
	Outcome   int8   `sql:"outcome"` // NoIndex: the file does not say; less: it is out of range
}

// PlainRow is a row of PlainRows.Select.
type PlainRow struct {
	Row      int64  `sql:"row"`       // as in FillColumns
	Tx       string `sql:"tx,view"`   // valid until the next row; "" also stands for NULL
	LogIndex int32  `sql:"log_index"` // NoIndex: the file does not say
	Block    int64  `sql:"block"`     // NoIndex: the file does not say
	TS       int64  `sql:"ts"`        // unix µs
	Wallet   int64  `sql:"wallet"`    // PlainWallet.Hash
	Role     int8   `sql:"role"`
	Token    int64  `sql:"token"` // PlainToken.Hash
	Side     int8   `sql:"side"`
	Shares   int64  `sql:"shares"`
	USD      int64  `sql:"usd"`
	Fee      int64  `sql:"fee"`
	Odd      bool   `sql:"odd"` // it names its user, or has an invalid value
}

// PlainFill is a fill in its plainest form: nothing of it is invalid, and it has its transaction, time, wallet, token, side
// and amounts.
type PlainFill struct {
	Row         int64 // as in PlainRow; 0: a line of text
	Tx          Hash
	LogIndex    int32 // NoIndex: the file does not say
	Block       int64 // NoIndex: the file does not say
	TS          int64 // unix µs
	Wallet      Address
	Token       []byte // decimal, without leading zeros; valid until each returns
	Side        Side
	Role        Role
	Shares, USD Micro
	Fee         Micro
}

// Texts is a Query.Fills in parts, for files in which few wallets and tokens have many rows: the text of
// each is parsed once. It may be stricter about a row than Fills, which then decides.
type Texts struct {
	// Wallets selects each text of a wallet once: text, its address, and first_row.
	Wallets string
	// Tokens selects each distinct triple of texts of token, condition and outcome once: text, the token, condition
	// and outcome, whether all are usable, and first_row.
	Tokens string
	// Fills selects FillColumns, with the texts of wallet and token in place of their values, and without
	// condition and outcome.
	Fills string
}

// FileShift is by how many bits the index of a file, among several that are read as one, is shifted
// in row numbers; the lower bits are the number of the record.
const FileShift = 40

// FillColumns are the columns, with their DuckDB types, of Query.Fills. NULL in tx, log_index,
// block, condition, outcome, fee and name means "the feed does not say". NULL in wallet, token,
// side, shares or usd, and in ts where block is NULL too, means the text could not be read: the row
// is rejected with the column's reason, or with reject if that is not NULL. row is the 1-based
// number of the record in the file, which fills made from the same record share; NULL stands for
// the row's place in the result.
var FillColumns = [][2]string{
	{"row", "BIGINT"}, {"tx", "BLOB"}, {"log_index", "INTEGER"}, {"block", "BIGINT"},
	{"ts", "BIGINT"}, {"wallet", "BLOB"}, {"role", "TINYINT"}, {"token", "VARCHAR"},
	{"condition", "BLOB"}, {"outcome", "TINYINT"}, {"side", "TINYINT"}, {"shares", "BIGINT"},
	{"usd", "BIGINT"}, {"fee", "BIGINT"}, {"name", "VARCHAR"}, {"reject", "VARCHAR"},
}

// StubColumns are the columns of Query.Markets: distinct rows, any may be NULL, condition only
// together with a token and its label.
var StubColumns = [][2]string{
	{"condition", "BLOB"}, {"token", "VARCHAR"}, {"outcome", "TINYINT"}, {"label", "VARCHAR"},
	{"question", "VARCHAR"}, {"slug", "VARCHAR"}, {"event_slug", "VARCHAR"}, {"icon", "VARCHAR"},
}

// Sink receives the rows that a feed reads. line is the 1-based line (CSV, NDJSON) or record (JSON
// array, Parquet) the row starts at. An error of a Sink method ends the reading and is returned as
// it is.
type Sink interface {
	Fill(line int64, f Fill) error
	Market(line int64, m Market) error
	Resolution(line int64, r Resolution) error
	Token(line int64, t TokenRef) error
	Block(line int64, b Block) error
	Forecast(line int64, f Forecast) error
	Actual(line int64, a Actual) error
	Observation(line int64, o Observation) error
	Normal(line int64, n Normal) error
	// Note counts oddities of rows that are kept in spite of them, by a short stable reason.
	Note(reason string)
	// Reject keeps a row that cannot be used: a short stable reason ("bad_address")
	// and a sentence, and the raw row.
	Reject(line int64, reason, detail, raw string) error
	// Pass counts a row that is skipped and not wrong, by a short stable reason.
	Pass(line int64, why Passed) error
	// Lines reports what n lines of a text file are. It is called after everything in the lines was
	// passed on, so that every line of the file is accounted for: a record of which nothing was
	// passed on by then counts as empty. For JSON and Parquet it is called for every record.
	Lines(part LineKind, n int64) error
}

// Passed is why a row was skipped although nothing is wrong with it.
type Passed string

// Reasons why rows are skipped.
const (
	PassedEmpty    Passed = "empty"         // it has no value, market or trade
	PassedOther    Passed = "other_element" // it is of a quantity that pmx does not keep
	PassedRepeated Passed = "repeated"      // it is the same event as another row of the file: a receipt has it among the identical ones
)

// Explain says what the reason means.
func (p Passed) Explain() string {
	switch p {
	case PassedEmpty:
		return "rows without a value"
	case PassedOther:
		return "rows of quantities that are not kept"
	}
	return string(p)
}

// LineKind is what lines of a text file are.
type LineKind int

// The kinds of lines.
const (
	LineRecord LineKind = iota // one record, which has several lines if a quoted cell has line ends in it
	LineLater                  // one record whose rows are passed on later
	LineHeader                 // the names of the columns
	LineBlank                  // lines without anything
	LineRemark                 // titles and remarks above the header, a legend below the rows
)

// Feed is one source shape. A Feed has Read or Query, never both.
type Feed struct {
	Name     string // as --as takes it, such as "polymarket-trades"
	About    string // one line for --help and for receipts
	Rule     string // how it distinguishes repeats from fills, one sentence for the receipt; "" if it has no fills
	Kind     Kind
	Identity Identity
	Formats  []Format
	// Match reports whether h belongs to this feed.
	Match func(h Head) bool
	// Read streams the records of r into sink. Bad records go to sink.Reject;
	// an error means the file as a whole cannot be read (it names the line).
	Read func(ctx context.Context, src Source, r io.Reader, sink Sink) error
	// Query returns the statements that read the file in DuckDB.
	Query func(src Source, h Head) (Query, error)
	// Several says that Query also reads Source.Rest if the format is Parquet.
	Several bool
}
