-- Schema 7: how the window shows what there is: the panes of a task, the window itself, names and pins of tabs, and groups of
-- projects. A layout and a look are JSON.
CREATE TABLE layouts (
  task_id TEXT PRIMARY KEY NOT NULL REFERENCES tasks (id) ON DELETE CASCADE,
  layout  TEXT NOT NULL
) STRICT;
CREATE TABLE window (
  id   INTEGER PRIMARY KEY NOT NULL CHECK (id = 1),
  look TEXT NOT NULL
) STRICT;
ALTER TABLE tabs ADD COLUMN name TEXT NOT NULL DEFAULT '';
ALTER TABLE tabs ADD COLUMN pinned INTEGER NOT NULL DEFAULT 0;
ALTER TABLE projects ADD COLUMN group_name TEXT NOT NULL DEFAULT '';
