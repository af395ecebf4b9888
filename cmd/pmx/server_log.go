package main

import (
	"context"
	"fmt"
	"io"
	"os"
	"time"

	"github.com/coreos/go-systemd/v22/daemon"
	"github.com/rs/zerolog"

	"pmx/engine"
	"pmx/rollups/serving"
)

// logFlags set the level and format of the server's log.
type logFlags struct {
	LogFormat string `help:"How the log is written: text, one JSON object per line, or auto: text on a terminal and JSON elsewhere." enum:"auto,text,json" default:"auto"`
	LogLevel  string `help:"The lowest level that is logged: ${enum}. Batches of followed sources are logged at debug." enum:"debug,info,warn,error" default:"info"`
}

// sentences reports whether w gets lines for people, and not one JSON object per line.
func (f *logFlags) sentences(w io.Writer) bool {
	return f.LogFormat == "text" || f.LogFormat != "json" && isTerminal(w)
}

// logger returns a log that is written to w.
func (f *logFlags) logger(w io.Writer) zerolog.Logger {
	if f.sentences(w) {
		w = zerolog.ConsoleWriter{Out: w, NoColor: !isTerminal(w), TimeFormat: time.DateTime, TimeLocation: time.UTC}
	}
	level, err := zerolog.ParseLevel(f.LogLevel)
	if err != nil { // kong has accepted it
		level = zerolog.InfoLevel
	}
	return zerolog.New(w).Level(level).With().Timestamp().Logger()
}

// announce reports on standard output for programs, in the log and to the service manager that
// requests are answered, and tells people where the pages are.
func (f *logFlags) announce(std stdio, log zerolog.Logger, url string, s *serving.Snapshot) error {
	if _, err := fmt.Fprintf(std.out, "ready %s/api/v3\n", url); err != nil {
		return err
	}
	e := log.Info().Str("url", url)
	if s != nil && !s.AsOf.IsZero() {
		e = e.Time("as_of", s.AsOf).Int64("fills", s.Counts.Fills)
	}
	e.Msg("serving")
	notify(log, daemon.SdNotifyReady)
	if !f.sentences(std.err) {
		return nil
	}
	_, _ = fmt.Fprintf(std.err, "in a browser: %[1]s/, reference %[1]s/docs, status %[1]s/status\n", url)
	return nil
}

// notify tells the service manager the state of the server, if it started the server with
// NOTIFY_SOCKET.
func notify(log zerolog.Logger, state string) {
	if _, err := daemon.SdNotify(false, state); err != nil {
		log.Error().Err(err).Str("state", state).Msg("service manager not notified")
	}
}

// notesStop waits until the server is to stop, and tells the service manager.
func notesStop(log zerolog.Logger) func(context.Context) error {
	return func(ctx context.Context) error {
		<-ctx.Done()
		notify(log, daemon.SdNotifyStopping)
		return nil
	}
}

// logStart logs that the server starts. A data directory that is new has a warning, unless something
// is about to fill it: its name may be a mistake.
func (c *ServeCmd) logStart(log zerolog.Logger, dir engine.Dir, isNew bool) {
	log.Info().Str("version", version).Str("data_dir", string(dir)).Int("pid", os.Getpid()).Msg("starting")
	if isNew && !c.Sample && c.FollowDir == "" {
		log.Warn().Msg("the data directory is new and empty: check --data-dir if it should not be; give it data with pmx import, its inbox, --sync or --sample")
	}
}

// logEnd logs that the server ended, and the error if there is one.
func logEnd(log zerolog.Logger, began time.Time, err error) {
	e := log.Info()
	if err != nil {
		e = log.Error().Err(err)
	}
	e.Float64("up_seconds", time.Since(began).Seconds()).Msg("stopped")
}
