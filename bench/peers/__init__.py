"""What users would pick instead: each a script for an environment of its own, printing JSON."""
