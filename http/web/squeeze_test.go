package web

import (
	"io/fs"
	"strings"
	"testing"
)

func TestModulesAreSqueezed(t *testing.T) {
	for in, want := range map[string]string{
		"const a = b + c - -d;\n":                                 "const a=b + c - -d;",
		"  f(a, (x) => ({ y: 1 }));\n":                            "f(a,(x)=>({y:1}));",
		"s = \"a = b , c\" + 'd = e' + `f = ${ g + \"}\" } = h`;": "s=\"a = b , c\" + 'd = e' + `f = ${ g + \"}\" } = h`;",
		"x = a / b / c; // half = half\ny":                        "x=a / b / c;y",
		"t.replace(/[^/ = ]+ = /g, \" = \")":                      "t.replace(/[^/ = ]+ = /g,\" = \")",
		"return /a = \\/ b/.test(x)":                              "return /a = \\/ b/.test(x)",
		"a /* = */ = 1":                                           "a=1",
		"case \"x\": y = 1; break;":                               "case \"x\":y=1;break;",
		"else if (a) b ||= c in d ? e : f":                        "else if(a)b||=c in d?e:f",
		"url = \"https://host/a\"; b":                             "url=\"https://host/a\";b",
		"a = b\n  // a line\n  c":                                 "a=b\nc",
	} {
		if got := string(squeezed([]byte(in))); got != want {
			t.Errorf("%q is %q, want %q", in, got, want)
		}
	}
}

// Nothing but spaces and comments is left out of a module.
func TestSqueezedModulesSayTheSame(t *testing.T) {
	names, err := fs.Glob(assets, "assets/*.js")
	if err != nil || len(names) < 10 {
		t.Fatal(names, err)
	}
	for _, name := range names {
		text, err := assets.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		plain, small := margins.ReplaceAll(text, nil), squeezed(text)
		i := 0
		for _, c := range small {
			for i < len(plain) && plain[i] != c {
				rest := string(plain[i:])
				if line, _, _ := strings.Cut(rest, "\n"); strings.HasPrefix(line, "//") {
					i += len(line)
					continue
				}
				if remark, _, _ := strings.Cut(rest, "*/"); strings.HasPrefix(remark, "/*") {
					i += len(remark) + 2
					continue
				}
				if plain[i] != ' ' && plain[i] != '\n' {
					t.Fatalf("%s: %q is left out before %q", name, plain[i], plain[i:min(len(plain), i+60)])
				}
				i++
			}
			i++
		}
		if strings.TrimSpace(string(plain[min(i, len(plain)):])) != "" {
			t.Errorf("%s ends too early", name)
		}
		if len(small)*100 > len(plain)*97 && len(plain) > 2000 {
			t.Errorf("%s: %d of %d bytes are left", name, len(small), len(plain))
		}
	}
}
