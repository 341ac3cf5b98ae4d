-- Schema 10: approvals, each of a call that waits until somebody else allows it. A token has an id that no other one ever
-- has, whatever its name is, and jobs know the token that asked for them.
ALTER TABLE tokens ADD COLUMN id TEXT NOT NULL DEFAULT '';
UPDATE tokens SET id = hex(randomblob(13));
CREATE UNIQUE INDEX tokens_id ON tokens (id);
ALTER TABLE jobs ADD COLUMN token TEXT NOT NULL DEFAULT '';
CREATE TABLE approvals (
  id         TEXT PRIMARY KEY NOT NULL,
  job_id     TEXT NOT NULL,
  token      TEXT NOT NULL,
  principal  TEXT NOT NULL,
  face       TEXT NOT NULL,
  verb       TEXT NOT NULL,
  task_id    TEXT NOT NULL DEFAULT '',
  project_id TEXT NOT NULL,
  arguments  TEXT NOT NULL,
  digest     TEXT NOT NULL,
  bound      TEXT NOT NULL,
  plan       TEXT NOT NULL,
  state      TEXT NOT NULL CHECK (state IN ('pending', 'approved', 'denied', 'expired', 'stale', 'withdrawn')),
  created    INTEGER NOT NULL,
  expires    INTEGER NOT NULL,
  decided_by TEXT NOT NULL DEFAULT '',
  decided_on TEXT NOT NULL DEFAULT '',
  reason     TEXT NOT NULL DEFAULT '',
  decided    INTEGER NOT NULL DEFAULT 0
) STRICT;
CREATE INDEX approvals_state ON approvals (state);
CREATE INDEX approvals_job ON approvals (job_id);
