"""The ranking lab: turn the knobs of a ranking and see what becomes of the order, and why."""
