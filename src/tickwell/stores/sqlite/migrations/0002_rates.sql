-- When permits of rates that were used can be had again: a JSON list of instants, in order.
CREATE TABLE rate (
    name TEXT PRIMARY KEY,
    free TEXT NOT NULL,
    -- The last of them: later than this the row says nothing.
    until INTEGER NOT NULL
) WITHOUT ROWID;
CREATE INDEX rate_until ON rate (until);
