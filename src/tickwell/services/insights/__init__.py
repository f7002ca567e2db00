"""What pages show of many records at once, each read at a bounded cost."""
