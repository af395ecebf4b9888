package main

import (
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"regexp"
	"time"

	"pmx/cmd/bench/load"
	"pmx/http/web"
)

const (
	// Programs that read the API, at a load below the server's capacity.
	readersConns = 4
	readersPause = 4 * time.Millisecond
	// Users that view pages: each opens one, with all its files and responses, every two fifths of
	// a second.
	lookersConns = 4
	lookersPause = 60 * time.Millisecond
)

// pages measures the cost of users that view pages for programs that read the API: the p99 of the
// programs with and without them, three times in turns.
func (b *bench) pages() error {
	s, err := b.serve("large")
	if err != nil {
		return err
	}
	s.keeper.Settle()
	if err := b.pagesBeside(s); err != nil {
		return errors.Join(err, s.close())
	}
	return s.close()
}

func (b *bench) pagesBeside(s *service) error {
	wallets := walletPaths(s)
	view, err := homePaths(s)
	if err != nil {
		return err
	}
	read := func() (load.Result, error) {
		return ask(b.ctx, load.Config{Addr: s.addr, Paths: wallets, Keys: s.keys, Conns: readersConns, Pause: readersPause, Duration: lasting})
	}
	look := load.Config{
		Addr: s.addr, Paths: view, Keys: s.keys, Conns: lookersConns, Pause: lookersPause, Duration: lasting,
		Header: map[string]string{"Sec-Fetch-Site": "same-origin", "Accept-Encoding": "br", "Accept": "text/html"},
	}
	var alone, beside, views []float64
	for range 3 {
		quiet, err := read()
		if err != nil {
			return err
		}
		var seen load.Result
		looked := make(chan error, 1)
		go func() { // ends at the latest when its time is over
			var err error
			seen, err = ask(b.ctx, look)
			looked <- err
		}()
		busy, err := read()
		if err := errors.Join(err, <-looked); err != nil {
			return err
		}
		alone, beside = append(alone, quiet.P99.Seconds()), append(beside, busy.P99.Seconds())
		views = append(views, seen.PerSecond/float64(len(view)))
	}
	quiet, busy := middle(alone), middle(beside)
	b.add("p99 of wallets while people open the page `/`",
		fmt.Sprintf("%s with %.1f pages/s", short(time.Duration(busy*float64(time.Second))), middle(views)),
		fmt.Sprintf("alone %s", short(time.Duration(quiet*float64(time.Second)))), ratio(busy, quiet), "≤ 1.25×")
	return nil
}

// homePaths returns what a browser requests when the overview page is opened.
func homePaths(s *service) ([]string, error) {
	req, err := http.NewRequest(http.MethodGet, "http://"+s.addr+"/", nil)
	if err != nil {
		return nil, err
	}
	req.Header.Set("Accept", "text/html")
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		return nil, err
	}
	defer res.Body.Close()
	text, err := io.ReadAll(res.Body)
	if err != nil {
		return nil, err
	}
	paths := []string{"/"}
	for _, m := range regexp.MustCompile(`(?:src|href)="(/assets/[^"]+)"`).FindAllStringSubmatch(string(text), -1) {
		paths = append(paths, m[1])
	}
	answers := url.Values{"of": {
		"/api/v3/status/public", "/api/v3/stats", "/api/v3/stats/growth?days=false", "/api/v3/pmx-index", "/api/v3/pmx-index/histories?interval=1d&limit=90",
		"/api/v3/leaderboard/traders?limit=8", "/api/v3/leaderboard/markets?limit=8", "/api/v3/whales/moves?limit=8", "/api/v3/weather/cities",
	}}
	return append(paths, web.AnswersPath+"?"+answers.Encode()), nil
}
