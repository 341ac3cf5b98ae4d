-- Schema 13: operations. Checks with a row of state for each target, named sets of addresses, what happened, what is to follow from it
-- (triggers), when (schedules), and what is told of secrets, whose values are kept elsewhere. Specs and lists are JSON.
CREATE TABLE checks (
  id         TEXT PRIMARY KEY NOT NULL,
  name       TEXT NOT NULL UNIQUE COLLATE NOCASE,
  kind       TEXT NOT NULL CHECK (kind IN ('http', 'tls', 'dns', 'tcp', 'metric', 'command')),
  spec       TEXT NOT NULL,
  enabled    INTEGER NOT NULL DEFAULT 1,
  snoozed    INTEGER NOT NULL DEFAULT 0,
  created_by TEXT NOT NULL,
  created    INTEGER NOT NULL,
  updated    INTEGER NOT NULL
) STRICT;
CREATE TABLE check_targets (
  check_id    TEXT NOT NULL REFERENCES checks (id) ON DELETE CASCADE,
  position    INTEGER NOT NULL,
  target      TEXT NOT NULL,
  state       TEXT NOT NULL DEFAULT '' CHECK (state IN ('', 'up', 'down')),
  since       INTEGER NOT NULL DEFAULT 0,
  ran         INTEGER NOT NULL DEFAULT 0,
  duration_ns INTEGER NOT NULL DEFAULT 0,
  netgroup    TEXT NOT NULL DEFAULT '',
  detail      TEXT NOT NULL DEFAULT '',
  PRIMARY KEY (check_id, target)
) STRICT, WITHOUT ROWID;
CREATE TABLE netgroups (
  name    TEXT PRIMARY KEY NOT NULL COLLATE NOCASE,
  members TEXT NOT NULL,
  note    TEXT NOT NULL DEFAULT '',
  created INTEGER NOT NULL,
  updated INTEGER NOT NULL
) STRICT;
CREATE TABLE events (
  seq        INTEGER PRIMARY KEY AUTOINCREMENT,
  id         TEXT NOT NULL UNIQUE,
  time       INTEGER NOT NULL,
  kind       TEXT NOT NULL,
  subject    TEXT NOT NULL,
  task_id    TEXT NOT NULL DEFAULT '',
  project_id TEXT NOT NULL DEFAULT '',
  cages      TEXT NOT NULL DEFAULT '[]',
  facts      TEXT NOT NULL DEFAULT '{}',
  once       TEXT NOT NULL DEFAULT '',
  depth      INTEGER NOT NULL DEFAULT 0
) STRICT;
CREATE UNIQUE INDEX events_once ON events (once) WHERE once <> '';
CREATE INDEX events_time ON events (time);
CREATE INDEX events_kind ON events (kind, seq);
CREATE INDEX events_project ON events (project_id, seq);
CREATE TABLE triggers (
  id       TEXT PRIMARY KEY NOT NULL,
  name     TEXT NOT NULL UNIQUE COLLATE NOCASE,
  kind     TEXT NOT NULL,
  match    TEXT NOT NULL DEFAULT '{}',
  action   TEXT NOT NULL,
  creator  TEXT NOT NULL,
  enabled  INTEGER NOT NULL DEFAULT 1,
  stopped  TEXT NOT NULL DEFAULT '',
  created  INTEGER NOT NULL,
  updated  INTEGER NOT NULL
) STRICT;
CREATE TABLE firings (
  seq        INTEGER PRIMARY KEY AUTOINCREMENT,
  event_id   TEXT NOT NULL DEFAULT '',
  rule_id    TEXT NOT NULL,
  rule_name  TEXT NOT NULL,
  time       INTEGER NOT NULL,
  verb       TEXT NOT NULL,
  outcome    TEXT NOT NULL,
  detail     TEXT NOT NULL DEFAULT '',
  task_id    TEXT NOT NULL DEFAULT '',
  job_id     TEXT NOT NULL DEFAULT ''
) STRICT;
CREATE INDEX firings_event ON firings (event_id);
CREATE INDEX firings_rule ON firings (rule_id, seq);
CREATE INDEX firings_job ON firings (job_id) WHERE job_id <> '';
CREATE INDEX firings_task ON firings (task_id) WHERE task_id <> '';
CREATE INDEX firings_open ON firings (seq) WHERE outcome IN ('waiting', 'acting');
CREATE TABLE schedules (
  id       TEXT PRIMARY KEY NOT NULL,
  name     TEXT NOT NULL UNIQUE COLLATE NOCASE,
  spec     TEXT NOT NULL,
  action   TEXT NOT NULL,
  creator  TEXT NOT NULL,
  enabled  INTEGER NOT NULL DEFAULT 1,
  stopped  TEXT NOT NULL DEFAULT '',
  last_due INTEGER NOT NULL DEFAULT 0,
  last_ran INTEGER NOT NULL DEFAULT 0,
  created  INTEGER NOT NULL,
  updated  INTEGER NOT NULL
) STRICT;
CREATE TABLE hooks (
  name    TEXT PRIMARY KEY NOT NULL COLLATE NOCASE,
  created INTEGER NOT NULL
) STRICT;
CREATE TABLE secrets (
  name    TEXT PRIMARY KEY NOT NULL COLLATE NOCASE,
  note    TEXT NOT NULL DEFAULT '',
  kept_in TEXT NOT NULL,
  created INTEGER NOT NULL,
  updated INTEGER NOT NULL,
  used    INTEGER NOT NULL DEFAULT 0
) STRICT;
ALTER TABLE tasks ADD COLUMN secrets TEXT NOT NULL DEFAULT '[]';
ALTER TABLE projects ADD COLUMN secrets TEXT NOT NULL DEFAULT '[]';
-- The history is paged by when its tasks were archived, and searched without their long columns.
CREATE INDEX tasks_archived ON tasks (archived_at, id, project_id, name, branch, agent) WHERE archived_at > 0;
