-- Executions as Python reads them. Needs json, rows.
local function execution_text(id, row)
  local parts = { text(id) }
  for field = PROJECT, REVIVED do
    parts[field + 1] = text(row[field])
  end
  return array(parts)
end
