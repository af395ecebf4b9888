package replica

import (
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"time"

	"pmx/engine/backup"
	"pmx/rollups/serving"
)

// Source is the name under which the status shows the backups that are followed.
const Source = "backup"

// bounds are the grade bounds of the time since the newest backup was served.
var bounds = [4]time.Duration{30 * time.Second, 2 * time.Minute, 10 * time.Minute, time.Hour}

// Status is the status of following. Zero times mean never.
type Status struct {
	Dir    string `json:"dir"`    // the folder of backups
	Writer string `json:"writer"` // who makes them; "": not known

	Number int64     `json:"number"` // the backup that is served
	Made   time.Time `json:"made"`   // when its state was taken
	Taken  time.Time `json:"taken"`  // when it was served first

	Newest     int64     `json:"newest"`      // the newest backup in the folder, as far as is known
	NewestSeen time.Time `json:"newest_seen"` // when it was seen first
	Current    time.Time `json:"current"`     // the last check at which the newest was being served

	Problem string    `json:"problem"` // why the newest is not served; "" for nothing
	Since   time.Time `json:"since"`   // since when there is a problem
	Failed  time.Time `json:"failed"`  // the last failure

	Takes    int64   `json:"takes"` // backups taken since the start
	Failures int64   `json:"failures"`
	Seconds  float64 `json:"seconds"` // duration of the last take
}

// Status returns the current status.
func (f *Follower) Status() Status {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.at
}

// Follows is what the data directory follows.
func (s *Status) Follows() Follows { return Follows{Dir: s.Dir, Writer: s.Writer} }

// Sources returns the backups as the only source that is followed.
func (f *Follower) Sources() []serving.Source {
	s := f.Status()
	src := serving.Source{Name: Source, State: serving.SourceIdle, AsOf: s.Current, Changed: s.Taken, Bounds: bounds, Problem: s.Problem}
	if s.Newest != s.Number || s.Current.IsZero() { // the folder was not read since the start
		src.AsOf, src.State = s.Made, serving.SourceFetching
	}
	if s.Problem != "" {
		src.State = serving.SourceWaiting
	}
	return []serving.Source{src}
}

// seen notes which backup is the newest.
func (f *Follower) seen(name string) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if n := backup.Number(name); n != f.at.Newest {
		f.at.Newest, f.at.NewestSeen = n, f.cfg.Now().UTC()
	}
}

// current notes that the newest is served.
func (f *Follower) current() {
	f.mu.Lock()
	f.at.Current, f.at.Problem, f.at.Since, f.said = f.cfg.Now().UTC(), "", time.Time{}, ""
	f.mu.Unlock()
	f.server.Followed(true, "")
}

// noted notes that a backup is being served.
func (f *Follower) noted(at *backup.Copy, began time.Time) {
	now, n := f.cfg.Now().UTC(), backup.Number(at.Name)
	f.mu.Lock()
	told := f.at.Follows()
	f.at.Number, f.at.Made, f.at.Taken, f.at.Writer = n, at.Manifest.At, now, at.Manifest.Writer
	f.at.Takes++
	f.at.Seconds = now.Sub(began).Seconds()
	if f.at.Newest <= n {
		f.at.Newest = n
		if f.at.NewestSeen.IsZero() {
			f.at.NewestSeen = now
		}
	}
	if f.at.Newest == n && f.at.Problem == "" { // with a problem it is the earlier copy
		f.at.Current = now
	}
	f.mu.Unlock()
	if now := (Follows{Dir: f.cfg.Repo, Writer: at.Manifest.Writer}); now != told || f.at.Takes == 1 {
		if err := f.note(now); err != nil {
			f.log.Error().Err(err).Msg("the followed backup could not be recorded")
		}
	}
}

// note writes what is followed to a file, for commands.
func (f *Follower) note(what Follows) error {
	text, err := json.Marshal(what)
	if err != nil {
		return err
	}
	path := filepath.Join(f.cfg.Dir.Replica(), noteName)
	return errors.Join(os.WriteFile(path+".new", text, 0o600), os.Rename(path+".new", path))
}

// fails notes why the newest backup is not served. A repeated reason is logged once.
func (f *Follower) fails(err error) {
	now := f.cfg.Now().UTC()
	f.mu.Lock()
	f.at.Problem, f.at.Failed = err.Error(), now
	f.at.Failures++
	if f.at.Since.IsZero() {
		f.at.Since = now
	}
	lasts := now.Sub(f.at.Since) >= settleTime
	log := f.said != f.at.Problem
	f.said = f.at.Problem
	f.mu.Unlock()
	if log {
		f.log.Warn().Err(err).Msg("the newest backup is not served")
	}
	if lasts && f.server != nil {
		f.server.Followed(false, err.Error())
	}
}
