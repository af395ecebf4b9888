package control

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"
)

// States of a waitlist entry.
const (
	Waiting  = "waiting"
	Approved = "approved"
	Declined = "declined"
)

// DefaultTier is what an approved request gets unless the operator says otherwise.
const DefaultTier = "explorer"

// Request is one entry of the waitlist.
type Request struct {
	ID        int64      `json:"id"`
	Contact   string     `json:"contact"`
	UseCase   string     `json:"use_case"`
	State     string     `json:"state"`
	CreatedAt time.Time  `json:"created_at"`
	DecidedAt *time.Time `json:"decided_at"` // nil while waiting
	KeyID     *string    `json:"key_id"`     // nil unless approved
}

// AddRequest puts a request on the waitlist. ErrInvalid without a contact or a
// use case.
func (d *DB) AddRequest(ctx context.Context, contact, useCase string) (Request, error) {
	r := Request{Contact: strings.TrimSpace(contact), UseCase: strings.TrimSpace(useCase), State: Waiting}
	if r.Contact == "" || r.UseCase == "" {
		return Request{}, fmt.Errorf("add to waitlist: %w: a contact and a use case are needed", ErrInvalid)
	}
	r.CreatedAt = d.now().UTC().Truncate(time.Second)
	err := d.write(ctx, "add to waitlist", func(tx *sql.Tx) error {
		res, err := tx.ExecContext(ctx, statements.Get("AddRequest"),
			r.Contact, r.UseCase, r.CreatedAt.Unix())
		if err != nil {
			return err
		}
		r.ID, err = res.LastInsertId()
		return err
	})
	return r, err
}

// Limits of public requests for keys.
const (
	MaxContact = 200   // characters
	MaxUseCase = 2_000 // characters
	MaxWaiting = 1_000 // requests waiting at the same time
)

// ErrWaitlistFull means that MaxWaiting requests are waiting.
var ErrWaitlistFull = errors.New("the waitlist is full")

// AskForKey is AddRequest for the public form: ErrInvalid for a contact or a use case that is too
// long or has unprintable characters, ErrWaitlistFull if too many are waiting. A contact that is
// waiting already is not added again; the caller cannot tell.
func (d *DB) AskForKey(ctx context.Context, contact, useCase string) error {
	contact, useCase = strings.TrimSpace(contact), strings.TrimSpace(useCase)
	if !shown(contact, MaxContact) || !shown(strings.NewReplacer("\r", "", "\n", "").Replace(useCase), MaxUseCase) {
		return fmt.Errorf("ask for a key: %w contact or use case", ErrInvalid)
	}
	return d.write(ctx, "ask for a key", func(tx *sql.Tx) error {
		var waiting int64
		if err := tx.QueryRowContext(ctx, statements.Get("WaitingRequests"), Waiting).Scan(&waiting); err != nil {
			return err
		}
		if waiting >= MaxWaiting {
			return ErrWaitlistFull
		}
		_, err := tx.ExecContext(ctx, statements.Get("AddRequestOnce"),
			contact, useCase, d.now().Unix(), Waiting)
		return err
	})
}

// shown reports whether text is not empty, has at most this many characters, and all of them are
// printable.
func shown(text string, most int) bool {
	return text != "" && utf8.ValidString(text) && utf8.RuneCountInString(text) <= most && !strings.ContainsFunc(text, func(r rune) bool { return !unicode.IsPrint(r) })
}

// requestQuery returns a statement whose rows scanRequest reads.
func requestQuery(name string) string {
	return statements.Get(name, "@columns", statements.Get("RequestColumns"))
}

func scanRequest(row interface{ Scan(...any) error }) (Request, error) {
	var r Request
	var created int64
	var decided sql.NullInt64
	err := row.Scan(&r.ID, &r.Contact, &r.UseCase, &r.State, &created, &decided, &r.KeyID)
	r.CreatedAt, r.DecidedAt = time.Unix(created, 0).UTC(), unix(decided)
	return r, err
}

// ListRequests returns the waitlist in order of arrival; state "" means all.
func (d *DB) ListRequests(ctx context.Context, state string) ([]Request, error) {
	rows, err := d.sql.QueryContext(ctx, requestQuery("RequestList"), state, state)
	if err != nil {
		return nil, fmt.Errorf("list waitlist: %w", err)
	}
	defer rows.Close()
	list := []Request{}
	for rows.Next() {
		r, err := scanRequest(rows)
		if err != nil {
			return nil, fmt.Errorf("list waitlist: %w", err)
		}
		list = append(list, r)
	}
	return list, rows.Err()
}

// Approve issues the key whose SHA-256 is hash to the waiting request id, in one
// transaction. ErrNotFound for an unknown id, ErrConflict for one that is
// decided already or when the key's short id is taken.
func (d *DB) Approve(ctx context.Context, id int64, hash [32]byte, tier string) (Request, Key, error) {
	var k Key
	r, err := d.decide(ctx, "approve request", id, Approved, func(tx *sql.Tx, r Request) (*string, error) {
		var err error
		k, err = d.issue(ctx, tx, hash, tier, r.Contact)
		return &k.ID, err
	})
	return r, k, err
}

// Decline turns the waiting request id down. ErrNotFound for an unknown id,
// ErrConflict for one that is decided already.
func (d *DB) Decline(ctx context.Context, id int64) (Request, error) {
	return d.decide(ctx, "decline request", id, Declined, func(*sql.Tx, Request) (*string, error) { return nil, nil })
}

func (d *DB) decide(ctx context.Context, what string, id int64, state string, issue func(*sql.Tx, Request) (*string, error)) (Request, error) {
	var r Request
	err := d.write(ctx, what, func(tx *sql.Tx) (err error) {
		r, err = scanRequest(tx.QueryRowContext(ctx, requestQuery("RequestByID"), id))
		if errors.Is(err, sql.ErrNoRows) {
			return fmt.Errorf("request %d: %w: see pmx waitlist list", id, ErrNotFound)
		}
		if err != nil {
			return err
		}
		if r.State != Waiting {
			return fmt.Errorf("%w: request %d is %s already", ErrConflict, id, r.State)
		}
		keyID, err := issue(tx, r)
		if err != nil {
			return err
		}
		now := d.now().UTC().Truncate(time.Second)
		r.State, r.DecidedAt, r.KeyID = state, &now, keyID
		_, err = tx.ExecContext(ctx, statements.Get("Decide"),
			state, now.Unix(), keyID, id)
		return err
	})
	return r, err
}
