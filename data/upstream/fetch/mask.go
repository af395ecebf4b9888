package fetch

import (
	"encoding/base64"
	"net/url"
	"slices"
	"strings"
)

// shortestSecret is the minimum length of a part of a path that is hidden on its own: shorter ones
// occur in ordinary words.
const shortestSecret = 4

// newMask returns a replacer for everything in a URL that may be secret: its user info, path and
// query, as a whole and in parts, escaped or not.
func newMask(base *url.URL) *strings.Replacer {
	var secrets []string
	add := func(shortest int, texts ...string) {
		for _, s := range texts {
			for _, form := range []string{s, url.QueryEscape(s), url.PathEscape(s)} {
				if len(form) >= shortest {
					secrets = append(secrets, form)
				}
			}
		}
	}
	if u := base.User; u != nil {
		password, _ := u.Password()
		add(shortestSecret, password, u.Username(), u.String(), base64.StdEncoding.EncodeToString([]byte(u.Username()+":"+password)))
	}
	for _, path := range []string{base.Path, base.EscapedPath()} {
		add(2, path)
		add(shortestSecret, strings.Trim(path, "/"))
		add(shortestSecret, strings.Split(path, "/")...)
	}
	add(1, base.RawQuery)
	for key, values := range base.Query() {
		add(shortestSecret, key)
		add(shortestSecret, values...)
	}
	slices.SortFunc(secrets, func(a, b string) int { return len(b) - len(a) })
	var pairs []string
	for _, s := range secrets {
		pairs = append(pairs, s, "***")
	}
	return strings.NewReplacer(pairs...)
}
