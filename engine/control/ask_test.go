package control_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"pmx/engine/control"
)

// Requests for keys are limited in length and in number, and there is only one per contact.
func TestAnybodyMayRequestAKey(t *testing.T) {
	db, ctx := fresh(t), t.Context()
	for _, bad := range [][2]string{{"", "x"}, {"ann", " "}, {strings.Repeat("a", control.MaxContact+1), "x"}, {"ann", strings.Repeat("ä", control.MaxUseCase+1)},
		{"ann\x1b[31m", "x"}, {"ann\nbob", "x"}, {"a\xff", "x"}, {"ann", "x\x00"}} {
		if err := db.AskForKey(ctx, bad[0], bad[1]); !errors.Is(err, control.ErrInvalid) {
			t.Errorf("%.20q, %.20q: %v", bad[0], bad[1], err)
		}
	}
	for range 3 {
		if err := db.AskForKey(ctx, " ann@example.org ", "two\r\nlines of "+strings.Repeat("ä", 1000)); err != nil {
			t.Fatal(err)
		}
	}
	list, err := db.ListRequests(ctx, control.Waiting)
	if err != nil || len(list) != 1 || list[0].Contact != "ann@example.org" || !list[0].CreatedAt.Equal(day) {
		t.Fatalf("list = %+v, err = %v", list, err)
	}
	if _, err := db.Decline(ctx, list[0].ID); err != nil {
		t.Fatal(err)
	}
	for n := range control.MaxWaiting {
		if err := db.AskForKey(ctx, fmt.Sprint("n", n), "x"); err != nil {
			t.Fatal(err)
		}
	}
	if err := db.AskForKey(ctx, "one more", "x"); !errors.Is(err, control.ErrWaitlistFull) {
		t.Errorf("beyond the end: %v", err)
	}
}
