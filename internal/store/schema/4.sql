-- Schema 4: what a task's cage allows and what its agent may drive; the defaults of a project; consents to what a repository
-- proposes; who sent a prompt; and what a running terminal was provisioned with.
ALTER TABLE tasks ADD COLUMN mcp_agents    TEXT NOT NULL DEFAULT 'null';
ALTER TABLE tasks ADD COLUMN sandbox_read  TEXT NOT NULL DEFAULT 'null';
ALTER TABLE tasks ADD COLUMN sandbox_write TEXT NOT NULL DEFAULT 'null';
ALTER TABLE tasks ADD COLUMN sandbox_hosts TEXT NOT NULL DEFAULT 'null';
ALTER TABLE tasks ADD COLUMN from_cage     INTEGER NOT NULL DEFAULT 0;

ALTER TABLE projects ADD COLUMN sandbox       TEXT NOT NULL DEFAULT '';
ALTER TABLE projects ADD COLUMN mcp           INTEGER NOT NULL DEFAULT 0;
ALTER TABLE projects ADD COLUMN mcp_projects  TEXT NOT NULL DEFAULT 'null';
ALTER TABLE projects ADD COLUMN mcp_agents    TEXT NOT NULL DEFAULT 'null';
ALTER TABLE projects ADD COLUMN sandbox_read  TEXT NOT NULL DEFAULT 'null';
ALTER TABLE projects ADD COLUMN sandbox_write TEXT NOT NULL DEFAULT 'null';
ALTER TABLE projects ADD COLUMN sandbox_hosts TEXT NOT NULL DEFAULT 'null';

ALTER TABLE prompts ADD COLUMN from_task TEXT NOT NULL DEFAULT '';

ALTER TABLE terminals ADD COLUMN capability TEXT NOT NULL DEFAULT '';

-- One per project: a consent to other content replaces it, so an older content is asked about again.
CREATE TABLE consents (
  project_id TEXT PRIMARY KEY NOT NULL REFERENCES projects (id) ON DELETE CASCADE,
  digest     TEXT NOT NULL,
  created    INTEGER NOT NULL
) STRICT;
