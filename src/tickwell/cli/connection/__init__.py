"""What commands talk to: a store in this process, or a server over HTTP."""
