"""What the SQL stores share: statements by name, codes of enumerations, rows into records."""
