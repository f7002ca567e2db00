"""How commands write: tables, bars, times, and advice after an error."""
