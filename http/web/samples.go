package web

import (
	"fmt"
	"net/http"
	"strings"

	"pmx/http/wire"
)

// sample is a request in one language.
type sample struct{ Name, Text string }

// sampleAddress returns the address that samples of e request: that of the example, if there is
// one. HOST stands for the origin of the page, which its script fills in. The script replaces the
// whole address when the form is changed.
func sampleAddress(e *endpoint, example string) string {
	if example == "" {
		example = e.Path
	}
	return "HOST" + wire.Base + example
}

// samples returns requests for e in each language.
func samples(e *endpoint) []sample {
	return []sample{{"curl", curlSample(e, e.At)}, {"Python", pythonSample(e, e.At)}, {"Go", goSample(e, e.At)}, {"TypeScript", scriptSample(e, e.At)}}
}

func curlSample(e *endpoint, at string) string {
	var b strings.Builder
	b.WriteString("curl")
	if e.Method != http.MethodGet {
		b.WriteString(" -X " + e.Method)
	}
	if !e.Public {
		b.WriteString(` -H "X-API-Key: $PMX_KEY"`)
	}
	if e.Body != nil {
		b.WriteString(" \\\n  -H 'Content-Type: application/json' -d '" + e.BodySample + "'")
	}
	if len(e.Media) > 0 {
		b.WriteString(" -OJ")
	}
	return b.String() + " \\\n  '" + at + "'"
}

func pythonSample(e *endpoint, at string) string {
	var b strings.Builder
	b.WriteString("import os\n\nimport requests\n\nanswer = requests." + strings.ToLower(e.Method) + "(\n    \"" + at + "\",\n")
	if !e.Public {
		b.WriteString("    headers={\"X-API-Key\": os.environ[\"PMX_KEY\"]},\n")
	}
	if e.Body != nil {
		b.WriteString("    json=" + e.BodySample + ",\n")
	}
	b.WriteString("    timeout=30,\n)\nanswer.raise_for_status()\n")
	if len(e.Media) > 0 {
		return b.String() + "with open(\"export\", \"wb\") as file:\n    file.write(answer.content)"
	}
	return b.String() + "print(answer.json()[\"data\"])"
}

func goSample(e *endpoint, at string) string {
	body := "nil"
	if e.Body != nil {
		body = "strings.NewReader(`" + e.BodySample + "`)"
	}
	var b strings.Builder
	fmt.Fprintf(&b, "req, err := http.NewRequest(%q, %q, %s)\nif err != nil {\n\treturn err\n}\n", e.Method, at, body)
	if !e.Public {
		b.WriteString("req.Header.Set(\"X-API-Key\", os.Getenv(\"PMX_KEY\"))\n")
	}
	if e.Body != nil {
		b.WriteString("req.Header.Set(\"Content-Type\", \"application/json\")\n")
	}
	b.WriteString("res, err := http.DefaultClient.Do(req)\nif err != nil {\n\treturn err\n}\ndefer res.Body.Close()\nif res.StatusCode != http.StatusOK {\n\treturn errors.New(res.Status)\n}\n")
	if len(e.Media) > 0 {
		return b.String() + "_, err = io.Copy(file, res.Body)\nreturn err"
	}
	return b.String() + "var answer struct{ Data json.RawMessage }\nreturn json.NewDecoder(res.Body).Decode(&answer)"
}

func scriptSample(e *endpoint, at string) string {
	var settings []string
	if e.Method != http.MethodGet {
		settings = append(settings, fmt.Sprintf("method: %q", e.Method))
	}
	var headers []string
	if !e.Public {
		headers = append(headers, `"X-API-Key": process.env.PMX_KEY!`)
	}
	if e.Body != nil {
		headers = append(headers, `"Content-Type": "application/json"`)
	}
	if len(headers) > 0 {
		settings = append(settings, "headers: { "+strings.Join(headers, ", ")+" }")
	}
	if e.Body != nil {
		settings = append(settings, "body: JSON.stringify("+e.BodySample+")")
	}
	call := "\"" + at + "\""
	if len(settings) > 0 {
		call += ", {\n  " + strings.Join(settings, ",\n  ") + ",\n}"
	}
	text := "const answer = await fetch(" + call + ");\nif (!answer.ok) throw new Error(`status ${answer.status}`);\n"
	if len(e.Media) > 0 {
		return text + "const file = await answer.arrayBuffer();"
	}
	return text + "const { data } = await answer.json();"
}
