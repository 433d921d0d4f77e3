"""From the columns of a table to masses: preparation and estimator in one model.

`TabularModel` is what ``credalis cluster --model`` saves: which columns were used, how
they were scaled, which categories they had, what stood in for missing values, and the
fitted estimator.
"""

from credalis._choices import FIELDS, MISSING, SCALINGS
from credalis.tabular._columns import Columns, choose_columns, read_columns
from credalis.tabular._decisions import decide
from credalis.tabular._frames import as_arrow
from credalis.tabular._memberships import membership_batch, membership_schema
from credalis.tabular._model import TabularModel
from credalis.tabular._preparation import (
    Preparation,
    Prepared,
    missing_counts,
    prepare,
)
from credalis.tabular._readings import in_words
from credalis.tabular._transformer import TablePreparation, known_columns

__all__ = [
    "FIELDS",
    "MISSING",
    "SCALINGS",
    "Columns",
    "Preparation",
    "Prepared",
    "TablePreparation",
    "TabularModel",
    "as_arrow",
    "choose_columns",
    "decide",
    "in_words",
    "known_columns",
    "membership_batch",
    "membership_schema",
    "missing_counts",
    "prepare",
    "read_columns",
]
