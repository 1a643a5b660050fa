"""What each route does, in the order of their use: arrivals, the desk, streams, the log, health."""
