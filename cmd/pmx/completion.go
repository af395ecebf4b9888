package main

import (
	_ "embed"
	"fmt"
	"slices"
	"strings"

	"github.com/alecthomas/kong"
)

// CompletionCmd prints the completion script for a shell.
type CompletionCmd struct {
	Shell string `arg:"" help:"Shell: bash, zsh or fish." enum:"bash,zsh,fish"`
}

// Help is the longer help.
func (CompletionCmd) Help() string {
	return `Completes commands, flags, the values of flags that take one of a list, and elsewhere file names.

  bash, in ~/.bashrc:                    source <(pmx completion bash)
  zsh, in ~/.zshrc after compinit:       source <(pmx completion zsh)
  fish:                                  pmx completion fish > ~/.config/fish/completions/pmx.fish

For all users, write the script to /usr/share/bash-completion/completions/pmx, or as _pmx into a folder of zsh's fpath.`
}

// The scripts call pmx complete, so that they work with every version.
var (
	//go:embed completion/bash.sh
	bashCompletion string
	//go:embed completion/zsh.sh
	zshCompletion string
	//go:embed completion/fish.fish
	fishCompletion string
)

// Run prints the script.
func (c *CompletionCmd) Run(std stdio) error {
	_, err := fmt.Fprint(std.out, map[string]string{"bash": bashCompletion, "zsh": zshCompletion, "fish": fishCompletion}[c.Shell])
	return err
}

// CompleteCmd is called by the scripts.
type CompleteCmd struct {
	Words []string `arg:"" optional:"" help:"The words after pmx, up to the one to be completed, which may be empty."`
}

// Run prints a line for each possible word, with its help after a tab.
func (c *CompleteCmd) Run(kctx *kong.Context, std stdio) error {
	for _, line := range completions(kctx.Model.Node, c.Words) {
		if _, err := fmt.Fprintln(std.out, line); err != nil {
			return err
		}
	}
	return nil
}

// completions returns the lines for the last of words, which follow the program's name.
func completions(program *kong.Node, words []string) []string {
	if len(words) == 0 {
		words = []string{""}
	}
	last := words[len(words)-1]
	at := typed{node: program}
	for _, word := range words[:len(words)-1] {
		at.take(word)
	}
	if last == "=" && at.flag != nil { // bash passes it as a separate word
		last = ""
	}
	name, value, joined := strings.Cut(last, "=")
	flag := findFlag(at.node, name)
	var all []string
	switch {
	case at.flag != nil:
		all = choices(at.flag.Value)
	case joined && flag != nil:
		for _, v := range choices(flag.Value) {
			all = append(all, name+"="+v)
		}
		last = name + "=" + value
	case strings.HasPrefix(last, "-") && !at.ended:
		all = flagWords(at.node)
	default:
		all = at.words()
	}
	return slices.DeleteFunc(all, func(line string) bool { return !strings.HasPrefix(line, last) })
}

// typed is the parsed command line before the last word.
type typed struct {
	node  *kong.Node
	flag  *kong.Flag // flag that needs a value next; nil: none
	args  int        // positional arguments
	ended bool       // after "--": no flags follow
}

func (t *typed) take(word string) {
	switch {
	case t.flag != nil && word == "=":
	case t.flag != nil:
		t.flag = nil
	case word == "--":
		t.ended = true
	case strings.HasPrefix(word, "-") && !t.ended:
		if f := findFlag(t.node, word); f != nil && !f.IsBool() {
			t.flag = f
		}
	default:
		for _, child := range t.node.Children {
			if child.Name == word && t.args == 0 {
				t.node = child
				return
			}
		}
		t.args++
	}
}

// words returns the words that are neither flags nor their values.
func (t *typed) words() (all []string) {
	if t.args < len(t.node.Positional) {
		all = choices(t.node.Positional[t.args])
	}
	for _, child := range t.node.Children {
		if !child.Hidden && t.args == 0 {
			all = append(all, child.Name+"\t"+brief(child.Help))
		}
	}
	return all
}

// flagWords returns the flags of a command, including those of all commands.
func flagWords(node *kong.Node) (all []string) {
	for _, group := range node.AllFlags(true) {
		for _, f := range group {
			all = append(all, "--"+f.Name+"\t"+brief(f.Help))
		}
	}
	return all
}

// findFlag returns the flag that a word names; nil for none.
func findFlag(node *kong.Node, word string) *kong.Flag {
	for _, group := range node.AllFlags(false) {
		for _, f := range group {
			if word == "--"+f.Name || f.Short != 0 && word == "-"+string(f.Short) {
				return f
			}
		}
	}
	return nil
}

// choices returns the possible values, if there is a list of them.
func choices(v *kong.Value) []string {
	if v.Enum == "" {
		return nil
	}
	return slices.DeleteFunc(v.EnumSlice(), func(s string) bool { return s == "" })
}

// brief returns the first sentence of a help text.
func brief(help string) string {
	first, _, _ := strings.Cut(help, ". ")
	return strings.TrimSuffix(strings.ReplaceAll(first, "\n", " "), ".")
}
