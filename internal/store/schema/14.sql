-- Schema 14: what is known of newer releases. It is JSON.
CREATE TABLE updates (
  id    INTEGER PRIMARY KEY NOT NULL CHECK (id = 1),
  known TEXT NOT NULL
) STRICT;
