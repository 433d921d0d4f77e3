"""
Two doctors disagree: rules of combination
==========================================

Zadeh's famous example. One doctor is all but sure of a meningitis, the other of a
tumour, and both leave one percent for a concussion. Dempster's rule concludes that it
is certainly a concussion, which neither believes in. Is the rule to blame, or the
assumption that both doctors are perfectly reliable? Other rules treat the conflict in
other ways.
"""

# %%
# The two mass functions, and what five rules make of them. Conjunctive combination
# shows the conflict as mass on ∅; Yager keeps it as ignorance, Dubois and Prade as "one
# of the two", and PCR6 gives it back to those who disagree.
import matplotlib.pyplot as plt
import numpy as np

from credalis import CredalPartition, FocalSets
from credalis.belief import combine, discount
from credalis.plots import MassDisplay

sets = FocalSets.full(3)
meningitis, concussion, tumour = (sets.subsets.index((k,)) for k in range(3))
doctors = np.zeros((2, len(sets)))
doctors[0, [meningitis, concussion]] = 0.99, 0.01
doctors[1, [tumour, concussion]] = 0.99, 0.01
rules = ["conjunctive", "dempster", "yager", "dubois_prade", "pcr6"]


def opinions(sources, rules):
    """The sources, and what each rule makes of them, over all subsets."""
    rows = [*sources]
    for rule in rules:
        masses, found = combine(sources[:, None], sets, rule)
        rows.append(np.zeros(len(sets)))
        rows[-1][[sets.subsets.index(each) for each in found.subsets]] = masses[0]
    return CredalPartition(rows, sets)


names = ["doctor 1", "doctor 2", *rules]
MassDisplay.from_partition(
    opinions(doctors, rules), kind="bars", order=None, object_names=names
).plot(title="0 meningitis, 1 concussion, 2 tumour")
plt.show()

# %%
# Nobody is always right. If each doctor errs in one case of ten, a tenth of the mass of
# each says nothing. Dempster's rule then hardly mentions the concussion: the tumour and
# the meningitis are equally likely, and something is left on "any of them".
doubted, _ = discount(doctors, sets, 0.1)
rules = ["dempster", "yager", "dubois_prade", "pcr6", "mean"]
names = ["doctor 1", "doctor 2", *rules]
MassDisplay.from_partition(
    opinions(doubted, rules), kind="bars", order=None, object_names=names
).plot(title="Each doctor errs in one case of ten")
plt.show()
