"""The case table, by chapter."""

from xpgrad_conformance.cases.arithmetic import CASES as ARITHMETIC
from xpgrad_conformance.cases.chains import CASES as CHAINS
from xpgrad_conformance.cases.comparison import CASES as COMPARISON
from xpgrad_conformance.cases.convolution import CASES as CONVOLUTION
from xpgrad_conformance.cases.copying import CASES as COPYING
from xpgrad_conformance.cases.creation import CASES as CREATION
from xpgrad_conformance.cases.exponential import CASES as EXPONENTIAL
from xpgrad_conformance.cases.fft import CASES as FFT
from xpgrad_conformance.cases.indexing import CASES as INDEXING
from xpgrad_conformance.cases.linalg import CASES as LINALG
from xpgrad_conformance.cases.linalg_factors import CASES as LINALG_FACTORS
from xpgrad_conformance.cases.linear import CASES as LINEAR
from xpgrad_conformance.cases.logical import CASES as LOGICAL
from xpgrad_conformance.cases.losses import CASES as LOSSES
from xpgrad_conformance.cases.magnitude import CASES as MAGNITUDE
from xpgrad_conformance.cases.manipulation import CASES as MANIPULATION
from xpgrad_conformance.cases.neural import CASES as NEURAL
from xpgrad_conformance.cases.normalization import CASES as NORMALIZATION
from xpgrad_conformance.cases.ops import CASES as OPS
from xpgrad_conformance.cases.ops_tables import CASES as OPS_TABLES
from xpgrad_conformance.cases.pooling import CASES as POOLING
from xpgrad_conformance.cases.recurrent import CASES as RECURRENT
from xpgrad_conformance.cases.renamed import CASES as RENAMED
from xpgrad_conformance.cases.rounding import CASES as ROUNDING
from xpgrad_conformance.cases.searching import CASES as SEARCHING
from xpgrad_conformance.cases.selection import CASES as SELECTION
from xpgrad_conformance.cases.sequences import CASES as SEQUENCES
from xpgrad_conformance.cases.sets import CASES as SETS
from xpgrad_conformance.cases.special import CASES as SPECIAL
from xpgrad_conformance.cases.statistical import CASES as STATISTICAL
from xpgrad_conformance.cases.trigonometric import CASES as TRIGONOMETRIC
from xpgrad_conformance.cases.windows import CASES as WINDOWS
from xpgrad_conformance.table.case import Case

CASES: tuple[Case, ...] = (
    ARITHMETIC
    + CHAINS
    + COMPARISON
    + CONVOLUTION
    + COPYING
    + CREATION
    + EXPONENTIAL
    + FFT
    + INDEXING
    + LINALG
    + LINALG_FACTORS
    + LINEAR
    + LOGICAL
    + LOSSES
    + MAGNITUDE
    + MANIPULATION
    + NEURAL
    + NORMALIZATION
    + OPS
    + OPS_TABLES
    + POOLING
    + RECURRENT
    + RENAMED
    + ROUNDING
    + SEARCHING
    + SELECTION
    + SEQUENCES
    + SETS
    + SPECIAL
    + STATISTICAL
    + TRIGONOMETRIC
    + WINDOWS
)
