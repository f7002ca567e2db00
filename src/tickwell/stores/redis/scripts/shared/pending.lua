-- What a change does to those executions of its job that have not started. Needs flow.
-- The same steps as stores/memory/pending.py.

local function is_taken_back(row, pending, now)
  local earlier = row[ATTEMPT] - (row[STATE] == RUNNING and 1 or 0)
  if row[KIND] ~= FIRE or earlier > 0 then
    return false
  end
  return pending ~= 'restamp' or row[FIRE_TIME] > now
end

-- Ask for what is claimed ahead of its instant, as far as it would have been taken back.
local function call_off(ids, pending, now)
  local asked = 0
  for _, id in ipairs(ids) do
    local row = rows[id]
    if row[STATE] == RUNNING and row[RUN_AT] > now then
      row[CALLED_OFF] = is_taken_back(row, pending, now)
      touch(id)
      if row[CALLED_OFF] or pending == 'end' then
        row[CANCEL] = true
        asked = asked + 1
      end
    end
  end
  return asked
end

local function keep(id, row, entry, pending, limits, now)
  if pending == 'restamp' then
    restamp(id, row, entry, limits[id])
  elseif pending == 'end' then
    conclude(id, row, CANCELLED, 'job deleted', now)
  else
    hold(id, row, now)
  end
end

-- Skip the fires at these times, to be planned anew; how many.
local function recall(job, fire_times, now)
  local ids, named, taken, gates = of_job('live', job), {}, {}, {}
  fetch(ids)
  for _, fire_time in ipairs(fire_times) do
    named[fire_time] = true
  end
  for _, id in ipairs(ids) do
    local row = rows[id]
    local is_untried = row[STATE] ~= RUNNING and row[CHARGED] + row[LOST] + row[RETURNED] == 0
    if row[KIND] == FIRE and named[row[FIRE_TIME]] and is_untried then
      taken[#taken + 1] = id
      -- None of them may inherit the permit of another that ends in this same step.
      move(id, row, WAITING)
    end
  end
  for _, id in ipairs(taken) do
    if rows[id][GATE] then
      gates[#gates + 1] = rows[id][GATE]
    end
    conclude(id, rows[id], SKIPPED, 'misfire', now)
  end
  table.sort(gates)
  for _, gate in ipairs(gates) do
    let_in(gate, now)
  end
  return #taken
end

-- How many were withdrawn, and how many are asked to give up.
local function change_pending(job, pending, recalled, limits, now)
  if pending == 'release' then
    release(job, now)
  end
  if pending == 'keep' or pending == 'release' then
    return 0, 0
  end
  if pending == 'recall' then
    return recall(job, recalled, now), 0
  end
  local ids, withdrawn, kept, gates = of_job('live', job), {}, {}, {}
  fetch(ids)
  for _, id in ipairs(ids) do
    if rows[id][STATE] ~= RUNNING then
      local chosen = is_taken_back(rows[id], pending, now) and withdrawn or kept
      chosen[#chosen + 1] = id
    end
  end
  for _, id in ipairs(withdrawn) do
    -- None of them may inherit the permit of another that ends in this same step.
    move(id, rows[id], WAITING)
  end
  for _, id in ipairs(kept) do
    keep(id, rows[id], entries[job], pending, limits, now)
    if rows[id][GATE] then
      gates[#gates + 1] = rows[id][GATE]
    end
  end
  for _, id in ipairs(withdrawn) do
    if rows[id][GATE] then
      gates[#gates + 1] = rows[id][GATE]
    end
    withdraw(id, rows[id], now)
  end
  table.sort(gates)
  for _, gate in ipairs(gates) do
    let_in(gate, now) -- a limit may have been raised, or the first have been withdrawn
  end
  return #withdrawn, call_off(ids, pending, now)
end
