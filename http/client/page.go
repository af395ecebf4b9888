package client

import (
	"iter"
	"net/url"
	"strconv"
	"strings"
	"time"

	"pmx/data"
)

// eachRow iterates over the rows of a list with pages, from the page at cursor first; an empty
// cursor is the first page. It ends after the first error.
func eachRow[P, T any](first string, fetch func(cursor string) (*P, error), rows func(*P) ([]T, *string)) iter.Seq2[T, error] {
	return func(yield func(T, error) bool) {
		var none T
		for cursor := first; ; {
			page, err := fetch(cursor)
			if err != nil {
				yield(none, err)
				return
			}
			list, next := rows(page)
			for _, row := range list {
				if !yield(row, nil) {
					return
				}
			}
			if next == nil {
				return
			}
			cursor = *next
		}
	}
}

// join builds a path: every second part is a value and is escaped.
func join(parts ...string) string {
	var b strings.Builder
	for i, part := range parts {
		if i%2 == 1 {
			part = url.PathEscape(part)
		}
		b.WriteString(part)
	}
	return b.String()
}

// set adds a parameter to q unless value is an empty text, a zero number or time, or a nil pointer.
func set(q url.Values, name string, value any) {
	var text string
	switch v := value.(type) {
	case string:
		text = v
	case int64:
		if v != 0 {
			text = strconv.FormatInt(v, 10)
		}
	case *int64:
		if v != nil {
			text = strconv.FormatInt(*v, 10)
		}
	case *data.Micro:
		if v != nil {
			text = v.String()
		}
	case time.Time:
		if !v.IsZero() {
			text = v.UTC().Format(time.RFC3339Nano)
		}
	case []string:
		for _, one := range v {
			set(q, name, one)
		}
	}
	if text != "" {
		q.Add(name, text)
	}
}
