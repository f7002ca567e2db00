-- Claims as Python reads them. Needs json, rows. Ids, and payloads, which are JSON, go as they are.
local CLAIMED = '["%s","%s",%d,%d,%d,%d,%d,%d,%d,%s,%d,%s,%s,%d,%d,%s]'

local function claim_of(id, row, version, worker, claim_id)
  return string.format(CLAIMED, id, row[JOB], row[KIND], row[ATTEMPT], row[CHARGED], row[LOST],
    row[RETURNED], row[FIRE_TIME], row[RUN_AT], row[PAYLOAD] or 'null', row[DEADLINE],
    worker or text(row[WORKER]), claim_id or text(row[CLAIM] or ''), version,
    #(row[PAYLOAD] or ''), text(row[STARTED]))
end

-- Running executions as their workers know them, by the definitions in force.
local function claims_of(ids)
  local claims, jobs = {}, {}
  for n, id in ipairs(ids) do
    jobs[n] = rows[id][JOB]
  end
  read('cursor', jobs, entries)
  for n, id in ipairs(ids) do
    claims[n] = claim_of(id, rows[id], entries[jobs[n]][J_VERSION])
  end
  return array(claims)
end

-- Whether the store knows the worker, and has not declared it lost.
local function is_alive(worker)
  local known = redis.call('HGET', P .. 'worker', worker)
  return known and string.match(known, '^%[%d+,%d+,0,') ~= nil
end
