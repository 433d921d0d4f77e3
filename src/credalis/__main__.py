"""``python -m credalis`` is the command ``credalis``."""

import sys

from credalis.cli import main

sys.exit(main())
