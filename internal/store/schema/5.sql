-- Schema 5: what the sender of a prompt was provisioned with. A prompt of a caged agent that was queued before has none, and so
-- is compared with nothing: it is not typed any more.
ALTER TABLE prompts ADD COLUMN capability TEXT NOT NULL DEFAULT '';
