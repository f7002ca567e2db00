"""Jobs, triggers, executions and the rules they follow: pure, standard library only."""
