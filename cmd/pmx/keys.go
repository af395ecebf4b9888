package main

import (
	"cmp"
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strconv"
	"text/tabwriter"
	"time"

	"pmx/engine/control"
	"pmx/http/access"
	"pmx/http/admin"
	"pmx/rollups/replica"
)

// KeysCmd manages API keys.
type KeysCmd struct {
	Issue   KeysIssueCmd   `cmd:"" help:"Issue a key; it is shown only once."`
	List    KeysListCmd    `cmd:"" help:"List keys."`
	SetTier KeysSetTierCmd `cmd:"" help:"Change the tier of a key; the key itself does not change."`
	Limit   KeysLimitCmd   `cmd:"" help:"Set a limit for one key, in requests a minute."`
	Expire  KeysExpireCmd  `cmd:"" help:"Set or remove the time at which a key expires."`
	Rotate  KeysRotateCmd  `cmd:"" help:"Replace a key; the old one stays valid for a while."`
	Revoke  KeysRevokeCmd  `cmd:"" help:"Revoke a key permanently."`
}

// withControl opens control.db for what a command does, with or without a running server.
func (c *CLI) withControl(ctx context.Context, command string, f func(*control.DB) error) error {
	dir, err := c.ownDir()
	if err != nil {
		return err
	}
	if follows, ok := replica.Of(dir); ok {
		return follows.Refuse(command)
	}
	return c.lookControl(ctx, f)
}

// lookControl is withControl for what a replica has too.
func (c *CLI) lookControl(ctx context.Context, f func(*control.DB) error) error {
	dir, err := c.ownDir()
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
		// The change is made even if the caller is interrupted now.
		_, err = admin.Call(context.WithoutCancel(ctx), dir.AdminSocket(), opKeys, none{}, nil) // effective at once
	}
	return err
}

func printJSON(w io.Writer, v any) error { return json.NewEncoder(w).Encode(v) }

// KeysIssueCmd makes a key.
type KeysIssueCmd struct {
	Tier  string `help:"Tier: free, explorer, trader or alpha." enum:"free,explorer,trader,alpha" default:"explorer"`
	Label string `help:"Name of the person or program that uses the key." required:""`
	Until string `name:"expires" help:"When it expires: 90d, 12h, or the last day on which it is valid, UTC. By default it does not expire." placeholder:"WHEN"`
	JSON  bool   `help:"Print one JSON object."`
}

// Help is the longer help.
func (KeysIssueCmd) Help() string {
	return `The tier decides how many requests a minute, rows and days of history a key gets. A running server accepts the key at once.

  pmx keys issue --tier trader --label "dashboard of Ann"
  pmx keys issue --tier free --label trial --expires 30d`
}

type issued struct {
	Key       string     `json:"key"`
	ID        string     `json:"id"`
	Tier      string     `json:"tier"`
	Label     string     `json:"label"`
	ExpiresAt *time.Time `json:"expires_at"`
}

// lifetime parses a time in the future: a duration from now on, in days or as in Go, or the last
// day, UTC. "" is zero.
func lifetime(text string, now time.Time) (time.Time, error) {
	if text == "" {
		return time.Time{}, nil
	}
	if day, err := time.Parse(time.DateOnly, text); err == nil {
		return day.AddDate(0, 0, 1), nil
	}
	d, err := days(text)
	if err != nil || d <= 0 {
		return time.Time{}, fmt.Errorf("%q is not a time in the future: give a number of days such as 90d, a duration such as 12h, or a date such as %s", text, now.UTC().AddDate(0, 3, 0).Format(time.DateOnly))
	}
	return now.Add(d), nil
}

// Run issues.
func (c *KeysIssueCmd) Run(ctx context.Context, cli *CLI, std stdio) error {
	until, err := lifetime(c.Until, time.Now())
	if err != nil {
		return wrong("expires", ": %w", err)
	}
	return cli.withControl(ctx, "pmx keys issue", func(db *control.DB) error {
		secret, hash, err := access.NewSecret(rand.Reader)
		if err != nil {
			return err
		}
		k, err := db.IssueKeyUntil(ctx, hash, c.Tier, c.Label, until)
		if err != nil {
			return err
		}
		return printIssued(std.out, issuedOf(secret, &k), c.JSON)
	})
}

func issuedOf(secret string, k *control.Key) issued {
	return issued{Key: secret, ID: k.ID, Tier: k.Tier, Label: k.Label, ExpiresAt: k.ExpiresAt}
}

func printIssued(w io.Writer, k issued, asJSON bool) error {
	if asJSON {
		return printJSON(w, k)
	}
	until := ""
	if k.ExpiresAt != nil {
		until = ", valid until " + when(k.ExpiresAt) + " UTC"
	}
	_, err := fmt.Fprintf(w, "%s\n\nkey %s, tier %s, for %s%s. Only its hash is kept: it cannot be shown again.\n", k.Key, k.ID, k.Tier, escaped(k.Label, ""), until)
	return err
}

// KeysListCmd lists keys.
type KeysListCmd struct {
	JSON bool `help:"Print one JSON object."`
}

// Help is the longer help.
func (KeysListCmd) Help() string {
	return `Shows the id, tier, label, use, limit and validity of every key. The keys themselves are not stored and cannot be shown.

  pmx keys list
  pmx keys list --json | jq '.keys[] | select(.tier == "alpha")'`
}

// Run lists.
func (c *KeysListCmd) Run(ctx context.Context, cli *CLI, std stdio) error {
	return cli.lookControl(ctx, func(db *control.DB) error {
		keys, err := db.ListKeys(ctx)
		if err != nil {
			return err
		}
		if c.JSON {
			return printJSON(std.out, map[string]any{"keys": append([]control.Key{}, keys...)})
		}
		w := tabwriter.NewWriter(std.out, 0, 0, 2, ' ', 0)
		_, _ = fmt.Fprintln(w, "ID\tTIER\tLABEL\tCREATED\tLAST USED\tFROM\tREQUESTS\tLIMIT\tSTATE")
		for _, k := range keys {
			_, _ = fmt.Fprintf(w, "%s\t%s\t%s\t%s\t%s\t%s\t%s\t%s\t%s\n", k.ID, k.Tier, escaped(k.Label, ""), k.CreatedAt.Format(time.DateOnly),
				when(k.LastUsedAt), cmp.Or(valueOr(k.LastFrom), "-"), thousands(k.Requests), limitOfKey(&k), validityOf(&k, time.Now()))
		}
		return w.Flush()
	})
}

// valueOr returns the value at p, or the zero value if p is nil.
func valueOr[T any](p *T) (v T) {
	if p != nil {
		v = *p
	}
	return v
}

// limitOfKey describes how many requests a minute a key may make.
func limitOfKey(k *control.Key) string {
	if own := valueOr(k.Rate); own > 0 {
		return thousands(own) + "/min"
	}
	return "tier's"
}

// KeysLimitCmd sets the limit of a single key.
type KeysLimitCmd struct {
	ID   string `arg:"" help:"Public id of the key, as shown by keys list."`
	Rate string `arg:"" name:"requests" help:"Requests a minute, more or fewer than its tier allows, or tier for the limit of its tier."`
	JSON bool   `help:"Print one JSON object."`
}

// Help is the longer help.
func (KeysLimitCmd) Help() string {
	return `  pmx keys limit fbe8dec5 5000
  pmx keys limit fbe8dec5 tier`
}

// Run sets the limit.
func (c *KeysLimitCmd) Run(ctx context.Context, cli *CLI, std stdio) error {
	rate := int64(0)
	if c.Rate != "tier" {
		var err error
		if rate, err = strconv.ParseInt(c.Rate, 10, 64); err != nil || rate < 1 {
			return &settingError{err: fmt.Errorf("%q is not a limit: give 1 to %d requests a minute, or tier for the limit of its tier", c.Rate, control.MaxRate)}
		}
	}
	return cli.withControl(ctx, "pmx keys limit", func(db *control.DB) error {
		k, err := db.LimitKey(ctx, c.ID, rate)
		if err == nil && !c.JSON {
			_, err = fmt.Fprintf(std.out, "key %s, tier %s, for %s: %s\n", k.ID, k.Tier, escaped(k.Label, ""), limitOfKey(&k))
			return err
		}
		return printKey(std.out, k, err, c.JSON)
	})
}

// validityOf describes whether a key is valid, and until when.
func validityOf(k *control.Key, now time.Time) string {
	switch {
	case k.RevokedAt != nil:
		return "revoked " + k.RevokedAt.Format(time.DateOnly)
	case k.Expired(now):
		return "expired " + when(k.ExpiresAt)
	case k.ExpiresAt != nil:
		return "valid until " + when(k.ExpiresAt)
	}
	return "valid"
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

// Help is the longer help.
func (KeysSetTierCmd) Help() string {
	return `A running server applies the new tier at once.

  pmx keys set-tier fbe8dec5 alpha`
}

// Run changes the tier.
func (c *KeysSetTierCmd) Run(ctx context.Context, cli *CLI, std stdio) error {
	return cli.withControl(ctx, "pmx keys set-tier", func(db *control.DB) error {
		k, err := db.SetTier(ctx, c.ID, c.Tier)
		return printKey(std.out, k, err, c.JSON)
	})
}

// KeysExpireCmd sets when a key expires.
type KeysExpireCmd struct {
	ID    string `arg:"" help:"Public id of the key, as shown by keys list."`
	Until string `arg:"" name:"when" help:"90d, 12h, the last day on which it is valid, UTC, or never. A key that has expired becomes valid again."`
	JSON  bool   `help:"Print one JSON object."`
}

// Help is the longer help.
func (KeysExpireCmd) Help() string {
	return `  pmx keys expire fbe8dec5 30d
  pmx keys expire fbe8dec5 2027-03-31
  pmx keys expire fbe8dec5 never`
}

// Run sets the expiry.
func (c *KeysExpireCmd) Run(ctx context.Context, cli *CLI, std stdio) error {
	var until time.Time
	if c.Until != "never" {
		var err error
		if until, err = lifetime(c.Until, time.Now()); err == nil && until.IsZero() {
			err = errors.New("give a time, or never")
		}
		if err != nil {
			return &settingError{err: err}
		}
	}
	return cli.withControl(ctx, "pmx keys expire", func(db *control.DB) error {
		k, err := db.ExpireKey(ctx, c.ID, until)
		return printKey(std.out, k, err, c.JSON)
	})
}

// KeysRotateCmd replaces a key with a new one.
type KeysRotateCmd struct {
	ID      string `arg:"" help:"Public id of the key to replace, as shown by keys list."`
	Overlap string `help:"How long the replaced key stays valid, such as 7d or 12h; 0: not at all. It never extends the validity of the old key." default:"1d" placeholder:"DURATION"`
	Until   string `name:"expires" help:"When the new key expires, as for keys issue. By default it expires when the replaced one would have." placeholder:"WHEN"`
	JSON    bool   `help:"Print one JSON object."`
}

// Help is the longer help.
func (KeysRotateCmd) Help() string {
	return `Issues a new key with the tier, label and limit of the old one.

  pmx keys rotate fbe8dec5
  pmx keys rotate fbe8dec5 --overlap 7d`
}

// Run rotates.
func (c *KeysRotateCmd) Run(ctx context.Context, cli *CLI, std stdio) error {
	until, err := lifetime(c.Until, time.Now())
	if err != nil {
		return wrong("expires", ": %w", err)
	}
	overlap, err := days(c.Overlap)
	if err != nil || overlap < 0 {
		return wrong("overlap", ": %q is not a duration: give a number of days such as 7d, a duration such as 12h, or 0", c.Overlap)
	}
	return cli.withControl(ctx, "pmx keys rotate", func(db *control.DB) error {
		secret, hash, err := access.NewSecret(rand.Reader)
		if err != nil {
			return err
		}
		k, old, err := db.RotateKey(ctx, c.ID, hash, overlap, until)
		if err != nil {
			return err
		}
		if c.JSON {
			return printJSON(std.out, map[string]any{"issued": issuedOf(secret, &k), "replaced": old})
		}
		if err := printIssued(std.out, issuedOf(secret, &k), false); err != nil {
			return err
		}
		return printKey(std.out, old, nil, false)
	})
}

// KeysRevokeCmd revokes a key.
type KeysRevokeCmd struct {
	ID   string `arg:"" help:"Public id of the key, as shown by keys list."`
	JSON bool   `help:"Print one JSON object."`
}

// Help is the longer help.
func (KeysRevokeCmd) Help() string {
	return `A running server refuses the key at once. Revoking cannot be undone.

  pmx keys revoke fbe8dec5`
}

// Run revokes.
func (c *KeysRevokeCmd) Run(ctx context.Context, cli *CLI, std stdio) error {
	return cli.withControl(ctx, "pmx keys revoke", func(db *control.DB) error {
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
	_, err = fmt.Fprintf(w, "key %s, tier %s, for %s: %s\n", k.ID, k.Tier, escaped(k.Label, ""), validityOf(&k, time.Now()))
	return err
}
