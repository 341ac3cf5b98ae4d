package store

import (
	"context"
	"net"
	"net/netip"

	"termic/internal/fault"
)

// Port blocks. The range ends below 32768, where Linux begins to hand out ports of its own.
const (
	PortFirst = 18100 // first port of the first block
	PortBlock = 10    // ports per task
	PortEnd   = 32760 // no block reaches beyond
)

// reservePorts keeps v's block if no other live task has it and keep says so, and else takes the first that is free. It runs
// under the write lock, so two tasks never get the same. A block in which a program of this machine has a port now is passed
// over, since two apps of one user have a store each; where there is no other, it is taken all the same.
func (t *Tx) reservePorts(ctx context.Context, v *Task, keep bool) error {
	taken, err := t.takenBlocks(ctx, v.ID)
	if err != nil {
		return err
	}
	mine := (v.Port - PortFirst) / PortBlock
	whole := v.Port >= PortFirst && v.Port+PortBlock <= PortEnd && (v.Port-PortFirst)%PortBlock == 0
	if whole && !taken[mine] && (keep || t.blockFree(mine)) {
		return nil
	}
	spare := -1
	for block := 0; PortFirst+(block+1)*PortBlock <= PortEnd; block++ {
		if taken[block] {
			continue
		}
		if t.blockFree(block) {
			spare = block
			break
		}
		if spare < 0 {
			spare = block
		}
	}
	if spare < 0 {
		return fault.New(fault.Unavailable, "All %d blocks of ports are taken by live tasks", (PortEnd-PortFirst)/PortBlock).
			WithHint("Archive a task.")
	}
	v.Port = PortFirst + spare*PortBlock
	return nil
}

// takenBlocks are the blocks of live tasks but one. A port that is not the first of a block takes the block it is in.
func (t *Tx) takenBlocks(ctx context.Context, but string) (map[int]bool, error) {
	rows, err := t.q.QueryContext(ctx, `SELECT port FROM tasks WHERE archived_at = 0 AND port > 0 AND id <> ?`, but)
	if err != nil {
		return nil, err
	}
	defer func() { _ = rows.Close() }() // a failed read is in rows.Err
	taken := map[int]bool{}
	for rows.Next() {
		var port int
		if err := rows.Scan(&port); err != nil {
			return nil, err
		}
		taken[(port-PortFirst)/PortBlock] = true
	}
	return taken, rows.Err()
}

// blockFree reports whether no port of a block is in use on this machine now.
func (t *Tx) blockFree(block int) bool {
	for i := range PortBlock {
		if !t.portFree(PortFirst + block*PortBlock + i) {
			return false
		}
	}
	return true
}

// portFree reports whether a program could listen on a port of loopback now. That of the other family counts as well, since
// "localhost" stands for both; a machine without it has nobody there.
func portFree(port int) bool {
	for _, ip := range []netip.Addr{netip.AddrFrom4([4]byte{127, 0, 0, 1}), netip.IPv6Loopback()} {
		l, err := net.ListenTCP("tcp", net.TCPAddrFromAddrPort(netip.AddrPortFrom(ip, uint16(port))))
		if err != nil {
			if ip.Is6() && !hasIPv6() {
				return true
			}
			return false
		}
		_ = l.Close() // nobody knew of it
	}
	return true
}

// hasIPv6 reports whether this machine has a loopback address of IPv6.
func hasIPv6() bool {
	l, err := net.ListenTCP("tcp", &net.TCPAddr{IP: net.IPv6loopback})
	if err == nil {
		_ = l.Close() // nobody knew of it
	}
	return err == nil
}
