"""Labels and pairs about rows that are read in blocks or held by workers."""

import numpy as np
import pytest
from sklearn.datasets import make_blobs

from credalis import ECM, NNEVCLUS, Consensus
from credalis.checkpoints import Checkpoint
from credalis.cluster._inputs._side_information import KnownRows, check_partial_labels
from credalis.cluster.nnevclus import _blocks as network_blocks
from credalis.cluster.nnevclus._blocks import Known
from credalis.constraints import random_pairs
from credalis.network import BlockTrainer, SideInformation
from credalis.sources import ArraySource, BatchSource

N_CLUSTERS = 4
SMALL = {"n_clusters": N_CLUSTERS, "focal_sets": "singletons", "random_state": 0}


@pytest.fixture(scope="module")
def blobs():
    return make_blobs(
        9000, n_features=3, centers=N_CLUSTERS, cluster_std=1.0, random_state=3
    )


@pytest.fixture(autouse=True)
def short_starts(monkeypatch):
    monkeypatch.setattr("credalis.cluster.nnevclus._blocks._START_UPDATES", 200)
    monkeypatch.setattr("credalis.cluster._framework._fit.SAMPLE_ROWS", 2000)


def masses(model, X):
    return model.predict_partition(X).masses


def rotated_labels(y, n_labels=5):
    """A few labels, the numbers of the clusters turned by one."""
    return {
        int(row): (k + 1) % N_CLUSTERS
        for k in range(N_CLUSTERS)
        for row in np.flatnonzero(y == k)[-n_labels:]
    }


def test_labels_fix_the_numbers_whatever_form_they_have(blobs):
    X, y = blobs
    labels = rotated_labels(y)
    model = NNEVCLUS(**SMALL).fit(ArraySource(X), partial_labels=labels)
    assert (model.predict(X) == (y + 1) % N_CLUSTERS).mean() > 0.97
    assert not hasattr(model, "partition_")
    vector = np.full(len(X), -1)
    vector[list(labels)] = list(labels.values())
    again = NNEVCLUS(**SMALL).fit(ArraySource(X), partial_labels=vector)
    np.testing.assert_array_equal(masses(again, X), masses(model, X))


def test_rows_of_batches_whose_number_is_not_known(blobs):
    X, y = blobs
    source = BatchSource(lambda: iter(np.array_split(X, 7)))
    model = NNEVCLUS(**SMALL).fit(source, partial_labels=rotated_labels(y))
    assert (model.predict(X) == (y + 1) % N_CLUSTERS).mean() > 0.97


def test_pairs_move_the_rows_they_are_about():
    X, y = make_blobs(6000, centers=4, cluster_std=2.5, random_state=3)
    must_link, cannot_link = random_pairs(y, 200, random_state=0)
    settings = dict(SMALL, constraint_weight=10.0, hidden_layer_sizes=20)
    plain = NNEVCLUS(**settings).fit(ArraySource(X)).predict(X)
    model = NNEVCLUS(**settings).fit(
        ArraySource(X), must_link=must_link, cannot_link=cannot_link
    )
    told = model.predict(X)
    n_broken = [
        (labels[must_link[:, 0]] != labels[must_link[:, 1]]).sum()
        + (labels[cannot_link[:, 0]] == labels[cannot_link[:, 1]]).sum()
        for labels in (plain, told)
    ]
    assert n_broken[1] < 0.8 * n_broken[0]


def test_every_block_sees_the_known_rows(blobs, monkeypatch):
    X, y = blobs
    seen = []
    evaluate = BlockTrainer._evaluate

    def evaluated(self, block, parameters, gradient):
        seen.append((block.n_samples, block.n_known))
        return evaluate(self, block, parameters, gradient)

    monkeypatch.setattr(BlockTrainer, "_evaluate", evaluated)
    labels, pair = rotated_labels(y, 2), np.flatnonzero(y == 0)[:2]
    model = NNEVCLUS(**SMALL)
    with monkeypatch.context() as patch:
        # What is left is the pass, without the loss of the sample.
        patch.setattr(network_blocks, "solve", solved_unseen(seen))
        patch.setattr(BlockTrainer, "evaluate", lambda self, parameters: 0.0)
        model.fit(ArraySource(X), partial_labels=labels, must_link=[pair])
    assert len(seen) == 9000 // 200
    assert {n_known for _, n_known in seen} == {2 * N_CLUSTERS + 2}
    # None of the blocks has the known rows among its own.
    assert sum(n_samples for n_samples, _ in seen) == len(X)


def solved_unseen(seen):
    """The start, whose blocks are not counted."""
    solve = network_blocks.solve

    def solved(*arguments, **given):
        outcome = solve(*arguments, **given)
        seen.clear()
        return outcome

    return solved


def test_a_killed_fit_continues_with_the_same_bits(blobs, tmp_path, monkeypatch):
    X, y = blobs
    pair = (0, np.flatnonzero(y != y[0])[0])
    given = {"partial_labels": rotated_labels(y), "cannot_link": [pair]}
    undisturbed = NNEVCLUS(**SMALL).fit(ArraySource(X), **given)
    path = tmp_path / "fit.checkpoint"
    write = Checkpoint.write

    def write_and_die(self, state):
        write(self, state)
        raise InterruptedError

    with monkeypatch.context() as patch:
        patch.setattr(Checkpoint, "write", write_and_die)
        with pytest.raises(InterruptedError):
            NNEVCLUS(**SMALL).fit(ArraySource(X), checkpoint=path, **given)
    other = dict(given, partial_labels=given["partial_labels"] | {7: 0})
    with pytest.raises(ValueError, match="belongs to a fit of other data"):
        NNEVCLUS(**SMALL).fit(ArraySource(X), checkpoint=path, **other)
    with pytest.raises(ValueError, match="belongs to a fit of other data"):
        NNEVCLUS(**SMALL).fit(ArraySource(X), checkpoint=path)
    monkeypatch.setattr(ArraySource, "sample_with", None)
    continued = NNEVCLUS(**SMALL).fit(ArraySource(X), checkpoint=path, **given)
    np.testing.assert_array_equal(masses(continued, X), masses(undisturbed, X))
    # An array with a checkpoint is read in blocks, and keeps its objects.
    array = NNEVCLUS(**SMALL).fit(X, checkpoint=path, **given)
    np.testing.assert_array_equal(array.partition_.masses, masses(undisturbed, X))


def test_partitions_of_dask(blobs):
    dask = pytest.importorskip("dask")
    da = pytest.importorskip("dask.array")
    X, y = blobs
    lazy = da.from_array(X, chunks=(2000, 3))
    pair = np.flatnonzero(y == 2)[:2]
    given = {"partial_labels": rotated_labels(y), "must_link": [pair]}
    with dask.config.set(scheduler="synchronous"):
        model = NNEVCLUS(**SMALL).fit(lazy, **given)
    assert (model.predict(X) == (y + 1) % N_CLUSTERS).mean() > 0.97
    with dask.config.set(scheduler="threads", num_workers=3):
        again = NNEVCLUS(**SMALL).fit(lazy, **given)
    np.testing.assert_array_equal(masses(again, X), masses(model, X))


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"partial_labels": [0, 1]}, "one label for each of the 9000 rows"),
        ({"partial_labels": {9000: 1}}, "row numbers from 0 to 8999, got 9000"),
        ({"partial_labels": {3: 4}}, "clusters from -1 to 3, got 4"),
        ({"partial_labels": {3: True}}, "got True"),
        ({"partial_labels": {"3": 1}}, "got '3'"),
        ({"must_link": [(0, 9000)]}, "must_link must hold row numbers from 0 to 8999"),
        (
            {"must_link": [(70, 800), (800, 9)], "cannot_link": [(70, 9)]},
            r"cannot_link holds \(9, 70\), but must_link joins them: 9-800-70",
        ),
        (
            {"partial_labels": {70: 0, 800: 1}, "must_link": [(70, 800)]},
            "other labels for the linked objects 70 and 800",
        ),
        (
            {"partial_labels": {70: 1, 800: 1}, "cannot_link": [(70, 800)]},
            "the same label for the objects 70 and 800",
        ),
        ({"dissimilarities": np.zeros((2, 2))}, "dissimilarities must be None"),
    ],
)
def test_mistakes_are_told_by_row_numbers(given, message, blobs):
    with pytest.raises(ValueError, match=message):
        NNEVCLUS(**SMALL).fit(ArraySource(blobs[0]), **given)


def test_what_is_not_used_is_refused(blobs, monkeypatch):
    source = ArraySource(blobs[0])
    for model in (ECM(4), Consensus(4)):
        with pytest.raises(ValueError, match="partial_labels must be None for data"):
            model.fit(source, partial_labels={0: 1})
    monkeypatch.setattr("credalis.cluster._framework._fit.MAX_WHOLE", 3)
    with pytest.raises(ValueError, match="about at most 3 rows"):
        NNEVCLUS(4).fit(source, must_link=[(0, 1), (2, 3)])


def test_labels_as_a_mapping_in_memory(blobs):
    X, y = blobs[0][:200], blobs[1][:200]
    rows = [int(np.flatnonzero(y == k)[0]) for k in (2, 0, 3, 1)]
    labels = {row: int(y[row]) for row in rows} | {199: -1}
    objects, clusters = check_partial_labels(labels, 200, 4)
    assert objects.tolist() == sorted(rows)
    assert clusters.tolist() == y[sorted(rows)].tolist()
    vector = np.full(200, -1)
    vector[objects] = clusters
    models = [
        NNEVCLUS(**SMALL, n_init=2).fit(X, partial_labels=given)
        for given in (labels, vector)
    ]
    np.testing.assert_array_equal(masses(models[0], X), masses(models[1], X))


def test_places_in_a_sample():
    known = KnownRows.of(
        10**9, 3, partial_labels={10**8: 2, 5: 0}, must_link=[(7, 10**8)]
    )
    assert known.rows.tolist() == [5, 7, 10**8]
    told = known.among(np.array([1, 5, 7, 8, 10**8]))
    assert told["partial_labels"].tolist() == [-1, 0, -1, -1, 2]
    assert told["must_link"].tolist() == [[2, 4]]
    assert told["cannot_link"].shape == (0, 2)
    other = KnownRows.of(10**9, 3, partial_labels={10**8: 1, 5: 0})
    assert known.fingerprint() != other.fingerprint()


def test_known_rows_of_a_sample():
    sample = np.arange(10.0)[:, None]
    nothing = SideInformation.nothing()
    assert Known.of(sample, nothing) is None
    pairs = np.array([[7, 2]])
    information = SideInformation(
        np.array([3]), np.array([1]), pairs, nothing.cannot_link, 0.5, 1.0
    )
    known = Known.of(sample, information)
    assert known.rows.ravel().tolist() == [2, 3, 7]
    assert known.information.objects.tolist() == [1]
    assert known.information.must_link.tolist() == [[2, 0]]
