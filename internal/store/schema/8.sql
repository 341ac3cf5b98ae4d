-- Schema 8: tokens that the owner mints by name for clients outside. Their values are in no database. Projects is a JSON list
-- of ids, and counts where everywhere is 0.
CREATE TABLE tokens (
  name       TEXT PRIMARY KEY NOT NULL COLLATE NOCASE,
  scope      TEXT NOT NULL CHECK (scope IN ('readonly', 'operator', 'approve')),
  everywhere INTEGER NOT NULL DEFAULT 0,
  projects   TEXT NOT NULL DEFAULT 'null',
  created    INTEGER NOT NULL
) STRICT;
