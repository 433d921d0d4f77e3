"""What commands are called and what they take; what they do is beside this room.

Help and completion need only this, so nothing here imports an estimator.
"""
