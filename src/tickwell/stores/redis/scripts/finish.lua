-- flags: allow-oom
-- needs: words json rows indexes flow
-- ARGV: now, reports, in the order below; what is absent at their ends is left out.
-- A stamp says what only Python can: for which version, with which limit, whether it fires then.
-- Answers the positions of refused reports, failures by job, what needs a stamp (and nothing is
-- written), and whether somebody should look.
local LOST_OUTCOME, RELEASED_OUTCOME = 3, 4
local R_ID, R_JOB, R_ATTEMPT, R_OUTCOME, R_STATE, R_CHARGED, R_LOST, R_RETURNED, R_CLAIM_CHARGED,
  R_ENDED, R_STARTED, R_RESULT, R_ERROR, R_REASON, R_RUN_AT, R_RANK, R_COUNTS, R_STAMP, R_AWAITS =
  1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19
local now, reports = tonumber(ARGV[2]), cjson.decode(ARGV[3])
local ids, jobs = {}, {}
for n, report in ipairs(reports) do
  ids[n] = report[R_ID]
  jobs[n] = report[R_JOB]
end
fetch(ids)
read('cursor', jobs, entries)

local function stands(row, report)
  return row and row[STATE] == RUNNING and row[ATTEMPT] == report[R_ATTEMPT]
end

local function is_called_off(row, report)
  local state = report[R_STATE]
  local gave_up = state == WAITING or state == CANCELLED or state == SKIPPED
  return row[CALLED_OFF] and gave_up and not report[R_STARTED]
end

local unstamped = {}
for n, report in ipairs(reports) do
  local row = rows[report[R_ID]]
  if stands(row, report) then
    local entry, stamp = entries[row[JOB]], report[R_STAMP]
    local stale = report[R_STATE] == WAITING and row[VERSION] ~= entry[J_VERSION]
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
    if attempt[1] == report[R_ATTEMPT] and attempt[2] == report[R_OUTCOME]
      and attempt[5] == report[R_ENDED] then
      return true
    end
  end
  return false
end

local function is_untried(attempt)
  return attempt and attempt[2] == RELEASED_OUTCOME and not attempt[4]
end

local function try_again(id, row, run_at, rank, stamp)
  local entry, attempts = entries[row[JOB]], row[ATTEMPTS]
  if is_untried(attempts[#attempts]) and is_untried(attempts[#attempts - 1]) then
    table.remove(attempts, #attempts - 1) -- of those put off in a row the newest stays
  end
  lift(id, row)
  row[WORKER], row[CLAIM], row[CANCEL], row[CALLED_OFF] = false, false, false, false
  row[RUN_AT], row[LOOK_AT], row[RANK] = run_at, run_at, rank
  leave(id, row, WAITING, now)
  stirred = true
  if row[VERSION] ~= entry[J_VERSION] then
    restamp(id, row, entry, stamp and stamp[2])
  end
  if entry[J_STATE] == DELETED then
    conclude(id, row, CANCELLED, 'job deleted', now)
  elseif entry[J_STATE] == PAUSED then
    hold(id, row, now)
  elseif run_at <= now then
    admit(id, row, now, 0)
  end
end

local function call_off(id, row, report)
  local state, stamp = entries[row[JOB]][J_STATE], report[R_STAMP]
  row[CHARGED] = report[R_CLAIM_CHARGED] - 1
  if stamp[3] and (state == ACTIVE or state == FINISHED) then
    try_again(id, row, row[RUN_AT], row[RANK], stamp)
  else
    withdraw(id, row, report[R_ENDED])
  end
end

-- Whether a step that it awaits is final.
local function is_answered(id, report)
  for _, name in ipairs(report[R_AWAITS] or {}) do
    local known = redis.call('HGET', P .. 'steps:' .. id, name)
    if known and string.sub(known, 1, 1) == '1' then
      return true
    end
  end
  return false
end

local function apply(id, row, report)
  if is_answered(id, report) then
    report[R_RANK] = report[R_RANK] - (report[R_RUN_AT] - report[R_ENDED])
    report[R_RUN_AT] = report[R_ENDED]
  end
  lift(id, row)
  local start = report[R_STARTED] or (report[R_OUTCOME] == LOST_OUTCOME and report[R_ENDED])
  if row[GATE] and permits.are_of_rate(row[GATE]) then
    permits.back_at[id] = start and start + permits.period_of(row[GATE]) or row[RUN_AT]
  end
  row[ATTEMPTS] = row[ATTEMPTS] or {}
  local former = row[ATTEMPTS][#row[ATTEMPTS]]
  if former and row[RESULT] then
    former[A_RESULT] = row[RESULT] -- of the last one it stands in the execution alone
  end
  table.insert(row[ATTEMPTS], {
    row[ATTEMPT], report[R_OUTCOME], row[WORKER], report[R_STARTED] or false, report[R_ENDED],
    report[R_ERROR] or false,
  })
  row[CHARGED], row[LOST], row[RETURNED] = report[R_CHARGED], report[R_LOST], report[R_RETURNED]
  row[STARTED], row[ERROR] = report[R_STARTED] or false, report[R_ERROR] or false
  row[RESULT], row[DEADLINE] = report[R_RESULT] or false, false
  if start then
    row[EXPIRES] = false -- it may have started
  end
  if is_called_off(row, report) then
    call_off(id, row, report)
  elseif report[R_STATE] ~= WAITING then
    conclude(id, row, report[R_STATE], report[R_REASON] or false, report[R_ENDED])
  elseif row[CANCEL] then
    conclude(id, row, CANCELLED, row[REASON] or 'cancelled', report[R_ENDED])
  else
    try_again(id, row, report[R_RUN_AT], report[R_RANK], report[R_STAMP])
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
  local id, row, job = report[R_ID], rows[report[R_ID]], report[R_JOB]
  local is_known = true
  if stands(row, report) then
    apply(id, row, report)
    if report[R_COUNTS] then
      count_failures(job, report[R_STATE])
    end
  elseif not was_applied(row, report) then
    refused[#refused + 1] = text(n - 1)
    is_known = false
  end
  if report[R_COUNTS] and is_known then
    failures[job] = entries[job][J_FAILURES]
  end
end
flush()
return { array(refused), cjson.encode(failures), '[]', stirred and 1 or 0 }
