package ingest

import (
	"encoding/hex"
	"encoding/json"
	"fmt"
)

// tokenConflicts stores, counts and reports the tokens that several markets claim.
func (j *fileImport) tokenConflicts() error {
	var disputed int64
	if err := j.conn.QueryRowContext(j.ctx, statements.Get("DisputedTokens")).Scan(&disputed); err != nil || disputed == 0 {
		return err
	}
	if err := j.aloneIf(true); err != nil {
		return err
	}
	var (
		line, outcome          int64
		token                  string
		condition, stands, was []byte
		first                  bool
	)
	return j.pages(statements.Get("TokenConflicts"), "line, token_id, condition").each(func() error {
		if first {
			if j.receipt.Conflicts++; len(j.receipt.ConflictTokens) < namedConflicts {
				j.receipt.ConflictTokens = append(j.receipt.ConflictTokens, token)
			}
		}
		raw, err := json.Marshal(map[string]any{"token_id": token, "condition_id": hexed(condition), "outcome_index": outcome})
		if err != nil {
			return err
		}
		detail := fmt.Sprintf("several markets claim this token, before this file %s: %s has it", hexed(was), hexed(stands))
		return j.rejects.keep(line, "conflict", detail, string(raw))
	}, &line, &token, &condition, &outcome, &stands, &was, &first)
}

func hexed(b []byte) string { return "0x" + hex.EncodeToString(b) }

// blockConflicts stores, counts and reports the blocks with several times.
func (j *fileImport) blockConflicts() error {
	var line, number, said, stands int64
	err := j.pages(statements.Get("BlockConflicts"), "number").each(func() error {
		if j.receipt.Conflicts++; len(j.receipt.ConflictBlocks) < namedConflicts {
			j.receipt.ConflictBlocks = append(j.receipt.ConflictBlocks, number)
		}
		raw, err := json.Marshal(map[string]any{"block_number": number, "timestamp": instant(moment(&said))})
		if err != nil {
			return err
		}
		j.receipt.late = true
		return j.rejects.keep(line, "conflict", "this block also has another time, which is used: "+instant(moment(&stands)), string(raw))
	}, &line, &number, &said, &stands)
	if err != nil || !j.receipt.late {
		return err
	}
	return j.exec("AddBlockTimes")
}
