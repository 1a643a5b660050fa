"""The cases through a learner, round by round, in standardised units that are undone in all that is shown."""
