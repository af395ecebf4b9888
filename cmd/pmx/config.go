package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"sort"
	"strings"

	"github.com/alecthomas/kong"

	"pmx/data"
)

// configFile is a JSON object of flags. What the command line or the
// environment says goes before it, and a name that is no flag is refused.
type configFile map[string]any

// loadConfig reads a config file for kong.
func loadConfig(r io.Reader) (kong.Resolver, error) {
	raw := map[string]any{}
	d := json.NewDecoder(r)
	d.UseNumber()
	if err := d.Decode(&raw); err != nil {
		return nil, fmt.Errorf("config file: %w", err)
	}
	c := configFile{}
	for name, v := range raw {
		c[strings.ReplaceAll(name, "_", "-")] = v
	}
	return c, nil
}

// configFlag names a config file. Where the flag is not given, pmx.json in the working
// folder is read, if it is there.
type configFlag string

// BeforeResolve reads the file before flags get their values.
func (configFlag) BeforeResolve(ctx *kong.Context, trace *kong.Path) error {
	path, _ := ctx.FlagValue(trace.Flag).(configFlag)
	r, err := readConfig(kong.ExpandPath(string(path)))
	if err != nil {
		return err
	}
	ctx.AddResolver(r)
	return nil
}

func defaultConfig(k *kong.Kong) error {
	r, err := readConfig("pmx.json")
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	return kong.Resolvers(r).Apply(k)
}

func readConfig(path string) (kong.Resolver, error) {
	text, err := data.ReadRegular(path)
	if err != nil {
		return nil, fmt.Errorf("config file: %w", err)
	}
	return loadConfig(bytes.NewReader(text))
}

// Validate refuses names that no flag of any command has.
func (c configFile) Validate(app *kong.Application) error {
	known := map[string]bool{}
	var walk func(n *kong.Node)
	walk = func(n *kong.Node) {
		for _, f := range n.Flags {
			known[f.Name] = true
		}
		for _, child := range n.Children {
			walk(child)
		}
	}
	walk(app.Node)
	var unknown []string
	for name := range c {
		if !known[name] {
			unknown = append(unknown, name)
		}
	}
	sort.Strings(unknown)
	if len(unknown) > 0 {
		return fmt.Errorf("config file: no flag is called %s", strings.Join(unknown, ", "))
	}
	return nil
}

// Resolve gives the value of a flag that neither the command line nor the
// environment sets.
func (c configFile) Resolve(_ *kong.Context, _ *kong.Path, flag *kong.Flag) (any, error) {
	for _, env := range flag.Envs {
		if _, set := os.LookupEnv(env); set {
			return nil, nil
		}
	}
	v, ok := c[flag.Name]
	if !ok {
		return nil, nil
	}
	return v, nil
}
