package main

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"text/tabwriter"

	"github.com/alecthomas/kong"

	"pmx/engine"
)

// ConfigCmd checks the configuration of the server.
type ConfigCmd struct {
	Check ConfigCheckCmd `cmd:"" help:"Show every setting of the server, where it comes from, and what is wrong."`
}

// ConfigCheckCmd reads the settings as pmx serve would.
type ConfigCheckCmd struct {
	Serve ServeCmd `embed:""`
	JSON  bool     `name:"json" help:"Print the result as one JSON object."`
}

// Help is the longer help.
func (ConfigCheckCmd) Help() string {
	return `Takes the flags of pmx serve, and reads the environment and the config file as it would: the command line wins,
then the environment, then the file. Does not open data or listen, so it can run while the server runs, before a restart.
Keys in URLs are not shown. The exit status is 0 if pmx serve would accept every setting, as far as that can be checked without
opening files for writing and listening.

  pmx config check
  pmx config check --config /etc/pmx.json --listen 0.0.0.0:443
  PMX_THREADS=4 pmx config check --json`
}

// configReport describes a configuration.
type configReport struct {
	OK       bool             `json:"ok"`
	File     *string          `json:"file"` // null if none is read
	Settings []setting        `json:"settings"`
	Memory   *engine.Memory   `json:"memory"` // how much the server may use, and how it is divided; null if --memory is invalid
	Problems []settingProblem `json:"problems"`
	Warnings []string         `json:"warnings"`
}

// settingProblem is why a setting cannot be used.
type settingProblem struct {
	Flag   string `json:"flag"`
	From   string `json:"from"`
	Reason string `json:"reason"`
}

// Run checks.
func (c *ConfigCheckCmd) Run(ctx context.Context, kctx *kong.Context, cli *CLI, r *configResolver, std stdio) error {
	report := configReport{Settings: settingsOf(kctx, r.file), Problems: []settingProblem{}, Warnings: []string{}}
	if r.file != nil {
		report.File = &r.file.path
	}
	if m, err := engine.ParseMemory(cli.Memory); err == nil {
		report.Memory = &m
	}
	from := map[string]string{}
	for _, s := range report.Settings {
		from[s.Flag] = s.From
	}
	for _, err := range append(cli.checkEngine(ctx), c.Serve.check(cli)...) {
		p := settingProblem{Reason: err.Error()}
		var bad *settingError
		if errors.As(err, &bad) {
			p.Flag, p.From = "--"+bad.flag, from["--"+bad.flag]
		}
		report.Problems = append(report.Problems, p)
	}
	for _, name := range unknownVariables(kctx.Model) {
		report.Warnings = append(report.Warnings, fmt.Sprintf("%s is set in the environment, but no flag has that name", name))
	}
	report.OK = len(report.Problems) == 0
	if err := report.print(c.JSON, std); err != nil {
		return err
	}
	if !report.OK {
		return errSilent
	}
	return nil
}

// refusedBeforeCheck prints the error of a command line as the report of pmx config check --json, if
// that is what was asked for: the settings are unknown then.
func refusedBeforeCheck(ctx *kong.Context, r *configResolver, err error, std stdio) {
	asked := slices.ContainsFunc(ctx.Path, func(p *kong.Path) bool { return p.Flag != nil && p.Flag.Name == "json" })
	if command := ctx.Selected(); !asked || command == nil || command.Path() != "config check" {
		return
	}
	report := configReport{Settings: []setting{}, Problems: []settingProblem{{Reason: err.Error()}}, Warnings: []string{}}
	if r.path != "" {
		report.File = &r.path
	}
	_ = report.print(true, std) // the error is printed in any case
}

// memoryShares describes how memory is divided.
func memoryShares(m engine.Memory) string {
	return fmt.Sprintf("%s in all: DuckDB %s, Go %s, what neither counts %s", bytesOf(m.Total), bytesOf(m.DuckDB), bytesOf(m.Go), bytesOf(m.Rest))
}

// print shows the report: settings on standard output, what is wrong on standard error.
func (r *configReport) print(asJSON bool, std stdio) error {
	if asJSON {
		return printJSON(std.out, r)
	}
	file := "none; there is no " + defaultConfig + " here"
	if r.File != nil {
		file = *r.File
	}
	w := tabwriter.NewWriter(std.out, 0, 0, 2, ' ', 0)
	_, _ = fmt.Fprintf(w, "config file: %s\n\n", file)
	for _, s := range r.Settings {
		_, _ = fmt.Fprintf(w, "%s\t%s\t%s\n", s.Flag, s.Value, s.From)
	}
	if err := w.Flush(); err != nil {
		return err
	}
	if m := r.Memory; m != nil {
		_, _ = fmt.Fprintf(std.out, "\nmemory: %s\n", memoryShares(*m))
	}
	for _, text := range r.Warnings {
		_, _ = fmt.Fprintln(std.err, "pmx: warning:", visible(text, ""))
	}
	for _, p := range r.Problems {
		_, _ = fmt.Fprintf(std.err, "pmx: %s: %s\n", p.From, visible(p.Reason, ""))
	}
	if r.OK {
		_, _ = fmt.Fprintln(std.err, "pmx: the configuration can be used")
	}
	return nil
}
