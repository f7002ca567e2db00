"""Where jobs and executions are kept; each store in a module of its own."""
