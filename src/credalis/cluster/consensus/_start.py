"""From rows to a network that has learned what the committee says about them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import linear_sum_assignment

from credalis import _archive
from credalis._checks import check_squarable
from credalis._progress import Progress, Report
from credalis._warnings import warn_user
from credalis.belief import FocalSets
from credalis.checkpoints import Checkpoint
from credalis.cluster._framework._fit import Outcome, solve
from credalis.cluster._framework._schema import TRAINING, check_training
from credalis.cluster._framework._solution import Solution, reported
from credalis.cluster._inputs._clusters import count_distinct
from credalis.cluster._inputs._geometry import (
    FARTHEST,
    attribute_geometry,
    check_not_negative,
)
from credalis.cluster._inputs._side_information import (
    Transformer,
    side_information,
)
from credalis.cluster._inputs._stray import stray_rows
from credalis.cluster.consensus._choice import Choice
from credalis.cluster.consensus._combination import masses_on
from credalis.cluster.consensus._committee import Committee, Frame, Session
from credalis.cluster.consensus._distillation import (
    Distillation,
    Lesson,
    chunk_of,
    lesson_cost,
    lesson_of,
    taught,
)
from credalis.cluster.consensus._members import MEMBERS, convene, default_members
from credalis.cluster.consensus._n_clusters import choose_n_clusters, default_numbers
from credalis.cluster.consensus._relation import Relation
from credalis.cluster.consensus._structure import (
    LEVEL,
    can_be_seen,
    structure_decision,
)
from credalis.cluster.consensus._student import Student
from credalis.cluster.nnevclus._blocks import run_passes, stored_state
from credalis.cluster.nnevclus._training import TrainingState, check_finite_loss
from credalis.dissimilarity import Gower, check_dissimilarities
from credalis.exceptions import NoClustersWarning, StrayRowsWarning
from credalis.metric_learning import DissimilarityPCA
from credalis.network import SideInformation, Standardization, with_constant
from credalis.sources import DaskSource, Source

if TYPE_CHECKING:
    from credalis.cluster.consensus._consensus import Consensus

Array = NDArray[np.float64]
Indices = NDArray[np.intp]


@dataclass(frozen=True, eq=False)
class ConsensusProblem:
    """What all starts of the network share.

    Attributes
    ----------
    X : array of shape (n_samples, n_inputs)
        Rows, or what the network sees of objects that are given by dissimilarities.
    settings : Distillation
        How to train.
    session : Session
        What the committee says.
    rows : array of int
        Which rows the committee has clustered.
    singletons, frame : array of shape (n_samples, n_clusters) and (n_samples,)
        Its evidence about all rows.
    information : SideInformation
        Labels and pairs.
    is_taught : array of bool, shape (n_samples,)
        Rows that the network learns from.
    transformer : object or None
        What has made X of the rows.
    embedding : DissimilarityPCA or None
        What has made X of dissimilarities to the rows of the committee.
    """

    X: Array
    settings: Distillation
    session: Session
    rows: Indices
    singletons: Array
    frame: Array
    information: SideInformation
    is_taught: NDArray[np.bool_]
    transformer: Transformer | None
    embedding: DissimilarityPCA | None

    def fitted_attributes(self) -> dict[str, Any]:
        """What leads from the rows of X to the inputs of the network."""
        found: dict[str, Any] = {"transformer_": self.transformer}
        if self.embedding is not None:
            found |= {"embedding_": self.embedding, "references_": self.rows}
        return found


@dataclass(frozen=True, eq=False)
class StudentSolution(Solution):
    """A solution that is a network.

    Attributes
    ----------
    student : Student
        What gives the masses.
    session : Session
        Whom it has learned from.
    """

    student: Student = field(kw_only=True)
    session: Session = field(kw_only=True)

    def attributes(self) -> dict[str, Any]:
        """Fitted attributes, without those about single objects."""
        return (
            super().attributes()
            | self.student.fitted_attributes()
            | self.session.fitted_attributes()
        )

    def renumbered(
        self, new_labels: Indices, columns: Indices, focal_sets: FocalSets
    ) -> StudentSolution:
        """The same with the outputs of the network in their new order."""
        solution = super().renumbered(new_labels, columns, focal_sets)
        committee = self.session.committee.renamed(new_labels)
        return replace(
            solution,
            student=self.student.renumbered(columns, focal_sets),
            session=replace(self.session, committee=committee),
        )


def prepare(
    estimator: Consensus,
    X: Array,
    rng: np.random.RandomState,
    *,
    partial_labels: Any = None,
    must_link: Any = None,
    cannot_link: Any = None,
) -> ConsensusProblem:
    """Check side information, convene the committee, extend it to all rows."""
    n_clusters, choice = estimator.n_clusters, None
    information = side_information(
        partial_labels,
        must_link,
        cannot_link,
        n_samples=len(X),
        n_clusters=len(X) if isinstance(n_clusters, str) else n_clusters,
        label_weight=estimator.label_weight,
        constraint_weight=estimator.constraint_weight,
    )
    relation, compared, transformer = _compared(estimator, X, information, rng)
    is_taught = np.ones(len(X), dtype=bool)
    if relation is None:
        is_taught = _not_stray(compared, n_clusters, information)
    if isinstance(n_clusters, str):
        choice = _chosen_number(estimator, compared, information, rng)
        n_clusters = choice.n_clusters
    if estimator.committee_size < n_clusters:
        raise ValueError(
            "committee_size must be at least n_clusters, got committee_size="
            f"{estimator.committee_size} and n_clusters={n_clusters}"
        )
    rows = _chosen_rows(len(X), estimator.committee_size, information, rng)
    rows = rows[is_taught[rows]]
    if estimator._is_precomputed:
        compared = compared[:, rows]
    members = _members(estimator)
    progress = Progress(
        type(estimator).__name__,
        stage="members",
        n_runs=1,
        max_iter=len(members) + 1,
        enabled=bool(estimator.verbose),
    )
    session = convene(
        compared[rows],
        n_clusters,
        members,
        rng,
        has_gate=estimator.adequacy_gate,
        report=lambda done, failed: progress.report(0, done, failed),
        relation=relation,
    )
    progress.close()
    committee = session.committee
    singletons, frame = _evidence(committee, compared, rows, is_taught)
    if information.has_labels:
        names = named_by_labels(
            singletons[information.objects], information.labels, n_clusters
        )
        session = replace(session, committee=committee.renamed(names))
        singletons = singletons[:, np.argsort(names)]
        # Nothing that a committee says is evidence against a known label.
        singletons[information.objects] = 0.0
        singletons[information.objects, information.labels] = 1.0
        frame[information.objects] = 0.0
    embedding, inputs = None, compared
    if estimator._is_precomputed:
        embedding = DissimilarityPCA().fit(compared[rows])
        # Rows as they are given, since prediction has no columns to average with.
        inputs = embedded(embedding, X[:, rows])
    p_value = None
    if not (information.has_labels or information.has_constraints):
        # Last of all: what it draws moves nothing else.
        p_value = _structure_p_value(session, choice, rng)
    n_stray = int(np.count_nonzero(~is_taught))
    session = replace(session, choice=choice, p_value=p_value, n_stray=n_stray)
    return ConsensusProblem(
        inputs,
        Distillation.of(estimator, len(X)),
        session,
        rows,
        singletons,
        frame,
        information,
        is_taught,
        transformer,
        embedding,
    )


def _not_stray(
    X: Array, n_clusters: int | str, information: SideInformation
) -> NDArray[np.bool_]:
    """Rows on which clusters can be built: not those far away from all others.

    A single wrong cell would be a cluster of its own. Rows about which something is
    known stay, and so do all if there were fewer than clusters without them.
    """
    is_kept = np.ones(len(X), dtype=bool)
    is_kept[stray_rows(X)] = False
    for known in (information.objects, information.must_link, information.cannot_link):
        is_kept[known.ravel()] = True
    wanted = 2 if isinstance(n_clusters, str) else n_clusters
    if not is_kept.all() and count_distinct(X[is_kept], wanted) < wanted:
        is_kept[:] = True
    return is_kept


def _evidence(
    committee: Committee, X: Array, rows: Indices, is_taught: NDArray[np.bool_]
) -> tuple[Array, Array]:
    """Masses on single clusters and on Ω of all rows that the network learns from."""
    if len(rows) < np.count_nonzero(is_taught):
        return committee.evidence(X)
    singletons, frame = np.zeros((len(X), committee.n_clusters)), np.ones(len(X))
    singletons[rows], frame[rows] = committee.own_evidence()
    return singletons, frame


def _members(estimator: Consensus) -> Sequence[Any]:
    """Who is asked."""
    if not isinstance(estimator.members, str):
        return estimator.members
    return default_members(by_dissimilarities=estimator._compares)


def _compared(
    estimator: Consensus,
    X: Array,
    information: SideInformation,
    rng: np.random.RandomState,
) -> tuple[Relation | None, Array, Transformer | None]:
    """How rows are compared, if not by their coordinates; the rows; a transformer."""
    if estimator._is_precomputed:
        matrix = check_dissimilarities(X, symmetrize=estimator.symmetrize)
        if not matrix.any():
            raise ValueError(
                "X must hold objects that differ, all dissimilarities are 0"
            )
        check_squarable("the largest entry of X", float(matrix.max()))
        return Relation("precomputed"), matrix, None
    geometry, transformer = attribute_geometry(
        X, estimator._own_metric, rng, information
    )
    relation = None if geometry.is_euclidean else Relation(geometry.metric)
    return relation, geometry.values, transformer


def embedded(embedding: DissimilarityPCA, X: Array) -> Array:
    """What a network sees of dissimilarities to the rows of the committee."""
    check_not_negative(X)
    return embedding.transform(np.minimum(X, FARTHEST))


def _chosen_number(
    estimator: Consensus,
    X: Array,
    information: SideInformation,
    rng: np.random.RandomState,
) -> Choice:
    """The number of clusters, at least that of the known labels."""
    n_known = int(information.labels.max()) + 1 if information.has_labels else 0
    members, has_gaps = _members(estimator), False
    if estimator._compares:
        # By the columns of the table: dissimilarities have neither BIC nor a test.
        metric = estimator._own_metric
        members = MEMBERS
        if isinstance(metric, Gower):
            X, has_gaps = metric.without_gaps(X), bool(metric.categories)
    numbers, largest = default_numbers(X, max(2, n_known))
    return choose_n_clusters(
        X,
        numbers,
        members,
        rng,
        # Between rows with categories there are gaps anyhow.
        may_be_one=n_known < 2 and not has_gaps,
        method=type(estimator).__name__,
        is_verbose=bool(estimator.verbose),
        largest=largest,
    )


def _structure_p_value(
    session: Session, choice: Choice | None, rng: np.random.RandomState
) -> float | None:
    """Of the test for groups of rows; None if it has nothing to say about them."""
    committee = session.committee
    if not isinstance(committee.frame, Frame):
        # Rows without coordinates.
        return None
    if choice is not None:
        return choice.p_value
    n_clusters = committee.n_clusters
    if n_clusters == 1 or not can_be_seen(len(committee.rows), n_clusters):
        return None
    return structure_decision(committee.frame(committee.rows), rng)


def named_by_labels(singletons: Array, labels: Indices, n_clusters: int) -> Indices:
    """The number of each cluster with which the evidence fits known labels best.

    Parameters
    ----------
    singletons : array of shape (n_labelled, n_clusters)
        Masses on single clusters.
    labels : array of int, shape (n_labelled,)
        Known clusters of the same rows.
    n_clusters : int
        Number of clusters.

    Returns
    -------
    array of int, shape (n_clusters,)
    """
    fit = singletons.T @ np.eye(n_clusters)[labels]
    return linear_sum_assignment(fit, maximize=True)[1]


def solve_start(
    problem: ConsensusProblem,
    focal_sets: FocalSets,
    rng: np.random.RandomState,
    report: Report,
) -> StudentSolution:
    """A network trained from random weights on rows in memory."""
    targets = masses_on(problem.singletons, problem.frame, focal_sets)
    X, information, first_rows = problem.X, problem.information, problem.rows
    if not problem.is_taught.all():
        places = np.flatnonzero(problem.is_taught)
        X, targets = X[places], targets[places]
        information = information.restricted(places, len(problem.X))
        first_rows = np.searchsorted(places, first_rows)
    standardize = Standardization.of(X)
    lesson = Lesson(
        with_constant(standardize(X)),
        np.ascontiguousarray(targets.T),
        focal_sets,
        information,
    )
    network, trace = taught(lesson, problem.settings, first_rows, rng, report)
    student = Student(network, trace.state, focal_sets, standardize)
    return StudentSolution(
        student.masses(problem.X),
        trace,
        is_interrupted=trace.interrupted,
        other=problem.fitted_attributes(),
        focal_sets=focal_sets,
        student=student,
        session=problem.session,
    )


def _check_distillation(owner: str, entries: _archive.Entries) -> None:
    student, committee = entries["student"], entries["session"].committee
    n_features = len(student.standardize.mean)
    check_training(owner, entries, n_features, len(student.parameters))
    n_clusters = student.focal_sets.n_clusters
    if committee.n_clusters != n_clusters or committee.rows.shape[1] != n_features:
        raise ValueError(
            f"{owner}.session must be about the {n_clusters} clusters and "
            f"{n_features} features of its student"
        )


CHECKPOINT = TRAINING.extended(
    {"student": _archive.Instance(Student), "session": _archive.Instance(Session)},
    None,
    _check_distillation,
)


def start_blocks(
    estimator: Consensus, sample: Array, seeds: NDArray[np.integer]
) -> dict[str, Any]:
    """Committee and network from a sample."""
    rng = np.random.RandomState(int(seeds[0]))
    outcome = solve(estimator, sample, rng, is_quiet=True)
    solution = outcome.solution
    assert isinstance(solution, StudentSolution)
    if solution.is_interrupted:
        # Half a start is none, least of all one to continue from.
        raise KeyboardInterrupt
    settings = Distillation.of(estimator, len(sample), "blocks")
    state = TrainingState(solution.student.parameters.astype(settings.dtype))
    fixed = {
        "student": solution.student,
        "session": solution.session,
        "sample": sample,
        "seeds": seeds[1:],
    }
    return fixed | stored_state(state)


def train_blocks(
    estimator: Consensus,
    source: Source,
    stored: dict[str, Any],
    checkpoint: Checkpoint | None,
) -> Outcome:
    """Passes over the source: the committee says the masses, the network learns."""
    assert source.n_rows is not None
    names = ("student", "session", "sample", "seeds", "n_rows")
    fixed = {name: stored[name] for name in names}
    student, session, sample = stored["student"], stored["session"], stored["sample"]
    mode = "partitions" if isinstance(source, DaskSource) else "blocks"
    settings = Distillation.of(estimator, source.n_rows, mode)
    targets_of = partial(committee_masses, session.committee, student.focal_sets)
    with reported(estimator, settings.max_iter) as progress:
        state = run_passes(
            source,
            partial(chunk_of, student, targets_of),
            settings,
            stored,
            fixed,
            checkpoint,
            progress,
        )
    trace = state.trace()
    student = replace(student, parameters=trace.state)
    lesson = lesson_of(student, targets_of, sample, np.float64)
    loss, _ = lesson_cost(
        student.network, lesson, lesson.objective(), student.parameters
    )
    check_finite_loss(loss, state.n_steps)
    solution = StudentSolution(
        student.masses(sample),
        trace,
        other={"loss_": loss},
        is_interrupted=state.is_interrupted,
        focal_sets=student.focal_sets,
        student=student,
        session=session,
    )
    return Outcome(
        solution,
        student.focal_sets,
        settings.max_iter,
        sample,
        check=partial(warn_of_session, session),
    )


def warn_of_session(session: Session) -> None:
    """Warn of members that are missing, of stray rows, of data without clusters."""
    choice, n_clusters = session.choice, session.committee.n_clusters
    if session.n_stray:
        warn_user(
            f"X holds {stray_text(session.n_stray)}. Look among the outliers: are all "
            "cells right?",
            StrayRowsWarning,
        )
    if choice is not None and choice.n_clusters == 1:
        warn_user(
            f"X seems to have no clusters: {choice.finding}. All objects are in one; "
            "give n_clusters to divide them anyway, for example "
            f"n_clusters={choice.best_number}",
            NoClustersWarning,
        )
    elif choice is None and session.p_value is not None and session.p_value > LEVEL:
        warn_user(
            f"X shows no sure gaps between groups (p = {session.p_value:.2g}, "
            f"{LEVEL:g} is asked for): the {n_clusters} clusters may only divide one "
            "group, unless they are small or overlap. "
            "credalis.model_selection.suggest_n_clusters(X), or -c auto on the command "
            "line, says more",
            NoClustersWarning,
        )
    for name, reason in session.failures.items():
        warn_user(f"member {name} was left out, it failed: {reason}", UserWarning)


def stray_text(n_stray: int) -> str:
    """What is said of rows that no member was asked about."""
    rows = "1 row that is" if n_stray == 1 else f"{n_stray} rows that are"
    return (
        f"{rows} so far away from all others that the clusters were found without "
        f"{'it' if n_stray == 1 else 'them'}"
    )


def committee_masses(committee: Committee, focal_sets: FocalSets, X: Array) -> Array:
    """What a committee says about any rows, (n_samples, n_focal_sets)."""
    return masses_on(*committee.evidence(X), focal_sets)


def _chosen_rows(
    n_samples: int,
    committee_size: int,
    information: SideInformation,
    rng: np.random.RandomState,
) -> Indices:
    """Rows for the committee: drawn at random, labelled ones first."""
    if n_samples <= committee_size:
        return np.arange(n_samples)
    order = rng.permutation(n_samples)
    is_known = np.zeros(n_samples, dtype=bool)
    is_known[information.objects] = True
    # Half of the committee's rows at most: labels may be from one corner of the data.
    known = order[is_known[order]][: committee_size // 2]
    others = order[~is_known[order]][: committee_size - len(known)]
    return np.sort(np.concatenate([known, others]))
