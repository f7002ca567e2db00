"""What is measured: each module runs ours and its limit or peer in turn, and judges the ratio."""
