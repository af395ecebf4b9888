package api

import (
	"strconv"
	"strings"

	"github.com/gofiber/fiber/v2"

	"pmx/http/wire"
	"pmx/rollups/serving"
)

// movedAge is for how many seconds the redirect of an alias may be cached.
const movedAge = 86_400

// deskCity is the city in the path of a weather route. Routes list it first.
var deskCity = &Param{Name: "city", InPath: true, Kind: Text, Min: 1, Max: 100,
	Doc: "slug of the city, such as nyc; with another name of it, such as new-york-city, the response is a 308"}

// deskCity returns the city in the path. For an alias of a city it answers 308 itself, and city is nil. The problem
// city_not_found says where the slugs are listed.
func (a *API) deskCity(c *fiber.Ctx, call *Call) (v *encodedSnapshot, city *serving.DeskCity, err error) {
	if v, err = a.current(); err != nil {
		return nil, nil, err
	}
	name := call.value(deskCity).text
	if city = v.snap.Desk.City(name); city != nil {
		return v, city, nil
	}
	known, ok := v.snap.Desk.Named(name)
	if !ok {
		return nil, nil, missing("city_not_found", "The weather desk has no city with this name. Use a `city` of the rows of "+wire.Base+"/weather/cities.")
	}
	a.moved(c, call, "{city}", known.Slug)
	return v, nil, nil
}

// moved answers 308: the same path with name as the value of a parameter, and the same query.
func (a *API) moved(c *fiber.Ctx, call *Call, param, name string) {
	uri := c.Request().URI()
	segments := strings.Split(string(uri.PathOriginal()), "/")
	for i, segment := range strings.Split(wire.Base+call.route.Path, "/") {
		if segment == param && i < len(segments) {
			segments[i] = name
		}
	}
	location := strings.Join(segments, "/")
	if query := uri.QueryString(); len(query) > 0 {
		location += "?" + string(query)
	}
	b := a.envelopes.append(append(call.buf[:0], '{'), envelope{tier: call.tier})
	b = appendString(append(b, `,"location":`...), location)
	call.buf = append(b, '}')
	res := c.Response()
	h := &res.Header
	setHeader(h, fiber.HeaderLocation, location)
	setHeader(h, headerCacheControl, "private, max-age="+strconv.Itoa(movedAge))
	setHeader(h, headerVary, varyOn)
	h.SetContentType(jsonType)
	res.SetStatusCode(fiber.StatusPermanentRedirect)
	res.SetBody(call.buf)
}
