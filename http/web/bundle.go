package web

import (
	"bytes"
	"fmt"
	"path"
	"regexp"
	"slices"
	"strings"

	"github.com/tdewolff/minify/v2/js"
)

// The supported forms of import and export lines. Modules with other forms are refused.
var (
	importLine = regexp.MustCompile(`(?m)^import \{( \w+(?:, \w+)* )\} from "\./([a-z-]+)\.js";$`)
	exportWord = regexp.MustCompile(`(?m)^export ((?:async )?(?:const|function|class) (\w+))`)
	otherForms = regexp.MustCompile(`(?m)^(?:import|export)\b.*$`)
)

// minifier removes what browsers do not need from a module. It keeps names, so that errors in a
// browser can be read.
var minifier = js.Minifier{KeepVarNames: true}

// bundle writes the modules of one file, each in a scope of its own, so that a page needs few
// requests although the sources are separate modules.
type bundle struct {
	assets *assetSet
	name   string
	loads  []string          // files of shared modules that it imports
	names  map[string]string // names that it imports from those files, by file
	done   []string          // modules that it includes
	out    bytes.Buffer
}

// text returns the file: imports of other files, the modules in the order of their dependencies,
// and exports for other files.
func (b *bundle) text() ([]byte, error) {
	modules, public := shared[b.name]
	if !public {
		modules = []string{b.name}
	}
	b.names = map[string]string{}
	for _, m := range modules {
		if err := b.add(m); err != nil {
			return nil, err
		}
	}
	var head bytes.Buffer
	for _, file := range b.loads {
		fmt.Fprintf(&head, "import{%s}from%q;\n", strings.TrimPrefix(b.names[file], ","), b.assets.paths[file])
	}
	if public {
		var given []string
		for _, m := range b.done {
			given = append(given, scope(m))
		}
		fmt.Fprintf(&b.out, "export{%s};\n", strings.Join(given, ","))
	}
	return append(head.Bytes(), b.out.Bytes()...), nil
}

// scope returns the name of a module's object: $core for core.js.
func scope(module string) string {
	return "$" + strings.ReplaceAll(strings.TrimSuffix(path.Base(module), ".js"), "-", "")
}

// add writes a module after the modules that it imports.
func (b *bundle) add(module string) error {
	if slices.Contains(b.done, module) {
		return nil
	}
	text, err := assets.ReadFile("assets/" + module)
	if err != nil {
		return fmt.Errorf("read asset: %w", err)
	}
	if strings.HasPrefix(module, "vendor/") { // declares a global, which the module after it uses
		b.out.Write(text)
		b.out.WriteByte('\n')
		return nil
	}
	for _, m := range importLine.FindAllSubmatch(text, -1) {
		if err := b.need(string(m[2]) + ".js"); err != nil {
			return err
		}
	}
	body := importLine.ReplaceAllFunc(text, func(line []byte) []byte {
		m := importLine.FindSubmatch(line)
		return []byte("const{" + strings.ReplaceAll(string(m[1]), " ", "") + "}=" + scope(string(m[2])) + ";")
	})
	var given []string
	for _, m := range exportWord.FindAllSubmatch(body, -1) {
		given = append(given, string(m[2]))
	}
	body = exportWord.ReplaceAll(body, []byte("$1"))
	if other := otherForms.Find(body); other != nil {
		return fmt.Errorf("%s: a line that the bundle cannot read: %s", module, other)
	}
	whole := fmt.Sprintf("const %s=(()=>{\n%sreturn{%s};})();\n", scope(module), body, strings.Join(given, ","))
	if err := minifier.Minify(nil, &b.out, strings.NewReader(whole), nil); err != nil {
		return fmt.Errorf("%s: %w", module, err)
	}
	b.out.WriteByte('\n')
	b.done = append(b.done, module)
	return nil
}

// need provides an imported module: it is imported from a file of shared ones, or included here.
func (b *bundle) need(module string) error {
	for _, file := range []string{"base.js", "plots.js"} {
		if file == b.name || !slices.Contains(shared[file], module) {
			continue
		}
		if !slices.Contains(b.loads, file) {
			b.loads = append(b.loads, file)
			for _, further := range b.assets.loads[file] {
				if !slices.Contains(b.loads, further) {
					b.loads = append(b.loads, further)
				}
			}
		}
		if taken := "," + scope(module); !strings.Contains(b.names[file]+",", taken+",") {
			b.names[file] += taken
		}
		return nil
	}
	return b.add(module)
}
