package main

import (
	"fmt"
	"net/url"
	"os"
	"slices"
	"strings"

	"github.com/alecthomas/kong"
)

//go:generate go test pmx/cmd/pmx -run ^TestSettingsTableIsThatOfTheFlags$ -count=1 -update

// setting is a flag with its value.
type setting struct {
	Flag  string `json:"flag"`
	Value string `json:"value"` // secret parts are ***
	From  string `json:"from"`  // "command line", "environment NAME", "FILE:LINE" or "default"
}

// notSettings are flags for a single run of a command.
var notSettings = []string{"help", "version", "config", "json"}

// settingsOf returns the settings of the selected command as resolved by kong, in the order of its
// help.
func settingsOf(ctx *kong.Context, file *configFile) []setting {
	given, resolved := map[*kong.Flag]bool{}, map[*kong.Flag]bool{}
	for _, p := range ctx.Path {
		if p.Flag != nil {
			given[p.Flag], resolved[p.Flag] = !p.Resolved, p.Resolved
		}
	}
	var all []setting
	for _, flag := range ctx.Flags() {
		if slices.Contains(notSettings, flag.Name) {
			continue
		}
		s := setting{Flag: "--" + flag.Name, Value: shown(flag), From: "default"}
		if name, set := environment(flag); given[flag] {
			s.From = "command line"
		} else if set {
			s.From = "environment " + name
		} else if resolved[flag] {
			s.From = file.at(file.values[flag.Name].line)
		} else if !flag.IsBool() {
			s.Value = flag.Default // "" if there is none
		}
		all = append(all, s)
	}
	return all
}

// shown returns the value of flag without its secrets.
func shown(flag *kong.Flag) string {
	switch v := flag.Target.Interface().(type) {
	case []string:
		texts := make([]string, len(v))
		for i, text := range v {
			texts[i] = withoutSecrets(text, flag.Tag.Has("secret"))
		}
		return strings.Join(texts, ",")
	case string:
		return withoutSecrets(v, flag.Tag.Has("secret"))
	default:
		return fmt.Sprint(v)
	}
}

// withoutSecrets hides what may be a key in a URL: user and query, and for a secret URL everything
// after the host.
func withoutSecrets(text string, secret bool) string {
	u, err := url.Parse(text)
	if err != nil || u.Host == "" {
		if secret && text != "" || strings.Contains(text, "://") {
			return "***"
		}
		return text
	}
	const hidden = "***"
	out := u.Scheme + "://"
	if u.User != nil {
		out += hidden + "@"
	}
	out += u.Host
	switch {
	case !secret:
		out += u.EscapedPath()
	case strings.Trim(u.Path, "/") != "":
		out += "/" + hidden
	}
	if u.RawQuery != "" {
		out += "?" + hidden
	}
	return out
}

// unknownVariables returns the variables of the environment that look like settings but are not.
func unknownVariables(app *kong.Application) []string {
	known := map[string]bool{}
	for _, flag := range allFlags(app.Node) {
		for _, name := range flag.Envs {
			known[name] = true
		}
	}
	var unknown []string
	for _, pair := range os.Environ() {
		if name, _, _ := strings.Cut(pair, "="); strings.HasPrefix(name, "PMX_") && !known[name] {
			unknown = append(unknown, name)
		}
	}
	slices.Sort(unknown)
	return unknown
}

// settingsTable returns the table of a server's settings in Markdown.
func settingsTable(app *kong.Application) string {
	var b strings.Builder
	b.WriteString("| flag | environment | in the file | default | what |\n|---|---|---|---|---|\n")
	for _, node := range app.Children {
		if node.Name != "serve" {
			continue
		}
		for _, flag := range slices.Concat(app.Flags, node.Flags) {
			if slices.Contains(notSettings, flag.Name) {
				continue
			}
			byDefault := ""
			if flag.Default != "" {
				byDefault = "`" + flag.Default + "`"
			}
			_, _ = fmt.Fprintf(&b, "| `--%s` | `%s` | `%s` | %s | %s |\n", flag.Name, strings.Join(flag.Envs, "`, `"), flag.Name, byDefault,
				strings.NewReplacer("|", `\|`, "<", "&lt;").Replace(flag.Help))
		}
	}
	return b.String()
}
