"""Calls of the public functions and classes, a room for each kind of subject."""
