"""`Classifier`: a predictor with its loss and accuracy."""

from collections.abc import Callable
from typing import Any

from xpgrad.functions.evaluation import accuracy
from xpgrad.functions.loss import softmax_cross_entropy
from xpgrad.graph.variable import Variable
from xpgrad.models import Chain, Link
from xpgrad.reporter import report


class Classifier(Chain):
    """The loss of a predictor, which is reported with its accuracy.

    Parameters
    ----------
    predictor : Link
    lossfun, accfun : callable
        Take the output of the predictor and the labels.
    label_key : int or str
        Which of the arguments of a call, or which keyword argument, is the labels; other arguments go to the predictor.

    Attributes
    ----------
    predictor : Link
    y, loss, accuracy : Variable or None
        Results of the last call.
    compute_accuracy : bool
    """

    compute_accuracy = True

    def __init__(
        self, predictor: Link, lossfun: Callable[..., Any] = softmax_cross_entropy,
        accfun: Callable[..., Any] = accuracy, label_key: int | str = -1,
    ) -> None:  # fmt: skip
        if not isinstance(label_key, (int, str)):
            raise TypeError(f"Classifier: label_key must be int or str, got {type(label_key).__name__}")
        super().__init__()
        self.lossfun, self.accfun, self.label_key = lossfun, accfun, label_key
        self.y: Any = None
        self.loss: Any = None
        self.accuracy: Any = None
        with self.init_scope():
            self.predictor = predictor

    def __getstate__(self) -> dict[str, Any]:
        """Return the state to pickle: attributes except the results of the last call, which are in a graph."""
        return {**self.__dict__, "y": None, "loss": None, "accuracy": None}

    def forward(self, *args: Any, **kwargs: Any) -> Variable:
        """Return the loss, and report it as ``loss``, and the accuracy as ``accuracy``."""
        rest, key = list(args), self.label_key
        if isinstance(key, str):
            if key not in kwargs:
                raise ValueError(f"Classifier: Label key {key!r} is not among the arguments {sorted(kwargs)}")
            t = kwargs.pop(key)
        elif -len(rest) <= key < len(rest):
            t = rest.pop(key)
        else:
            raise ValueError(f"Classifier: Label key {key} is out of bounds: there are {len(rest)} arguments")
        self.y = self.loss = self.accuracy = None
        self.y = self.predictor(*rest, **kwargs)
        self.loss = self.lossfun(self.y, t)
        report({"loss": self.loss}, self)
        if self.compute_accuracy:
            self.accuracy = self.accfun(self.y, t)
            report({"accuracy": self.accuracy}, self)
        found: Variable = self.loss
        return found
