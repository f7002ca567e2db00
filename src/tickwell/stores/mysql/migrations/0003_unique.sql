-- serves: 1
-- Requested runs that later requests may find to be the same. Of other runs there are no rows.
CREATE TABLE IF NOT EXISTS tickwell_unique_run (
    execution CHAR(36) PRIMARY KEY,
    job CHAR(36) NOT NULL,
    -- What the same runs of a job have in common.
    name VARCHAR(255) NOT NULL,
    requested_at BIGINT NOT NULL,
    -- Written by the first request that finds it ended, under the lock of its job.
    ended BOOLEAN NOT NULL DEFAULT FALSE,
    KEY unique_run_live (job, name, ended),
    KEY unique_run_newest (job, name, requested_at)
) ENGINE = InnoDB CHARACTER SET utf8mb4 COLLATE {collation};
