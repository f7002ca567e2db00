-- Requested runs that later requests may find to be the same. Of other runs there are no rows.
CREATE TABLE unique_run (
    execution INTEGER PRIMARY KEY,
    job INTEGER NOT NULL,
    -- What the same runs of a job have in common.
    name TEXT NOT NULL,
    requested_at INTEGER NOT NULL,
    -- Written by the first request that finds it ended.
    ended INTEGER NOT NULL DEFAULT 0
);
CREATE INDEX unique_run_live ON unique_run (job, name) WHERE ended = 0;
CREATE INDEX unique_run_newest ON unique_run (job, name, requested_at);
