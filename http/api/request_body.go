package api

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"mime"
	"reflect"
	"slices"
	"strings"

	"github.com/gofiber/fiber/v2"
)

// readBody decodes the JSON body of c into dst, a pointer to the type of the route's Body. Unknown,
// repeated and mistyped members are problems that name the member. given is false if an optional
// body was left out.
func (r *Route) readBody(c *fiber.Ctx, dst any) (given bool, bad *problem) {
	req := c.Request()
	body := req.Body()
	if len(bytes.TrimSpace(body)) == 0 {
		if r.BodyOptional {
			return false, nil
		}
		return false, invalidBody("", "Send a JSON object with "+members(dst)+".")
	}
	if kind, _, err := mime.ParseMediaType(string(req.Header.ContentType())); err != nil || kind != fiber.MIMEApplicationJSON ||
		len(req.Header.ContentEncoding()) > 0 {
		return false, &problem{
			status: fiber.StatusUnsupportedMediaType, code: "unsupported_media_type",
			detail: "Send the body as plain JSON with Content-Type: application/json.",
		}
	}
	if trimmed := bytes.TrimSpace(body); trimmed[0] != '{' {
		return false, invalidBody("", "The body must be a JSON object with "+members(dst)+".")
	}
	if name := repeatedMember(body); name != "" {
		return false, invalidBody(name, "Give "+name+" once.")
	}
	if name, known := unknownMember(body, dst); known != "" {
		return false, invalidBody(name, "Write "+known+": names are case-sensitive.")
	} else if name != "" {
		return false, invalidBody(name, "The body may contain only "+members(dst)+".")
	}
	d := json.NewDecoder(bytes.NewReader(body))
	d.DisallowUnknownFields()
	if err := d.Decode(dst); err != nil {
		return false, bodyProblem(err)
	}
	if _, err := d.Token(); !errors.Is(err, io.EOF) {
		return false, invalidBody("", "Send exactly one JSON object, with nothing after it.")
	}
	return true, nil
}

func invalidBody(member, detail string) *problem {
	return &problem{status: fiber.StatusBadRequest, code: "invalid_body", param: member, detail: detail}
}

// bodyProblem says what is wrong with a body that could not be decoded.
func bodyProblem(err error) *problem {
	var mistyped *json.UnmarshalTypeError
	if errors.As(err, &mistyped) {
		return invalidBody(mistyped.Field, fmt.Sprintf("%s must be a %s.", mistyped.Field, mistyped.Type.Kind()))
	}
	return invalidBody("", "The body is not well-formed JSON.")
}

// members lists the JSON members of the struct that dst points to.
func members(dst any) string {
	t := reflect.TypeOf(dst).Elem()
	var names []string
	for i := range t.NumField() {
		name, _, _ := strings.Cut(t.Field(i).Tag.Get("json"), ",")
		names = append(names, name)
	}
	return strings.Join(names, ", ")
}

// unknownMember returns the first member of a flat JSON object that the struct dst points to does
// not have, and the one that differs from it only in case, which encoding/json would set; both are
// "" if the struct has all members, or body is not an object.
func unknownMember(body []byte, dst any) (name, known string) {
	var all map[string]json.RawMessage
	if json.Unmarshal(body, &all) != nil {
		return "", ""
	}
	has := strings.Split(members(dst), ", ")
	for _, name := range slices.Sorted(maps.Keys(all)) {
		if slices.Contains(has, name) {
			continue
		}
		if i := slices.IndexFunc(has, func(k string) bool { return strings.EqualFold(k, name) }); i >= 0 {
			known = has[i]
		}
		return name, known
	}
	return "", ""
}

// repeatedMember returns the first member that is there twice in a flat JSON object, of which a
// decoder would silently take the last; "" if none is, or body is not an object.
func repeatedMember(body []byte) string {
	d := json.NewDecoder(bytes.NewReader(body))
	if open, err := d.Token(); err != nil || open != json.Delim('{') {
		return ""
	}
	seen := map[string]bool{}
	for d.More() {
		token, err := d.Token()
		name, isName := token.(string)
		if err != nil || !isName {
			return ""
		}
		if seen[name] {
			return name
		}
		seen[name] = true
		var skipped json.RawMessage
		if d.Decode(&skipped) != nil {
			return ""
		}
	}
	return ""
}
