"""The estimators, a room for each family.

- ``_framework``: what every method shares. `BaseCredalClusterer` has the public verbs
  and names what a method must say; ``_fit`` is the one route from X to fitted
  attributes; ``_registry`` knows all estimators.
- ``_inputs``: what methods make of X and of what is known about it: dissimilarities and
  their scale, labels and pairs, hard clusters and seeds.
- ``nnevclus``, ``evclus``, ``prototypes`` (ECM, CCM, BCM, CECM, BPEC, EGMM, WMVEC,
  TECM, CatECM), ``relational`` (RECM, ECMdd, MECM, MultiviewECMdd), ``votes``
  (EkNNclus), ``bootstrap`` (Bootclus): the methods.
- ``consensus``: a committee of methods, and a network that learns its evidence.

A room imports from ``_framework``, ``_inputs`` and lower layers; ``nnevclus`` also from
``evclus``, which can find its seeds; ``consensus`` from ``prototypes``, which holds a
member, and from ``nnevclus``, which trains networks. A new method is one file in a room
and one line below.
"""

from credalis.cluster._framework._estimator import (
    BaseCredalClusterer as BaseCredalClusterer,
)
from credalis.cluster._framework._registry import estimator_classes as estimator_classes
from credalis.cluster._framework._registry import named_estimators as named_estimators

# isort: off
# In the order in which they are listed wherever all of them are.
from credalis.cluster.nnevclus._nnevclus import NNEVCLUS as NNEVCLUS
from credalis.cluster.evclus._evclus import EVCLUS as EVCLUS
from credalis.cluster.prototypes._ecm import ECM as ECM
from credalis.cluster.relational._recm import RECM as RECM
from credalis.cluster.prototypes._ccm import CCM as CCM
from credalis.cluster.prototypes._bcm import BCM as BCM
from credalis.cluster.relational._ecmdd import ECMdd as ECMdd
from credalis.cluster.relational._mecm import MECM as MECM
from credalis.cluster.relational._multiview import MultiviewECMdd as MultiviewECMdd
from credalis.cluster.prototypes._bpec import BPEC as BPEC
from credalis.cluster.votes._eknnclus import EkNNclus as EkNNclus
from credalis.cluster.bootstrap._bootclus import Bootclus as Bootclus
from credalis.cluster.prototypes._egmm import EGMM as EGMM
from credalis.cluster.prototypes._wmvec import WMVEC as WMVEC
from credalis.cluster.prototypes._tecm import TECM as TECM
from credalis.cluster.prototypes._catecm import CatECM as CatECM
from credalis.cluster.consensus._consensus import Consensus as Consensus
from credalis.cluster.prototypes._cecm import CECM as CECM

# isort: on

# Not by assignment: a type checker that cannot evaluate the list would take it for
# empty; without one, it takes all names above as public, which they are.
globals()["__all__"] = [
    "BaseCredalClusterer",
    "estimator_classes",
    "named_estimators",
    *(cls.__name__ for cls in estimator_classes()),
]
