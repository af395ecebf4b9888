package shape_test

import (
	"encoding/json"
	"strings"
	"testing"

	"pmx/data"
	"pmx/data/feeds/shape"
)

// A download that broke off is called that, with the record that it broke off in.
func TestAFileThatIsCutOffIsCalledThat(t *testing.T) {
	for text, record := range map[string]string{
		`[{"a":1},{"a"`:     "record 2:",
		`[{"a":1},`:         "record 2:",
		`[{"a":1}`:          "record 2:",
		`{"list":[{"a":1},`: "record 2:",
	} {
		err := shape.Reading{Sink: &rejections{}, Lists: []string{"list"}}.Each(t.Context(), data.Source{Format: data.JSON}, strings.NewReader(text), func(int64, json.RawMessage) error { return nil })
		if want := record + " the file is cut off there: copy or download it again"; err == nil || err.Error() != want {
			t.Errorf("%s: err = %v, want %s", text, err, want)
		}
	}
}
