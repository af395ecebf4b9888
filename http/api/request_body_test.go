package api

import (
	"strings"
	"testing"

	"github.com/gofiber/fiber/v2"
	"github.com/valyala/fasthttp"
)

type order struct {
	Format string `json:"format"`
	Rows   int    `json:"rows"`
}

// A body is decoded strictly, and errors name the field.
func TestBodiesAreReadStrictly(t *testing.T) {
	const plain = "application/json"
	cases := []struct {
		name, kind, body string
		optional         bool
		code, param      string // "" code: fine
		detail           string
	}{
		{"as it should be", plain, `{"format":"csv","rows":2}`, false, "", "", ""},
		{"with a charset", "application/json; charset=utf-8", ` {"format":"csv","rows":2} `, false, "", "", ""},
		{"empty where optional", "", "", true, "", "", ""},
		{"empty where needed", plain, " \n", false, "invalid_body", "", "format, rows"},
		{"no type", "", `{"format":"csv"}`, false, "unsupported_media_type", "", "application/json"},
		{"a form", "application/x-www-form-urlencoded", `format=csv`, false, "unsupported_media_type", "", ""},
		{"unknown member", plain, `{"format":"csv","colour":1}`, false, "invalid_body", "colour", "format, rows"},
		{"repeated member", plain, `{"format":"csv","format":"parquet"}`, false, "invalid_body", "format", "once"},
		{"repeated in another case", plain, `{"format":"csv","FORMAT":"parquet"}`, false, "invalid_body", "FORMAT", "Write format: names are case-sensitive."},
		{"another case", plain, `{"Format":"csv","rows":2}`, false, "invalid_body", "Format", "Write format: names are case-sensitive."},
		{"another case of a letter that is not ASCII", plain, `{"rowſ":2}`, false, "invalid_body", "rowſ", "Write rows"},
		{"mistyped member", plain, `{"format":7}`, false, "invalid_body", "format", "string"},
		{"an array", plain, `[]`, false, "invalid_body", "", "object"},
		{"null", plain, `null`, false, "invalid_body", "", "object"},
		{"cut short", plain, `{"format":`, false, "invalid_body", "", "well-formed"},
		{"two objects", plain, `{"format":"csv"}{}`, false, "invalid_body", "", "nothing after"},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			app := fiber.New()
			ctx := app.AcquireCtx(&fasthttp.RequestCtx{})
			defer app.ReleaseCtx(ctx)
			ctx.Request().Header.SetContentType(c.kind)
			ctx.Request().SetBodyString(c.body)
			var got order
			given, bad := (&Route{BodyOptional: c.optional}).readBody(ctx, &got)
			if c.code == "" {
				if bad != nil || given != (c.body != "") || given && (got.Format != "csv" || got.Rows != 2) {
					t.Errorf("given = %v, got %+v, bad = %v", given, got, bad)
				}
				return
			}
			if bad == nil || bad.code != c.code || bad.param != c.param || !strings.Contains(bad.detail, c.detail) {
				t.Errorf("got %+v", bad)
			}
		})
	}
}

// A parameter in a header is read like any other and is no query parameter.
func TestParametersInHeaders(t *testing.T) {
	r := Route{Params: []*Param{{Name: "Idempotency-Key", InHeader: true, Kind: Text, Min: 1, Max: 5}}}
	for _, c := range []struct{ header, query, text, code string }{
		{"abc", "", "abc", ""}, {"", "", "", ""}, {"toolong", "", "", "invalid_parameter"}, {"", "Idempotency-Key=abc", "", "unknown_parameter"},
	} {
		app := fiber.New()
		ctx := app.AcquireCtx(&fasthttp.RequestCtx{})
		if c.header != "" {
			ctx.Request().Header.Set("Idempotency-Key", c.header)
		}
		ctx.Context().QueryArgs().Parse(c.query)
		var call Call
		bad := r.readParams(ctx, &call)
		if c.code == "" && (bad != nil || call.values[0].text != c.text || call.values[0].given != (c.text != "")) {
			t.Errorf("%+v: call.values[0] = %+v, bad = %v", c, call.values[0], bad)
		}
		if c.code != "" && (bad == nil || bad.code != c.code) {
			t.Errorf("%+v: bad = %v", c, bad)
		}
		app.ReleaseCtx(ctx)
	}
}
