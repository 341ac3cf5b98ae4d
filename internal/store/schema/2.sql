-- Schema 2: idempotency keys, and the tip of the ledger, so that rows missing at its end are noticed too.
CREATE TABLE idempotency (
  face      TEXT NOT NULL,
  principal TEXT NOT NULL,
  verb      TEXT NOT NULL,
  key       TEXT NOT NULL,
  digest    TEXT NOT NULL,
  ref       TEXT NOT NULL,
  created   INTEGER NOT NULL,
  PRIMARY KEY (face, principal, verb, key)
) STRICT, WITHOUT ROWID;
CREATE INDEX idempotency_created ON idempotency (created);

ALTER TABLE ledger_anchor ADD COLUMN tip_seq INTEGER NOT NULL DEFAULT 0;
ALTER TABLE ledger_anchor ADD COLUMN tip_hash TEXT NOT NULL DEFAULT '';
UPDATE ledger_anchor SET
  tip_seq  = COALESCE((SELECT MAX(seq) FROM ledger), seq),
  tip_hash = COALESCE((SELECT hash FROM ledger ORDER BY seq DESC LIMIT 1), hash);
