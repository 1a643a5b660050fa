"""A store as an older version left it."""


def as_version_1(connection):
    """Take a new store back to version 1, which had the log alone."""
    for index in ("about", "beside"):
        connection.execute(f"DROP INDEX {index}")
    for table in ("token", "session", "person", "owner", "trail", "erased"):
        connection.execute(f"DROP TABLE {table}")
    connection.execute("UPDATE meta SET value = '1' WHERE key = 'schema'")
