"""HTTP around the operations: routes, preconditions, limits on connections and bodies."""
