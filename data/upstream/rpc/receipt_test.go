package rpc_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"pmx/data"
	"pmx/data/upstream/rpc"
)

// TestReceiptHasTheLogsOfItsTransaction; an incomplete or inconsistent receipt is refused.
func TestReceiptHasTheLogsOfItsTransaction(t *testing.T) {
	tx := data.Hash{31: 7}
	good := fmt.Sprintf(`{"transactionHash":%q,"blockNumber":"0x1c2","blockHash":%q,"status":"0x1","logsBloom":"0x","logs":%s}`, tx, hashOf(450), someLogs(450, 450))
	for name, c := range map[string]struct {
		result string
		want   rpc.Reason
	}{
		"good":             {good, ""},
		"undone":           {strings.Replace(strings.Replace(good, `"0x1"`, `"0x0"`, 1), someLogs(450, 450), "[]", 1), ""},
		"not there":        {"null", rpc.Behind},
		"another":          {strings.Replace(good, tx.String(), hashOf(9), 1), rpc.OtherTx},
		"of no block":      {strings.Replace(good, `"0x1c2"`, `null`, 1), rpc.NoPlace},
		"logs of another":  {strings.Replace(good, someLogs(450, 450), someLogs(450, 451), 1), rpc.Outside},
		"logs of a fork":   {strings.Replace(good, hashOf(450), hashOf(9), 1), rpc.OtherEnd},
		"a removed log":    {strings.Replace(good, `"removed":false`, `"removed":true`, 1), rpc.Removed},
		"without logs":     {strings.Replace(good, `"logs"`, `"x"`, 1), rpc.NoLogs},
		"something else":   {`"x"`, rpc.NoLogs},
		"a block, no hash": {strings.Replace(good, `"blockHash"`, `"x"`, 1), rpc.NoPlace},
	} {
		n := &node{change: func(_ int, q []question, _ []string) (int, string) {
			return 200, fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,"result":%s}`, q[0].ID, c.result)
		}}
		cl, _ := client(t, n)
		r, err := cl.Receipt(t.Context(), tx)
		if c.want != "" {
			if !errors.Is(err, c.want) || r != nil {
				t.Errorf("%s: %v", name, err)
			}
			continue
		}
		logs := 0
		if err != nil || r.EachLog(func([]byte) error { logs++; return nil }) != nil {
			t.Fatalf("%s: %v", name, err)
		}
		if r.Tx != tx || r.Block != 450 || r.BlockHash.String() != hashOf(450) || r.Failed != (name == "undone") || logs != map[bool]int{false: 2}[r.Failed] {
			t.Errorf("%s: %+v, %d logs", name, r, logs)
		}
		if want := `eth_getTransactionReceipt["` + tx.String() + `"]`; n.asked[0][0] != want {
			t.Error(n.asked)
		}
	}
}
