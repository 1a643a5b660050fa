"""Checks that every learner must pass, importable by others."""
