"""Attributes of other libraries' arrays that a Variable lacks: the AttributeError names the function to use instead.

For misspelled methods Python itself suggests the name.
"""

from xpgrad import array_api, hints
from xpgrad.graph.methods.convertible import Convertible
from xpgrad.graph.variable import Variable

ADVICE = {
    # in place, or about memory
    "add_": "v += u",
    "at": "v[i] = u, or xpgrad.ops.scatter_add",
    "base": "v.array.base",
    "byteswap": "v.array.byteswap()",
    "compress": "xpgrad.array_api.take(v, i, axis=axis)",
    "copy_": "v[...] = u",
    "ctypes": "v.array.ctypes",
    "data_ptr": "v.array.data_ptr()",
    "div_": "v /= u",
    "dump": "v.array.dump(file)",
    "dumps": "v.array.dumps()",
    "fill": "v[...] = value",
    "fill_": "v[...] = value",
    "flags": "v.array.flags",
    "flat": "v.ravel()",
    "getfield": "v.array.getfield(dtype)",
    "itemset": "v[i] = value",
    "itemsize": "v.array.itemsize",
    "mul_": "v *= u",
    "nbytes": "v.array.nbytes",
    "partition": "xpgrad.ops.partition(v, k), which returns a new array",
    "put": "v[i] = values",
    "resize": "v.reshape(shape), or xpgrad.ops.pad",
    "setfield": "v[...] = value",
    "setflags": "v.array.setflags()",
    "sort": "xpgrad.array_api.sort(v), which returns a new array",
    "strides": "v.array.strides",
    "sub_": "v -= u",
    "tobytes": "v.array.tobytes()",
    "tofile": "v.array.tofile(file)",
    "zero_": "v[...] = 0",
    # Names from PyTorch and other libraries
    "H": "v.mT.conj()",
    "bmm": "v @ u",
    "bool": "v.astype(dtype)",
    "clone": "v.copy()",
    "contiguous": "v.copy()",
    "cpu": "v.to_cpu()",
    "cuda": "v.to_gpu()",
    "dim": "v.ndim",
    "double": "v.astype(dtype)",
    "expand": "xpgrad.array_api.broadcast_to(v, shape=shape)",
    "float": "v.astype(dtype)",
    "gather": "xpgrad.array_api.take_along_axis(v, i, axis=axis)",
    "grad_fn": "v.creator",
    "half": "v.astype(dtype)",
    "int": "v.astype(dtype)",
    "is_leaf": "v.creator is None",
    "long": "v.astype(dtype)",
    "masked_fill": "xpgrad.array_api.where(mask, value, v)",
    "mm": "v @ u",
    "mul": "v * u",
    "norm": "xpgrad.array_api.linalg.vector_norm(v)",
    "numel": "v.size",
    "permute": "v.transpose(axes)",
    "ptp": "v.max() - v.min()",
    "requires_grad_": "xpgrad.Variable(v.array, requires_grad=True)",
    "retain_grad": "y.backward(retain_grad=True)",
    "stop_gradient": "v.detach()",
    "sub": "v - u",
    "t": "v.T",
    "to": "v.to_device(device), or v.astype(dtype)",
    "type": "v.astype(dtype)",
    "unsqueeze": "xpgrad.array_api.expand_dims(v, axis=axis)",
    "view": "v.reshape(shape)",
    "zero_grad": "v.cleargrad()",
}
OF_OPS = (
    "angle", "argpartition", "bincount", "cov", "corrcoef", "deg2rad", "diag", "index_add", "kron", "logit", "median",
    "nan_to_num", "nanmax", "nanmean", "nanmin", "nansum", "nanvar", "one_hot", "pad", "percentile", "quantile",
    "rad2deg", "scatter_add", "sinc",
)  # fmt: skip
"""Functions of `xpgrad.ops`, which is not imported for their names."""
OF_FUNCTIONS = (
    "absolute", "arccos", "arcsin", "arctan", "arctan2", "arctanh", "batch_inv", "batch_matmul", "broadcast", "cast",
    "clipped_relu", "crelu", "digamma", "dropout", "dstack", "einsum", "elu", "erf", "erfc", "erfcinv", "erfcx",
    "erfinv", "fix", "fliplr", "flipud", "fmod", "get_item", "hard_sigmoid", "hinge", "hstack", "huber_loss",
    "identity", "layer_normalization", "leaky_relu", "lgamma", "linear", "log_ndtr", "log_softmax", "logsumexp",
    "maxout", "mean_squared_error", "ndtr", "ndtri", "normalize", "polygamma", "prelu", "relu", "relu6", "rollaxis",
    "rsqrt", "select_item", "selu", "separate", "sigmoid", "softmax", "softmax_cross_entropy", "softplus",
    "split_axis", "squared_error", "swish", "vstack", "zeta",
)  # fmt: skip
"""Functions of `xpgrad.functions`, which is not imported for their names, that may be looked for in an array."""


def table() -> dict[str, str]:
    """Return the replacement of each name, with functions of the standard preferred to Chainer's functions."""
    found = {name: f"xpgrad.functions.{name}(v)" for name in OF_FUNCTIONS}
    found |= {name: f"xpgrad.ops.{name}(v)" for name in OF_OPS}
    for chapter in ("linalg", "fft"):
        names = getattr(array_api, chapter).__all__
        found |= {name: f"xpgrad.array_api.{chapter}.{name}(v)" for name in names}
    found |= {name: f"xpgrad.array_api.{name}(v)" for name in array_api.__all__}
    found |= ADVICE
    return {name: advice for name, advice in found.items() if not hasattr(Variable, name)}


def bind() -> None:
    """Give Variable the descriptors, and a `dir` without their names."""
    hints.bind(Convertible, table())
