"""How commands read: options of jobs, times, pages, names completed by the shell."""
