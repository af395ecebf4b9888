package wire

import "strings"

// ProblemKind explains one code of a Problem: the page /docs/problems/{code} and
// the document are made of it.
type ProblemKind struct {
	Code    string
	Status  int
	Meaning string // what happened, one sentence
	Advice  string // what to do about it
}

// Title is the kind's short name, as Problem.Title tells it.
func (k ProblemKind) Title() string { return ProblemTitle(k.Code) }

// ProblemTitle is the short name of a code.
func ProblemTitle(code string) string {
	words := strings.ReplaceAll(code, "_", " ")
	words = strings.NewReplacer("api key", "API key", "https", "HTTPS").Replace(words)
	if words == "" {
		return ""
	}
	return strings.ToUpper(words[:1]) + words[1:]
}

// ProblemKinds lists every code there is, by status.
func ProblemKinds() []ProblemKind {
	return []ProblemKind{
		{"invalid_parameter", 400, "A parameter has a value that it cannot have, is repeated, or is missing.",
			"`param` names the parameter and `detail` says what it takes. Correct it; the same request will fail again."},
		{"unknown_parameter", 400, "The endpoint has no parameter of that name.",
			"`detail` lists the parameters there are. A name that is misspelled is never passed over, so that no filter is lost in silence."},
		{"invalid_cursor", 400, "The cursor was altered, or was made for another endpoint or other parameters.",
			"Send `next_cursor` exactly as it was given, with the same other parameters; only `limit` may change. Or leave `cursor` out to start from the first page."},
		{"invalid_body", 400, "The body of the request is not the JSON object that the endpoint takes.",
			"`detail` says which member is wrong or which ones there are."},
		{"invalid_request", 400, "The request is not well-formed HTTP/1.1.",
			"Use a current HTTP library, and percent-encode what stands in the URL."},
		{"missing_api_key", 401, "The request carries no API key.",
			"Send your key in the header `X-API-Key`. Keys are requested through the waitlist. `/health`, `/status` and `/status/public` need none."},
		{"invalid_api_key", 401, "The key is not known.",
			"Check that it was copied in full: `pmx_` and 43 characters. A lost key cannot be sent again; ask for a new one."},
		{"revoked_api_key", 401, "The key was revoked.", "Ask for a new one. A revoked key does not come back."},
		{"https_required", 403, "The request came over plain HTTP.",
			"Use `https://`. The key has travelled in the clear: have it replaced."},
		{"not_found", 404, "There is nothing at this path.",
			"Compare the path with the reference. Endpoints are below `/api/v3`, in lower case and without a slash at the end."},
		{"trader_not_found", 404, "No trade of this wallet has been seen.",
			"Check the address. On this venue it is usually that of a proxy wallet, not of the account that signs."},
		{"market_not_found", 404, "No market of this condition id is known.", "Check the id, or look the market up with `/markets/search`."},
		{"event_not_found", 404, "No event of this id or slug is known.", "Check it; `event_id` and `event_slug` stand on every market."},
		{"city_not_found", 404, "The weather desk has no city of this name.", "Use a `city` out of `/weather/cities`."},
		{"index_not_found", 404, "There is no index of this name.", "Use a `name` out of `/pmx-index`."},
		{"job_not_found", 404, "This key has no export job of this id.",
			"A job belongs to the key that made it. Check the id, or make the job again."},
		{"method_not_allowed", 405, "The path exists and does not answer to this method.", "Use one of the methods in the header `Allow`."},
		{"request_timeout", 408, "The request did not arrive in time.", "Send the whole request without pausing."},
		{"export_not_ready", 409, "The export is not finished.", "Ask for the job until its `status` is `done`, every second or slower."},
		{"export_failed", 409, "The export failed and has no file.", "The job's `error` says why. Make the job again."},
		{"export_canceled", 409, "The export was canceled and has no file.", "Make the job again."},
		{"export_expired", 410, "The file of this export was removed after its time.", "Make the job again."},
		{"body_too_large", 413, "The body of the request is larger than 64 KB.", "Send a smaller body."},
		{"unsupported_media_type", 415, "The body is no plain JSON.", "Send it with `Content-Type: application/json` and without `Content-Encoding`."},
		{"range_not_satisfiable", 416, "The part that `Range` asks for lies behind the end of the file.",
			"`Content-Range` tells how long the file is. A download that is complete has nothing left to ask for."},
		{"idempotency_key_reused", 422, "The `Idempotency-Key` was sent with another request before.", "Take a new one for every new request."},
		{"headers_too_large", 431, "URL and headers together are larger than 16 KB.", "Send fewer or shorter ones."},
		{"rate_limited", 429, "The key has used up its requests of this minute, or the address has failed to authenticate too often.",
			"Wait for the seconds in the header `Retry-After`, then go on. `RateLimit` on every answer tells what is left, so that a client can slow down before."},
		{"too_many_jobs", 429, "The key has as many export jobs waiting and running as it may have.",
			"Wait until one is done, or cancel one. Jobs of one key do not hold up those of another."},
		{"internal", 500, "The server failed.", "Try again. If it persists, report the request id in `instance`; it finds the line in the log."},
		{"not_ready", 503, "There is nothing to answer from yet, or the database does not answer.", "Wait for the seconds in `Retry-After`."},
	}
}

// KindOf gives the kind of a code; false where there is none.
func KindOf(code string) (ProblemKind, bool) {
	for _, k := range ProblemKinds() {
		if k.Code == code {
			return k, true
		}
	}
	return ProblemKind{}, false
}
