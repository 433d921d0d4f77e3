"""Names of the methods, for options and their help."""

from credalis._listing import listed_methods

# Without -m: a committee of methods.
DEFAULT = "Consensus"
# For rows with categories or gaps, by what was measured on such tables.
DEFAULT_OF_MIXED = "EVCLUS"

# With weights of rows, which a committee does not take.
DEFAULT_WITH_WEIGHTS = "EVCLUS"

METHODS = [method.name for method in listed_methods()]
FOR_DATA_ALONE = [
    method.name for method in listed_methods() if not method.needs_side_information
]

# Beyond so many rows, methods whose memory or time grows with n² are left out unless
# they are named. A start from belief peaks looks at all pairs.
MAX_ROWS_FOR_ALL = 1000
FOR_MANY_ROWS = [
    method.name
    for method in listed_methods()
    if method.is_for_many_rows
    and not method.is_for_categories
    and not method.is_for_more_tables
    and not method.parameters
]
