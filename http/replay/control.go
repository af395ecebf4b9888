package replay

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"
)

// overview is the response to GET /replay.
type overview struct {
	Clock     time.Time        `json:"clock"`
	Start     time.Time        `json:"venue_start"`
	End       time.Time        `json:"venue_end"`
	Latest    int64            `json:"latest_block"`
	Finalized int64            `json:"finalized_block"`
	Fills     int64            `json:"fills"`
	Drawn     map[string]int64 `json:"faults_drawn"` // by name, and by source and name
}

// serveOverview answers GET /replay.
func (s *Server) serveOverview(w http.ResponseWriter, _ *http.Request) {
	out := overview{Clock: s.clock.Now(), Start: s.venue.Manifest.Start, End: s.venue.Manifest.End, Fills: s.venue.Manifest.Fills, Drawn: s.Drawn()}
	out.Latest, out.Finalized = s.Latest()
	w.Header().Set("Content-Type", "application/json")
	_ = json.NewEncoder(w).Encode(out) // fails only if the caller has disconnected
}

// control answers POST /replay, which changes the clock and the faults by the parameters at, advance,
// speed, source, faults and rate.
func (s *Server) control(w http.ResponseWriter, r *http.Request) {
	if err := s.apply(r.URL.Query()); err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	s.serveOverview(w, r)
}

// parameters are the parameters of POST /replay.
var parameters = []string{"advance", "at", "faults", "rate", "source", "speed"}

// checkParameters refuses what would otherwise be ignored: unknown and repeated parameters, and
// parameters of faults without faults.
func checkParameters(q url.Values) error {
	for _, key := range slices.Sorted(maps.Keys(q)) {
		switch {
		case !slices.Contains(parameters, key):
			return fmt.Errorf("unknown parameter %q: use %s", key, strings.Join(parameters, ", "))
		case len(q[key]) > 1:
			return fmt.Errorf("%s is given %d times", key, len(q[key]))
		case (key == "rate" || key == "source") && !q.Has("faults"):
			return fmt.Errorf("%s is given without faults; to remove all faults, use faults=none", key)
		}
	}
	if len(q) == 0 {
		return fmt.Errorf("no parameter is given: use %s", strings.Join(parameters, ", "))
	}
	return nil
}

func (s *Server) apply(q url.Values) (err error) {
	if err := checkParameters(q); err != nil {
		return err
	}
	var at time.Time
	var advance time.Duration
	var speed, rate float64
	for key, read := range map[string]func(text string) error{
		"at":      func(text string) error { at, err = time.Parse(time.RFC3339, text); return err },
		"advance": func(text string) error { advance, err = time.ParseDuration(text); return err },
		"speed":   func(text string) error { speed, err = number(text); return err },
		"rate":    func(text string) error { rate, err = number(text); return err },
	} {
		if q.Has(key) {
			if err := read(q.Get(key)); err != nil {
				return fmt.Errorf("%s: %w", key, err)
			}
		}
	}
	if q.Has("rate") && rate == 0 {
		return errors.New("rate: must be above 0; to remove all faults, use faults=none")
	}
	if q.Has("faults") {
		names := strings.FieldsFunc(q.Get("faults"), func(r rune) bool { return r == ',' })
		if err := s.SetFaults(q.Get("source"), Faults{Names: names, Rate: rate}); err != nil {
			return err
		}
	}
	if q.Has("at") {
		s.clock.Set(at)
	}
	s.clock.Advance(advance)
	if q.Has("speed") {
		s.clock.SetSpeed(speed)
	}
	return nil
}

// number parses a number that is not negative.
func number(text string) (float64, error) {
	n, err := strconv.ParseFloat(text, 64)
	if err == nil && !(n >= 0 && n <= 1e9) {
		err = strconv.ErrRange
	}
	return n, err
}
