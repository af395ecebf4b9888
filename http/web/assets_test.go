package web

import (
	"crypto/sha256"
	"encoding/hex"
	"math"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	categories "pmx/data/reference"
)

// Vendored files are unchanged from their projects: these are the checksums of the files of uPlot
// 1.6.32.
func TestVendoredFilesAreTheirProjects(t *testing.T) {
	want := map[string]string{
		"uPlot.iife.min.js": "19c8d4c6ad88929a79f4ae49d6f7161566dfd0ba3d15cc495e974f787eb78f1f",
		"uPlot.min.css":     "df630c6a8d6f8eeaff264b50f73ce5b114f646ffd9a0bb74f049b0a00135fa04",
		"uPlot.LICENSE":     "8f989229699b4fe2f1a0432d0e9edc338a8a911e250e2d1b01ecd770a5f5b1bd",
	}
	files, err := assets.ReadDir("assets/vendor")
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range files {
		text, err := assets.ReadFile("assets/vendor/" + f.Name())
		if err != nil {
			t.Fatal(err)
		}
		if sum := sha256.Sum256(text); hex.EncodeToString(sum[:]) != want[f.Name()] {
			t.Errorf("%s has the checksum %x", f.Name(), sum)
		}
		delete(want, f.Name())
	}
	if len(want) > 0 {
		t.Errorf("missing: %v", want)
	}
}

// mostRequests is the maximum number of requests for a first view: the page itself, its files and
// the responses of the API.
const mostRequests = 6

// mostCode is the maximum amount of code for a first view in bytes, compressed.
const mostCode = 45 << 10

func TestAFirstViewIsSmall(t *testing.T) {
	s := testSite(t)
	for _, p := range explorerPages() {
		total := packedSize(t, s.pages[p.Path])
		for _, n := range firstFiles(s, p.Module) {
			total += packedSize(t, s.assets.pages[s.assets.paths[n]])
		}
		if total > mostCode {
			t.Errorf("%s takes %d bytes of code, at most %d are allowed", p.Path, total, mostCode)
		}
		t.Logf("%s: %d bytes", p.Path, total)
	}
}

// packedSize returns how many bytes a browser receives for a page.
func packedSize(t *testing.T, p *Page) int {
	t.Helper()
	body, err := p.brotli()
	if err != nil {
		t.Fatal(err)
	}
	return len(body)
}

// firstFiles returns the files that a page with a module loads first.
func firstFiles(s *Site, module string) []string {
	return slices.Compact(slices.Sorted(slices.Values(append([]string{"site.css", "base.js", module}, s.assets.loads[module]...))))
}

// The files, and the one request for all responses, are at most six.
func TestAFirstViewIsFewRequests(t *testing.T) {
	s := testSite(t)
	for _, p := range explorerPages() {
		if files := firstFiles(s, p.Module); 1+len(files)+1 > mostRequests {
			t.Errorf("%s loads %v", p.Path, files)
		}
	}
}

// A module that a bundle cannot read is refused, and one that is imported twice is included once.
func TestBundlesReadTheirModules(t *testing.T) {
	s := testSite(t)
	for name := range s.assets.loads {
		text := string(s.pages[s.assets.paths[name]].body)
		seen := map[string]bool{}
		for _, m := range regexp.MustCompile(`(?m)^const (\$\w+)=\(\(\)=>\{`).FindAllStringSubmatch(text, -1) {
			if seen[m[1]] {
				t.Errorf("%s holds %s twice", name, m[1])
			}
			seen[m[1]] = true
		}
		for _, m := range regexp.MustCompile(`\}=(\$\w+)[,;]`).FindAllStringSubmatch(text, -1) {
			if head, _, _ := strings.Cut(text, "const $"); !seen[m[1]] && !strings.Contains(head, m[1]) {
				t.Errorf("%s takes names of %s, which it does not have", name, m[1])
			}
		}
	}
	b := bundle{assets: s.assets, name: "core.js"}
	for _, bad := range []string{"export default 1;\n", "import x from \"./core.js\";\n", "export { a };\n", "import { a as b } from \"./core.js\";\n"} {
		if other := otherForms.FindString(bad); other == "" || importLine.MatchString(bad) || exportWord.MatchString(bad) {
			t.Errorf("%q counts as readable in %s", bad, b.name)
		}
	}
}

// Every asset is named by its content and cached permanently, and every module that another one
// imports is served under the imported name.
func TestAssetsAreKeptForGood(t *testing.T) {
	s := testSite(t)
	all := ""
	named := regexp.MustCompile(`"(/assets/[^"]+)"`)
	for at, p := range s.assets.pages {
		if !regexp.MustCompile(`^/assets/[\w.-]+\.[0-9a-f]{12}\.(js|css|svg)$`).MatchString(at) || !p.immutable || p.maxAge != assetAge {
			t.Errorf("%s is kept for %d s", at, p.maxAge)
		}
		all += string(p.body)
		for _, m := range named.FindAllStringSubmatch(string(p.body), -1) {
			if s.assets.pages[m[1]] == nil {
				t.Errorf("%s imports %s, which does not exist", at, m[1])
			}
		}
		if strings.Contains(string(p.body), `from "./`) {
			t.Errorf("%s names a module by its source", at)
		}
	}
	files, err := assets.ReadDir("assets")
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range files {
		_, used := s.assets.paths[f.Name()]
		used = used || slices.Contains(joined("site.css"), f.Name()) || f.Name() == "theme.js" || strings.Contains(all, "const "+scope(f.Name())+"=")
		if !used && !f.IsDir() {
			t.Errorf("no page loads %s", f.Name())
		}
	}
}

// Scripts do not make HTML from text and set no style attributes.
func TestScriptsMakeNoHTML(t *testing.T) {
	files, err := assets.ReadDir("assets")
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range files {
		if !strings.HasSuffix(f.Name(), ".js") {
			continue
		}
		text, err := assets.ReadFile("assets/" + f.Name())
		if err != nil {
			t.Fatal(err)
		}
		for _, bad := range []string{"innerHTML", "outerHTML", "insertAdjacentHTML", "document.write", "DOMParser", "eval(", "new Function", "style:", "http://", "https://"} {
			if strings.Contains(strings.ReplaceAll(string(text), "http://www.w3.org/", ""), bad) {
				t.Errorf("%s has %s in it", f.Name(), bad)
			}
		}
	}
}

// Pages offer the categories that every venue knows.
func TestPagesKnowTheCategories(t *testing.T) {
	text, err := assets.ReadFile("assets/ui.js")
	if err != nil {
		t.Fatal(err)
	}
	if want := `export const categories = ["` + strings.Join(categories.Categories(), `", "`) + `"];`; !strings.Contains(string(text), want) {
		t.Errorf("ui.js has no line %s", want)
	}
}

// Text has a contrast of at least 4.5 on every background it is used on, and lines and borders of
// at least 3. Gain and loss can be told apart with every form of colour blindness.
func TestColoursCanBeRead(t *testing.T) {
	text, err := assets.ReadFile("assets/site.css")
	if err != nil {
		t.Fatal(err)
	}
	tokens := map[string][2]string{}
	for _, m := range regexp.MustCompile(`--([a-z0-9-]+): light-dark\((#[0-9a-f]{6}), (#[0-9a-f]{6})\);`).FindAllStringSubmatch(string(text), -1) {
		tokens[m[1]] = [2]string{m[2], m[3]}
	}
	check := func(front, back string, least float64) {
		t.Helper()
		for i, scheme := range []string{"light", "dark"} {
			if tokens[front][i] == "" || tokens[back][i] == "" {
				t.Fatalf("no colour %s or %s", front, back)
			}
			if c := contrast(tokens[front][i], tokens[back][i]); c < least {
				t.Errorf("%s: %s on %s has a contrast of %.2f, %.1f is the least", scheme, front, back, c, least)
			}
		}
	}
	for _, token := range []string{"ink", "soft", "link", "gain", "loss", "warn"} {
		check(token, "back", 4.5)
		check(token, "tint", 4.5)
	}
	for _, token := range []string{"control", "line2", "line3", "line4", "line5"} {
		check(token, "back", 3)
	}
	for _, cell := range []string{"cold2", "cold1", "even", "warm1", "warm2"} {
		check("ink", cell, 4.5)
	}
	for _, eye := range []string{"deuteranopia", "protanopia"} {
		for i, scheme := range []string{"light", "dark"} {
			if d := apart(tokens["gain"][i], tokens["loss"][i], eye); d < 60 {
				t.Errorf("%s, %s: gain and loss are %.0f apart", scheme, eye, d)
			}
			if d := apart("#16a34a", "#dc2626", eye); d > 50 {
				t.Errorf("%s: green and red count as %.0f apart: the measure is of no use", eye, d)
			}
		}
	}
}

// light returns a colour as linear light.
func light(colour string) [3]float64 {
	var out [3]float64
	for i := range out {
		n, _ := strconv.ParseUint(colour[1+2*i:3+2*i], 16, 8)
		c := float64(n) / 255
		if c <= 0.04045 {
			out[i] = c / 12.92
		} else {
			out[i] = math.Pow((c+0.055)/1.055, 2.4)
		}
	}
	return out
}

// contrast is the contrast ratio of WCAG.
func contrast(a, b string) float64 {
	lum := func(c string) float64 {
		l := light(c)
		return 0.2126*l[0] + 0.7152*l[1] + 0.0722*l[2]
	}
	x, y := lum(a), lum(b)
	return (max(x, y) + 0.05) / (min(x, y) + 0.05)
}

// apart returns the distance of two colours in Lab for an eye that lacks one kind of receptor.
func apart(a, b, eye string) float64 {
	lacks := map[string][3][3]float64{
		"deuteranopia": {{0.367322, 0.860646, -0.227968}, {0.280085, 0.672501, 0.047413}, {-0.011820, 0.042940, 0.968881}},
		"protanopia":   {{0.152286, 1.052583, -0.204868}, {0.114503, 0.786281, 0.099216}, {-0.003882, -0.048116, 1.051998}},
	}[eye]
	lab := func(colour string) [3]float64 {
		l := light(colour)
		var seen [3]float64
		for i := range seen {
			seen[i] = max(0, lacks[i][0]*l[0]+lacks[i][1]*l[1]+lacks[i][2]*l[2])
		}
		xyz := [3]float64{
			(0.4124*seen[0] + 0.3576*seen[1] + 0.1805*seen[2]) / 0.95047, 0.2126*seen[0] + 0.7152*seen[1] + 0.0722*seen[2],
			(0.0193*seen[0] + 0.1192*seen[1] + 0.9505*seen[2]) / 1.08883,
		}
		for i, v := range xyz {
			if v > 0.008856 {
				xyz[i] = math.Cbrt(v)
			} else {
				xyz[i] = 7.787*v + 16.0/116
			}
		}
		return [3]float64{116*xyz[1] - 16, 500 * (xyz[0] - xyz[1]), 200 * (xyz[1] - xyz[2])}
	}
	p, q := lab(a), lab(b)
	return math.Hypot(math.Hypot(p[0]-q[0], p[1]-q[1]), p[2]-q[2])
}
