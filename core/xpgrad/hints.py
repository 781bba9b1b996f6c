"""Replacements for missing attributes: names of other libraries and of other modules.

The tables are for names that PyTorch, JAX and TensorFlow have for something that has another name here. A name that is
public in a module of xpgrad needs no entry: it is found there.
"""

import importlib
from collections.abc import Collection, Mapping
from typing import Any, NoReturn

MODULES = (
    "xpgrad", "xpgrad.array_api", "xpgrad.functions", "xpgrad.links", "xpgrad.transforms", "xpgrad.optimizers",
    "xpgrad.ops", "xpgrad.special", "xpgrad.array_api.linalg", "xpgrad.array_api.fft", "xpgrad.optimizer_hooks",
    "xpgrad.optimizers.schedules", "xpgrad.initializers", "xpgrad.iterators", "xpgrad.serializers", "xpgrad.training",
    "xpgrad.training.extensions", "xpgrad.training.triggers", "xpgrad.training.updaters", "xpgrad.dataset",
    "xpgrad.datasets", "xpgrad.scipy", "xpgrad.testing", "xpgrad.plugin", "xpgrad.scipy.linalg",
    "xpgrad.scipy.integrate", "xpgrad.scipy.interpolate",
)  # fmt: skip
"""Where a name is looked for, in this order: the standard's function is preferred to Chainer's."""
NAMES = {
    # modules and transformations
    "autograd": "xpgrad.grad, or xpgrad.transforms",
    "cond": "xpgrad.array_api.where, or xpgrad.array_api.linalg.svdvals",
    "curve_fit": "xpgrad.scipy.least_squares",
    "custom_jvp": "xpgrad.transforms.custom_vjp",
    "elementwise_grad": "xpgrad.transforms.vmap and xpgrad.transforms.grad",
    "enable_grad": "xpgrad.force_backprop_mode",
    "func": "xpgrad.transforms",
    "GradientTape": "xpgrad.Variable and its method backward, or xpgrad.transforms.grad",
    "hessian_vector_product": "xpgrad.transforms.hvp",
    "inference_mode": "xpgrad.no_backprop_mode",
    "init": "xpgrad.initializers",
    "jit": "xpgrad.compile",
    "keras": "xpgrad.links and xpgrad.functions",
    "lax": "xpgrad.transforms and xpgrad.array_api",
    "lr_scheduler": "xpgrad.optimizers.schedules",
    "make_jvp": "xpgrad.transforms.jvp",
    "make_vjp": "xpgrad.transforms.vjp",
    "manual_seed": "xpgrad.random.seed",
    "nn": "xpgrad.links and xpgrad.functions",
    "no_grad": "xpgrad.no_backprop_mode",
    "numpy": "xpgrad.array_api",
    "optim": "xpgrad.optimizers",
    "optimize": "xpgrad.scipy.minimize, or xpgrad.scipy.root",
    "rand": "xpgrad.random.uniform",
    "randn": "xpgrad.random.normal",
    "remat": "xpgrad.transforms.checkpoint",
    # arrays
    "as_tensor": "xpgrad.as_variable",
    "bmm": "xpgrad.array_api.matmul",
    "cat": "xpgrad.array_api.concat",
    "clamp": "xpgrad.array_api.clip",
    "from_numpy": "xpgrad.Variable",
    "gather": "xpgrad.array_api.take_along_axis",
    "masked_fill": "xpgrad.array_api.where",
    "mm": "xpgrad.array_api.matmul",
    "norm": "xpgrad.array_api.linalg.vector_norm, or xpgrad.array_api.linalg.matrix_norm",
    "permute": "xpgrad.array_api.permute_dims",
    "tensor": "xpgrad.Variable",
    "Tensor": "xpgrad.Variable",
    "unsqueeze": "xpgrad.array_api.expand_dims",
    # functions
    "avg_pool2d": "xpgrad.functions.average_pooling_2d",
    "batch_norm": "xpgrad.functions.batch_normalization",
    "binary_cross_entropy_with_logits": "xpgrad.functions.sigmoid_cross_entropy",
    "conv1d": "xpgrad.functions.convolution_1d",
    "conv2d": "xpgrad.functions.convolution_2d",
    "conv3d": "xpgrad.functions.convolution_3d",
    "conv_transpose2d": "xpgrad.functions.deconvolution_2d",
    "cross_entropy": "xpgrad.functions.softmax_cross_entropy",
    "ctc_loss": "xpgrad.functions.connectionist_temporal_classification",
    "embedding": "xpgrad.functions.embed_id",
    "group_norm": "xpgrad.functions.group_normalization",
    "interpolate": "xpgrad.functions.resize_images",
    "l1_loss": "xpgrad.functions.mean_absolute_error",
    "layer_norm": "xpgrad.functions.layer_normalization",
    "max_pool2d": "xpgrad.functions.max_pooling_2d",
    "mse_loss": "xpgrad.functions.mean_squared_error",
    "silu": "xpgrad.functions.swish",
    "smooth_l1_loss": "xpgrad.functions.huber_loss",
    # layers and models
    "AvgPool2d": "xpgrad.functions.average_pooling_2d",
    "BatchNorm1d": "xpgrad.links.BatchNormalization",
    "BatchNorm2d": "xpgrad.links.BatchNormalization",
    "Conv": "xpgrad.links.ConvolutionND",
    "Conv1d": "xpgrad.links.Convolution1D",
    "Conv2d": "xpgrad.links.Convolution2D",
    "Conv2D": "xpgrad.links.Convolution2D",
    "Conv3d": "xpgrad.links.Convolution3D",
    "ConvTranspose2d": "xpgrad.links.Deconvolution2D",
    "CrossEntropyLoss": "xpgrad.functions.softmax_cross_entropy",
    "Dense": "xpgrad.links.Linear",
    "Embed": "xpgrad.links.EmbedID",
    "Embedding": "xpgrad.links.EmbedID",
    "GroupNorm": "xpgrad.links.GroupNormalization",
    "L1Loss": "xpgrad.functions.mean_absolute_error",
    "LayerNorm": "xpgrad.links.LayerNormalization",
    "MaxPool2d": "xpgrad.functions.max_pooling_2d",
    "Module": "xpgrad.Chain",
    "ModuleList": "xpgrad.ChainList",
    "MSELoss": "xpgrad.functions.mean_squared_error",
    "SiLU": "xpgrad.functions.swish",
    # training
    "clip_grad_norm_": "xpgrad.optimizer_hooks.GradientClipping",
    "DataLoader": "xpgrad.iterators.SerialIterator",
    "load": "xpgrad.serializers.load_npz",
    "Momentum": "xpgrad.optimizers.MomentumSGD",
    "save": "xpgrad.serializers.save_npz",
}
"""What to use for the names of other libraries, in whatever module they are looked for."""
OF_LINKS = {
    "add_module": "link.add_link(name, child)",
    "cpu": "link.to_cpu()",
    "cuda": "link.to_gpu()",
    "eval": "xpgrad.using_config('train', False)",
    "load_state_dict": "xpgrad.serializers.load_npz(file, link)",
    "modules": "link.links()",
    "named_modules": "link.namedlinks()",
    "named_parameters": "link.namedparams()",
    "parameters": "link.params()",
    "register_buffer": "link.add_persistent(name, value)",
    "register_forward_hook": "link.add_hook(hook)",
    "requires_grad_": "link.enable_update() or link.disable_update()",
    "state_dict": "xpgrad.serializers.save_npz(file, link), or dict(link.namedparams())",
    "to": "link.to_device(device)",
    "train": "xpgrad.using_config('train', True)",
    "zero_grad": "link.cleargrads()",
}
"""What to use for methods that the layers of other libraries have."""
OF_OPTIMIZERS = {
    "apply_gradients": "optimizer.update()",
    "load_state_dict": "xpgrad.serializers.load_npz(file, optimizer)",
    "minimize": "optimizer.update(lossfun, *args)",
    "param_groups": "optimizer.hyperparam, or param.update_rule.hyperparam",
    "state_dict": "xpgrad.serializers.save_npz(file, optimizer)",
    "zero_grad": "cleargrads() of the model, optimizer.target",
}
"""What to use for methods that the optimizers of other libraries have."""
OF_HYPERPARAMETERS = {
    "betas": ("beta1", "beta1 and beta2"),
    "learning_rate": ("lr", "lr"),
    "lr": ("alpha", "alpha, the step size in Chainer's Adam"),
    "weight_decay": ("", "the hook xpgrad.optimizer_hooks.WeightDecay(rate)"),
}
"""What to use for hyperparameters of other libraries: advice holds where there is the first name, or it is empty."""

REMOVED = {
    "deterministic": "delete it",
    "test": "use xpgrad.using_config('train', ...)",
    "train": "use xpgrad.using_config('train', ...)",
    "use_bi_direction": "use the link of both directions, such as NStepBiLSTM",
    "use_cudnn": "delete it",
    "volatile": "use xpgrad.no_backprop_mode()",
    "wscale": "use an initializer, such as xpgrad.initializers.LeCunNormal(scale)",
}
"""Arguments that Chainer dropped in version 2, and what to do."""


def elsewhere(module: str, name: str) -> str | None:
    """Return what to use for `name`, which `module` lacks: from the table, or from a public module that has it.

    Capitals do not matter where no name is the same: ``Dropout`` is `functions.dropout`. The modules are imported.
    """
    if name in NAMES:
        return NAMES[name]
    listed = {each: dir(importlib.import_module(each)) for each in MODULES}
    found = [f"{each}.{name}" for each, names in listed.items() if each != module and name in names]
    small = name.lower()
    found += [f"{each}.{one}" for each, names in listed.items() for one in names if one.lower() == small]
    return found[0] if found else None


class Elsewhere:
    """A descriptor that raises the AttributeError of a name."""

    __slots__ = ("advice", "name")

    def __init__(self, name: str, advice: str) -> None:
        self.name, self.advice = name, advice

    def __get__(self, obj: Any, owner: Any = None) -> NoReturn:
        raise AttributeError(f"{owner.__name__!r} object has no attribute {self.name!r}; use {self.advice}")


def hyperparameter(name: str, known: Collection[str]) -> str:
    """Return advice on a hyperparameter that is not among those known, as the end of a message."""
    if name == "learning_rate" and "lr" not in known:
        name = "lr"
    needed, advice = OF_HYPERPARAMETERS.get(name, (name, ""))
    use = f"; use {advice}" if advice and (not needed or needed in known) else ""
    return f"{use}; there are {', '.join(known)}"


def _names(self: Any) -> list[str]:
    found = {name: value for each in reversed(type(self).__mro__) for name, value in vars(each).items()}
    found |= getattr(self, "__dict__", {})
    return [name for name in object.__dir__(self) if type(found.get(name)) is not Elsewhere]


def bind(kind: type, advice: Mapping[str, str]) -> None:
    """Give a class the descriptors of the names that its objects lack, and a `dir` without these names.

    A ``__getattr__`` would slow down every other attribute, so each name has a descriptor that raises; ``hasattr``
    returns False. Derived classes and objects may have attributes of these names.
    """
    for name, text in advice.items():
        setattr(kind, name, Elsewhere(name, text))
    setattr(kind, "__dir__", _names)  # noqa: B010 - it is not declared
