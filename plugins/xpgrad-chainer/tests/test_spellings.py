"""Names of arguments and methods that are Chainer's."""

import numpy as np
import pytest

ONE = np.ones((1, 3, 4, 4), "f")


def _moved(x, **kwargs):
    x.to_device(**kwargs)
    return x.device.name


def _changed(layers, method, **kwargs):
    getattr(layers, method)(**kwargs)
    return len(layers)


CALLS = {
    "addgrad": (lambda c, v: v.addgrad(var=c.Variable(v.array, grad=2 * v.array)) or v.grad.max(), 3),
    "backend": (lambda c, v: c.backend.get_device(device_spec="@numpy").name, "@numpy"),
    "child": (lambda c, v: _changed(c.ChainList(), "insert", index=0, link=c.links.Linear(1, 1)), 1),
    "columns": (lambda c, v: c.utils.conv.im2col(ONE, 2, 2, 1, 1, 0, 0, True, 2, 2).shape, (1, 3, 2, 2, 2, 2)),
    "columns_nd": (
        lambda c, v: c.utils.conv_nd.im2col_nd(ONE, (2, 2), (1, 1), (0, 0), True, 2).shape, (1, 3, 2, 2, 2, 2)
    ),
    "config": (lambda c, v: c.configuration.LocalConfig(global_config=c.global_config).train, True),
    "copydata": (lambda c, v: v.copydata(var=c.Variable(5 * v.array)) or v.array.max(), 5),
    "count": (lambda c, v: c.Sequential(c.functions.relu).count(layer=c.functions.relu), 1),
    "cudnn_fast": (lambda c, v: c.functions.convolution_2d(ONE, ONE, cudnn_fast=True).shape, (1, 1, 1, 1)),
    "device": (lambda c, v: c.get_device(device_spec=-1).name, "@numpy"),
    "device_of": (lambda c, v: c.cuda.get_device(ONE, "x") is c.cuda.DummyDevice, True),
    "dims": (lambda c, v: c.utils.conv_nd.col2im_nd(np.ones((1, 1, 2, 3), "f"), (1,), (0,), dims=(4,)).sum(), 6),
    "elementwise": (lambda c, v: c.UpdateRule.is_elementwise, False),
    "eval": (lambda c, v: c.utils.type_check.eval(exp=c.utils.type_check.Variable(3, "x")), 3),
    "extend": (lambda c, v: _changed(c.Sequential(), "extend", sequential=c.Sequential(c.functions.relu)), 1),
    "folds": (lambda c, v: len(c.datasets.get_cross_validation_datasets(range(6), n_fold=3)), 3),
    "index": (lambda c, v: c.Sequential(abs, min, abs).index(layer=abs, start=1, end=3), 2),
    "insert": (lambda c, v: _changed(c.Sequential(), "insert", i=0, layer=abs), 1),
    "layout": (lambda c, v: c.Parameter(v.array, layout=None).shape, (2,)),
    "pop": (lambda c, v: c.Sequential(abs, min).pop(i=0), abs),
    "product": (lambda c, v: c.utils.type_check.prod(xs=(2, 3)), 6),
    "raw_shape": (lambda c, v: c.memory_layouts.get_raw_shape(arr_or_var=v), (2,)),
    "remove": (lambda c, v: _changed(c.Sequential(abs), "remove", layer=abs), 0),
    "text": (lambda c, v: c.variable.variable_repr(var=v), "variable([1., 1.])"),
    "to_device": (lambda c, v: _moved(v, device="@numpy"), "@numpy"),
    "to_device_of_parameter": (lambda c, v: _moved(c.Parameter(v.array), device="@numpy"), "@numpy"),
    "to_cpu": (lambda c, v: [x.shape for x in c.cuda.to_cpu([ONE, 3, np.float32(3)])], [ONE.shape, (), ()]),
    "using_device": (lambda c, v: c.using_device(device_spec="@numpy").device.name, "@numpy"),
    "where": (lambda c, v: c.functions.where(condition=v.array > 2, x=v, y=-v).array.max(), -1),
}  # fmt: skip


@pytest.mark.parametrize(("call", "expected"), CALLS.values(), ids=CALLS)
def test_arguments_have_the_names_of_chainer(call, expected) -> None:
    import chainer
    import chainer.links
    import chainer.memory_layouts
    import chainer.utils.conv
    import chainer.utils.conv_nd

    one = np.ones(2, "f")
    assert call(chainer, chainer.Variable(one, grad=one)) == expected


def test_link_has_no_parameters_by_default() -> None:
    import chainer

    with pytest.raises(NotImplementedError, match="from_params"):
        chainer.Chain.from_params(np.ones(2))


def test_overridden_methods_move_links() -> None:
    import chainer
    from chainer.device_resident import DeviceResidentsVisitor

    class Masked(chainer.Link):
        moves = 0

        def to_cpu(self):
            super().to_cpu()
            self.moves += 1
            return self

    link = Masked()
    chain = chainer.Chain(link=link)
    for move in (link.to_cpu, chain.to_cpu, lambda: link.to_device("@numpy"), lambda: chain.to_device("@numpy")):
        before = link.moves
        move()
        assert link.moves == before + 1

    class Count(DeviceResidentsVisitor):
        links = 0

        def visit_device_resident(self, device_resident):
            self.links += 1

    count = Count()
    chain.device_resident_accept(count)
    assert count.links == 2


def test_names_are_taken_back() -> None:
    import xpgrad
    import xpgrad_chainer

    xpgrad_chainer.uninstall()
    try:
        assert not hasattr(xpgrad.Link, "from_params")
        assert not hasattr(xpgrad.Optimizer, "update_loss_scale")
        with pytest.raises(TypeError):
            xpgrad.Variable(np.ones(2)).addgrad(var=xpgrad.Variable(np.ones(2)))
    finally:
        xpgrad_chainer.install()


def test_update_rule_of_a_derived_class() -> None:
    import chainer
    from chainer.optimizers import adam, sgd

    class Doubled(sgd.SGDRule):
        def update_core_cpu(self, param):
            param.grad *= 2
            super().update_core_cpu(param)

    class Optimizer(chainer.optimizers.SGD):
        def create_update_rule(self):
            return Doubled(self.hyperparam)

    link = chainer.Link()
    with link.init_scope():
        link.w = chainer.Parameter(np.ones(2, "f"))
    optimizer = Optimizer(lr=0.25).setup(link)
    link.w.grad = np.ones(2, "f")
    optimizer.update()
    np.testing.assert_array_equal(link.w.array, np.full(2, 0.5, "f"))
    rule = adam.AdamRule(None, 0.1, 0.2, eta=0.3)
    assert (rule.hyperparam.alpha, rule.hyperparam.beta1, rule.hyperparam.eta) == (0.1, 0.2, 0.3)
    with pytest.raises(RuntimeError, match="no step yet"):
        rule.lr  # noqa: B018 - a property
    rule.update(link.w)
    np.testing.assert_allclose(rule.lr, 0.1 * (1 - 0.999) ** 0.5 / (1 - 0.2))
    chainer.optimizers.Adam(0.1, 0.2, eta=0.3).setup(link)
    link.w.update_rule.update(link.w)
    assert link.w.update_rule.lr == link.w.update_rule.alpha_t == rule.lr
    chainer.optimizers.SGD().setup(link)
    assert not hasattr(link.w.update_rule, "lr")


def test_optimizer_that_defines_its_update_scales_losses() -> None:
    import chainer

    class Descent(chainer.Optimizer):
        def update(self, lossfun=None, *args, **kwds):
            self.target.cleargrads()
            lossfun(*args, **kwds).backward(loss_scale=self._loss_scale)
            self.check_nan_in_grads()
            if self.is_safe_to_update():
                for param in self.target.params():
                    param.array -= param.grad / self._loss_scale
            self.update_loss_scale()

    link = chainer.Link()
    with link.init_scope():
        link.w = chainer.Parameter(np.ones(2, "f"))
    optimizer = Descent().setup(link)
    optimizer.loss_scaling(interval=1)
    optimizer.set_loss_scale(4)
    optimizer.update(lambda: chainer.functions.sum(link.w * link.w))
    np.testing.assert_array_equal(link.w.array, -np.ones(2, "f"))
    assert optimizer._loss_scale == 8
    with pytest.warns(UserWarning, match="a gradient is not finite"):
        optimizer.update(lambda: chainer.functions.sum(link.w * np.full(2, np.inf, "f")))
    np.testing.assert_array_equal(link.w.array, -np.ones(2, "f"))
    assert optimizer._loss_scale == 4
