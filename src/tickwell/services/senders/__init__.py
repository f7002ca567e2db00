"""Jobs that send what Tickwell itself reports, as executions like any other."""
