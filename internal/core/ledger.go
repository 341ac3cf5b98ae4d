package core

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"termic/internal/api"
	"termic/internal/fault"
	"termic/internal/ids"
	"termic/internal/store"
)

// Ledger is the verb ledger.
func (c *Core) Ledger(ctx context.Context, _ *Call, p api.LedgerParams) (api.LedgerResult, error) {
	if p.Limit > 1000 {
		return api.LedgerResult{}, fault.New(fault.InvalidArgument, `"limit" must be at most 1000`)
	}
	filter := ledgerFilter(p.LedgerPick)
	filter.Before, filter.Limit = p.Before, int(p.Limit)
	rows, total, err := c.store.Ledger(ctx, filter)
	if err != nil {
		return api.LedgerResult{}, err
	}
	// The rows that are shown, and enough before them that a cut is seen. doctor checks all of them, which takes seconds
	// for a full ledger.
	chain, err := c.store.VerifyChain(ctx, max(p.Limit, 1000))
	if err != nil {
		return api.LedgerResult{}, err
	}
	r := api.LedgerResult{Rows: make([]api.LedgerRow, len(rows)), Total: total, Chain: chain}
	if filter.Picks() && total > store.LedgerCounted {
		r.Total, r.More = store.LedgerCounted, true
	}
	for i, row := range rows {
		r.Rows[i] = viewLedgerRow(row)
	}
	return r, nil
}

func ledgerFilter(p api.LedgerPick) store.LedgerFilter {
	return store.LedgerFilter{Target: strings.ToUpper(p.Task), Principal: p.Principal, Verb: p.Verb, Face: p.Face, Outcome: p.Outcome}
}

func viewLedgerRow(r store.LedgerRow) api.LedgerRow {
	return api.LedgerRow{Seq: r.Seq, Time: r.Time.UTC().Format("2006-01-02T15:04:05.000000000Z07:00"), Phase: r.Phase, Call: r.Call,
		Principal: r.Principal, Face: r.Face, Verb: r.Verb, Target: r.Target, Outcome: r.Outcome, DurationMs: r.Duration.Milliseconds(), Shape: r.Shape}
}

// LedgerExport is the verb ledger_export. The file is there whole or not at all, is for its owner alone, and never takes the place
// of another one. The whole chain is checked first, which for a million rows takes some ten seconds; both go through the ledger row by
// row, hold no lock that a writer waits for, and end with the call.
func (c *Core) LedgerExport(ctx context.Context, _ *Call, p api.LedgerExportParams) (api.LedgerExportResult, error) {
	path := homePath(c.home, p.File)
	if !filepath.IsAbs(path) {
		return api.LedgerExportResult{}, fault.New(fault.InvalidArgument, "%q is not an absolute path", p.File).WithHint("Give the whole path of a new file.")
	}
	path = filepath.Clean(path)
	// No time is lost on what cannot be written in the end.
	if _, err := os.Lstat(path); err == nil {
		return api.LedgerExportResult{}, exportFault(fs.ErrExist, path)
	}
	r := api.LedgerExportResult{File: path}
	var err error
	if r.Chain, err = c.store.VerifyChain(ctx, 0); err != nil {
		return r, err
	}
	temp := filepath.Join(filepath.Dir(path), "."+ids.New()+".tmp")
	defer func() { _ = os.Remove(temp) }() // it has its name by then, or is no use
	if r.Rows, err = c.exportTo(ctx, temp, ledgerFilter(p.LedgerPick)); err != nil {
		return r, exportFault(err, path)
	}
	// A link, and no renaming: that would replace what has the name.
	if err := os.Link(temp, path); err != nil {
		return r, exportFault(err, path)
	}
	return r, nil
}

func (c *Core) exportTo(ctx context.Context, path string, filter store.LedgerFilter) (rows int64, err error) {
	f, err := os.OpenFile(path, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o600)
	if err != nil {
		return 0, err
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	out := bufio.NewWriter(f)
	lines := json.NewEncoder(out)
	lines.SetEscapeHTML(false)
	err = c.store.EachLedger(ctx, filter, func(row store.LedgerRow) error {
		rows++
		return lines.Encode(api.ExportedRow{LedgerRow: viewLedgerRow(row), PrevHash: row.PrevHash, Hash: row.Hash})
	})
	if err != nil {
		return rows, err
	}
	return rows, errors.Join(out.Flush(), f.Sync())
}

func exportFault(err error, path string) error {
	switch {
	case errors.Is(err, fs.ErrExist):
		return fault.Wrap(err, fault.Conflict, "%s is there already", path).WithHint("Give the name of a new file.")
	case errors.Is(err, fs.ErrNotExist):
		return fault.Wrap(err, fault.NotFound, "There is no folder %s", filepath.Dir(path)).WithHint("Make it, or give another name.")
	case errors.Is(err, fs.ErrPermission):
		return fault.Wrap(err, fault.Forbidden, "%s cannot be written", path).WithHint("Give a name in a folder of yours.")
	}
	if _, ok := errors.AsType[*fs.PathError](err); ok {
		return fault.Wrap(err, fault.Unavailable, "%s could not be written", path).WithHint("Look whether the disk is full; nothing was left behind.")
	}
	return err
}
