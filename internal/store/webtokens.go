package store

import (
	"context"
	"fmt"
	"strings"
)

// WebDigests returns what is kept of the values of the tokens of the browser face: their SHA-256, by the name in lower case. A
// token that is not among them is for the MCP port.
func (r Reader) WebDigests(ctx context.Context) (map[string][]byte, error) {
	type row struct {
		name   string
		digest []byte
	}
	rows, err := many(ctx, r, func(s scanner) (v row, err error) { return v, s.Scan(&v.name, &v.digest) }, `SELECT name, digest FROM web_tokens`)
	out := make(map[string][]byte, len(rows))
	for _, v := range rows {
		out[strings.ToLower(v.name)] = v.digest
	}
	return out, err
}

// SetWebDigest makes a token one of the browser face, in the transaction that adds it. The token goes with its digest.
func (t *Tx) SetWebDigest(ctx context.Context, name string, digest []byte) error {
	if _, err := t.q.ExecContext(ctx, `INSERT INTO web_tokens (name, digest) VALUES (?,?)`, name, digest); err != nil {
		return fmt.Errorf("keep the digest of a token: %w", err)
	}
	return nil
}
