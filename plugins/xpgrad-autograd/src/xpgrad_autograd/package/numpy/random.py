"""``numpy.random``; its functions take no arrays whose derivatives are taken."""

import numpy as np

globals().update({name: getattr(np.random, name) for name in dir(np.random) if not name.startswith("_")})
