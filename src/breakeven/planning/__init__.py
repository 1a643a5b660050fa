"""Before there are any data: what to expect of a stream of some kind, and what the paper proves of it.

Reading order: setting, streams, guarantees, plan.
"""
