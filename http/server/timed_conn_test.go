package server

import (
	"bufio"
	"bytes"
	"errors"
	"io"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/valyala/fasthttp"
)

const fileSize = 40 << 20 // more than the buffers of a loopback connection hold

// timed serves a small body at / and a file at /file with these limits.
func timed(t *testing.T, limits timeouts) (addr string) {
	t.Helper()
	tcp, err := net.ListenTCP("tcp", &net.TCPAddr{IP: net.IPv4(127, 0, 0, 1)})
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(path, bytes.Repeat([]byte("0123456789abcdef"), fileSize/16), 0o600); err != nil {
		t.Fatal(err)
	}
	s := &fasthttp.Server{Logger: quiet{}, Handler: func(ctx *fasthttp.RequestCtx) {
		if string(ctx.Path()) == "/file" {
			f, err := os.Open(path)
			if err != nil {
				ctx.Error(err.Error(), fasthttp.StatusInternalServerError)
				return
			}
			ctx.SetBodyStream(f, fileSize)
			return
		}
		ctx.SetBodyString("body")
	}}
	l := newTimedListener(tcp, limits, newConnSet(100), nil)
	done := make(chan error, 1)
	go func() { done <- s.Serve(l) }()
	t.Cleanup(func() {
		_ = l.Close()
		<-done
	})
	return tcp.Addr().String()
}

type quiet struct{}

func (quiet) Printf(string, ...any) {}

func dial(t *testing.T, addr string) net.Conn {
	t.Helper()
	c, err := net.Dial("tcp", addr)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = c.Close() })
	if err := c.SetDeadline(time.Now().Add(20 * time.Second)); err != nil {
		t.Fatal(err)
	}
	return c
}

func ask(t *testing.T, c net.Conn, in *bufio.Reader, path string) *http.Response {
	t.Helper()
	if _, err := io.WriteString(c, "GET "+path+" HTTP/1.1\r\nHost: x\r\n\r\n"); err != nil {
		t.Fatal(err)
	}
	res, err := http.ReadResponse(in, nil)
	if err != nil {
		t.Fatal(err)
	}
	return res
}

func TestARequestThatNeverEndsIsCancelled(t *testing.T) {
	for name, before := range map[string]int{"first": 0, "third": 2} {
		t.Run(name, func(t *testing.T) {
			c := dial(t, timed(t, timeouts{read: 100 * time.Millisecond, write: time.Minute, idle: time.Minute}))
			in := bufio.NewReader(c)
			for range before {
				if b, err := io.ReadAll(ask(t, c, in, "/").Body); err != nil || string(b) != "body" {
					t.Fatalf("b = %q, err = %v", b, err)
				}
			}
			// Sending a byte now and then does not extend the time, which starts with the first
			// byte.
			for i := 0; ; i++ {
				if _, err := io.WriteString(c, "G"); err != nil {
					break
				}
				if i > 200 {
					t.Fatal("the connection is still open")
				}
				time.Sleep(20 * time.Millisecond)
			}
		})
	}
}

func TestAConnectionMayBeIdleBetweenRequests(t *testing.T) {
	c := dial(t, timed(t, timeouts{read: time.Second, write: time.Minute, idle: 5 * time.Second}))
	in := bufio.NewReader(c)
	for range 3 {
		if b, err := io.ReadAll(ask(t, c, in, "/").Body); err != nil || string(b) != "body" {
			t.Fatalf("b = %q, err = %v", b, err)
		}
		time.Sleep(1200 * time.Millisecond) // longer than a request may take, which is generous for a busy machine
	}
	if n, err := in.ReadByte(); !errors.Is(err, io.EOF) {
		t.Errorf("an idle connection gave %q, %v", n, err)
	}
}

func TestADownloadMayTakeLongIfItProgresses(t *testing.T) {
	c := dial(t, timed(t, timeouts{read: time.Minute, write: 3 * time.Second, idle: time.Minute}))
	res := ask(t, c, bufio.NewReader(c), "/file")
	began, got := time.Now(), int64(0)
	for {
		n, err := io.CopyN(io.Discard, res.Body, 8<<20)
		got += n
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			t.Fatalf("after %d bytes in %s: %v", got, time.Since(began), err)
		}
		time.Sleep(800 * time.Millisecond)
	}
	if took := time.Since(began); took < 3*time.Second {
		t.Fatalf("done after %s: too fast to tell", took)
	}
	if got != fileSize {
		t.Errorf("got %d bytes", got)
	}
}

func TestAStalledDownloadIsCancelled(t *testing.T) {
	c := dial(t, timed(t, timeouts{read: time.Minute, write: 200 * time.Millisecond, idle: time.Minute}))
	res := ask(t, c, bufio.NewReader(c), "/file")
	time.Sleep(2 * time.Second)
	if n, err := io.Copy(io.Discard, res.Body); err == nil || n >= fileSize {
		t.Errorf("%d bytes, %v", n, err)
	}
}
