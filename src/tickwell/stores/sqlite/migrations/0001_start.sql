-- All instants are milliseconds since 1970, UTC. Codes of enumerations: stores/sql/codec.py.
-- Keys that join tables are integers; the ids that people see are looked up once.

-- The definition: wide, written by people. Never joined on the hot path.
CREATE TABLE job (
    key INTEGER PRIMARY KEY,
    id TEXT NOT NULL UNIQUE,
    project TEXT NOT NULL,
    name TEXT NOT NULL,
    -- The name in lower case, as Python folds it, for search.
    folded TEXT NOT NULL,
    queue TEXT NOT NULL,
    app TEXT,
    -- A JSON array.
    tags TEXT NOT NULL,
    auto_remove INTEGER NOT NULL,
    -- As it was when the job was made: an edit does not change it.
    dedupe_key TEXT,
    deleted INTEGER NOT NULL DEFAULT 0,
    version INTEGER NOT NULL,
    document TEXT NOT NULL
);
CREATE UNIQUE INDEX job_name ON job (project, name) WHERE deleted = 0;
CREATE UNIQUE INDEX job_dedupe ON job (project, dedupe_key) WHERE dedupe_key IS NOT NULL;
CREATE INDEX job_list ON job (project, name, id);
CREATE INDEX job_app ON job (app, project, name, id) WHERE app IS NOT NULL;
CREATE INDEX job_auto_remove ON job (project, name, id) WHERE auto_remove = 1;

-- What moves in a job: narrow, written at every fire.
CREATE TABLE cursor (
    job INTEGER PRIMARY KEY,
    id TEXT NOT NULL,
    version INTEGER NOT NULL,
    state INTEGER NOT NULL,
    next_fire_time INTEGER,
    after INTEGER NOT NULL,
    runs INTEGER NOT NULL,
    failures INTEGER NOT NULL,
    nudged INTEGER NOT NULL,
    paused_through INTEGER,
    -- JSON.
    pause TEXT,
    -- The execution that holds the job's own gate.
    holder INTEGER,
    -- The hard timeout, which a claim needs for the deadline.
    hard INTEGER NOT NULL,
    -- When pruning has to look at the job: nothing of it is past its retention before.
    prune_at INTEGER,
    -- Executions on record, and how many are to be kept.
    made INTEGER NOT NULL DEFAULT 0,
    keep INTEGER NOT NULL,
    project TEXT NOT NULL
);
CREATE INDEX cursor_due ON cursor (next_fire_time, id) WHERE next_fire_time IS NOT NULL;
CREATE INDEX cursor_turn ON cursor (project, next_fire_time, id) WHERE next_fire_time IS NOT NULL;
CREATE INDEX cursor_prune ON cursor (prune_at, id) WHERE prune_at IS NOT NULL;
CREATE INDEX cursor_deleted ON cursor (job) WHERE state = 3;
CREATE INDEX cursor_edited ON cursor (job) WHERE version > 101;

-- One occurrence of a job: inserted once, updated once, at its end. The unique id is the guard.
CREATE TABLE execution (
    key INTEGER PRIMARY KEY,
    id TEXT NOT NULL,
    project TEXT NOT NULL,
    job INTEGER NOT NULL,
    job_version INTEGER NOT NULL,
    kind INTEGER NOT NULL,
    fire_time INTEGER NOT NULL,
    run_at INTEGER NOT NULL,
    queue TEXT NOT NULL,
    ability TEXT NOT NULL,
    created_at INTEGER NOT NULL,
    overlap INTEGER NOT NULL,
    gate TEXT,
    gate_limit INTEGER NOT NULL,
    -- JSON; null: the job's own.
    payload TEXT,
    request_key TEXT,
    revived_from TEXT,
    -- Null while it is live: then the queue or running table has it.
    state INTEGER,
    attempt INTEGER NOT NULL DEFAULT 0,
    charged INTEGER NOT NULL DEFAULT 0,
    lost INTEGER NOT NULL DEFAULT 0,
    returned INTEGER NOT NULL DEFAULT 0,
    -- How the last attempt ended, if that ended the execution as well.
    outcome INTEGER,
    reason TEXT,
    worker TEXT,
    started_at INTEGER,
    ended_at INTEGER,
    error TEXT,
    result TEXT
);
CREATE UNIQUE INDEX execution_id ON execution (id);
CREATE INDEX execution_job ON execution (job, id);
CREATE INDEX execution_project ON execution (project, id);
CREATE UNIQUE INDEX execution_request ON execution (job, request_key)
    WHERE request_key IS NOT NULL;
-- What did not go well is looked for most, and is little. The plus keeps the planner from using
-- the condition as a range; "state IN (6, 7, 8)" would cost every write of an execution 4 µs.
CREATE INDEX execution_ended ON execution (project, state, id) WHERE +state > 5;

-- Pending executions with what promotion and claims need; deleted by the claim.
CREATE TABLE queue (
    key INTEGER PRIMARY KEY,
    id TEXT NOT NULL,
    job INTEGER NOT NULL,
    state INTEGER NOT NULL,
    queue TEXT NOT NULL,
    ability TEXT NOT NULL,
    kind INTEGER NOT NULL,
    fire_time INTEGER NOT NULL,
    run_at INTEGER NOT NULL,
    rank INTEGER NOT NULL,
    -- Promotion looks at it when this is at most now + horizon.
    look_at INTEGER NOT NULL,
    expires_at INTEGER,
    overlap INTEGER NOT NULL,
    gate TEXT,
    gate_limit INTEGER NOT NULL DEFAULT 0,
    -- The gate that it stands before: 1 its job's, 2 its key's.
    waits INTEGER NOT NULL DEFAULT 0,
    holds_job INTEGER NOT NULL DEFAULT 0,
    holds_key INTEGER NOT NULL DEFAULT 0,
    attempt INTEGER NOT NULL DEFAULT 0,
    charged INTEGER NOT NULL DEFAULT 0,
    lost INTEGER NOT NULL DEFAULT 0,
    returned INTEGER NOT NULL DEFAULT 0,
    -- Bytes of the payload that it brings itself; 0: it has its job's.
    own_payload INTEGER NOT NULL DEFAULT 0
);
CREATE INDEX queue_claim ON queue (queue, ability, rank, id) WHERE state = 2;
CREATE INDEX queue_run ON queue (queue, run_at) WHERE state = 2;
CREATE INDEX queue_look ON queue (look_at, id) WHERE state = 0;
CREATE INDEX queue_expire ON queue (expires_at, id) WHERE expires_at IS NOT NULL;
CREATE INDEX queue_job ON queue (job, waits, rank, id);
CREATE INDEX queue_gate ON queue (gate, rank, id) WHERE waits = 2;
CREATE INDEX queue_parked ON queue (id) WHERE state = 4;
CREATE INDEX queue_parked_lane ON queue (queue, ability, rank, id) WHERE state = 4;

-- Claimed executions: inserted by the claim, deleted by the finish. The row is the fence.
CREATE TABLE running (
    key INTEGER PRIMARY KEY,
    job INTEGER NOT NULL,
    attempt INTEGER NOT NULL,
    charged INTEGER NOT NULL,
    lost INTEGER NOT NULL,
    returned INTEGER NOT NULL,
    run_at INTEGER NOT NULL,
    rank INTEGER NOT NULL,
    -- In force again if the attempt is given back before it started.
    expires_at INTEGER,
    worker TEXT NOT NULL,
    claim_id TEXT NOT NULL,
    deadline INTEGER NOT NULL,
    holds_job INTEGER NOT NULL,
    -- The concurrency gate in which it has a place.
    gate TEXT,
    cancel INTEGER NOT NULL DEFAULT 0,
    called_off INTEGER NOT NULL DEFAULT 0,
    -- Written a moment after the attempt has started, if it is still under way.
    started_at INTEGER
);
CREATE INDEX running_worker ON running (worker);
CREATE INDEX running_deadline ON running (deadline);

-- Places taken in a concurrency gate.
CREATE TABLE gate (name TEXT PRIMARY KEY, held INTEGER NOT NULL) WITHOUT ROWID;

-- Attempts that another one followed; the last one stands in the execution.
CREATE TABLE attempt (
    execution INTEGER NOT NULL,
    number INTEGER NOT NULL,
    outcome INTEGER NOT NULL,
    worker TEXT,
    started_at INTEGER,
    ended_at INTEGER NOT NULL,
    error TEXT,
    -- JSON.
    result TEXT,
    PRIMARY KEY (execution, number)
) WITHOUT ROWID;

-- What executions have done, kept from one attempt to the next.
CREATE TABLE step (
    execution INTEGER NOT NULL,
    -- Empty: the checkpoint.
    name TEXT NOT NULL,
    -- The attempt that wrote it.
    attempt INTEGER NOT NULL,
    written_at INTEGER NOT NULL,
    is_final INTEGER NOT NULL,
    -- JSON.
    document TEXT NOT NULL,
    PRIMARY KEY (execution, name)
) WITHOUT ROWID;

-- Fire times that were passed over together.
CREATE TABLE skip (
    job INTEGER NOT NULL,
    first INTEGER NOT NULL,
    last INTEGER NOT NULL,
    count INTEGER NOT NULL,
    reason INTEGER NOT NULL,
    -- Later than this it is past its job's retention.
    prune_at INTEGER NOT NULL
);
CREATE INDEX skip_job ON skip (job, first, last);
CREATE INDEX skip_prune ON skip (prune_at);

-- How many executions have ended, so that nobody has to count them.
CREATE TABLE tally (
    project TEXT NOT NULL,
    state INTEGER NOT NULL,
    count INTEGER NOT NULL,
    PRIMARY KEY (project, state)
) WITHOUT ROWID;

CREATE TABLE worker (
    id TEXT PRIMARY KEY,
    beat INTEGER NOT NULL,
    seen_at INTEGER NOT NULL,
    lost INTEGER NOT NULL,
    -- JSON.
    document TEXT NOT NULL
) WITHOUT ROWID;

-- Documents of the service.
CREATE TABLE record (
    kind TEXT NOT NULL,
    project TEXT NOT NULL,
    key TEXT NOT NULL,
    document TEXT NOT NULL,
    version INTEGER NOT NULL,
    expires_at INTEGER,
    PRIMARY KEY (kind, project, key)
) WITHOUT ROWID;
CREATE INDEX record_expire ON record (expires_at) WHERE expires_at IS NOT NULL;
