"""CuPy's kernels, by chapter. Launches dominate the time of small arrays, so fewer launches are faster.

The kernels of gradients (``f.x``) round as the formulas do, product by product: they are compiled without contraction
(``--fmad=false``), so that raw and recorded sweeps give the same bits.
"""

from xpgrad_cupy.kernels.elementwise import ELEMENTWISE
from xpgrad_cupy.kernels.gathers import GATHERS
from xpgrad_cupy.kernels.neural import NEURAL
from xpgrad_cupy.kernels.random import RANDOM
from xpgrad_cupy.kernels.statistical import STATISTICAL

KERNELS = {**ELEMENTWISE, **GATHERS, **NEURAL, **RANDOM, **STATISTICAL}
