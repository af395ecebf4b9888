package client_test

import (
	"errors"
	"io"
	"testing"

	"pmx/http/wire"
)

// A file is streamed; a problem is returned as an error.
func TestDownloads(t *testing.T) {
	file := answer{200, map[string]string{"Content-Type": "text/csv", "ETag": `"abc"`}, "a,b\r\n1,2\r\n"}
	notReady := answer{409, map[string]string{"Content-Type": wire.ProblemType}, `{"code":"export_not_ready","detail":"Wait."}`}
	c, _ := service(t, notReady, file)
	var p *wire.Problem
	if _, err := c.ResearchExportJobsDownload(t.Context(), "job_x"); !errors.As(err, &p) || p.Code != "export_not_ready" {
		t.Errorf("the first: %v", err)
	}
	f, err := c.ResearchExportJobsDownload(t.Context(), "job_x")
	if err != nil {
		t.Fatal(err)
	}
	defer f.Body.Close()
	if text, err := io.ReadAll(f.Body); err != nil || string(text) != file.body || f.Header.Get("Etag") != `"abc"` {
		t.Errorf("text = %q, f.Header = %v, err = %v", text, f.Header, err)
	}
}
