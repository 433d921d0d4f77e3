"""What the benchmark sets are, where they come from and how they are derived."""

from collections.abc import Callable
from dataclasses import dataclass

from sklearn.datasets import load_iris, load_wine
from sklearn.utils import Bunch

UCI = "UCI distributes its data under CC BY 4.0 (stated for the repository as a whole)."
SIPU = "Free for research; cite the reference."
EVCLUST = "From the R package evclust, GPL-3."

# The 22 complete proteins with the largest Kruskal-Wallis statistic over the classes.
MICE_PROTEINS = (
    "DYRK1A_N",
    "ITSN1_N",
    "pAKT_N",
    "pERK_N",
    "pMEK_N",
    "pNR2A_N",
    "AKT_N",
    "BRAF_N",
    "SOD1_N",
    "MTOR_N",
    "P38_N",
    "pMTOR_N",
    "NR2B_N",
    "RAPTOR_N",
    "pP70S6_N",
    "pPKCG_N",
    "ARC_N",
    "ERBB4_N",
    "SNCA_N",
    "Ubiquitin_N",
    "pS6_N",
    "CaNA_N",
)
MICE_CLASSES = (("t-SC-m",), ("t-SC-s",), ("t-CS-m", "t-CS-s"))
GLASS_CLASSES = (
    "build wind float",
    "build wind non-float",
    "vehic wind float",
    "containers",
    "tableware",
    "headlamps",
)
BEANS = ("BARBUNYA", "BOMBAY", "CALI", "DERMASON", "HOROZ", "SEKER", "SIRA")


@dataclass(frozen=True, kw_only=True)
class OpenMLSource:
    """A set of openml.org, and the part of it that makes the benchmark set.

    Rows of other classes are left out, then rows that lack more than half of the
    values; then come the named columns or, by default, all without missing values.
    """

    data_id: int
    classes: tuple[tuple[str, ...], ...]  # those merged into label 0, label 1, ...
    columns: tuple[str, ...] | None = None


@dataclass(frozen=True, kw_only=True)
class Benchmark:
    """A benchmark set: its size, its classes, and what to say about it."""

    n_samples: int
    n_features: int | None  # None for a dissimilarity matrix
    target_names: tuple[str, ...]
    description: str
    licence: str
    agreement: str  # is it the set of the NN-EVCLUS paper?
    bundled: Callable[[], Bunch] | None = None
    openml: OpenMLSource | None = None

    @property
    def n_classes(self) -> int:
        """Number of classes of the ground truth."""
        return len(self.target_names)


def _numbers(count: int) -> tuple[str, ...]:
    """Names for classes that have none."""
    return tuple(str(number) for number in range(count))


def _separate(names: tuple[str, ...]) -> tuple[tuple[str, ...], ...]:
    """Every class for itself, none merged."""
    return tuple((name,) for name in names)


CATALOGUE = {
    "wine": Benchmark(
        n_samples=178,
        n_features=13,
        target_names=("class_0", "class_1", "class_2"),
        description="UCI Wine: chemical analysis of wines of three cultivars.",
        licence=UCI,
        agreement="equal",
        bundled=load_wine,
    ),
    "iris": Benchmark(
        n_samples=150,
        n_features=4,
        target_names=("setosa", "versicolor", "virginica"),
        description=(
            "Fisher's iris, the version of R (the UCI copy has two wrong rows)."
        ),
        licence=UCI,
        agreement="equal",
        bundled=load_iris,
    ),
    "ecoli": Benchmark(
        n_samples=307,
        n_features=5,
        target_names=("cp", "im+imU", "pp"),
        description=(
            "UCI Ecoli: five quantitative attributes (mcg, gvh, aac, alm1, alm2) and "
            "the four most frequent classes, im and imU merged."
        ),
        licence=UCI,
        agreement="equal up to the order of the rows",
        openml=OpenMLSource(
            data_id=39,
            classes=(("cp",), ("im", "imU"), ("pp",)),
            columns=("mcg", "gvh", "aac", "alm1", "alm2"),
        ),
    ),
    "heart": Benchmark(
        n_samples=270,
        n_features=13,
        target_names=("absent", "present"),
        description=(
            "UCI Statlog (Heart): heart disease; quantitative and coded categorical "
            "attributes, all taken as numbers."
        ),
        licence=UCI,
        agreement="equal up to the order of the rows",
        openml=OpenMLSource(data_id=53, classes=(("absent",), ("present",))),
    ),
    "glass": Benchmark(
        n_samples=214,
        n_features=9,
        target_names=GLASS_CLASSES,
        description="UCI Glass Identification: refractive index and eight oxides.",
        licence=UCI,
        agreement="not equal: the paper has ten attributes, see glass10",
        openml=OpenMLSource(data_id=41, classes=_separate(GLASS_CLASSES)),
    ),
    "glass10": Benchmark(
        n_samples=214,
        n_features=10,
        target_names=GLASS_CLASSES,
        description=(
            "UCI Glass Identification with the Id of the sample as first attribute. "
            "The Id is sorted by class and leaks the labels: compare on glass instead."
        ),
        licence=UCI,
        agreement="a guess: the numbers of objects, attributes and classes agree",
    ),
    "letters4p1": Benchmark(
        n_samples=4634,
        n_features=16,
        target_names=("A", "B", "C", "D", "I", "N"),
        description="UCI Letter Recognition: the letters A, B, C, D, I and N.",
        licence=UCI,
        agreement=(
            "a guess: the six letters of the paper are not known, and these are the "
            "alphabetically first with 4634 objects; do not compare the numbers"
        ),
        openml=OpenMLSource(data_id=6, classes=_separate(tuple("ABCDIN"))),
    ),
    "s2": Benchmark(
        n_samples=5000,
        n_features=2,
        target_names=_numbers(15),
        description="SIPU S2: 15 Gaussian clusters (Fränti and Virmajoki, 2006).",
        licence=SIPU,
        agreement="equal",
    ),
    "s4": Benchmark(
        n_samples=5000,
        n_features=2,
        target_names=_numbers(15),
        description="SIPU S4: as S2, with more overlap (Fränti and Virmajoki, 2006).",
        licence=SIPU,
        agreement="equal",
    ),
    "d31": Benchmark(
        n_samples=3100,
        n_features=2,
        target_names=_numbers(31),
        description="SIPU D31: 31 Gaussian clusters (Veenman et al., 2002).",
        licence=SIPU,
        agreement="equal",
    ),
    "mice": Benchmark(
        n_samples=507,
        n_features=22,
        target_names=("t-SC-m", "t-SC-s", "t-CS"),
        description=(
            "UCI Mice Protein Expression (Higuera et al., 2015): trisomic mice with "
            "at most half of the values missing, the two t-CS classes merged, and the "
            "22 complete proteins that differ most between the classes. This choice "
            "of the proteins uses the labels."
        ),
        licence=UCI,
        agreement="rows and classes equal, the proteins a guess",
        openml=OpenMLSource(data_id=40966, classes=MICE_CLASSES, columns=MICE_PROTEINS),
    ),
    "mice71": Benchmark(
        n_samples=507,
        n_features=71,
        target_names=("t-SC-m", "t-SC-s", "t-CS"),
        description="The rows of mice with all 71 proteins without missing values.",
        licence=UCI,
        agreement="not in the paper; mice without the choice of proteins",
        openml=OpenMLSource(data_id=40966, classes=MICE_CLASSES),
    ),
    "drybean": Benchmark(
        n_samples=1400,
        n_features=16,
        target_names=BEANS,
        description="UCI Dry Bean (Koklu and Ozkan, 2020): 200 beans of each class.",
        licence=UCI,
        agreement="the same definition, but another random draw",
    ),
    "protein": Benchmark(
        n_samples=213,
        n_features=None,
        target_names=("HA", "HB", "M", "G"),
        description="Structural dissimilarities between globins; symmetric.",
        licence=EVCLUST,
        agreement="equal",
    ),
    "digits_idm": Benchmark(
        n_samples=2000,
        n_features=None,
        target_names=_numbers(10),
        description=(
            "Dissimilarities between handwritten digits (UCI Multiple Features) by the "
            "image distortion model (Keysers et al., 2007). Asymmetric: use the mean "
            "of the matrix and its transpose."
        ),
        licence=UCI,
        agreement="not in the paper; a stand-in for its Zongker set",
    ),
    "fourclass": Benchmark(
        n_samples=400,
        n_features=2,
        target_names=_numbers(4),
        description="Four bivariate t clusters with five degrees of freedom.",
        licence=EVCLUST,
        agreement="equal",
    ),
    "circles": Benchmark(
        n_samples=500,
        n_features=2,
        target_names=("inside", "ring"),
        description="A round cluster of 200 objects inside a ring of 300.",
        licence="Drawn from a description; no restriction is known.",
        agreement="the same description, other parameters and another random draw",
    ),
}
