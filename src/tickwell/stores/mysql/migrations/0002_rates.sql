-- serves: 1
-- When permits of rates that were used can be had again: a JSON list of instants, in order. The row
-- in `tickwell_gate` is their lock.
CREATE TABLE IF NOT EXISTS tickwell_rate (
    name VARCHAR(700) PRIMARY KEY,
    free LONGTEXT NOT NULL,
    -- The last of them: later than this the row says nothing.
    until BIGINT NOT NULL,
    KEY rate_until (until)
) ENGINE = InnoDB CHARACTER SET utf8mb4 COLLATE {collation};
