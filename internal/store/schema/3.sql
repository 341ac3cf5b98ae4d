-- Schema 3: what of a task its project's main checkout was given last, so that applying again replaces it.
ALTER TABLE tasks ADD COLUMN applied_tree TEXT NOT NULL DEFAULT '';
