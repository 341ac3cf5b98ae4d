-- A database of schema 14 as it was when that schema was new. It never changes.
PRAGMA application_id = 1413829197;
PRAGMA user_version = 14;

-- Schema 1. Times are unix nanoseconds, UTC; 0 is "not". Lists are JSON.
CREATE TABLE projects (
  id            TEXT PRIMARY KEY NOT NULL,
  name          TEXT NOT NULL COLLATE NOCASE,
  root_path     TEXT NOT NULL,
  base_branch   TEXT NOT NULL DEFAULT '',
  remote        TEXT NOT NULL DEFAULT '',
  non_git       INTEGER NOT NULL DEFAULT 0,
  bare          INTEGER NOT NULL DEFAULT 0,
  default_agent TEXT NOT NULL DEFAULT '',
  position      INTEGER NOT NULL DEFAULT 0,
  created       INTEGER NOT NULL,
  removed       INTEGER NOT NULL DEFAULT 0
, sandbox       TEXT NOT NULL DEFAULT '', mcp           INTEGER NOT NULL DEFAULT 0, mcp_projects  TEXT NOT NULL DEFAULT 'null', mcp_agents    TEXT NOT NULL DEFAULT 'null', sandbox_read  TEXT NOT NULL DEFAULT 'null', sandbox_write TEXT NOT NULL DEFAULT 'null', sandbox_hosts TEXT NOT NULL DEFAULT 'null', group_name TEXT NOT NULL DEFAULT '') STRICT;
CREATE UNIQUE INDEX projects_name ON projects (name) WHERE removed = 0;
CREATE UNIQUE INDEX projects_root ON projects (root_path) WHERE removed = 0;

CREATE TABLE tasks (
  id              TEXT PRIMARY KEY NOT NULL,
  project_id      TEXT NOT NULL REFERENCES projects (id),
  name            TEXT NOT NULL COLLATE NOCASE,
  branch          TEXT NOT NULL DEFAULT '',
  base_ref        TEXT NOT NULL DEFAULT '',
  base_commit     TEXT NOT NULL DEFAULT '',
  path            TEXT NOT NULL DEFAULT '',
  agent           TEXT NOT NULL DEFAULT '',
  state           TEXT NOT NULL,
  error           TEXT NOT NULL DEFAULT '',
  is_main         INTEGER NOT NULL DEFAULT 0,
  parent_id       TEXT REFERENCES tasks (id) ON DELETE SET NULL,
  depth           INTEGER NOT NULL DEFAULT 0,
  sandbox         TEXT NOT NULL DEFAULT 'off',
  mcp             INTEGER NOT NULL DEFAULT 0,
  mcp_projects    TEXT NOT NULL DEFAULT 'null',
  yolo            INTEGER NOT NULL DEFAULT 0,
  port            INTEGER NOT NULL DEFAULT 0,
  position        INTEGER NOT NULL DEFAULT 0,
  created         INTEGER NOT NULL,
  archived_at     INTEGER NOT NULL DEFAULT 0,
  backup_ref      TEXT NOT NULL DEFAULT '',
  reused_branch   INTEGER NOT NULL DEFAULT 0,
  warnings        TEXT NOT NULL DEFAULT 'null',
  log             TEXT NOT NULL DEFAULT 'null',
  revision        INTEGER NOT NULL DEFAULT 1
, applied_tree TEXT NOT NULL DEFAULT '', mcp_agents    TEXT NOT NULL DEFAULT 'null', sandbox_read  TEXT NOT NULL DEFAULT 'null', sandbox_write TEXT NOT NULL DEFAULT 'null', sandbox_hosts TEXT NOT NULL DEFAULT 'null', from_cage     INTEGER NOT NULL DEFAULT 0, race TEXT NOT NULL DEFAULT '') STRICT;
CREATE UNIQUE INDEX tasks_name ON tasks (project_id, name) WHERE archived_at = 0;
CREATE UNIQUE INDEX tasks_port ON tasks (port) WHERE archived_at = 0 AND port > 0;
CREATE INDEX tasks_parent ON tasks (parent_id);

CREATE TABLE tabs (
  id           TEXT PRIMARY KEY NOT NULL,
  task_id      TEXT NOT NULL REFERENCES tasks (id) ON DELETE CASCADE,
  kind         TEXT NOT NULL,
  agent        TEXT NOT NULL DEFAULT '',
  title        TEXT NOT NULL DEFAULT '',
  command      TEXT NOT NULL DEFAULT 'null',
  is_default   INTEGER NOT NULL DEFAULT 0,
  session_id   TEXT NOT NULL DEFAULT '',
  session_used INTEGER NOT NULL DEFAULT 0,
  position     INTEGER NOT NULL DEFAULT 0,
  created      INTEGER NOT NULL,
  closed_at    INTEGER NOT NULL DEFAULT 0,
  exited       INTEGER NOT NULL DEFAULT 0,
  exit_code    INTEGER NOT NULL DEFAULT 0,
  exit_signal  TEXT NOT NULL DEFAULT ''
, name TEXT NOT NULL DEFAULT '', pinned INTEGER NOT NULL DEFAULT 0) STRICT;
CREATE INDEX tabs_task ON tabs (task_id);
CREATE UNIQUE INDEX tabs_default ON tabs (task_id) WHERE is_default = 1 AND closed_at = 0;

CREATE TABLE prompts (
  seq     INTEGER PRIMARY KEY AUTOINCREMENT,
  id      TEXT NOT NULL UNIQUE,
  tab_id  TEXT NOT NULL REFERENCES tabs (id) ON DELETE CASCADE,
  task_id TEXT NOT NULL REFERENCES tasks (id) ON DELETE CASCADE,
  text    TEXT NOT NULL,
  state   TEXT NOT NULL CHECK (state IN ('queued', 'delivering', 'delivered', 'failed', 'cancelled', 'unknown')),
  reason  TEXT NOT NULL DEFAULT '',
  created INTEGER NOT NULL,
  updated INTEGER NOT NULL
, from_task TEXT NOT NULL DEFAULT '', capability TEXT NOT NULL DEFAULT '', repeats INTEGER NOT NULL DEFAULT 0, job_id TEXT NOT NULL DEFAULT '') STRICT;
CREATE INDEX prompts_tab ON prompts (tab_id, state);
CREATE INDEX prompts_task ON prompts (task_id);

-- No reference to tabs: a leftover process must be found even when its tab is gone.
CREATE TABLE terminals (
  id          TEXT PRIMARY KEY NOT NULL,
  tab_id      TEXT NOT NULL,
  task_id     TEXT NOT NULL,
  pid         INTEGER NOT NULL,
  pgid        INTEGER NOT NULL,
  sid         INTEGER NOT NULL,
  start_ticks INTEGER NOT NULL,
  boot_id     TEXT NOT NULL,
  created     INTEGER NOT NULL
, capability TEXT NOT NULL DEFAULT '') STRICT;

CREATE TABLE "jobs" (
  id        TEXT PRIMARY KEY NOT NULL,
  verb      TEXT NOT NULL,
  principal TEXT NOT NULL,
  face      TEXT NOT NULL,
  target    TEXT NOT NULL DEFAULT '',
  state     TEXT NOT NULL CHECK (state IN ('waiting', 'running', 'done', 'failed', 'cancelled', 'interrupted')),
  outcome   TEXT NOT NULL DEFAULT '',
  message   TEXT NOT NULL DEFAULT '',
  result    TEXT NOT NULL DEFAULT '',
  started   INTEGER NOT NULL,
  ended     INTEGER NOT NULL DEFAULT 0
, token TEXT NOT NULL DEFAULT '') STRICT;
CREATE INDEX jobs_state ON jobs (state);
CREATE INDEX jobs_started ON jobs (started);
CREATE TABLE job_events (
  seq    INTEGER PRIMARY KEY NOT NULL,
  job_id TEXT NOT NULL REFERENCES jobs (id) ON DELETE CASCADE,
  time   INTEGER NOT NULL,
  kind   TEXT NOT NULL,
  text   TEXT NOT NULL DEFAULT ''
) STRICT;
CREATE INDEX job_events_job ON job_events (job_id, seq);
CREATE TABLE job_log (
  seq    INTEGER PRIMARY KEY NOT NULL,
  job_id TEXT NOT NULL REFERENCES jobs (id) ON DELETE CASCADE,
  time   INTEGER NOT NULL,
  line   TEXT NOT NULL
) STRICT;
CREATE INDEX job_log_job ON job_log (job_id, seq);

CREATE TABLE intents (
  id      TEXT PRIMARY KEY NOT NULL,
  kind    TEXT NOT NULL,
  payload TEXT NOT NULL,
  created INTEGER NOT NULL
) STRICT;

CREATE TABLE ledger (
  seq         INTEGER PRIMARY KEY NOT NULL,
  time        INTEGER NOT NULL,
  phase       TEXT NOT NULL CHECK (phase IN ('asked', 'done')),
  call        TEXT NOT NULL,
  principal   TEXT NOT NULL,
  face        TEXT NOT NULL,
  verb        TEXT NOT NULL,
  target      TEXT NOT NULL DEFAULT '',
  outcome     TEXT NOT NULL DEFAULT '',
  duration_ms INTEGER NOT NULL DEFAULT 0,
  shape       TEXT NOT NULL DEFAULT '',
  prev_hash   TEXT NOT NULL,
  hash        TEXT NOT NULL
) STRICT;
CREATE INDEX ledger_time ON ledger (time);
CREATE INDEX ledger_target ON ledger (target) WHERE target <> '';
CREATE INDEX ledger_principal ON ledger (principal, seq);
CREATE INDEX ledger_verb ON ledger (verb, seq);
CREATE INDEX ledger_face ON ledger (face, seq);
CREATE INDEX ledger_refused ON ledger (seq) WHERE outcome NOT IN ('', 'ok');

-- The row from which the chain verifies: everything up to seq was pruned. It only moves forward.
CREATE TABLE ledger_anchor (
  id   INTEGER PRIMARY KEY NOT NULL CHECK (id = 1),
  seq  INTEGER NOT NULL,
  hash TEXT NOT NULL
) STRICT;
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
CREATE TABLE updates (
  id    INTEGER PRIMARY KEY NOT NULL CHECK (id = 1),
  known TEXT NOT NULL
) STRICT;
ALTER TABLE tasks ADD COLUMN secrets TEXT NOT NULL DEFAULT '[]';
ALTER TABLE projects ADD COLUMN secrets TEXT NOT NULL DEFAULT '[]';
-- The history is paged by when its tasks were archived, and searched without their long columns.
CREATE INDEX tasks_archived ON tasks (archived_at, id, project_id, name, branch, agent) WHERE archived_at > 0;
INSERT INTO ledger_anchor (id, seq, hash)
VALUES (1, 0, '0000000000000000000000000000000000000000000000000000000000000000');

CREATE TRIGGER ledger_no_update BEFORE UPDATE ON ledger
BEGIN SELECT RAISE(ABORT, 'the ledger is append-only'); END;
CREATE TRIGGER ledger_no_delete BEFORE DELETE ON ledger
WHEN OLD.seq > (SELECT seq FROM ledger_anchor)
BEGIN SELECT RAISE(ABORT, 'the ledger is append-only'); END;
CREATE TRIGGER ledger_no_insert BEFORE INSERT ON ledger
WHEN NEW.seq <= (SELECT seq FROM ledger_anchor) OR NEW.seq <= (SELECT MAX(seq) FROM ledger)
BEGIN SELECT RAISE(ABORT, 'the ledger is append-only'); END;
CREATE TRIGGER ledger_anchor_forward BEFORE UPDATE OF seq, hash ON ledger_anchor
WHEN NEW.seq <= OLD.seq OR NEW.hash IS NOT (SELECT hash FROM ledger WHERE seq = NEW.seq)
BEGIN SELECT RAISE(ABORT, 'the anchor of the ledger only moves forward, to a row that is there'); END;
CREATE TRIGGER ledger_anchor_stays BEFORE DELETE ON ledger_anchor
BEGIN SELECT RAISE(ABORT, 'the anchor of the ledger stays'); END;

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

CREATE TABLE consents (
  project_id TEXT PRIMARY KEY NOT NULL REFERENCES projects (id) ON DELETE CASCADE,
  digest     TEXT NOT NULL,
  created    INTEGER NOT NULL
) STRICT;
CREATE TABLE layouts (
  task_id TEXT PRIMARY KEY NOT NULL REFERENCES tasks (id) ON DELETE CASCADE,
  layout  TEXT NOT NULL
) STRICT;
CREATE TABLE window (
  id   INTEGER PRIMARY KEY NOT NULL CHECK (id = 1),
  look TEXT NOT NULL
) STRICT;
CREATE TABLE tokens (
  name       TEXT PRIMARY KEY NOT NULL COLLATE NOCASE,
  scope      TEXT NOT NULL CHECK (scope IN ('readonly', 'operator', 'approve')),
  everywhere INTEGER NOT NULL DEFAULT 0,
  projects   TEXT NOT NULL DEFAULT 'null',
  created    INTEGER NOT NULL
, id TEXT NOT NULL DEFAULT '') STRICT;
CREATE UNIQUE INDEX tokens_id ON tokens (id);
CREATE TABLE web_tokens (
  name   TEXT PRIMARY KEY NOT NULL COLLATE NOCASE REFERENCES tokens (name) ON DELETE CASCADE,
  digest BLOB NOT NULL CHECK (length(digest) = 32)
) STRICT;
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

INSERT INTO projects (id, name, root_path, base_branch, position, created) VALUES ('01KDYV0000000000000000000P', 'alpha', '/repos/alpha', 'main', 1, 1767323045000000000);
INSERT INTO tasks (id, project_id, name, branch, path, agent, state, port, position, created, log) VALUES ('01KDYV0000000000000000000A', '01KDYV0000000000000000000P', 'one', 'feature/one', '/w/one', 'claude', 'live', 18100, 1, 1767323045000000000, '["a","b"]');
INSERT INTO tasks (id, project_id, name, state, parent_id, depth, port, position, created) VALUES ('01KDYV0000000000000000000B', '01KDYV0000000000000000000P', 'two', 'creating', '01KDYV0000000000000000000A', 1, 18110, 2, 1767323045000000000);
INSERT INTO tasks (id, project_id, name, state, port, position, created, archived_at, backup_ref) VALUES ('01KDYV0000000000000000000C', '01KDYV0000000000000000000P', 'one', 'archived', 18100, 1, 1767323045000000000, 1767323045000000005, 'refs/termic/backup/one');
INSERT INTO tabs (id, task_id, kind, agent, title, is_default, session_id, session_used, position, created) VALUES ('01KDYV0000000000000000000D', '01KDYV0000000000000000000A', 'agent', 'claude', 'Claude', 1, 'sess', 1, 1, 1767323045000000000);
INSERT INTO prompts (id, tab_id, task_id, text, state, created, updated) VALUES ('01KDYV0000000000000000000E', '01KDYV0000000000000000000D', '01KDYV0000000000000000000A', 'it''s "quoted"
and long', 'queued', 1767323045000000000, 1767323045000000000);
INSERT INTO terminals VALUES ('01KDYV0000000000000000000F', '01KDYV0000000000000000000D', '01KDYV0000000000000000000A', 4321, 4321, 4321, 12345, 'boot', 1767323045000000000, '');
INSERT INTO jobs (id, verb, principal, face, target, state, started) VALUES ('01KDYV0000000000000000000G', 'task_new', 'owner', 'cli', '01KDYV0000000000000000000A', 'running', 1767323045000000000);
INSERT INTO intents VALUES ('01KDYV0000000000000000000H', 'worktree-add', '{"path":"/w/one"}', 1767323045000000000);
INSERT INTO ledger VALUES (1, 1767323045000000001, 'done', 'c1', 'owner', 'cli', 'task_new', '01KDYV0000000000000000000A', 'ok', 1, '{name:text}',
  '0000000000000000000000000000000000000000000000000000000000000000',
  '870147d977414a314e906bab8ef648cb8f0b0414f59b6e9ca83404df1af632f6');
INSERT INTO ledger VALUES (2, 1767323045000000002, 'done', 'c2', 'owner', 'cli', 'task_new', '01KDYV0000000000000000000A', 'ok', 2, '{name:text}',
  '870147d977414a314e906bab8ef648cb8f0b0414f59b6e9ca83404df1af632f6',
  'c0a9022bdf376b7fe5845d10ae3da38b3986a6d844bde4ae7be5feb51218f551');
INSERT INTO ledger VALUES (3, 1767323045000000003, 'done', 'c3', 'owner', 'cli', 'task_new', '01KDYV0000000000000000000A', 'ok', 3, '{name:text}',
  'c0a9022bdf376b7fe5845d10ae3da38b3986a6d844bde4ae7be5feb51218f551',
  'eff976186f7fd9da942447b93aba57f1a100454d7b736f2bf4e6663da6e37d50');
INSERT INTO ledger VALUES (4, 1767323045000000004, 'done', 'c4', 'owner', 'cli', 'task_new', '01KDYV0000000000000000000A', 'ok', 4, '{name:text}',
  'eff976186f7fd9da942447b93aba57f1a100454d7b736f2bf4e6663da6e37d50',
  '684b3acbbdea6ecad692225ecc945123ece54c593141f0ebacd454d4cf3054bd');
INSERT INTO ledger VALUES (5, 1767323045000000005, 'done', 'c5', 'owner', 'cli', 'task_new', '01KDYV0000000000000000000A', 'ok', 5, '{name:text}',
  '684b3acbbdea6ecad692225ecc945123ece54c593141f0ebacd454d4cf3054bd',
  'af9a1b50a5aa1b2c7dc0195cbc1a7952af3b7ab04bbefe21340c372568f837ca');
UPDATE ledger_anchor SET seq = 2, hash = (SELECT hash FROM ledger WHERE seq = 2);
DELETE FROM ledger WHERE seq <= 2;
UPDATE ledger_anchor SET tip_seq = 5, tip_hash = (SELECT hash FROM ledger WHERE seq = 5);
INSERT INTO idempotency VALUES ('mcp', 'client:a', 'task_new', 'k', 'd', '01KDYV0000000000000000000A', 1767323045000000000);
INSERT INTO consents VALUES ('01KDYV0000000000000000000P', 'abc', 1767323045000000000);
INSERT INTO layouts VALUES ('01KDYV0000000000000000000A', '{"task_id":"01KDYV0000000000000000000A"}');
INSERT INTO window VALUES (1, '{"sidebar":300}');
INSERT INTO tokens VALUES ('ci', 'operator', 0, '["01KDYV0000000000000000000P"]', 1767323045000000000, '01KDYV0000000000000000000T');
INSERT INTO tokens VALUES ('page', 'readonly', 1, '[]', 1767323045000000000, '01KDYV0000000000000000000U');
INSERT INTO web_tokens VALUES ('page', X'000102030405060708090A0B0C0D0E0F101112131415161718191A1B1C1D1E1F');
INSERT INTO approvals (id, job_id, token, principal, face, verb, task_id, project_id, arguments, digest, bound, plan, state, created, expires) VALUES ('01KDYV0000000000000000000V', '01KDYV0000000000000000000G', '01KDYV0000000000000000000T', 'client:ci', 'mcp', 'task_archive', '01KDYV0000000000000000000A', '01KDYV0000000000000000000P', '{}', 'd', '{}', '{}', 'pending', 1767323045000000000, 1767326645000000000);
INSERT INTO updates (id, known) VALUES (1, '{}');
