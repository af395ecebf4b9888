package check

import (
	"encoding/json"
	"testing"
)

func TestMoneyHasAtMostSixDecimals(t *testing.T) {
	for number, ok := range map[json.Number]bool{"0.000001": true, "-12.5": true, "7": true, "0.0000001": false, "1e3": false} {
		if err := checkDecimal(number); (err == nil) != ok {
			t.Errorf("%s: %v", number, err)
		}
	}
}
