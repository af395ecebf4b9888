package wire

import "strings"

// ProblemKind explains one code of a Problem. The page /docs/problems/{code} and the document are
// made from it.
type ProblemKind struct {
	Code    string
	Status  int
	Meaning string // what happened, one sentence
	Advice  string // what to do about it
}

// Title returns the kind's short name, as in Problem.Title.
func (k ProblemKind) Title() string { return ProblemTitle(k.Code) }

// ProblemTitle returns the short name of a code.
func ProblemTitle(code string) string {
	words := strings.ReplaceAll(code, "_", " ")
	words = strings.NewReplacer("api key", "API key", "https", "HTTPS").Replace(words)
	if words == "" {
		return ""
	}
	return strings.ToUpper(words[:1]) + words[1:]
}

// ProblemKinds returns every code, by status.
func ProblemKinds() []ProblemKind {
	return []ProblemKind{
		{"invalid_parameter", 400, "A parameter has an invalid value, is repeated, or is missing.",
			"`param` names the parameter, and `detail` says which values it takes. Correct it; the same request will fail again."},
		{"unknown_parameter", 400, "The endpoint has no parameter of that name.",
			"`detail` lists the parameters that the endpoint has. A misspelled name is never ignored, so a filter cannot get lost unnoticed."},
		{"invalid_cursor", 400, "The cursor was altered, has expired, or belongs to another endpoint or to other parameters.",
			"Send `next_cursor` exactly as you received it, with the same other parameters; only `limit` may change. To start again from the first page, omit `cursor`."},
		{"invalid_body", 400, "The request body is not the JSON object that the endpoint expects.",
			"`detail` says which member is wrong, or which members are allowed."},
		{"invalid_request", 400, "The request is not well-formed HTTP/1.1.",
			"Use a current HTTP library, and percent-encode the values in the URL."},
		{"missing_api_key", 401, "The request has no API key.",
			"Send your key in the header `X-API-Key`. You can request a key through the waitlist. `/health`, `/status` and `/status/public` need no key."},
		{"invalid_api_key", 401, "The API key is unknown.",
			"Check that it was copied in full: `pmx_` and 43 characters. A lost key cannot be recovered; ask for a new one."},
		{"revoked_api_key", 401, "The API key was revoked.", "Ask for a new one. A revoked key is never reactivated."},
		{"expired_api_key", 401, "The API key has expired.", "Use the key that replaces it, or ask for a new one. `expires_at` of `/me` says when a key expires."},
		{"https_required", 403, "The request was sent over plain HTTP.",
			"Use `https://`. The key was sent unencrypted, so have it replaced."},
		{"origin_not_allowed", 403, "A browser asked whether a page of another site may call the API, and the server does not allow that site.",
			"The operator of the server allows a site with `--cors-origin` and its origin: scheme, host and port, as in `https://dash.example`. Until then, call the API from your own server."},
		{"not_found", 404, "There is nothing at this path.",
			"Compare the path with the reference. Endpoints are below `/api/v3`, in lower case and without a trailing slash."},
		{"trader_not_found", 404, "No trade of this wallet is known.",
			"Check the address. On this venue it is usually the address of a proxy wallet, not of the account that signs."},
		{"market_not_found", 404, "No market with this condition id is known.", "Check the id, or search for the market with `/markets/search`."},
		{"event_not_found", 404, "No event with this id or slug is known.", "Check the id or slug: every market has its `event_id` and `event_slug`."},
		{"city_not_found", 404, "The weather desk has no city with this name.", "Use one of the `city` values of `/weather/cities`."},
		{"index_not_found", 404, "There is no index with this name.", "Use one of the `name` values of `/pmx-index`."},
		{"job_not_found", 404, "This key has no export job with this id.",
			"A job belongs to the key that created it. Check the id, or create the job again."},
		{"method_not_allowed", 405, "The path exists but does not support this method.", "Use one of the methods in the header `Allow`."},
		{"request_timeout", 408, "The request did not arrive in time.", "Send the whole request without pausing."},
		{"export_not_ready", 409, "The export has not finished yet.", "Poll the job until its `status` is `done`, at most once per second."},
		{"export_failed", 409, "The export failed and has no file.", "The job's `error` says why. Create the job again."},
		{"export_canceled", 409, "The export was canceled and has no file.", "Create the job again."},
		{"export_expired", 410, "The file of this export has expired and was removed.", "Create the job again."},
		{"body_too_large", 413, "The request body is larger than 64 KB.", "Send a smaller body."},
		{"unsupported_media_type", 415, "The request body is not plain JSON.", "Send it with `Content-Type: application/json` and without `Content-Encoding`."},
		{"range_not_satisfiable", 416, "The range that `Range` requests starts after the end of the file.",
			"`Content-Range` gives the length of the file. If you already have all of it, the download is complete."},
		{"idempotency_key_reused", 422, "The `Idempotency-Key` was already used for a different request.", "Use a new one for every new request."},
		{"headers_too_large", 431, "The URL and headers together are larger than 16 KB.", "Send fewer or shorter headers, or a shorter URL."},
		{"rate_limited", 429, "The key has used up its requests for this minute, or too many requests without a valid key came from this address.",
			"Wait for the number of seconds in the header `Retry-After`. Every response has the requests left in `RateLimit`, so a client can slow down in time."},
		{"too_many_jobs", 429, "The key already has the maximum number of export jobs waiting and running.",
			"Wait until one is done, or cancel one. The jobs of one key do not delay those of another."},
		{"internal", 500, "An internal error occurred.", "Try again. If the error persists, report the request id in `instance`: it identifies the entry in the server's log."},
		{"fills_elsewhere", 501, "The response needs individual trades, and this server has only the figures that another server computed from them.",
			"Send the request to another server of the venue. The operator can give this server access to the trades: `pmx serve --lake`."},
		{"not_ready", 503, "The server has no data to serve yet, or the database is not responding.", "Wait for the number of seconds in `Retry-After`."},
	}
}

// KindOf returns the kind of a code; false if there is none.
func KindOf(code string) (ProblemKind, bool) {
	for _, k := range ProblemKinds() {
		if k.Code == code {
			return k, true
		}
	}
	return ProblemKind{}, false
}
