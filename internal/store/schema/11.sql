-- Schema 11: tokens of the browser face are kept as digests; a token without one is for the MCP port.
CREATE TABLE web_tokens (
  name   TEXT PRIMARY KEY NOT NULL COLLATE NOCASE REFERENCES tokens (name) ON DELETE CASCADE,
  digest BLOB NOT NULL CHECK (length(digest) = 32)
) STRICT;
