-- Requests for the same run. Needs flow and record.
-- The same steps as stores/memory/history.py and flow.py, which say why.

function same.key(job, name)
  return job .. '\0' .. name
end

function same.remember(id, job, name, now)
  redis.call('ZADD', P .. 'same:' .. same.key(job, name), now, id)
  redis.call('SADD', P .. 'same_live:' .. same.key(job, name), id)
end

function same.is_answer(row, rule)
  local is_running = row[STATE] == RUNNING
  if rule[same.DEBOUNCED] then
    return not is_running and row[CHARGED] + row[LOST] + row[RETURNED] == 0
  elseif is_running then
    return rule[same.RUNNING]
  end
  return rule[same.PENDING]
end

-- The newest run that answers a request, if one does.
function same.find(new, now)
  local rule = new[same.RULE]
  local key, best = same.key(new[N_JOB], rule[same.NAME]), nil
  local ids = redis.call('SMEMBERS', P .. 'same_live:' .. key)
  fetch(ids)
  for _, id in ipairs(ids) do
    local row = rows[id]
    if not row or row[STATE] > PARKED then
      -- Nobody looks at it again unless it is revived.
      redis.call('SREM', P .. 'same_live:' .. key, id)
    elseif same.is_answer(row, rule) then
      local known = best and rows[best]
      if not known or row[CREATED] > known[CREATED]
        or (row[CREATED] == known[CREATED] and id > best) then
        best = id
      end
    end
  end
  if best or rule[same.WITHIN] == 0 then
    return best
  end
  local since = '(' .. string.format('%d', now - rule[same.WITHIN])
  return redis.call('ZRANGE', P .. 'same:' .. key, '+inf', since, 'BYSCORE', 'REV', 'LIMIT', 0, 1)[1]
end

-- Let a pending execution be what a later request for the same run asks for.
function same.replace(id, new, now, horizon)
  local row, run_at, most = rows[id], new[N_RUN_AT], new[same.RULE][same.MOST]
  if most then
    run_at = math.min(run_at, row[CREATED] + most)
  end
  local gate, limit = new[N_GATE] or false, new[N_LIMIT] or 0
  row[PAYLOAD] = new[N_PAYLOAD] or false
  if row[RUN_AT] == run_at and row[GATE] == gate and row[LIMIT] == limit
    and row[OVERLAP] == new[N_OVERLAP] then
    touch(id) -- it is due whatever comes: it keeps its permits, and its turn
    return
  end
  leave(id, row, WAITING, now)
  release_job(id, row, now)
  lift(id, row)
  local later = new[N_RUN_AT] - run_at
  row[RUN_AT], row[REASON], row[RANK] = run_at, false, new[N_RANK] - later
  row[GATE], row[LIMIT], row[OVERLAP] = gate, limit, new[N_OVERLAP]
  row[EXPIRES] = new[N_EXPIRES] and new[N_EXPIRES] - later
  admit(id, row, now, horizon)
end
