"""The learner as other libraries expect it: `adapters.sklearn`, `adapters.classifier` and `adapters.river`.

Each module needs its own library, and no other part of breakeven does. Import the one that you want.
"""
