"""The SQL database; the only place that imports SQLAlchemy."""
