"""Small inputs that functions reject although their references have a value, and uninformative ones, with reasons.

The keys are patterns of the names of a case and a variant: ``F.hinge*: 0 for *``. Each is met by some case.
"""

from collections.abc import Mapping
from fnmatch import fnmatchcase

from xpgrad_conformance.table.case import Case
from xpgrad_conformance.table.variants import Variant

REFUSED: Mapping[str, str] = {
    "*: 0-d": "an axis that the case names is not there",
    "F.*convolution*": "windows have elements and fit, and channels divide by groups",
    "F.*pooling*": "windows fit",
    "F.upsampling_2d: 0 for *": "the picture has pixels",
    "F.resize_images*: 0 for *": "the picture has pixels",
    "F.roi_*: 0 for *": "the picture has pixels",
    "F.roi_*: one element": "the case's regions are on other pictures",
    "F.shift*": "each element of a window has a channel",
    "F.spatial_transformer_grid*": "the transformation has two rows",
    "F.as_strided: *": "the case's strides need four elements",
    "F.depth2space: *": "blocks have all their pixels",
    "F.maxout*": "each part has all its elements",
    "F.linear-batch*": "features are pixels of two axes, which the matrix has in one",
    "F.simplified_dropconnect*: 1 for *": "features are pixels of two axes, which the matrix has in one",
    "F.*lstm*": "the gates are several times as many as the cells",
    "F.fixed_decorrelated_batch_normalization*": "channels are in the groups of their means",
    "F.*crf1d*: 0 for *": "batches of steps do not grow",
    "F.connectionist_temporal_classification-lengths: *": "the case's labels are beyond",
    "F.scaled_dot_product_attention*: 0 for *": "there is a key",
    "F.discriminative_margin_based_clustering_loss*": "the case's clusters are three",
    "F.softmax_cross_entropy*": "labels are classes, of which there are three",
    "F.accuracy-ignore: 0 for *": "there is a class",
    "*fft*": "a transform has a length",
    "getitem-variable: *": "the case's index is not there",
    "*partition*": "the case's position is not there",
    "linalg.matrix_rank*: 0 for *": "the largest singular value is one of none",
    "*median*: 0 for *": "there is no quantile of nothing",
    "*percentile*: 0 for *": "there is no quantile of nothing",
    "*nanquantile*: 0 for *": "there is no quantile of nothing",
    "F.max: 0 for *": "a maximum of nothing",
    "min-axis: 0 for *": "a minimum of nothing",
    "argmin: 0 for *": "a minimum of nothing",
}
SKIPPED: Mapping[str, str] = {
    "cov-weights: *": "the degrees of freedom of one observation are 0 but for the rounding of a difference",
    "linalg.cholesky*: ? for 5": "the case's product with its transpose is singular",
    "setdiff1d: ? for 2": "finite differences would part what is equal",
    "linalg.vector_norm-minus-1.5: 0 for *": "what has no elements has no norm of a negative order",
    "nancumprod: 0-d": "NumPy takes the first axis of what has none",
    "argsort: 0-d": "NumPy takes the last axis of what has none",
    "F.gumbel_softmax*: 0-d": "one category: a constant, whose case is F.gumbel_softmax-one",
}


def refusal(case: Case, variant: Variant) -> str | None:
    """Return why a function may refuse these inputs, or None."""
    return _reason(REFUSED, case, variant)


def skipped(case: Case, variant: Variant) -> str | None:
    """Return the reason why these inputs do not test the function, or None."""
    return _reason(SKIPPED, case, variant)


def _reason(reasons: Mapping[str, str], case: Case, variant: Variant) -> str | None:
    name = f"{case.name}: {variant.name}"
    return next((reason for pattern, reason in reasons.items() if fnmatchcase(name, pattern)), None)
