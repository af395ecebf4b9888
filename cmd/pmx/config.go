package main

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"reflect"
	"slices"
	"strings"

	"github.com/alecthomas/kong"

	"pmx/data"
)

// defaultConfig is the config file that is read if --config is not given and the file exists.
const defaultConfig = "pmx.json"

// configFile is a JSON object of flags. The command line and the environment take precedence over
// it, and unknown names are refused.
type configFile struct {
	path   string
	values map[string]configValue // by the name of the flag
}

// configValue is the value of one flag in the file, and its line.
type configValue struct {
	value any
	line  int
}

// at returns the file and line of a value.
func (c *configFile) at(line int) string { return fmt.Sprintf("%s:%d", c.path, line) }

// parseConfig parses a config file. Errors name the line.
func parseConfig(path string, text []byte) (*configFile, error) {
	c := &configFile{path: path, values: map[string]configValue{}}
	d := json.NewDecoder(bytes.NewReader(text))
	d.UseNumber()
	line := func() int { return 1 + bytes.Count(text[:d.InputOffset()], []byte("\n")) }
	if t, err := d.Token(); err != nil || t != json.Delim('{') {
		return nil, fmt.Errorf(`%s: give a JSON object of flags, such as {"listen": "127.0.0.1:8080"}`, c.at(line()))
	}
	for d.More() {
		t, err := d.Token()
		name, isName := t.(string)
		if err != nil || !isName {
			return nil, fmt.Errorf("%s: expected the name of a flag, in quotes: %w", c.at(line()), cmp.Or(err, errors.New("not a string")))
		}
		v := configValue{line: line()}
		if err := d.Decode(&v.value); err != nil {
			return nil, fmt.Errorf("%s: %q: not a JSON value: %w", c.at(v.line), name, err)
		}
		if v.value == nil {
			return nil, fmt.Errorf("%s: %q: null is not a value: leave the name out", c.at(v.line), name)
		}
		flag := strings.ReplaceAll(name, "_", "-")
		if first, twice := c.values[flag]; twice {
			return nil, fmt.Errorf("%s: %q is already set in line %d", c.at(v.line), name, first.line)
		}
		c.values[flag] = v
	}
	if _, err := d.Token(); err != nil {
		return nil, fmt.Errorf("%s: the object is not closed: %w", c.at(line()), err)
	}
	if _, err := d.Token(); !errors.Is(err, io.EOF) {
		return nil, fmt.Errorf("%s: unexpected text after the object", c.at(line()))
	}
	return c, nil
}

// configResolver passes the values of the config file to kong.
type configResolver struct {
	file *configFile // nil: none
	path string      // of the file that is or could not be read; "" if there is none
}

// read reads the file at path, or the default one, which may be missing.
func (r *configResolver) read(path string) error {
	text, err := data.ReadRegular(kong.ExpandPath(cmp.Or(path, defaultConfig)))
	if path == "" && errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	r.path = cmp.Or(path, defaultConfig)
	if err != nil {
		return fmt.Errorf("config file: %w", err)
	}
	r.file, err = parseConfig(r.path, text)
	return err
}

// BeforeResolve reads the config file before flags get their values. Shell completion does not need
// it: a mistake in the file of some folder must not appear at every prompt.
func (c *CLI) BeforeResolve(ctx *kong.Context, r *configResolver) error {
	if command := ctx.Selected(); command != nil && (command.Name == "complete" || command.Name == "completion") {
		return nil
	}
	for _, flag := range ctx.Model.Flags {
		if flag.Name == "config" {
			path, _ := ctx.FlagValue(flag).(string)
			return r.read(path)
		}
	}
	return nil
}

// Validate refuses names that are not a flag of any command.
func (r *configResolver) Validate(app *kong.Application) error {
	if r.file == nil {
		return nil
	}
	known := map[string]bool{}
	for _, f := range allFlags(app.Node) {
		known[f.Name] = f.Name != "config" && f.Name != "help"
	}
	var unknown []string
	for name := range r.file.values {
		if !known[name] {
			unknown = append(unknown, name)
		}
	}
	slices.SortFunc(unknown, func(a, b string) int {
		return cmp.Or(cmp.Compare(r.file.values[a].line, r.file.values[b].line), cmp.Compare(a, b))
	})
	var all []error
	for _, name := range unknown {
		all = append(all, fmt.Errorf("%s: no flag is called %s", r.file.at(r.file.values[name].line), name))
	}
	return errors.Join(all...)
}

// allFlags returns the flags of n and of all commands below it.
func allFlags(n *kong.Node) []*kong.Flag {
	all := slices.Clone(n.Flags)
	for _, child := range n.Children {
		all = append(all, allFlags(child)...)
	}
	return all
}

// Resolve returns the value of a flag that neither the command line nor the environment sets.
func (r *configResolver) Resolve(_ *kong.Context, _ *kong.Path, flag *kong.Flag) (any, error) {
	if _, set := environment(flag); set || r.file == nil {
		return nil, nil
	}
	v, ok := r.file.values[flag.Name]
	if !ok {
		return nil, nil
	}
	value, err := asGiven(flag, v.value)
	if err == nil {
		err = fits(flag, value)
	}
	if err != nil {
		return nil, fmt.Errorf("%s: %w", r.file.at(v.line), err)
	}
	return value, nil
}

// environment returns the name of the variable that sets flag; false if none does.
func environment(flag *kong.Flag) (string, bool) {
	for _, name := range flag.Envs {
		if _, set := os.LookupEnv(name); set {
			return name, true
		}
	}
	return "", false
}

// asGiven converts a JSON value to what kong accepts for flag: numbers as on the command line,
// texts and lists unchanged. It refuses values of another type than the flag's.
func asGiven(flag *kong.Flag, value any) (any, error) {
	kind := flag.Target.Kind()
	switch v := value.(type) {
	case json.Number:
		if kind == reflect.String || kind == reflect.Slice || flag.IsBool() {
			return nil, fmt.Errorf("%s is a number, but the flag takes text: put it in quotes", v)
		}
		return v.String(), nil
	case bool:
		if !flag.IsBool() {
			return nil, fmt.Errorf("%t: the flag needs a value, not true or false", v)
		}
	case []any:
		if kind != reflect.Slice {
			return nil, errors.New("it is a list, but the flag takes one value")
		}
		for _, item := range v {
			if _, isText := item.(string); !isText {
				return nil, fmt.Errorf("%v: put every element of the list in quotes", item)
			}
		}
	case map[string]any:
		return nil, errors.New("it is an object, but the flag takes a value")
	}
	return value, nil
}

// fits returns an error if flag does not accept value. Kong checks that later, but its error does
// not say where the value comes from.
func fits(flag *kong.Flag, value any) error {
	target := reflect.New(flag.Target.Type()).Elem()
	if err := flag.Mapper.Decode(&kong.DecodeContext{Value: flag.Value, Scan: kong.Scan().PushTyped(value, kong.FlagValueToken)}, target); err != nil {
		return err
	}
	if flag.Enum == "" {
		return nil
	}
	texts := []string{target.String()}
	if list, isList := target.Interface().([]string); isList {
		texts = list
	}
	for _, text := range texts {
		if !flag.EnumMap()[text] {
			return fmt.Errorf("%q is not one of %s", text, strings.Trim(flag.Enum, ","))
		}
	}
	return nil
}
