// Command bench measures pmx on this machine. Next to every figure it prints a floor or
// a rival measured in the same run: absolute times vary, ratios hardly do.
//
//	go run ./cmd/bench                     10M fills
//	go run ./cmd/bench --fills 100000000   full size: about 60 GB of disk and an hour
//	go run ./cmd/bench --plot              plots the figures that runs with --record have stored
package main

import (
	"context"
	"fmt"
	"os"
	"os/signal"
	"path/filepath"
	"runtime"
	"runtime/pprof"
	"slices"
	"strings"
	"time"

	"github.com/alecthomas/kong"
)

type options struct {
	Fills    int64    `help:"Fills of the venue." default:"10000000"`
	Small    int64    `help:"Fills of the smaller venue that freshness is compared with." default:"1000000"`
	Crowd    int64    `help:"Wallets of the venue that exports are measured on: one more than a file may have rows." default:"2000001"`
	Behind   int64    `help:"Fills to catch up with." default:"1000000"`
	History  int64    `help:"Fills of the venue whose newest ones are followed." default:"1000000"`
	Each     int64    `help:"Fills that become final together while they are followed, every one and a half seconds; the venue has 75." default:"100"`
	Ticks    int      `help:"Commits of each size. From 80 on, the times of the last ones are shown next to those of the first." default:"40"`
	Pieces   int64    `help:"Venues of this many fills or more are imported file by file while they are written, so that they take less disk." default:"200000000"`
	Dir      string   `help:"Folder to work in; a temporary one if empty. Kept only if given." type:"path"`
	Profile  string   `help:"File for a CPU profile of everything except preparation." type:"path"`
	Path     string   `help:"Measure only endpoints whose path contains this."`
	Conns    int      `help:"Connections that send requests at once, for endpoints and wallets." default:"8"`
	Buffers  string   `help:"Shared buffers of PostgreSQL. For data larger than memory, set less, and run both under a memory limit." default:"1GB"`
	Python   string   `help:"Python with chdb, the ClickHouse that a rebuild is compared with." default:"python3"`
	Quiet    bool     `help:"Do not measure endpoints during an import too."`
	Record   bool     `help:"Store the plotted figures in the file of --measured."`
	Measured string   `help:"File with the figures of venues of several sizes." default:"docs/measured.json" type:"path"`
	Note     string   `help:"Note that is stored with the figures: the machine, and what else it ran." default:"nothing else running"`
	Plot     bool     `help:"Plot the stored figures as SVG, next to that file, and measure nothing."`
	Only     []string `help:"Run only these of load, logs, storage, rebuild, fresh, commit, start, replica, http, endpoints, explorer, wallets, cold, pages, export, follow (which is catchup and tail)."`
}

func (o options) wants(name string) bool { return len(o.Only) == 0 || slices.Contains(o.Only, name) }

// bench is one run; ctx is the context of the whole run.
type bench struct {
	options
	ctx  context.Context
	dir  string
	rows []row
	kept []measuredRun
}

// row is a figure and the one it is compared with.
type row struct{ what, ours, rival, ratio, bar string }

func main() {
	if os.Getenv(clientEnv) != "" {
		if err := client(os.Stdin, os.Stdout); err != nil {
			fmt.Fprintln(os.Stderr, "bench client:", err)
			os.Exit(1)
		}
		return
	}
	if os.Getenv(nodeEnv) != "" {
		if err := serveNode(os.Stdin, os.Stdout); err != nil {
			fmt.Fprintln(os.Stderr, "bench node:", err)
			os.Exit(1)
		}
		return
	}
	var o options
	kong.Parse(&o, kong.Name("bench"), kong.Description("Measure pmx against floors and rivals in one run."))
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	if err := run(ctx, o); err != nil {
		fmt.Fprintln(os.Stderr, "bench:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, o options) error {
	b := &bench{options: o, ctx: ctx, dir: o.Dir}
	if o.Plot {
		return b.plot()
	}
	if b.dir == "" {
		dir, err := os.MkdirTemp("", "pmx-bench-")
		if err != nil {
			return err
		}
		b.dir = dir
		defer func() { _ = os.RemoveAll(dir) }()
	} else if err := os.MkdirAll(b.dir, 0o755); err != nil {
		return err
	}
	fmt.Printf("%s, %d cores, %s, %s fills\n\n", runtime.Version(), runtime.NumCPU(), time.Now().UTC().Format(time.DateOnly), count(o.Fills))
	for _, part := range []struct {
		name string
		f    func() error
	}{
		{"load", b.load}, {"logs", b.logs}, {"small", b.prepareSmall}, {"large", b.prepareLarge}, {"storage", b.storage},
		{"rebuild", b.rebuild}, {"fresh", b.fresh}, {"commit", b.commits}, {"start", b.start}, {"http", b.http}, {"replica", b.replica}, {"export", b.export}, {"endpoints", b.endpoints}, {"explorer", b.explorer},
		{"wallets", b.wallets}, {"cold", b.cold}, {"pages", b.pages}, {"catchup", b.catchUp}, {"tail", b.tail},
	} {
		if !b.needed(part.name) {
			continue
		}
		fmt.Fprintf(os.Stderr, "… %s\n", part.name)
		if part.name == "storage" || len(o.Only) == 1 && part.name == o.Only[0] {
			if err := b.profile(); err != nil {
				return err
			}
		}
		if err := part.f(); err != nil {
			return fmt.Errorf("%s: %w", part.name, err)
		}
	}
	pprof.StopCPUProfile()
	b.print()
	if o.Record {
		return b.record()
	}
	return nil
}

// profile starts the CPU profile if one was requested.
func (b *bench) profile() error {
	if b.Profile == "" {
		return nil
	}
	f, err := os.Create(b.Profile)
	if err != nil {
		return err
	}
	return pprof.StartCPUProfile(f)
}

func (b *bench) needed(part string) bool {
	switch part {
	case "small":
		return b.wants("fresh")
	case "large":
		return b.wants("storage") || b.wants("rebuild") || b.wants("fresh") || b.wants("commit") || b.wants("start") || b.wants("replica") || b.wants("http") || b.wants("endpoints") || b.wants("explorer") || b.wants("wallets") || b.wants("cold") || b.wants("pages")
	case "catchup", "tail":
		return b.wants(part) || b.wants("follow")
	}
	return b.wants(part)
}

func (b *bench) path(elems ...string) string {
	return filepath.Join(append([]string{b.dir}, elems...)...)
}

func (b *bench) add(what, ours, rival, ratio, bar string) {
	r := row{what, ours, rival, ratio, bar}
	b.rows = append(b.rows, r)
	fmt.Fprintf(os.Stderr, "  %s: %s | %s | %s | %s\n", r.what, r.ours, r.rival, r.ratio, r.bar)
}

// print writes the table as Markdown.
func (b *bench) print() {
	fmt.Println("| what | pmx | floor or rival, same run | ratio | target |")
	fmt.Println("|---|---|---|---|---|")
	for _, r := range b.rows {
		fmt.Printf("| %s |\n", strings.Join([]string{r.what, r.ours, r.rival, r.ratio, r.bar}, " | "))
	}
}

func count(n int64) string {
	switch {
	case n >= 1_000_000:
		return fmt.Sprintf("%.4gM", float64(n)/1e6)
	case n >= 1_000:
		return fmt.Sprintf("%.4gk", float64(n)/1e3)
	}
	return fmt.Sprint(n)
}

func perSecond(n int64, d time.Duration) string {
	return fmt.Sprintf("%s/s", count(int64(float64(n)/d.Seconds())))
}

func ratio(a, b float64) string { return fmt.Sprintf("%.2f", a/b) }

func median(d []time.Duration) time.Duration {
	d = slices.Clone(d)
	slices.Sort(d)
	return d[len(d)/2]
}

func milliseconds(d time.Duration) float64 { return float64(d.Round(time.Millisecond).Milliseconds()) }

func timed(f func() error) (time.Duration, error) {
	began := time.Now()
	err := f()
	return time.Since(began), err
}
