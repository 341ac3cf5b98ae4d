-- Schema 9: jobs say how they ended, hold the result, and have events and a log. A prompt that was sent by a job ends it.
CREATE TABLE jobs_new (
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
) STRICT;
INSERT INTO jobs_new (id, verb, principal, face, target, state, outcome, started, ended)
  SELECT id, verb, principal, face, target, state, outcome, started, ended FROM jobs;
DROP TABLE jobs;
ALTER TABLE jobs_new RENAME TO jobs;
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
ALTER TABLE prompts ADD COLUMN job_id TEXT NOT NULL DEFAULT '';
