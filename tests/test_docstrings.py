"""A parameter that several estimators have reads the same in all of them."""

import inspect
from itertools import pairwise
from typing import NamedTuple

import pytest

import credalis
from credalis import metric_learning, model_selection, streaming

ESTIMATORS = {
    name: value
    for module in (credalis, metric_learning, model_selection, streaming)
    for name in module.__all__
    if inspect.isclass(value := getattr(module, name)) and hasattr(value, "fit")
}

# For each parameter that cannot read the same everywhere the reason, and the groups of
# estimators within which it does. Estimators that are not listed are one group.
DIFFERENCES = {
    "alpha": ("what a set of clusters costs depends on the prototypes", "CatECM"),
    "beta": (
        "the power of dissimilarities in the cost; the loss of PCCA has a β of its own",
        "ECMdd MECM MultiviewECMdd",
        "CatECM",
        "PCCA KPCCA",
    ),
    "constraint_weight": ("CECM weighs constraints against the rest of J", "CECM"),
    "covariance_type": ("what has a covariance", "Bootclus", "EGMM"),
    "delta": (
        "what is compared with the distance to noise",
        "MECM",
        "RECM",
        "ECMdd MultiviewECMdd",
        "CatECM",
    ),
    "empty_set": (
        "what leaves mass on ∅ in the fit",
        "EVCLUS NNEVCLUS",
        "Consensus",
    ),
    "eta": ("a weight in the cost of one method", "MECM", "ECMdd"),
    "focal_sets": (
        "the published choice, without Ω; ∅ without mass; members are about clusters",
        "Bootclus",
        "EGMM",
        "Consensus",
    ),
    "gamma": (
        "a weight in the cost of one method, or the width of a kernel",
        "BCM",
        "CCM",
        "MECM",
        "ECMdd",
        "KFDA KPCCA",
    ),
    "hidden_layer_sizes": ('what "auto" stands for', "NNEVCLUS", "Consensus"),
    "init": (
        "what a start consists of",
        "WMVEC",
        "TECM",
        "MECM ECMdd MultiviewECMdd",
        "CatECM",
        "RECM",
        "BPEC",
        "EVCLUS",
        "NNEVCLUS",
        "EkNNclus",
    ),
    "max_iter": (
        "a number chosen by the solver, or a loop that belongs to no start",
        "NNEVCLUS",
        "Consensus",
        "Bootclus",
        "LSI",
        "DMLeig",
    ),
    "metric": (
        "distances of rows, of neighbours, or to prototypes",
        "BCM BPEC CCM CECM ECM",
        "MultiviewECMdd",
        "EkNNclus",
    ),
    "n_clusters": ("the number may be found", "Bootclus", "Consensus", "EGMM"),
    "n_components": (
        'what is counted, and what "auto" stands for',
        "FDA",
        "KFDA",
        "LFDA",
        "LSI DMLeig",
        "PCCA",
        "KPCCA",
        "NNEVCLUS",
        "DissimilarityPCA",
    ),
    "n_init": (
        'what is started, and what "auto" stands for',
        "BPEC",
        "EVCLUS",
        "NNEVCLUS",
        "Bootclus",
        "Consensus",
        "EkNNclus",
        "PCCA KPCCA",
    ),
    "n_jobs": ("what runs at the same time", "Bootclus", "CredalSearchCV"),
    "n_neighbors": ("what neighbours are for", "BPEC", "EkNNclus", "LFDA"),
    "pairs": ("Bootclus has no random partners", "EVCLUS", "Bootclus"),
    "pairs_per_sample": ("what None stands for", "EVCLUS", "NNEVCLUS", "Bootclus"),
    "quantile": ("what is scaled by it", "BPEC", "EkNNclus"),
    "prototypes": ("objects, or categories", "ECMdd", "CatECM"),
    "random_state": (
        "what depends on chance",
        "BPEC",
        "Bootclus",
        "Consensus",
        "LSI DMLeig",
        "NewClusterMonitor",
        "CredalSearchCV",
    ),
    "reg_covar": ("what it is a share of, and the penalty", "Bootclus", "EGMM"),
    "regularization": (
        "what it is relative to, and why it is needed",
        "FDA",
        "LFDA",
        "KFDA",
        "LSI DMLeig",
        "PCCA",
        "KPCCA",
    ),
    "solver": ("each has solvers of its own", "EVCLUS", "NNEVCLUS"),
    "tol": (
        "the symbol of what converges, or another rule",
        "EVCLUS NNEVCLUS Consensus",
        "RECM",
        "Bootclus",
        "EGMM",
        "LSI DMLeig",
        "PCCA KPCCA",
    ),
    "verbose": ("it is that of scikit-learn", "CredalSearchCV"),
    "warm_start": ("what a fit leaves behind", "EVCLUS", "NNEVCLUS"),
    "weight_decay": ("an automatic one is for conflicts that match", "Consensus"),
}


class Entry(NamedTuple):
    """What the documentation of a class says about a parameter."""

    type: str  # without the default
    text: str


def documented_parameters(documented):
    """Entries of the section *Parameters* of a NumPy docstring, by name."""
    section = inspect.getdoc(documented).split("\nParameters\n----------\n")[1]
    entries, names = {}, []
    for line, below in pairwise([*section.splitlines(), ""]):
        if below and set(below) == {"-"}:  # the title of the next section
            break
        if line.startswith(" "):
            for name in names:
                text = f"{entries[name].text} {line.strip()}".lstrip()
                entries[name] = entries[name]._replace(text=text)
        elif line:
            listed, _, described = line.partition(" : ")
            names = listed.split(", ")
            entry = Entry(described.partition(", default=")[0], "")
            entries.update(dict.fromkeys(names, entry))
    return entries


DOCUMENTED = {name: documented_parameters(each) for name, each in ESTIMATORS.items()}


def owners(parameter):
    return {name for name, entries in DOCUMENTED.items() if parameter in entries}


SHARED = sorted(
    parameter
    for parameter in {name for entries in DOCUMENTED.values() for name in entries}
    if len(owners(parameter)) > 1
)


def groups(parameter):
    """Sets of estimators in which a parameter has to read the same."""
    listed = [set(names.split()) for names in DIFFERENCES.get(parameter, ("",))[1:]]
    return [*listed, owners(parameter).difference(*listed)]


@pytest.mark.parametrize("name", ESTIMATORS)
def test_every_parameter_is_documented(name):
    expected = inspect.signature(ESTIMATORS[name]).parameters
    assert list(DOCUMENTED[name]) == list(expected)


@pytest.mark.parametrize("parameter", SHARED)
def test_same_parameter_reads_the_same(parameter):
    """Up to sentences that an estimator adds to what it has in common with others."""
    for group in groups(parameter):
        entries = {name: DOCUMENTED[name][parameter] for name in group}
        common = min((each.text for each in entries.values()), key=len, default="")
        for name, entry in entries.items():
            added = entry.text.removeprefix(common)
            assert entry.text.startswith(common), (name, entry.text, common)
            assert not added or (common[-1] == "." and added[0] == " "), (name, added)
        assert len({each.type for each in entries.values()}) <= 1, entries


def test_declared_differences_exist():
    assert set(DIFFERENCES) <= set(SHARED)
    for parameter in DIFFERENCES:
        declared = groups(parameter)
        assert set().union(*declared) == owners(parameter), parameter
        assert sum(map(len, declared)) == len(owners(parameter)), parameter
        # Two groups that read the same are one.
        texts = [DOCUMENTED[min(group)][parameter] for group in declared if group]
        assert len(set(texts)) == len(texts) > 1, parameter
