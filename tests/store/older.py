"""A store as an older version left it."""


def as_version_1(connection):
    """Take a new store back to version 1, which had the log alone."""
    for index in ("about", "beside", "batch"):
        connection.execute(f"DROP INDEX {index}")
    for table in ("token", "session", "person", "owner", "trail", "erased", "arrived"):
        connection.execute(f"DROP TABLE {table}")
    connection.execute("ALTER TABLE entry DROP COLUMN upto")
    connection.execute("CREATE UNIQUE INDEX arrival ON entry (stream, id) WHERE kind = 'Arrived'")
    connection.execute("UPDATE meta SET value = '1' WHERE key = 'schema'")
