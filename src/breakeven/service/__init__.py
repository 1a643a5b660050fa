"""Decisions over HTTP, and a desk that people label from; needs the extra `service`.

Reading order: routes (the one table of all paths), handlers/ (what each does), live_stream (a learner and its
turn), folded (what a log leads to), to_disk (from a turn to the disk), desk (who labels what), setting_up
(streams from plain data), service (all of them, from start to stop), beside (deadlines, fits and snapshots),
watching (alarms and numbers), access/ (who may do what), pages/ (what people see), app and server (how all of
it is served).
"""
