package main

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"text/tabwriter"
	"time"

	"pmx/engine/control"
	"pmx/http/access"
	"pmx/http/server"
)

// WaitlistCmd manages the waitlist.
type WaitlistCmd struct {
	Add     WaitlistAddCmd     `cmd:"" help:"Add a request for a key."`
	List    WaitlistListCmd    `cmd:"" help:"List requests."`
	Approve WaitlistApproveCmd `cmd:"" help:"Approve a request and issue a key for it."`
	Decline WaitlistDeclineCmd `cmd:"" help:"Decline a request."`
}

// WaitlistAddCmd adds a request.
type WaitlistAddCmd struct {
	Contact string `arg:"" help:"E-mail address or other contact."`
	UseCase string `help:"What the data is needed for." required:""`
	JSON    bool   `help:"Print one JSON object."`
}

// Help is the longer help.
func (WaitlistAddCmd) Help() string {
	return `  pmx waitlist add ann@example.org --use-case "a dashboard of weather markets"`
}

// Run adds.
func (c *WaitlistAddCmd) Run(ctx context.Context, cli *CLI, std stdio) error {
	return cli.withControl(ctx, "pmx waitlist add", func(db *control.DB) error {
		r, err := db.AddRequest(ctx, c.Contact, c.UseCase)
		if err != nil {
			return err
		}
		if c.JSON {
			return printJSON(std.out, r)
		}
		_, err = fmt.Fprintf(std.out, "request %d of %s is waiting; approve it with: pmx waitlist approve %d\n", r.ID, escaped(r.Contact, ""), r.ID)
		return err
	})
}

// waitlistForm stores the requests from the public form.
func waitlistForm(keys *control.DB) server.Waitlist {
	return func(ctx context.Context, contact, useCase string) error {
		err := keys.AskForKey(ctx, contact, useCase)
		switch {
		case errors.Is(err, control.ErrInvalid):
			return fmt.Errorf("%w: %w", server.ErrNotUnderstood, err)
		case errors.Is(err, control.ErrWaitlistFull):
			return fmt.Errorf("%w: %w", server.ErrListFull, err)
		}
		return err
	}
}

// WaitlistListCmd lists requests.
type WaitlistListCmd struct {
	State string `help:"Requests to list: waiting, approved, declined or all." enum:"waiting,approved,declined,all" default:"waiting"`
	JSON  bool   `help:"Print one JSON object."`
}

// Help is the longer help.
func (WaitlistListCmd) Help() string {
	return `  pmx waitlist list
  pmx waitlist list --state all`
}

// Run lists.
func (c *WaitlistListCmd) Run(ctx context.Context, cli *CLI, std stdio) error {
	return cli.withControl(ctx, "pmx waitlist list", func(db *control.DB) error {
		state := c.State
		if state == "all" {
			state = ""
		}
		list, err := db.ListRequests(ctx, state)
		if err != nil {
			return err
		}
		if c.JSON {
			return printJSON(std.out, map[string]any{"requests": append([]control.Request{}, list...)})
		}
		w := tabwriter.NewWriter(std.out, 0, 0, 2, ' ', 0)
		_, _ = fmt.Fprintln(w, "ID\tCONTACT\tSTATE\tASKED\tUSE CASE")
		for _, r := range list {
			_, _ = fmt.Fprintf(w, "%d\t%s\t%s\t%s\t%s\n", r.ID, escaped(r.Contact, ""), r.State, r.CreatedAt.Format(time.DateOnly), escaped(r.UseCase, ""))
		}
		return w.Flush()
	})
}

// WaitlistApproveCmd approves a request.
type WaitlistApproveCmd struct {
	ID   int64  `arg:"" help:"Number of the request."`
	Tier string `help:"Tier of the key." enum:"free,explorer,trader,alpha" default:"explorer"`
	JSON bool   `help:"Print one JSON object."`
}

// Help is the longer help.
func (WaitlistApproveCmd) Help() string {
	return `Prints the new key. Send it to the contact: pmx sends no messages.

  pmx waitlist approve 3 --tier explorer`
}

// Run approves and issues the key.
func (c *WaitlistApproveCmd) Run(ctx context.Context, cli *CLI, std stdio) error {
	return cli.withControl(ctx, "pmx waitlist approve", func(db *control.DB) error {
		secret, hash, err := access.NewSecret(rand.Reader)
		if err != nil {
			return err
		}
		_, k, err := db.Approve(ctx, c.ID, hash, c.Tier)
		if err != nil {
			return err
		}
		return printIssued(std.out, issuedOf(secret, &k), c.JSON)
	})
}

// WaitlistDeclineCmd declines a request.
type WaitlistDeclineCmd struct {
	ID   int64 `arg:"" help:"Number of the request."`
	JSON bool  `help:"Print one JSON object."`
}

// Help is the longer help.
func (WaitlistDeclineCmd) Help() string {
	return `  pmx waitlist decline 3`
}

// Run declines.
func (c *WaitlistDeclineCmd) Run(ctx context.Context, cli *CLI, std stdio) error {
	return cli.withControl(ctx, "pmx waitlist decline", func(db *control.DB) error {
		r, err := db.Decline(ctx, c.ID)
		if err != nil {
			return err
		}
		if c.JSON {
			return printJSON(std.out, r)
		}
		_, err = fmt.Fprintf(std.out, "request %d of %s is declined\n", r.ID, escaped(r.Contact, ""))
		return err
	})
}
