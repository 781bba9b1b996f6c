"""The operators of chx arrays."""

from xpgrad_chx.evaluation import infix, inplace, prefix
from xpgrad_chx.memory import Memory


class Arithmetic(Memory):
    """Elementwise operators with the standard's type promotion; Python scalars are weak."""

    __slots__ = ()

    __add__, __radd__ = infix("add"), infix("add", reflected=True)
    __sub__, __rsub__ = infix("sub"), infix("sub", reflected=True)
    __mul__, __rmul__ = infix("mul"), infix("mul", reflected=True)
    __truediv__, __rtruediv__ = infix("truediv"), infix("truediv", reflected=True)
    __floordiv__, __rfloordiv__ = infix("floordiv"), infix("floordiv", reflected=True)
    __mod__, __rmod__ = infix("mod"), infix("mod", reflected=True)
    __pow__, __rpow__ = infix("pow"), infix("pow", reflected=True)
    __matmul__, __rmatmul__ = infix("matmul"), infix("matmul", reflected=True)
    __and__, __rand__ = infix("and_"), infix("and_", reflected=True)
    __or__, __ror__ = infix("or_"), infix("or_", reflected=True)
    __xor__, __rxor__ = infix("xor"), infix("xor", reflected=True)
    __lshift__, __rlshift__ = infix("lshift"), infix("lshift", reflected=True)
    __rshift__, __rrshift__ = infix("rshift"), infix("rshift", reflected=True)

    __eq__ = infix("eq")
    __ne__ = infix("ne")
    __lt__, __le__, __gt__, __ge__ = infix("lt"), infix("le"), infix("gt"), infix("ge")
    __hash__ = object.__hash__

    __neg__, __pos__, __abs__, __invert__ = prefix("neg"), prefix("pos"), prefix("abs"), prefix("invert")

    __iadd__, __isub__, __imul__ = inplace("iadd"), inplace("isub"), inplace("imul")
    __itruediv__, __ifloordiv__, __imod__ = inplace("itruediv"), inplace("ifloordiv"), inplace("imod")
    __ipow__, __iand__, __ior__, __ixor__ = inplace("ipow"), inplace("iand"), inplace("ior"), inplace("ixor")
    __ilshift__, __irshift__ = inplace("ilshift"), inplace("irshift")
