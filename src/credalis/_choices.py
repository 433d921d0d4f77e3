"""What can be chosen in tables and on the command line.

These names stand apart from what uses them, so that help can list them at once.
"""

# How columns are scaled, and what is done about missing values.
SCALINGS = ("standard", "robust", "none")
MISSING = ("error", "drop", "impute", "pairwise")

# What becomes of dates: one number, or parts of it.
DATE_PARTS = {
    "days": "days since 1970-01-01",
    "year": "years",
    "month": "months 1 to 12",
    "weekday": "days of the week, 0 is Monday",
    "hour": "hours 0 to 23",
}

# What is written about each row.
FIELDS = ("label", "set", "outlier", "ambiguous", "doubt", "plausibilities", "masses")

# Belief in one cluster from which on an object is clear. On sets for choosing, 77 % of
# the objects of NN-EVCLUS are clear at this level, with 14 % of wrong labels among
# them against 31 % among the others.
CLEAR_LEVEL = 0.7
