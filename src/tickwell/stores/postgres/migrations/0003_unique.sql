-- serves: 1
-- Requested runs that later requests may find to be the same. Of other runs there are no rows.
CREATE TABLE tickwell.unique_run (
    execution uuid PRIMARY KEY,
    job uuid NOT NULL,
    -- What the same runs of a job have in common.
    name text COLLATE "C" NOT NULL,
    requested_at bigint NOT NULL,
    -- Written by the first request that finds it ended, under the lock of its job.
    ended boolean NOT NULL DEFAULT false
);
CREATE INDEX unique_run_live ON tickwell.unique_run (job, name) WHERE NOT ended;
CREATE INDEX unique_run_newest ON tickwell.unique_run (job, name, requested_at);
