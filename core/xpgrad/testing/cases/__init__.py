"""The case table, by chapter."""

from xpgrad.testing.case import Case
from xpgrad.testing.cases.arithmetic import CASES as ARITHMETIC
from xpgrad.testing.cases.chains import CASES as CHAINS
from xpgrad.testing.cases.comparison import CASES as COMPARISON
from xpgrad.testing.cases.convolution import CASES as CONVOLUTION
from xpgrad.testing.cases.copying import CASES as COPYING
from xpgrad.testing.cases.creation import CASES as CREATION
from xpgrad.testing.cases.exponential import CASES as EXPONENTIAL
from xpgrad.testing.cases.fft import CASES as FFT
from xpgrad.testing.cases.indexing import CASES as INDEXING
from xpgrad.testing.cases.linalg import CASES as LINALG
from xpgrad.testing.cases.linalg_factors import CASES as LINALG_FACTORS
from xpgrad.testing.cases.linear import CASES as LINEAR
from xpgrad.testing.cases.logical import CASES as LOGICAL
from xpgrad.testing.cases.losses import CASES as LOSSES
from xpgrad.testing.cases.magnitude import CASES as MAGNITUDE
from xpgrad.testing.cases.manipulation import CASES as MANIPULATION
from xpgrad.testing.cases.neural import CASES as NEURAL
from xpgrad.testing.cases.normalization import CASES as NORMALIZATION
from xpgrad.testing.cases.ops import CASES as OPS
from xpgrad.testing.cases.ops_tables import CASES as OPS_TABLES
from xpgrad.testing.cases.pooling import CASES as POOLING
from xpgrad.testing.cases.recurrent import CASES as RECURRENT
from xpgrad.testing.cases.renamed import CASES as RENAMED
from xpgrad.testing.cases.rounding import CASES as ROUNDING
from xpgrad.testing.cases.searching import CASES as SEARCHING
from xpgrad.testing.cases.selection import CASES as SELECTION
from xpgrad.testing.cases.sequences import CASES as SEQUENCES
from xpgrad.testing.cases.sets import CASES as SETS
from xpgrad.testing.cases.special import CASES as SPECIAL
from xpgrad.testing.cases.statistical import CASES as STATISTICAL
from xpgrad.testing.cases.trigonometric import CASES as TRIGONOMETRIC
from xpgrad.testing.cases.windows import CASES as WINDOWS

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
