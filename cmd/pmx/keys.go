package main

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"text/tabwriter"
	"time"

	"pmx/engine/control"
	"pmx/http/access"
	"pmx/http/admin"
)

// KeysCmd keeps API keys.
type KeysCmd struct {
	Issue   KeysIssueCmd   `cmd:"" help:"Issue a key; it is shown only once."`
	List    KeysListCmd    `cmd:"" help:"List keys."`
	SetTier KeysSetTierCmd `cmd:"" help:"Change the tier of a key; the key itself does not change."`
	Revoke  KeysRevokeCmd  `cmd:"" help:"Revoke a key permanently."`
}

// withControl opens control.db beside a running server or without one.
func (c *CLI) withControl(ctx context.Context, f func(*control.DB) error) error {
	dir, err := c.dir()
	if err != nil {
		return err
	}
	if !dir.Exists() {
		return fmt.Errorf("%s does not exist: check --data-dir, or create it with pmx serve or pmx import", dir)
	}
	if err := dir.Create(); err != nil {
		return err
	}
	db, err := control.Open(ctx, dir.Control(), time.Now)
	if err != nil {
		return err
	}
	err = errors.Join(f(db), db.Close())
	if err == nil && admin.Running(dir.AdminSocket()) {
		// The change is made, even if the caller leaves now.
		_, err = admin.Call(context.WithoutCancel(ctx), dir.AdminSocket(), opKeys, none{}, nil) // in force at once
	}
	return err
}

func printJSON(w io.Writer, v any) error { return json.NewEncoder(w).Encode(v) }

// KeysIssueCmd makes a key.
type KeysIssueCmd struct {
	Tier  string `help:"Tier: free, explorer, trader or alpha." enum:"free,explorer,trader,alpha" default:"explorer"`
	Label string `help:"Name of the person or program that uses the key." required:""`
	JSON  bool   `help:"Print one JSON object."`
}

type issued struct {
	Key   string `json:"key"`
	ID    string `json:"id"`
	Tier  string `json:"tier"`
	Label string `json:"label"`
}

// Run issues.
func (c *KeysIssueCmd) Run(ctx context.Context, cli *CLI, std stdio) error {
	return cli.withControl(ctx, func(db *control.DB) error {
		secret, hash, err := access.NewSecret(rand.Reader)
		if err != nil {
			return err
		}
		k, err := db.IssueKey(ctx, hash, c.Tier, c.Label)
		if err != nil {
			return err
		}
		return printIssued(std.out, issued{Key: secret, ID: k.ID, Tier: k.Tier, Label: k.Label}, c.JSON)
	})
}

func printIssued(w io.Writer, k issued, asJSON bool) error {
	if asJSON {
		return printJSON(w, k)
	}
	_, err := fmt.Fprintf(w, "%s\n\nkey %s, tier %s, for %s. Only its hash is kept: it cannot be shown again.\n", k.Key, k.ID, k.Tier, escaped(k.Label, ""))
	return err
}

// KeysListCmd lists keys.
type KeysListCmd struct {
	JSON bool `help:"Print one JSON object."`
}

// Run lists.
func (c *KeysListCmd) Run(ctx context.Context, cli *CLI, std stdio) error {
	return cli.withControl(ctx, func(db *control.DB) error {
		keys, err := db.ListKeys(ctx)
		if err != nil {
			return err
		}
		if c.JSON {
			return printJSON(std.out, map[string]any{"keys": append([]control.Key{}, keys...)})
		}
		w := tabwriter.NewWriter(std.out, 0, 0, 2, ' ', 0)
		_, _ = fmt.Fprintln(w, "ID\tTIER\tLABEL\tCREATED\tLAST USED\tREQUESTS\tSTATE")
		for _, k := range keys {
			state := "valid"
			if k.RevokedAt != nil {
				state = "revoked " + k.RevokedAt.Format(time.DateOnly)
			}
			_, _ = fmt.Fprintf(w, "%s\t%s\t%s\t%s\t%s\t%s\t%s\n", k.ID, k.Tier, escaped(k.Label, ""), k.CreatedAt.Format(time.DateOnly),
				when(k.LastUsedAt), thousands(k.Requests), state)
		}
		return w.Flush()
	})
}

func when(t *time.Time) string {
	if t == nil {
		return "never"
	}
	return t.UTC().Format("2006-01-02 15:04")
}

// KeysSetTierCmd changes a tier.
type KeysSetTierCmd struct {
	ID   string `arg:"" help:"Public id of the key, as shown by keys list."`
	Tier string `arg:"" help:"Tier: free, explorer, trader or alpha." enum:"free,explorer,trader,alpha"`
	JSON bool   `help:"Print one JSON object."`
}

// Run changes the tier.
func (c *KeysSetTierCmd) Run(ctx context.Context, cli *CLI, std stdio) error {
	return cli.withControl(ctx, func(db *control.DB) error {
		k, err := db.SetTier(ctx, c.ID, c.Tier)
		return printKey(std.out, k, err, c.JSON)
	})
}

// KeysRevokeCmd revokes a key.
type KeysRevokeCmd struct {
	ID   string `arg:"" help:"Public id of the key, as shown by keys list."`
	JSON bool   `help:"Print one JSON object."`
}

// Run revokes.
func (c *KeysRevokeCmd) Run(ctx context.Context, cli *CLI, std stdio) error {
	return cli.withControl(ctx, func(db *control.DB) error {
		k, err := db.RevokeKey(ctx, c.ID)
		return printKey(std.out, k, err, c.JSON)
	})
}

func printKey(w io.Writer, k control.Key, err error, asJSON bool) error {
	if err != nil {
		return err
	}
	if asJSON {
		return printJSON(w, k)
	}
	state := "valid"
	if k.RevokedAt != nil {
		state = "revoked"
	}
	_, err = fmt.Fprintf(w, "key %s, tier %s, for %s: %s\n", k.ID, k.Tier, escaped(k.Label, ""), state)
	return err
}
