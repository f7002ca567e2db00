-- flags: allow-oom
-- needs: words json rows places flow
-- ARGV: now, reports: id, attempt, outcome, state, reason, run_at, rank, charged, lost, returned,
-- started, ended, error, result, counts failures, charged at the claim, job, stamp or false.
-- A stamp says what only Python can: for which version, with which limit, whether it fires then.
-- Answers the places of refused reports, failures by job, what needs a stamp (and nothing is
-- written), and whether somebody should look.
local LOST_OUTCOME = 3
local now, reports = tonumber(ARGV[2]), cjson.decode(ARGV[3])
local ids, jobs = {}, {}
for n, report in ipairs(reports) do
  ids[n] = report[1]
  jobs[n] = report[17]
end
fetch(ids)
read('cursor', jobs, entries)

local function stands(row, report)
  return row and row[STATE] == RUNNING and row[ATTEMPT] == report[2]
end

local function is_called_off(row, report)
  return row[CALLED_OFF] and not report[11] and (report[4] == WAITING or report[4] == CANCELLED)
end

local unstamped = {}
for n, report in ipairs(reports) do
  local row = rows[report[1]]
  if stands(row, report) then
    local entry, stamp = entries[row[JOB]], report[18]
    local stale = report[4] == WAITING and row[VERSION] ~= entry[J_VERSION]
    if (stale or is_called_off(row, report)) and not (stamp and stamp[1] == entry[J_VERSION]) then
      unstamped[#unstamped + 1] = list({
        n - 1, row[JOB], entry[J_VERSION], row[PAYLOAD], row[GATE], row[FIRE_TIME],
      })
    end
  end
end
if #unstamped > 0 then
  return { '[]', '{}', array(unstamped), 0 }
end

local function was_applied(row, report)
  for _, attempt in ipairs(row and row[ATTEMPTS] or {}) do
    if attempt[1] == report[2] and attempt[2] == report[3] and attempt[5] == report[12] then
      return true
    end
  end
  return false
end

local function try_again(id, row, run_at, rank, stamp)
  local entry = entries[row[JOB]]
  lift(id, row)
  row[WORKER], row[CLAIM], row[CANCEL], row[CALLED_OFF] = false, false, false, false
  row[RUN_AT], row[LOOK_AT], row[RANK] = run_at, run_at, rank
  move(id, row, WAITING)
  stirred = true
  if row[VERSION] ~= entry[J_VERSION] then
    restamp(id, row, entry, stamp and stamp[2])
  end
  release_key(id, row)
  if entry[J_STATE] == DELETED then
    conclude(id, row, CANCELLED, 'job deleted', now)
  elseif entry[J_STATE] == PAUSED then
    hold(id, row)
  elseif run_at <= now then
    admit(id, row, now, 0)
  end
end

local function call_off(id, row, report)
  local state, stamp = entries[row[JOB]][J_STATE], report[18]
  row[CHARGED] = report[16] - 1
  if stamp[3] and (state == ACTIVE or state == FINISHED) then
    try_again(id, row, row[RUN_AT], row[RANK], stamp)
  else
    withdraw(id, row, report[12])
  end
end

local function apply(id, row, report)
  lift(id, row)
  row[ATTEMPTS] = row[ATTEMPTS] or {}
  table.insert(row[ATTEMPTS],
    { row[ATTEMPT], report[3], row[WORKER], report[11], report[12], report[13] })
  row[CHARGED], row[LOST], row[RETURNED] = report[8], report[9], report[10]
  row[STARTED], row[ERROR], row[RESULT], row[DEADLINE] = report[11], report[13], report[14], false
  if report[11] or report[3] == LOST_OUTCOME then
    row[EXPIRES] = false -- it may have started
  end
  if is_called_off(row, report) then
    call_off(id, row, report)
  elseif report[4] ~= WAITING then
    conclude(id, row, report[4], report[5], report[12])
  elseif row[CANCEL] then
    conclude(id, row, CANCELLED, 'cancelled', report[12])
  else
    try_again(id, row, report[6], report[7], report[18])
  end
end

local function count_failures(job, state)
  local entry = entries[job]
  if state == DEAD then
    entry[J_FAILURES] = entry[J_FAILURES] + 1
    moves(job)
  elseif state == SUCCEEDED and entry[J_FAILURES] > 0 then
    entry[J_FAILURES] = 0
    moves(job)
  end
end

local refused, failures = {}, {}
for n, report in ipairs(reports) do
  local id, row, job = report[1], rows[report[1]], report[17]
  local is_known = true
  if stands(row, report) then
    apply(id, row, report)
    if report[15] then
      count_failures(job, report[4])
    end
  elseif not was_applied(row, report) then
    refused[#refused + 1] = text(n - 1)
    is_known = false
  end
  if report[15] and is_known then
    failures[job] = entries[job][J_FAILURES]
  end
end
flush()
return { array(refused), cjson.encode(failures), '[]', stirred and 1 or 0 }
