-- serves: 1
-- All instants are milliseconds since 1970, UTC. Codes of enumerations: stores/sql/codec.py.
-- Text is compared by its bytes, as everywhere else in Tickwell: COLLATE "C".

-- What this schema is; a schema without it is somebody else's.
CREATE TABLE tickwell.meta (name text PRIMARY KEY, value text NOT NULL);

-- The definition: wide, written by people. Never joined on the hot path.
CREATE TABLE tickwell.job (
    id uuid PRIMARY KEY,
    project text COLLATE "C" NOT NULL,
    name text COLLATE "C" NOT NULL,
    -- The name in lower case, as Python folds it, for search.
    folded text COLLATE "C" NOT NULL,
    queue text COLLATE "C" NOT NULL,
    app text COLLATE "C",
    tags text[] NOT NULL,
    auto_remove boolean NOT NULL,
    -- As it was when the job was made: an edit does not change it.
    dedupe_key text COLLATE "C",
    deleted boolean NOT NULL DEFAULT false,
    version integer NOT NULL,
    -- JSON, as text: jsonb has no NUL and rewrites numbers.
    document text NOT NULL
);
CREATE UNIQUE INDEX job_name ON tickwell.job (project, name) WHERE NOT deleted;
CREATE UNIQUE INDEX job_dedupe ON tickwell.job (project, dedupe_key) WHERE dedupe_key IS NOT NULL;
CREATE INDEX job_list ON tickwell.job (project, name, id);
CREATE INDEX job_app ON tickwell.job (app, project, name, id) WHERE app IS NOT NULL;
CREATE INDEX job_auto_remove ON tickwell.job (project, name, id) WHERE auto_remove;

-- What moves in a job: narrow, written at every fire. Its row is the lock of the job: who adds,
-- holds, passes on or withdraws executions of the job holds it.
CREATE TABLE tickwell.cursor (
    job uuid PRIMARY KEY,
    next_fire_time bigint,
    after bigint NOT NULL,
    runs bigint NOT NULL,
    paused_through bigint,
    -- The execution that holds the job's own gate.
    holder uuid,
    -- The hard timeout, which a claim needs for the deadline.
    hard bigint NOT NULL,
    -- When pruning has to look at the job: nothing of it is past its retention before.
    prune_at bigint,
    -- Executions on record, and how many are to be kept.
    made bigint NOT NULL DEFAULT 0,
    keep bigint NOT NULL,
    version integer NOT NULL,
    failures integer NOT NULL,
    state smallint NOT NULL,
    nudged boolean NOT NULL,
    -- JSON.
    pause text,
    project text NOT NULL
) WITH (fillfactor = 70, autovacuum_vacuum_scale_factor = 0.05);
CREATE INDEX cursor_due ON tickwell.cursor (next_fire_time, job) WHERE next_fire_time IS NOT NULL;
CREATE INDEX cursor_turn ON tickwell.cursor (project, next_fire_time, job)
    WHERE next_fire_time IS NOT NULL;
CREATE INDEX cursor_prune ON tickwell.cursor (prune_at, job) WHERE prune_at IS NOT NULL;
CREATE INDEX cursor_deleted ON tickwell.cursor (job) WHERE state = 3;
CREATE INDEX cursor_edited ON tickwell.cursor (job) WHERE version > 101;

-- One occurrence of a job: inserted once, updated once, at its end. The id is the guard.
-- No index has a column that a success changes, and half of every page is free: the update at the
-- end stays in its page and touches no index.
CREATE TABLE tickwell.execution (
    id uuid NOT NULL,
    job uuid NOT NULL,
    fire_time bigint NOT NULL,
    run_at bigint NOT NULL,
    created_at bigint NOT NULL,
    started_at bigint,
    ended_at bigint,
    job_version integer NOT NULL,
    gate_limit integer NOT NULL,
    attempt integer NOT NULL DEFAULT 0,
    charged integer NOT NULL DEFAULT 0,
    lost integer NOT NULL DEFAULT 0,
    returned integer NOT NULL DEFAULT 0,
    kind smallint NOT NULL,
    overlap smallint NOT NULL,
    -- Null while it is live: then the queue or running table has it.
    state smallint,
    -- The state again, unless it is live or succeeded.
    rare smallint,
    -- How the last attempt ended, if that ended the execution as well.
    outcome smallint,
    project text COLLATE "C" NOT NULL,
    queue text COLLATE "C" NOT NULL,
    ability text COLLATE "C" NOT NULL,
    gate text COLLATE "C",
    request_key text COLLATE "C",
    revived_from text COLLATE "C",
    worker text COLLATE "C",
    reason text,
    -- JSON; null: the job's own.
    payload text,
    error text,
    result text
) WITH (fillfactor = 50, autovacuum_vacuum_scale_factor = 0.05);
CREATE INDEX execution_job ON tickwell.execution (job, id);
CREATE INDEX execution_project ON tickwell.execution (project, id);
CREATE UNIQUE INDEX execution_request ON tickwell.execution (job, request_key)
    WHERE request_key IS NOT NULL;
-- What did not go well is looked for most, and is little.
CREATE INDEX execution_rare ON tickwell.execution (project, rare, id) WHERE rare IS NOT NULL;
-- Made last: where the planner takes the table for empty and so all indexes for alike, it takes the
-- newest, and others end in the id as well.
ALTER TABLE tickwell.execution ADD PRIMARY KEY (id);

-- Pending executions with what promotion and claims need; deleted by the claim.
CREATE TABLE tickwell.queue (
    id uuid NOT NULL,
    job uuid NOT NULL,
    fire_time bigint NOT NULL,
    run_at bigint NOT NULL,
    rank bigint NOT NULL,
    -- Promotion looks at it when this is at most now + horizon.
    look_at bigint NOT NULL,
    expires_at bigint,
    gate_limit integer NOT NULL DEFAULT 0,
    attempt integer NOT NULL DEFAULT 0,
    charged integer NOT NULL DEFAULT 0,
    lost integer NOT NULL DEFAULT 0,
    returned integer NOT NULL DEFAULT 0,
    state smallint NOT NULL,
    kind smallint NOT NULL,
    overlap smallint NOT NULL,
    -- The gate that it stands before: 1 its job's, 2 its key's.
    waits smallint NOT NULL DEFAULT 0,
    holds_job boolean NOT NULL DEFAULT false,
    holds_key boolean NOT NULL DEFAULT false,
    own_payload boolean NOT NULL DEFAULT false,
    queue text COLLATE "C" NOT NULL,
    ability text COLLATE "C" NOT NULL,
    gate text COLLATE "C"
) WITH (autovacuum_vacuum_scale_factor = 0.02, autovacuum_vacuum_cost_delay = 0);
CREATE INDEX queue_claim ON tickwell.queue (queue, ability, rank, id) WHERE state = 2;
-- "+ 0": for those who ask when, and in these words. Of a table that was never analysed the planner
-- takes both indexes for alike, and a claim by this one reads all of the queue.
CREATE INDEX queue_run ON tickwell.queue (queue, run_at) WHERE state + 0 = 2;
CREATE INDEX queue_look ON tickwell.queue (look_at, id) WHERE state = 0;
CREATE INDEX queue_expire ON tickwell.queue (expires_at, id) WHERE expires_at IS NOT NULL;
CREATE INDEX queue_job ON tickwell.queue (job, waits, rank, id);
CREATE INDEX queue_gate ON tickwell.queue (gate, rank, id) WHERE waits = 2;
CREATE INDEX queue_parked ON tickwell.queue (id) WHERE state = 4;
CREATE INDEX queue_parked_lane ON tickwell.queue (queue, ability, rank, id) WHERE state = 4;
-- Last, as above.
ALTER TABLE tickwell.queue ADD PRIMARY KEY (id);

-- Claimed executions: inserted by the claim, deleted by the finish. The row is the fence.
CREATE TABLE tickwell.running (
    id uuid PRIMARY KEY,
    job uuid NOT NULL,
    run_at bigint NOT NULL,
    rank bigint NOT NULL,
    -- In force again if the attempt is given back before it started.
    expires_at bigint,
    deadline bigint NOT NULL,
    -- Written a moment after the attempt has started, if it is still under way.
    started_at bigint,
    attempt integer NOT NULL,
    charged integer NOT NULL,
    lost integer NOT NULL,
    returned integer NOT NULL,
    holds_job boolean NOT NULL,
    -- Claimed before its instant: a change of the job may call it off.
    ahead boolean NOT NULL DEFAULT false,
    cancel boolean NOT NULL DEFAULT false,
    called_off boolean NOT NULL DEFAULT false,
    worker text COLLATE "C" NOT NULL,
    claim_id text COLLATE "C" NOT NULL,
    -- The concurrency gate in which it has a place.
    gate text COLLATE "C"
) WITH (autovacuum_vacuum_scale_factor = 0.02, autovacuum_vacuum_cost_delay = 0);
-- One for both: whose time is over is asked worker by worker, and every claim writes it.
CREATE INDEX running_worker ON tickwell.running (worker, deadline);
CREATE INDEX running_ahead ON tickwell.running (job) WHERE ahead;

-- Places taken in a concurrency gate; its row is the lock of the gate.
CREATE TABLE tickwell.gate (name text COLLATE "C" PRIMARY KEY, held integer NOT NULL);

-- Attempts that another one followed; the last one stands in the execution.
CREATE TABLE tickwell.attempt (
    execution uuid NOT NULL,
    number integer NOT NULL,
    outcome smallint NOT NULL,
    started_at bigint,
    ended_at bigint NOT NULL,
    worker text COLLATE "C",
    error text,
    -- JSON.
    result text,
    PRIMARY KEY (execution, number)
);

-- What executions have done, kept from one attempt to the next.
CREATE TABLE tickwell.step (
    execution uuid NOT NULL,
    -- Empty: the checkpoint.
    name text COLLATE "C" NOT NULL,
    -- The attempt that wrote it.
    attempt integer NOT NULL,
    written_at bigint NOT NULL,
    is_final boolean NOT NULL,
    -- JSON.
    document text NOT NULL,
    PRIMARY KEY (execution, name)
);

-- Fire times that were passed over together.
CREATE TABLE tickwell.skip (
    key bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    job uuid NOT NULL,
    first bigint NOT NULL,
    last bigint NOT NULL,
    count bigint NOT NULL,
    -- Later than this it is past its job's retention.
    prune_at bigint NOT NULL,
    reason smallint NOT NULL
);
CREATE INDEX skip_job ON tickwell.skip (job, first, last, key);
CREATE INDEX skip_prune ON tickwell.skip (prune_at);

-- How many executions have ended, so that nobody has to count them. One row for each of a few
-- writers: a single one would make all commits wait for each other.
CREATE TABLE tickwell.tally (
    project text COLLATE "C" NOT NULL,
    state smallint NOT NULL,
    writer smallint NOT NULL,
    count bigint NOT NULL,
    PRIMARY KEY (project, state, writer)
) WITH (fillfactor = 50);

CREATE TABLE tickwell.worker (
    id text COLLATE "C" PRIMARY KEY,
    beat bigint NOT NULL,
    seen_at bigint NOT NULL,
    lost boolean NOT NULL,
    -- JSON.
    document text NOT NULL
) WITH (fillfactor = 50);

-- Documents of the service.
CREATE TABLE tickwell.record (
    kind text COLLATE "C" NOT NULL,
    project text COLLATE "C" NOT NULL,
    key text COLLATE "C" NOT NULL,
    document text NOT NULL,
    version bigint NOT NULL,
    expires_at bigint,
    PRIMARY KEY (kind, project, key)
);
CREATE INDEX record_expire ON tickwell.record (expires_at) WHERE expires_at IS NOT NULL;
