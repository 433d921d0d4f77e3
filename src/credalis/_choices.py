"""What can be chosen in tables and on the command line.

These names stand apart from what uses them, so that help can list them at once.
"""

# How columns are scaled, and what is done about missing values.
SCALINGS = ("standard", "robust", "none")
MISSING = ("error", "drop", "impute")

# What is written about each row.
FIELDS = ("label", "set", "outlier", "ambiguous", "doubt", "plausibilities", "masses")

# Belief in one cluster from which on an object is clear. On sets for choosing, about
# 70 % of the objects of NN-EVCLUS are clear at this level, with 11 to 13 % of wrong
# labels among them against 34 to 35 % among the others.
CLEAR_LEVEL = 0.7
