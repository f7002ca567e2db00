-- serves: 1
-- A step is not taken back when it is interrupted: each statement may be repeated.
-- All instants are milliseconds since 1970, UTC. Codes of enumerations: stores/sql/codec.py.
-- Text is compared by its bytes, as everywhere else in Tickwell, trailing blanks included: the
-- server's own collation for that takes the place of {collation}.
-- There are no partial indexes: where another store has one, the column that it depends on is in
-- front. Rows of the key are 36 characters; InnoDB keeps them at the end of every other index.

-- What these tables are; tables without it are somebody else's.
CREATE TABLE IF NOT EXISTS tickwell_meta (name VARCHAR(64) PRIMARY KEY, value VARCHAR(255) NOT NULL)
    ENGINE = InnoDB CHARACTER SET utf8mb4 COLLATE {collation};

-- The definition: wide, written by people. Never joined on the hot path.
CREATE TABLE IF NOT EXISTS tickwell_job (
    id CHAR(36) PRIMARY KEY,
    project VARCHAR(255) NOT NULL,
    name VARCHAR(255) NOT NULL,
    -- The name while it is taken: a deleted job leaves it to others.
    live_name VARCHAR(255),
    -- The name in lower case, as Python folds it, for search.
    folded VARCHAR(1020) NOT NULL,
    queue VARCHAR(255) NOT NULL,
    app VARCHAR(255),
    -- JSON.
    tags LONGTEXT NOT NULL,
    auto_remove BOOLEAN NOT NULL,
    -- As it was when the job was made: an edit does not change it.
    dedupe_key VARCHAR(255),
    version INTEGER NOT NULL,
    -- JSON, as text: a column of that type rewrites numbers.
    document LONGTEXT NOT NULL,
    UNIQUE KEY job_name (project, live_name),
    UNIQUE KEY job_dedupe (project, dedupe_key),
    KEY job_list (project, name, id),
    KEY job_app (app, project),
    KEY job_auto_remove (auto_remove, project)
) ENGINE = InnoDB CHARACTER SET utf8mb4 COLLATE {collation};

-- What moves in a job: narrow, written at every fire. Its row is the lock of the job: who adds,
-- holds, passes on or withdraws executions of the job holds it.
CREATE TABLE IF NOT EXISTS tickwell_cursor (
    job CHAR(36) PRIMARY KEY,
    next_fire_time BIGINT,
    after BIGINT NOT NULL,
    runs BIGINT NOT NULL,
    paused_through BIGINT,
    -- The execution that holds the job's own gate.
    holder CHAR(36),
    -- The hard timeout, which a claim needs for the deadline.
    hard BIGINT NOT NULL,
    -- When pruning has to look at the job: nothing of it is past its retention before.
    prune_at BIGINT,
    -- Executions on record, and how many are to be kept.
    made BIGINT NOT NULL DEFAULT 0,
    keep BIGINT NOT NULL,
    version INTEGER NOT NULL,
    failures INTEGER NOT NULL,
    state SMALLINT NOT NULL,
    nudged BOOLEAN NOT NULL,
    -- JSON.
    pause LONGTEXT,
    project VARCHAR(255) NOT NULL,
    KEY cursor_due (next_fire_time, job),
    KEY cursor_turn (project, next_fire_time, job),
    KEY cursor_prune (prune_at, job),
    KEY cursor_state (state, job),
    KEY cursor_edited (version)
) ENGINE = InnoDB CHARACTER SET utf8mb4 COLLATE {collation};

-- One occurrence of a job: inserted once, updated once, at its end. The id is the guard.
-- No index has a column that a success changes.
CREATE TABLE IF NOT EXISTS tickwell_execution (
    id CHAR(36) PRIMARY KEY,
    job CHAR(36) NOT NULL,
    fire_time BIGINT NOT NULL,
    run_at BIGINT NOT NULL,
    created_at BIGINT NOT NULL,
    started_at BIGINT,
    ended_at BIGINT,
    job_version INTEGER NOT NULL,
    gate_limit INTEGER NOT NULL,
    attempt INTEGER NOT NULL DEFAULT 0,
    charged INTEGER NOT NULL DEFAULT 0,
    lost INTEGER NOT NULL DEFAULT 0,
    returned INTEGER NOT NULL DEFAULT 0,
    kind SMALLINT NOT NULL,
    overlap SMALLINT NOT NULL,
    -- Null while it is live: then the queue or running table has it.
    state SMALLINT,
    -- The state again, unless it is live or succeeded.
    rare SMALLINT,
    -- How the last attempt ended, if that ended the execution as well.
    outcome SMALLINT,
    project VARCHAR(255) NOT NULL,
    queue VARCHAR(255) NOT NULL,
    ability VARCHAR(300) NOT NULL,
    gate VARCHAR(700),
    request_key VARCHAR(255),
    revived_from VARCHAR(255),
    worker VARCHAR(255),
    reason LONGTEXT,
    -- JSON; null: the job's own.
    payload LONGTEXT,
    error LONGTEXT,
    result LONGTEXT,
    KEY execution_job (job, id),
    KEY execution_project (project, id),
    UNIQUE KEY execution_request (job, request_key),
    -- What did not go well is looked for most, and is little.
    KEY execution_rare (rare, project, id)
) ENGINE = InnoDB CHARACTER SET utf8mb4 COLLATE {collation};

-- Pending executions with what promotion and claims need; deleted by the claim.
CREATE TABLE IF NOT EXISTS tickwell_queue (
    id CHAR(36) PRIMARY KEY,
    job CHAR(36) NOT NULL,
    fire_time BIGINT NOT NULL,
    run_at BIGINT NOT NULL,
    `rank` BIGINT NOT NULL,
    -- Promotion looks at it when this is at most now + horizon.
    look_at BIGINT NOT NULL,
    expires_at BIGINT,
    gate_limit INTEGER NOT NULL DEFAULT 0,
    attempt INTEGER NOT NULL DEFAULT 0,
    charged INTEGER NOT NULL DEFAULT 0,
    lost INTEGER NOT NULL DEFAULT 0,
    returned INTEGER NOT NULL DEFAULT 0,
    state SMALLINT NOT NULL,
    kind SMALLINT NOT NULL,
    overlap SMALLINT NOT NULL,
    -- The gate that it stands before: 1 its job's, 2 its key's.
    waits SMALLINT NOT NULL DEFAULT 0,
    holds_job BOOLEAN NOT NULL DEFAULT FALSE,
    holds_key BOOLEAN NOT NULL DEFAULT FALSE,
    own_payload BOOLEAN NOT NULL DEFAULT FALSE,
    queue VARCHAR(255) NOT NULL,
    ability VARCHAR(300) NOT NULL,
    gate VARCHAR(700),
    KEY queue_claim (state, queue, ability, `rank`, id),
    KEY queue_run (state, queue, run_at),
    KEY queue_look (state, look_at, id),
    KEY queue_expire (expires_at, id),
    KEY queue_job (job, waits, `rank`, id),
    KEY queue_gate (waits, gate, `rank`, id)
) ENGINE = InnoDB CHARACTER SET utf8mb4 COLLATE {collation};

-- Claimed executions: inserted by the claim, deleted by the finish. The row is the fence.
CREATE TABLE IF NOT EXISTS tickwell_running (
    id CHAR(36) PRIMARY KEY,
    job CHAR(36) NOT NULL,
    run_at BIGINT NOT NULL,
    `rank` BIGINT NOT NULL,
    -- In force again if the attempt is given back before it started.
    expires_at BIGINT,
    deadline BIGINT NOT NULL,
    -- Written a moment after the attempt has started, if it is still under way.
    started_at BIGINT,
    attempt INTEGER NOT NULL,
    charged INTEGER NOT NULL,
    lost INTEGER NOT NULL,
    returned INTEGER NOT NULL,
    holds_job BOOLEAN NOT NULL,
    cancel BOOLEAN NOT NULL DEFAULT FALSE,
    called_off BOOLEAN NOT NULL DEFAULT FALSE,
    worker VARCHAR(255) NOT NULL,
    claim_id VARCHAR(255) NOT NULL,
    -- The concurrency gate in which it has a place.
    gate VARCHAR(700),
    KEY running_worker (worker),
    KEY running_job (job),
    KEY running_deadline (deadline)
) ENGINE = InnoDB CHARACTER SET utf8mb4 COLLATE {collation};

-- Places taken in a concurrency gate; its row is the lock of the gate.
CREATE TABLE IF NOT EXISTS tickwell_gate (
    name VARCHAR(700) PRIMARY KEY,
    held INTEGER NOT NULL,
    KEY gate_held (held)
) ENGINE = InnoDB CHARACTER SET utf8mb4 COLLATE {collation};

-- Attempts that another one followed; the last one stands in the execution.
CREATE TABLE IF NOT EXISTS tickwell_attempt (
    execution CHAR(36) NOT NULL,
    number INTEGER NOT NULL,
    outcome SMALLINT NOT NULL,
    started_at BIGINT,
    ended_at BIGINT NOT NULL,
    worker VARCHAR(255),
    error LONGTEXT,
    -- JSON.
    result LONGTEXT,
    PRIMARY KEY (execution, number)
) ENGINE = InnoDB CHARACTER SET utf8mb4 COLLATE {collation};

-- What executions have done, kept from one attempt to the next.
CREATE TABLE IF NOT EXISTS tickwell_step (
    execution CHAR(36) NOT NULL,
    -- Empty: the checkpoint.
    name VARCHAR(255) NOT NULL,
    -- The attempt that wrote it.
    attempt INTEGER NOT NULL,
    written_at BIGINT NOT NULL,
    is_final BOOLEAN NOT NULL,
    -- JSON.
    document LONGTEXT NOT NULL,
    PRIMARY KEY (execution, name)
) ENGINE = InnoDB CHARACTER SET utf8mb4 COLLATE {collation};

-- Fire times that were passed over together.
CREATE TABLE IF NOT EXISTS tickwell_skip (
    id BIGINT AUTO_INCREMENT PRIMARY KEY,
    job CHAR(36) NOT NULL,
    first BIGINT NOT NULL,
    last BIGINT NOT NULL,
    count BIGINT NOT NULL,
    -- Later than this it is past its job's retention.
    prune_at BIGINT NOT NULL,
    reason SMALLINT NOT NULL,
    KEY skip_job (job, first, last, id),
    KEY skip_prune (prune_at)
) ENGINE = InnoDB CHARACTER SET utf8mb4 COLLATE {collation};

-- How many executions have ended, so that nobody has to count them. One row for each of a few
-- writers: a single one would make all commits wait for each other.
CREATE TABLE IF NOT EXISTS tickwell_tally (
    project VARCHAR(255) NOT NULL,
    state SMALLINT NOT NULL,
    writer SMALLINT NOT NULL,
    count BIGINT NOT NULL,
    PRIMARY KEY (project, state, writer)
) ENGINE = InnoDB CHARACTER SET utf8mb4 COLLATE {collation};

CREATE TABLE IF NOT EXISTS tickwell_worker (
    id VARCHAR(255) PRIMARY KEY,
    beat BIGINT NOT NULL,
    seen_at BIGINT NOT NULL,
    lost BOOLEAN NOT NULL,
    -- JSON.
    document LONGTEXT NOT NULL
) ENGINE = InnoDB CHARACTER SET utf8mb4 COLLATE {collation};

-- Documents of the service.
CREATE TABLE IF NOT EXISTS tickwell_record (
    kind VARCHAR(60) NOT NULL,
    project VARCHAR(255) NOT NULL,
    name VARCHAR(440) NOT NULL,
    document LONGTEXT NOT NULL,
    version BIGINT NOT NULL,
    expires_at BIGINT,
    PRIMARY KEY (kind, project, name),
    KEY record_expire (expires_at)
) ENGINE = InnoDB CHARACTER SET utf8mb4 COLLATE {collation};
