"""What may not be skipped: that which CREDALIS_REQUIRE names."""

import os

# Words of the reasons for which tests are skipped.
REASONS = {
    "browser": ("no Chromium", "playwright", "axe"),
    "data": ("CREDALIS_DATA",),
    "reference": ("CREDALIS_REFERENCE",),
}


def missing(reason):
    """What a test was skipped for although it is required; None: it may be skipped."""
    wanted = os.environ.get("CREDALIS_REQUIRE", "").split(",")
    for name in filter(None, wanted):
        if name not in REASONS:
            raise ValueError(
                f"CREDALIS_REQUIRE must name some of {', '.join(REASONS)}, got {name!r}"
            )
        if any(word in reason for word in REASONS[name]):
            return name
    return None


def insist(report):
    """Turn a report about something skipped into one of failure, if it was required."""
    if not report.skipped or hasattr(report, "wasxfail"):
        return
    detail = report.longrepr
    reason = str(detail[2] if isinstance(detail, tuple) else detail)
    name = missing(reason)
    if name is not None:
        report.outcome = "failed"
        report.longrepr = f"CREDALIS_REQUIRE names {name}, but: {reason}"
