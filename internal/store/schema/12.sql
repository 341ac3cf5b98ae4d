-- Schema 12: the ledger is found by who, by what and through what, and so is what was refused, however long it is.
CREATE INDEX ledger_principal ON ledger (principal, seq);
CREATE INDEX ledger_verb ON ledger (verb, seq);
CREATE INDEX ledger_face ON ledger (face, seq);
CREATE INDEX ledger_refused ON ledger (seq) WHERE outcome NOT IN ('', 'ok');
