-- serves: 1
-- When permits of rates that were used can be had again: a JSON list of instants, in order. The row
-- in `gate` is their lock.
CREATE TABLE tickwell.rate (
    name text COLLATE "C" PRIMARY KEY,
    free text NOT NULL,
    -- The last of them: later than this the row says nothing.
    until bigint NOT NULL
) WITH (fillfactor = 70);
CREATE INDEX rate_until ON tickwell.rate (until);
