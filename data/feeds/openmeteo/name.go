package openmeteo

import (
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// name is a parsed key of a table.
type name struct {
	daily    string // "max" or "min"; "" for an hourly value
	previous int    // predicted so many days ahead; 0: the newest run
	member   int    // member of an ensemble; 0: the control run, or no ensemble
	model    string // canonical name; "" if the key has none
}

var (
	nameForm  = regexp.MustCompile(`^temperature_2m(?:_(max|min))?(?:_previous_day(\d{1,2}))?(?:_member(\d{1,3}))?(?:_([a-z][a-z0-9_]*))?$`)
	otherForm = regexp.MustCompile(`^(?:spread|mean|anomaly|probability|p\d+)(?:_|$)`)
)

// parseName parses a key; false unless it is a temperature at 2 m.
func parseName(key string) (name, bool) {
	m := nameForm.FindStringSubmatch(key)
	if m == nil || otherForm.MatchString(m[4]) {
		return name{}, false
	}
	n := name{daily: m[1], model: Model(m[4])}
	n.previous, _ = strconv.Atoi(m[2])
	n.member, _ = strconv.Atoi(m[3])
	return n, true
}

// aliases are other names that Open-Meteo has used for the same model.
var aliases = map[string]string{
	"ncep_hrrr_conus": "gfs_hrrr", "ncep_hrrr_us_conus": "gfs_hrrr", "cmc_gem_gdps": "gem_global", "cmc_gem_rdps": "gem_regional",
	"cmc_gem_hrdps": "gem_hrdps_continental", "ecmwf_aifs025": "ecmwf_aifs025_single", "nbm_conus": "ncep_nbm_conus",
}

// Model returns the canonical name of a model: dwd_icon_seamless and icon_seamless are the same.
func Model(s string) string {
	s = strings.ToLower(strings.TrimSpace(s))
	if known := aliases[s]; known != "" {
		return known
	}
	for _, p := range []struct{ old, now string }{{"dwd_icon", "icon"}, {"ncep_gfs", "gfs"}, {"cmc_gem", "gem"}} {
		if rest, ok := strings.CutPrefix(s, p.old); ok {
			return p.now + rest
		}
	}
	return s
}

// isReanalysis reports whether a model is one of the archive's.
func isReanalysis(model string) bool {
	return strings.HasPrefix(model, "era5") || slices.Contains([]string{"archive_best_match", "cerra", "ecmwf_ifs_analysis_long_window"}, model)
}

// unattributed stands for a model that the response does not name: the only one of several
// requested models that covers the place.
const unattributed = "unattributed"

// source returns the source of values whose key has no model. asked are the requested models; told
// reports whether they are known.
func source(asked []string, told bool, usual string) string {
	switch {
	case len(asked) == 1:
		return asked[0]
	case len(asked) == 0 && told:
		return usual
	}
	return unattributed
}

// ofEnsemble is the name of a model's ensemble, which is a different source than its single run.
func ofEnsemble(model string) string {
	for _, mark := range []string{"ensemble", "eps", "gefs", "unattributed"} {
		if strings.Contains(model, mark) {
			return model
		}
	}
	return model + "_ensemble"
}
