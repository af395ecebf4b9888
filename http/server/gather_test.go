package server

import (
	"bytes"
	"errors"
	"io"
	"net"
	"os"
	"testing"
	"time"
)

// pair returns a connection as the server has it, and its other end.
func pair(t *testing.T) (*timedConn, *net.TCPConn) {
	t.Helper()
	l, err := net.ListenTCP("tcp", &net.TCPAddr{IP: net.IPv4(127, 0, 0, 1)})
	if err != nil {
		t.Fatal(err)
	}
	timedListener := newTimedListener(l, timeouts{read: time.Minute, write: time.Minute, idle: time.Minute}, newConnSet(100), nil)
	t.Cleanup(func() { _ = timedListener.Close() })
	client := dial(t, l.Addr().String())
	served, err := timedListener.accept()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = served.Close() })
	return served, client.(*net.TCPConn)
}

// arrives checks that exactly want arrives at the client.
func arrives(t *testing.T, client *net.TCPConn, want []byte) {
	t.Helper()
	got := make([]byte, len(want))
	if err := client.SetReadDeadline(time.Now().Add(10 * time.Second)); err != nil {
		t.Fatal(err)
	}
	if _, err := io.ReadFull(client, got); err != nil || !bytes.Equal(got, want) {
		t.Fatalf("%d bytes arrived, equal %t: %v", len(want), bytes.Equal(got, want), err)
	}
	nothingArrives(t, client)
}

func nothingArrives(t *testing.T, client *net.TCPConn) {
	t.Helper()
	if err := client.SetReadDeadline(time.Now().Add(10 * time.Millisecond)); err != nil {
		t.Fatal(err)
	}
	if n, err := client.Read(make([]byte, 1)); !errors.Is(err, os.ErrDeadlineExceeded) {
		t.Fatalf("%d bytes more arrived: %v", n, err)
	}
}

func write(t *testing.T, c *timedConn, b []byte) {
	t.Helper()
	if n, err := c.Write(b); n != len(b) || err != nil {
		t.Fatalf("%d of %d bytes written: %v", n, len(b), err)
	}
}

// The beginning of a long response, a full buffer, is sent with the rest. Everything else is sent when it is written.
func TestALongResponseIsGathered(t *testing.T) {
	served, client := pair(t)
	text := func(n int, first byte) []byte {
		b := make([]byte, n)
		for i := range b {
			b[i] = first + byte(i%251)
		}
		return b
	}
	full, rest, short := text(writeBuffer, 1), text(100_000, 2), text(300, 3)
	write(t, served, full) // nothing said that more follows
	arrives(t, client, full)

	for range 3 {
		served.gather()
		write(t, served, full)
		nothingArrives(t, client)
		buffer := bytes.Clone(full) // it is used again
		write(t, served, rest)
		arrives(t, client, append(buffer, rest...))
		write(t, served, full)
		arrives(t, client, full)
	}

	served.gather() // of a response that begins behind another one, in the same buffer
	write(t, served, short)
	arrives(t, client, short)
	write(t, served, full)
	nothingArrives(t, client)
	write(t, served, short)
	arrives(t, client, append(bytes.Clone(full), short...))

	served.gather() // and nothing follows
	write(t, served, full)
	nothingArrives(t, client)
	if _, err := client.Write([]byte("x")); err != nil {
		t.Fatal(err)
	}
	if n, err := served.Read(make([]byte, 1)); n != 1 || err != nil {
		t.Fatalf("%d bytes read: %v", n, err)
	}
	arrives(t, client, full)
	served.gather() // of a response that never came
	if _, err := client.Write([]byte("x")); err != nil {
		t.Fatal(err)
	}
	if _, err := served.Read(make([]byte, 1)); err != nil {
		t.Fatal(err)
	}
	write(t, served, full)
	arrives(t, client, full)
}

// Several responses may come before anything is read, if their requests came together. What is written after the beginning of one of them
// is sent at once, though the next one is long as well: the connection may be closed then.
func TestTheEndOfALongResponseIsNeverHeld(t *testing.T) {
	served, client := pair(t)
	first, end := bytes.Repeat([]byte("a"), writeBuffer), bytes.Repeat([]byte("b"), writeBuffer)
	served.gather()
	write(t, served, first)
	nothingArrives(t, client)
	served.gather() // of the second response, whose beginning is in the buffer with the end of the first one
	write(t, served, first)
	arrives(t, client, append(bytes.Clone(first), first...))
	write(t, served, end) // of the second, exactly a buffer
	if err := served.Close(); err != nil {
		t.Fatal(err)
	}
	if err := client.SetReadDeadline(time.Now().Add(10 * time.Second)); err != nil {
		t.Fatal(err)
	}
	if got, err := io.ReadAll(client); err != nil || !bytes.Equal(got, end) {
		t.Errorf("%d bytes arrived of %d: %v", len(got), len(end), err)
	}
}

// A client that is gone is noticed with what follows.
func TestGatheringFails(t *testing.T) {
	served, client := pair(t)
	if err := errors.Join(client.SetLinger(0), client.Close()); err != nil {
		t.Fatal(err)
	}
	full, rest := make([]byte, writeBuffer), make([]byte, 1<<20)
	var err error
	for range 100 {
		served.gather()
		write(t, served, full)
		var n int
		if n, err = served.Write(rest); err != nil {
			if n < 0 || n >= len(rest) {
				t.Errorf("%d of %d bytes written", n, len(rest))
			}
			break
		}
	}
	if err == nil {
		t.Error("nothing failed")
	}
	if len(served.held) > 0 {
		t.Error("something is held")
	}
}
