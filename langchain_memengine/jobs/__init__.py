"""Do the queued jobs: a worker, its lease on a job, and a thread for it."""
