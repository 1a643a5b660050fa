"""The learner in the clothes of other libraries: `adapters.sklearn` and `adapters.river`.

Each module needs its library, and nothing else of breakeven does; so import the one that you want.
"""
