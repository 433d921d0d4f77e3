"""The contract every learner of a metric keeps."""

from sklearn.utils.estimator_checks import parametrize_with_checks

from credalis.metric_learning import FDA, KFDA, KPCCA, LFDA, LSI, PCCA, DMLeig

LEARNERS = [
    FDA(),
    LFDA(),
    LFDA(n_components=1, scaling="orthonormal"),
    KFDA(),
    KFDA(gamma="median", kernel="laplacian"),
    LSI(),
    DMLeig(),
    PCCA(),
    PCCA(n_components=1, regularization=0.1),
    KPCCA(),
    KPCCA(kernel="linear", n_components=1),
]


@parametrize_with_checks(LEARNERS)
def test_scikit_learn_contract(estimator, check):
    check(estimator)
