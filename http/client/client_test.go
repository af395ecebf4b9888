package client_test

import (
	"context"
	"errors"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"pmx/http/client"
	"pmx/http/wire"
)

// answer is a response of the test's service.
type answer struct {
	status  int
	headers map[string]string
	body    string
}

const tooMany = `{"type":"/docs/problems/rate_limited","title":"Rate limited","status":429,"detail":"Wait.","instance":"a","code":"rate_limited","plan":"free"}`

func limited(seconds string) answer {
	return answer{429, map[string]string{"Content-Type": wire.ProblemType, "Retry-After": seconds}, tooMany}
}

var fine = answer{200, map[string]string{"Content-Type": "application/json"}, `{"plan":"free","data":{"status":"ok"}}`}

// service gives one answer after the other and counts the requests.
func service(t *testing.T, answers ...answer) (*client.Client, *atomic.Int64) {
	t.Helper()
	var asked atomic.Int64
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		a := answers[min(int(asked.Add(1)), len(answers))-1]
		for name, value := range a.headers {
			w.Header().Set(name, value)
		}
		w.WriteHeader(a.status)
		_, _ = w.Write([]byte(a.body))
	}))
	t.Cleanup(s.Close)
	return &client.Client{Base: s.URL}, &asked
}

func TestOnePoliteRetry(t *testing.T) {
	cases := []struct {
		name     string
		answers  []answer
		patience time.Duration
		code     string // of the problem, "" for success
		asked    int64
	}{
		{"the window is over at once", []answer{limited("0"), fine}, 0, "", 2},
		{"the next window is full too", []answer{limited("0"), limited("0"), fine}, 0, "rate_limited", 2},
		{"longer than the patience", []answer{limited("2"), fine}, time.Second, "rate_limited", 1},
		{"no patience", []answer{limited("0"), fine}, -1, "rate_limited", 1},
		{"no Retry-After", []answer{limited(""), fine}, 0, "rate_limited", 1},
		{"longer than the default patience", []answer{limited("3600"), fine}, 0, "rate_limited", 1},
	}
	for _, k := range cases {
		c, asked := service(t, k.answers...)
		c.Patience = k.patience
		_, err := c.Health(t.Context())
		var p *wire.Problem
		if errors.As(err, &p) != (k.code != "") || p != nil && p.Code != k.code || asked.Load() != k.asked {
			t.Errorf("%s: asked %d times, %v", k.name, asked.Load(), err)
		}
	}
}

// A call that would be answered only after its deadline fails at once.
func TestTheDeadlineGoesBeforeTheRetry(t *testing.T) {
	c, asked := service(t, limited("30"), fine)
	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
	defer cancel()
	began := time.Now()
	_, err := c.Health(ctx)
	var p *wire.Problem
	if !errors.As(err, &p) || asked.Load() != 1 || time.Since(began) > 5*time.Second {
		t.Errorf("after %s and %d requests: %v", time.Since(began), asked.Load(), err)
	}
}

func TestWaitingEndsWithTheContext(t *testing.T) {
	c, asked := service(t, limited("30"), fine)
	ctx, cancel := context.WithCancel(t.Context())
	c.HTTP = &http.Client{Transport: cancelAfter{cancel}}
	if _, err := c.Health(ctx); err == nil || asked.Load() != 1 {
		t.Errorf("%d requests, %v", asked.Load(), err)
	}
}

// cancelAfter cancels after the response has arrived.
type cancelAfter struct{ cancel func() }

func (c cancelAfter) RoundTrip(r *http.Request) (*http.Response, error) {
	res, err := http.DefaultTransport.RoundTrip(r)
	c.cancel()
	return res, err
}

func TestWhatIsNoAnswerOfTheServiceIsSaid(t *testing.T) {
	for _, k := range []struct {
		name string
		a    answer
		want string
	}{
		{"a proxy's page", answer{502, map[string]string{"Content-Type": "text/html"}, "<html>bad gateway"}, "502 Bad Gateway"},
		{"a page instead of JSON", answer{200, map[string]string{"Content-Type": "text/html"}, "<html>"}, "read the response"},
	} {
		c, _ := service(t, k.a)
		_, err := c.Health(t.Context())
		var p *wire.Problem
		if err == nil || errors.As(err, &p) || !strings.Contains(err.Error(), k.want) || !strings.Contains(err.Error(), "GET /health") {
			t.Errorf("%s: %v", k.name, err)
		}
	}
}

func TestParametersAreSentAsTheyAreMeant(t *testing.T) {
	var got string
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		got = r.Method + " " + r.RequestURI + " " + r.Header.Get(wire.KeyHeader)
		_, _ = w.Write([]byte(`{}`))
	}))
	t.Cleanup(s.Close)
	c := &client.Client{Base: s.URL + "/api/v3/", Key: "pmx_k"}
	for want, ask := range map[string]func() error{
		"GET /api/v3/leaderboard/traders?limit=5&period=1d pmx_k": func() error {
			_, err := c.LeaderboardTraders(t.Context(), client.LeaderboardTradersParams{Period: "1d", Limit: 5})
			return err
		},
		"GET /api/v3/leaderboard/traders pmx_k": func() error {
			_, err := c.LeaderboardTraders(t.Context(), client.LeaderboardTradersParams{})
			return err
		},
		"GET /api/v3/trader/..%2Fa%20b/stats pmx_k": func() error { _, err := c.TraderStats(t.Context(), "../a b"); return err },
		"GET /api/v3/trader/compare?address=0xa&address=0xb pmx_k": func() error {
			_, err := c.TraderCompare(t.Context(), []string{"0xa", "0xb"}, client.TraderCompareParams{})
			return err
		},
	} {
		if err := ask(); err != nil || got != want {
			t.Errorf("got %s, want %s, %v", got, want, err)
		}
	}
}

// The iterator reads two pages of trades and then a problem, every time it is used.
func TestIteratorsReadAllPages(t *testing.T) {
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch r.URL.Query().Get("cursor") {
		case "":
			_, _ = w.Write([]byte(`{"next_cursor":"two","data":[{"token_id":"1"},{"token_id":"2"}]}`))
		case "two":
			_, _ = w.Write([]byte(`{"next_cursor":"bad","data":[{"token_id":"3"}]}`))
		default:
			w.Header().Set("Content-Type", wire.ProblemType)
			w.WriteHeader(400)
			_, _ = w.Write([]byte(`{"code":"invalid_cursor"}`))
		}
	}))
	t.Cleanup(s.Close)
	c := &client.Client{Base: s.URL}
	for start, want := range map[string]string{"": "123!", "two": "3!"} {
		all := c.AllTraderTrades(t.Context(), "0xa", client.TraderTradesParams{Cursor: start})
		for range 2 {
			got := ""
			for trade, err := range all {
				if err != nil {
					got += "!"
					continue
				}
				got += trade.TokenID
			}
			if got != want {
				t.Errorf("from %q: got %s, want %s", start, got, want)
			}
		}
	}
	for trade, err := range c.AllTraderTrades(t.Context(), "0xa", client.TraderTradesParams{}) {
		if err != nil || trade.TokenID != "1" {
			t.Errorf("trade.TokenID = %s, err = %v", trade.TokenID, err)
		}
		break
	}
}
