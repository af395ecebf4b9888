package main

import (
	"errors"
	"slices"

	"pmx/data/sample"
	"pmx/engine/control"
	"pmx/http/replay"
)

// namesOfThings are flags that name files and folders. What is wrong with one of them may be put
// right without another command line, such as by mounting a disk: a supervisor should try again.
var namesOfThings = []string{"data-dir", "backup-dir", "publish-dir", "follow", "lake", "request-log", "log", "tls-cert"}

// misused reports whether an error is one of the command line, which fails in the same way however
// often it is repeated.
func misused(err error) bool {
	if errors.Is(err, control.ErrInvalid) || errors.Is(err, sample.ErrConfig) || errors.Is(err, replay.ErrOptions) {
		return true
	}
	if several, ok := err.(interface{ Unwrap() []error }); ok {
		all := several.Unwrap()
		return len(all) > 0 && !slices.ContainsFunc(all, func(err error) bool { return !misused(err) })
	}
	var setting *settingError
	return errors.As(err, &setting) && !slices.Contains(namesOfThings, setting.flag)
}
