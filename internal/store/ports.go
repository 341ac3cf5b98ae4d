package store

import (
	"context"

	"termic/internal/fault"
)

// Port blocks. The range ends below 32768, where Linux begins to hand out ports of its own.
const (
	PortFirst = 18100 // first port of the first block
	PortBlock = 10    // ports per task
	PortEnd   = 32760 // no block reaches beyond
)

// reservePorts keeps v's block if no other live task has it, and else takes the first that is free. It runs under the
// write lock, so two tasks never get the same.
func (t *Tx) reservePorts(ctx context.Context, v *Task) error {
	rows, err := t.q.QueryContext(ctx, `SELECT port FROM tasks WHERE archived_at = 0 AND port > 0 AND id <> ?`, v.ID)
	if err != nil {
		return err
	}
	defer func() { _ = rows.Close() }() // a failed read is in rows.Err
	taken := map[int]bool{}             // block -> in use; a port that is not the first of a block takes the block it is in
	for rows.Next() {
		var port int
		if err := rows.Scan(&port); err != nil {
			return err
		}
		taken[(port-PortFirst)/PortBlock] = true
	}
	if err := rows.Err(); err != nil {
		return err
	}
	if v.Port >= PortFirst && v.Port+PortBlock <= PortEnd && (v.Port-PortFirst)%PortBlock == 0 && !taken[(v.Port-PortFirst)/PortBlock] {
		return nil
	}
	for block := 0; PortFirst+(block+1)*PortBlock <= PortEnd; block++ {
		if !taken[block] {
			v.Port = PortFirst + block*PortBlock
			return nil
		}
	}
	return fault.New(fault.Unavailable, "All %d blocks of ports are taken by live tasks", (PortEnd-PortFirst)/PortBlock).
		WithHint("Archive a task.")
}
