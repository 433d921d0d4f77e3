"""Random hostile input, each case known by a family and a seed.

``case`` says what a case is and which of its ends are failures, ``values``, ``data``
and ``parameters`` draw what is given to the library, and each family draws calls: the
rooms of ``api``, ``files``, ``tables``, ``kills``, ``disks`` and ``workers``. ``run``
repeats them for as long as one wishes; ``python -m tests.fuzz --replay api:17`` runs a
case alone and says everything about it.
"""
