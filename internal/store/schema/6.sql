-- Schema 6: how often a prompt is typed once more after it was delivered, and the race that a task belongs to: one prompt that went
-- to several agents, each in a task of its own.
ALTER TABLE prompts ADD COLUMN repeats INTEGER NOT NULL DEFAULT 0;
ALTER TABLE tasks ADD COLUMN race TEXT NOT NULL DEFAULT '';
