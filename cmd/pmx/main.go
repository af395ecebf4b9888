// Command pmx is the analytics service for a prediction-market venue: one binary that imports,
// verifies, serves and exports.
package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"path/filepath"
	"reflect"
	"slices"
	"syscall"
	"time"

	"github.com/alecthomas/kong"

	"pmx/engine"
	"pmx/http/acme"
)

// version is set by the build.
var version = "dev"

// CLI has all commands and flags. Each flag may also be set in the environment as PMX_<FLAG> and in
// a JSON file: the one named by --config, or pmx.json in the working directory.
type CLI struct {
	DataDir string `help:"Folder of the database, keys and logs of pmx." default:"./pmx-data" placeholder:"DIR"`
	Memory  string `help:"Memory for the whole process, shared between DuckDB and Go; at least 512MB. Default: three quarters of the memory of the machine or of the control group." placeholder:"SIZE"`
	Threads int    `help:"Threads of DuckDB; 0 means one per core." default:"0" placeholder:"N"`
	Config  string `help:"Read flags from this JSON file, instead of from pmx.json in the working directory." placeholder:"FILE"`

	PrintVersion kong.VersionFlag `name:"version" env:"-" help:"Print the version of pmx and exit."`

	Serve    ServeCmd    `cmd:"" help:"Run the server until it is stopped."`
	Import   ImportCmd   `cmd:"" help:"Import trades, markets, resolutions and weather."`
	Sync     SyncCmd     `cmd:"" help:"Follow the venue as it trades, without serving."`
	Refresh  RefreshCmd  `cmd:"" help:"Bring the rollups up to date now instead of on schedule."`
	Rebuild  RebuildCmd  `cmd:"" help:"Recompute every rollup from the facts."`
	Verify   VerifyCmd   `cmd:"" help:"Check every number against the facts."`
	Export   ExportCmd   `cmd:"" help:"Export facts or research datasets to files."`
	Backup   BackupCmd   `cmd:"" help:"Back up the database and the keys, also while serving."`
	Pull     PullCmd     `cmd:"" help:"Make a data directory from rollups that were computed elsewhere."`
	Restore  RestoreCmd  `cmd:"" help:"Make a data directory from a backup."`
	Sample   SampleCmd   `cmd:"" help:"Generate a synthetic venue of any size."`
	Replay   ReplayCmd   `cmd:"" help:"Serve a synthetic venue as the sources that pmx sync follows."`
	Keys     KeysCmd     `cmd:"" help:"Issue, list, change and revoke API keys."`
	Waitlist WaitlistCmd `cmd:"" help:"Manage the waitlist for keys."`
	Status   StatusCmd   `cmd:"" help:"Show the status of the server and its data."`
	Doctor   DoctorCmd   `cmd:"" help:"Report what is wrong, and what to do."`
	Settings ConfigCmd   `cmd:"" name:"config" help:"Check the configuration of the server."`
	OpenAPI  OpenAPICmd  `cmd:"" name:"openapi" help:"Print the OpenAPI document of the API."`
	Version  VersionCmd  `cmd:"" help:"Show the versions of pmx, DuckDB and Go."`

	Completion CompletionCmd `cmd:"" help:"Print a completion script for bash, zsh or fish."`
	Complete   CompleteCmd   `cmd:"" hidden:"" help:"Print the possible words at the end of a command."`

	memory engine.Memory // parsed from Memory
}

// limitMemory parses --memory, and limits Go to its share.
func (c *CLI) limitMemory() error {
	m, err := engine.ParseMemory(c.Memory)
	if err != nil {
		return wrong("memory", " %s: %w", c.Memory, err)
	}
	m.Go = m.LimitGo()
	c.memory = m
	return nil
}

func (c *CLI) dir() (engine.Dir, error) { return engine.Dir(c.DataDir).Abs() }

// ownDir is dir for a command that reads or writes what is in it: the error says so if that belongs
// to another user.
func (c *CLI) ownDir() (engine.Dir, error) {
	dir, err := c.dir()
	if err == nil {
		err = dir.CheckAccess()
	}
	return dir, err
}

func (c *CLI) engineOptions(dir engine.Dir) engine.Options {
	return engine.Options{Dir: dir, MemoryLimit: c.memory.DuckDBLimit(), Threads: c.Threads}
}

// stdio is where a command reads and writes.
type stdio struct {
	in       io.Reader
	out, err io.Writer
	mask     os.FileMode // permission bits that files outside the data directory do not get
}

func main() { os.Exit(run(os.Args[1:], stdio{in: os.Stdin, out: os.Stdout, err: os.Stderr})) }

// run runs the program and returns the exit status: 0 for success, 1 for an explained failure, 2
// for an invalid command line, 130 after an interrupt.
func run(args []string, std stdio) int {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	var cli CLI
	exit := -1
	file := &configResolver{}
	parser, err := newParser(&cli, std, file, func(code int) { exit = code }, kong.BindTo(ctx, (*context.Context)(nil)))
	if err != nil {
		_, _ = fmt.Fprintln(std.err, "pmx:", err)
		return 2
	}
	kctx, err := parser.Parse(args)
	if exit >= 0 {
		return exit // --help
	}
	if err != nil {
		var parse *kong.ParseError
		if errors.As(err, &parse) {
			refusedBeforeCheck(parse.Context, file, err, std)
			_, _ = fmt.Fprintf(std.err, "pmx: %s\nTry: pmx %s--help\n", err, commandOf(parse))
		} else {
			_, _ = fmt.Fprintln(std.err, "pmx:", err)
		}
		return 2
	}
	if !slices.Contains([]string{"sample", "openapi", "version", "completion", "complete", "check", "doctor"}, kctx.Selected().Name) { // these do not use a data directory
		std.mask = engine.SetOwnerUmask()
		// The server reports it together with everything else that is wrong.
		if err := cli.limitMemory(); err != nil && kctx.Selected().Name != "serve" {
			return status(ctx, err, std)
		}
	}
	return status(ctx, kctx.Run(&cli, std), std)
}

// newParser returns the parser of the command line, with flags from the environment and file. exit is
// called after help.
func newParser(cli *CLI, std stdio, file *configResolver, exit func(int), options ...kong.Option) (*kong.Kong, error) {
	return kong.New(cli, append([]kong.Option{
		kong.Name("pmx"),
		kong.Description(description),
		kong.UsageOnError(),
		kong.DefaultEnvars("PMX"),
		kong.Resolvers(file),
		kong.TypeMapper(reflect.TypeFor[time.Duration](), kong.MapperFunc(decodeDuration)),
		kong.Bind(file),
		kong.ConfigureHelp(kong.HelpOptions{Compact: true, WrapUpperBound: 100}),
		kong.Vars{"acme": acme.LetsEncrypt, "version": "pmx " + version},
		kong.Writers(std.out, std.err),
		kong.Exit(exit),
	}, options...)...)
}

func commandOf(parse *kong.ParseError) string {
	if cmd := parse.Context.Command(); cmd != "" {
		if sel := parse.Context.Selected(); sel != nil {
			return sel.Path() + " "
		}
	}
	return ""
}

// errSilent ends a command with status 1 if everything was already printed.
var errSilent = errors.New("")

func status(ctx context.Context, err error, std stdio) int {
	switch {
	case err == nil:
		return 0
	case errors.Is(err, errSilent):
		return 1
	case ctx.Err() != nil && errors.Is(err, context.Canceled):
		what := interruption("nothing incomplete was kept")
		_ = errors.As(err, &what)
		_, _ = fmt.Fprintln(std.err, "pmx: interrupted;", what)
		return 130
	}
	_, _ = fmt.Fprintln(std.err, "pmx:", visible(err.Error()+engine.RoomAdvice(err), ""))
	if misused(err) {
		return 2
	}
	return 1
}

// interruption describes the state of interrupted work.
type interruption string

func (i interruption) Error() string { return string(i) }

// Is reports that it is a cancellation.
func (interruption) Is(target error) bool { return target == context.Canceled }

const description = `Analytics for a prediction-market venue, in one program on one machine.

A first run:
  pmx serve --sample                     a sample venue, served on 127.0.0.1:8080
  pmx keys issue --tier trader --label me
  curl -H "X-API-Key: pmx_..." http://127.0.0.1:8080/api/v3/leaderboard/traders

Your own data:
  pmx import ~/polymarket/               import all files of known formats, markets first
  pmx verify                             check the result`

func underDir(dir engine.Dir, name string) string { return filepath.Join(string(dir), name) }
