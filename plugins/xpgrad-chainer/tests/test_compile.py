"""`chainer.config.compile`: steps of updaters as programs, with the numbers of steps without one."""

import warnings
import weakref

import numpy as np
import pytest

from xpgrad import CompileWarning, Variable
from xpgrad.transforms.trace.compiled import Compiled

RNG = np.random.default_rng(0)
DATA = [(x, np.int32(x.argmax())) for x in RNG.normal(size=(24, 4)).astype("f")]


def network(chainer):
    """Return a model that uses arrays, keeps values and has a parameter without a gradient."""

    class Network(chainer.Chain):
        def __init__(self):
            super().__init__()
            with self.init_scope():
                self.first = chainer.links.Linear(None, 8, nobias=True)  # a bias has gradients of rounding only
                self.norm = chainer.links.BatchNormalization(8)
                self.last, self.unused = chainer.links.Linear(8, 4), chainer.links.Linear(2, 2)

        def forward(self, x, t):
            h = chainer.functions.dropout(self.norm(self.first(x.astype("f") - x.mean())), 0.3)
            loss = chainer.functions.softmax_cross_entropy(self.last(chainer.functions.relu(h)), t)
            chainer.report({"loss": loss, "least": x.min()}, self)
            self.loss = loss
            return loss

    np.random.seed(3)  # noqa: NPY002 - as programs of Chainer do
    return Network()


def updater_of(chainer, model, data=DATA, optimizer=None, converter=None):
    optimizer = (optimizer or chainer.optimizers.Adam()).setup(model)
    optimizer.add_hook(chainer.optimizer_hooks.WeightDecay(0.01))
    iterator = chainer.iterators.SerialIterator(data, 5)
    converter = converter or chainer.dataset.concat_examples
    return chainer.training.updaters.StandardUpdater(iterator, optimizer, converter)


def seen(chainer, updater, steps=8):
    """Return what a program sees of steps: reported and kept values, parameters and gradients."""
    model, found = updater.get_optimizer("main").target, []
    reporter = chainer.Reporter()
    reporter.add_observer("main", model)
    for _ in range(steps):
        with reporter.scope({}):
            updater.update()
            found += [float(chainer.as_array(value)) for value in reporter.observation.values()]
        found += [
            float(chainer.as_array(model.loss)),
            *(part for p in model.params() for part in (p.array.copy(), p.grad)),
        ]
    return found


@pytest.mark.parametrize(
    ("config", "large"),
    [(True, 16), (True, 2**14), ({"exact": True, "verify": "always"}, 2**14), ({"exact": False}, 16)],
)
def test_compiled_steps_have_the_numbers_of_plain_ones(config, large, monkeypatch) -> None:
    import chainer

    from xpgrad_chainer.training import steps

    monkeypatch.setattr(steps, "LARGE", large)
    expected = seen(chainer, updater_of(chainer, network(chainer)))
    updater = updater_of(chainer, network(chainer))
    with chainer.using_config("compile", config):
        found = seen(chainer, updater)
    assert isinstance(updater._step._program, steps.Apart) == (config is True and large == 16)
    (program,) = updater._step._program.programs.values()
    assert program.function.cache_info().hits >= 3
    for value, other in zip(found, expected, strict=True):
        if config == {"exact": False}:
            np.testing.assert_allclose(value, other, rtol=1e-4, atol=1e-7)
        else:
            np.testing.assert_array_equal(value, other)


@pytest.mark.parametrize(
    ("draw", "is_program"),
    [
        (lambda chainer, h: chainer.functions.gumbel_softmax(h), True),
        (lambda chainer, h: chainer.distributions.Gumbel(h, 1 + h * h).sample(), True),
        (lambda chainer, h: chainer.functions.tanh(chainer.distributions.Cauchy(h, 1 + h * h).sample()), True),
        (lambda chainer, h: chainer.distributions.Exponential(1 + h * h).sample(), True),
        (lambda chainer, h: h * chainer.distributions.Bernoulli(logit=h).sample().array.astype("f"), False),
    ],
    ids=["gumbel_softmax", "Gumbel", "Cauchy", "Exponential", "Bernoulli"],
)
@pytest.mark.filterwarnings("ignore:.*drew samples of a discrete distribution")
def test_compiled_steps_draw_the_samples_of_plain_ones(draw, is_program) -> None:
    import chainer

    def results(compiled):
        np.random.seed(5)  # noqa: NPY002 - as programs of Chainer do
        model = chainer.links.Classifier(chainer.links.Linear(4, 4))
        updater = updater_of(chainer, model)
        predictor = model.predictor
        updater.loss_func = lambda x, t: chainer.functions.softmax_cross_entropy(draw(chainer, predictor(x)), t)
        with chainer.using_config("compile", compiled):
            for _ in range(6):
                updater.update()
        return predictor.W.array, updater._step

    found, step = results(True)
    np.testing.assert_array_equal(found, results(False)[0])
    (program,) = step._program.programs.values()
    assert (program.function.cache_info().hits > 0) == is_program


def test_steps_of_many_kinds_of_batches_give_up_with_a_warning() -> None:
    import chainer

    kinds = iter([*range(1, 6), *range(1, 6)])

    def shorter(batch, device):
        return chainer.dataset.concat_examples(batch[: next(kinds)], device)

    model = network(chainer)
    updater = updater_of(chainer, model, converter=shorter)
    model(np.ones((2, 4), "f"), np.zeros(2, "i"))
    with chainer.using_config("compile", True):
        with pytest.warns(CompileWarning, match="they had 4 kinds of batches"):
            [updater.update() for _ in range(4)]
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            [updater.update() for _ in range(4)]
    assert updater._step.given_up
    assert updater.get_optimizer("main").t == 8


@pytest.mark.parametrize(("config", "kind", "name"), [(False, Variable, "backward"), (True, Compiled, "__call__")])
def test_steps_free_the_gradients_of_the_step_before(config, kind, name, monkeypatch) -> None:
    import chainer

    from xpgrad_chainer.training import steps

    monkeypatch.setattr(steps, "LARGE", 16)
    model, freed, method = network(chainer), [], getattr(kind, name)
    updater = updater_of(chainer, model)

    def observed(*args, **kwds):
        freed.append(before() is None)
        return method(*args, **kwds)

    with chainer.using_config("compile", config):
        updater.update()
        updater.update()  # as a program, now that all parameters have arrays
        before = weakref.ref(model.last.W._grad)
        monkeypatch.setattr(kind, name, observed)
        updater.update()
    assert set(freed) == {True}


def test_steps_that_are_no_programs_are_plain() -> None:
    import chainer

    class Own(chainer.GradientMethod):
        def create_update_rule(self):
            return OwnRule()

    class OwnRule(chainer.UpdateRule):
        def update_core(self, param):
            param.array -= 0.1 * param.grad

    class Wrapped:
        def __init__(self, batch):
            self.batch = batch

    def wrapped(batch, device):
        return Wrapped(chainer.dataset.concat_examples(batch))

    def results(own, compiled):
        model = network(chainer)
        if own:
            updater = updater_of(chainer, model, optimizer=Own())
        else:
            updater = updater_of(chainer, model, converter=wrapped)
            updater.loss_func = lambda each: model(*each.batch)
        with chainer.using_config("compile", compiled):
            found = seen(chainer, updater, 3)
        return found, getattr(updater._step, "_program", None)

    for own in (True, False):
        found, program = results(own, True)
        assert program is None
        for value, other in zip(found, results(own, False)[0], strict=True):
            np.testing.assert_array_equal(value, other)
