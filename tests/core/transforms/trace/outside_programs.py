"""Programs that read state from outside of their arguments: each kind of state, in each place that may read it."""

import collections
import contextvars
import dataclasses
import functools
import importlib
import inspect
import itertools
import math
import operator
import os
import sys
import textwrap
import threading
import types
import warnings
import weakref
from typing import Any, NamedTuple

import numpy as np

import xpgrad
from xpgrad import CompileWarning, Variable
from xpgrad.testing.arrays import on_host
from xpgrad.transforms.trees import flatten

K = "class K:\n    rate = 2.0\n    def act(self): return self.rate\nk = K()\n"
STATES = {
    # The initial state, an expression of a number that reads it, and a statement that changes it.
    "a global": ("g = 2.0", "g", "g = 3.0"),
    "an equal global": ("g = 2", "0.5 * g if type(g) is int else g", "g = 2.0"),
    "the sign of zero": ("g = 0.0", "math.copysign(1.0, g)", "g = -0.0"),
    "a global function": ("def h(): return 2.0", "h()", "def h(): return 3.0"),
    "the code of a function": ("def h(): return 2.0\ndef h2(): return 3.0", "h()", "h.__code__ = h2.__code__"),
    "a builtin that is shadowed": ("", "abs(-2.0)", "abs = lambda v: 5.0"),
    "a cell": ("def cells():\n    v = 2.0\n    def get(): return v\n    def put(w):\n        nonlocal v\n"
        "        v = w\n    return get, put\nget, put = cells()", "get()", "put(3.0)"),
    "a default": ("def h(v=2.0): return v", "h()", "h.__defaults__ = (3.0,)"),
    "an item of a default": ("def h(o={'v': 2.0}): return o['v']", "h()", "h.__defaults__[0]['v'] = 3.0"),
    "a keyword default": ("def h(*, v=2.0): return v", "h()", "h.__kwdefaults__['v'] = 3.0"),
    "an attribute": (K, "k.rate", "k.rate = 3.0"),
    "an attribute of a class": (K, "k.rate", "K.rate = 3.0"),
    "an overridden attribute": (K + "class S(K): rate = 4.0\ns = S()", "s.rate", "S.rate = 3.0"),
    "a method": (K, "k.act()", "K.act = lambda self: 5.0"),
    "a method of an object": (K, "k.act()", "k.act = lambda: 5.0"),
    "a class of an object": (K + "class S(K):\n    def act(self): return 7.0", "k.act()", "k.__class__ = S"),
    "what super finds": (K + "class S(K):\n    def act(self): return super().act()\ns = S()", "s.act()",
        "K.act = lambda self: 9.0"),
    "a callable object": ("class C:\n    v = 2.0\n    def __call__(self): return self.v\nc = C()", "c()",
        "c.v = 3.0"),
    "the call of a class": ("class C:\n    def __call__(self): return 2.0\nc = C()", "c()",
        "C.__call__ = lambda self: 3.0"),
    "an operator": ("class C:\n    v = 2.0\n    def __add__(self, o): return self.v + o\nc = C()", "(c + 1.0)",
        "c.v = 3.0"),
    "an item by a method": ("class C:\n    v = 2.0\n    def __getitem__(self, i): return self.v\nc = C()", "c[0]",
        "c.v = 3.0"),
    "an attribute by a method": ("class C:\n    def __init__(self): self.d = {'a': 2.0}\n"
        "    def __getattr__(self, n): return self.d[n]\nc = C()", "c.a", "c.d['a'] = 3.0"),
    "an attribute that was missing": ("class C:\n    def __getattr__(self, n): return 2.0\nc = C()", "c.a",
        "c.a = 3.0"),
    "a property": ("class C:\n    inner = NS(v=2.0)\n    @property\n    def p(self): return self.inner.v\nc = C()",
        "c.p", "c.inner.v = 3.0"),
    "a replaced property": ("class C:\n    @property\n    def p(self): return 2.0\nc = C()", "c.p",
        "C.p = property(lambda self: 3.0)"),
    "a descriptor": (
        "class D:\n    def __get__(self, o, t=None): return o.__dict__['_r']\nclass C: r = D()\nc = C()\n"
        "c._r = 2.0", "c.r", "c._r = 3.0"),
    "a slot": ("class C: __slots__ = ('a', 'b')\nc = C()\nc.a = 2.0", "c.a", "c.a = 3.0"),
    "a property of a metaclass": ("class T(type):\n    _r = 2.0\n    @property\n    def r(cls): return cls._r\n"
        "class C(metaclass=T): pass", "C.r", "T._r = 3.0"),
    "a cached property": (
        "class C:\n    k = 2.0\n    @functools.cached_property\n    def s(self): return self.k\nc = C()\n" "c.s",
        "c.s", "C.k = 3.0; del c.s"),
    "a dataclass": ("@dataclasses.dataclass\nclass D: a: float = 2.0\nd = D()", "d.a", "d.a = 3.0"),
    "a frozen dataclass": ("@dataclasses.dataclass(frozen=True)\nclass D: a: float = 2.0\nbox = NS(d=D())", "box.d.a",
        "box.d = D(3.0)"),
    "a factory of a dataclass": ("g = {'a': 2.0}\n@dataclasses.dataclass\nclass D:\n"
        "    a: float = dataclasses.field(default_factory=lambda: g['a'])", "D().a", "g['a'] = 3.0"),
    "a named tuple": ("P = collections.namedtuple('P', 'a b')\nbox = NS(p=P(2.0, 1.0))", "box.p.a",
        "box.p = P(3.0, 1.0)"),
    "whether there is an attribute": ("o = NS()", "(o.v if hasattr(o, 'v') else 2.0)", "o.v = 3.0"),
    "an attribute with a default": ("o = NS()", "getattr(o, 'v', 2.0)", "o.v = 3.0"),
    "an attribute by a text": ("o = NS(rate=2.0)\nn = 'ra'", "getattr(o, n + 'te')", "o.rate = 3.0"),
    "an exception": ("o = NS()\ndef h():\n    try: return o.v\n    except AttributeError: return 2.0", "h()",
        "o.v = 3.0"),
    "vars": ("o = NS(rate=2.0)", "vars(o)['rate']", "o.rate = 3.0"),
    "the dictionary of an object": ("o = NS(rate=2.0)", "o.__dict__.get('rate', 1.0)", "o.rate = 3.0"),
    "all attributes": ("o = NS(rate=2.0)", "sum(vars(o).values())", "o.rate = 3.0"),
    "an attrgetter": ("o = NS(a=NS(b=2.0))\nread = operator.attrgetter('a.b')", "read(o)", "o.a.b = 3.0"),
    "an itemgetter": ("d = {'a': {'b': 2.0}}\nread = operator.itemgetter('a')", "read(d)['b']", "d['a']['b'] = 3.0"),
    "a methodcaller": (K + "call = operator.methodcaller('act')", "call(k)", "k.rate = 3.0"),
    "globals": ("g = 2.0", "globals()['g']", "g = 3.0"),
    "a dictionary": ("d = {'a': 2.0, 'b': 1.0}", "d['a']", "d['a'] = 3.0"),
    "a missing key": ("d = {'b': 1.0}", "d.get('a', 2.0)", "d['a'] = 3.0"),
    "membership": ("d = {'b': 1.0}", "(3.0 if 'a' in d else 2.0)", "d['a'] = 3.0"),
    "all items": ("d = {'b': 2.0}", "sum(v for n, v in d.items())", "d['a'] = 3.0"),
    "the order of keys": ("d = {'a': 2.0, 'b': 5.0}", "d[next(iter(d))]", "v = d.pop('a'); d['a'] = v"),
    "containers in containers": ("d = {'a': [1, {'b': 2.0}]}", "d['a'][1]['b']", "d['a'][1]['b'] = 3.0"),
    "the end of a list": ("a = [1.0, 2.0]", "a[-1]", "a.append(3.0)"),
    "a computed index": ("a = [1.0, 2.0, 3.0]\ni = NS(v=0)", "a[i.v + 1]", "i.v = 1"),
    "a slice": ("a = [1.0, 2.0, 3.0]", "sum(a[1:])", "a[2] = 7.0"),
    "a length": ("a = [1.0]", "len(a)", "a.append(1)"),
    "a truth": ("a = []", "(2.0 if a else 1.0)", "a.append(1)"),
    "a sum": ("a = [1.0, 2.0]", "sum(a)", "a[1] = 3.0"),
    "objects in a list": ("ks = [NS(s=2.0), NS(s=3.0)]", "sum(k.s for k in ks)", "ks[1].s = 5.0"),
    "objects in a comprehension": ("ks = [NS(s=2.0), NS(s=3.0)]", "sum([k.s for k in ks])", "ks[0].s = 5.0"),
    "a generator function": ("ks = [NS(s=2.0)]\ndef each():\n    for k in ks: yield k.s", "sum(each())",
        "ks[0].s = 5.0"),
    "enumerate and zip": ("ks = [NS(s=2.0)]", "sum(k.s * j.s + i for i, (k, j) in enumerate(zip(ks, ks)))",
        "ks[0].s = 5.0"),
    "map": ("g = 2.0\ndef h(v): return v * g", "sum(map(h, [1.0, 2.0]))", "g = 3.0"),
    "sorted with a key": ("ks = [NS(s=2.0), NS(s=1.0)]\ndef h():\n    first = sorted(ks, key=lambda k: k.s)[0]\n"
        "    return first.s", "h()", "ks[0].s = 0.5"),
    "map by an attrgetter": ("ks = [NS(s=2.0), NS(s=3.0)]", "sum(map(operator.attrgetter('s'), ks))", "ks[0].s = 5.0"),
    "a key by an attrgetter": ("ks = [NS(s=2.0), NS(s=3.0)]\ndef h():\n    found = list(ks)\n"
        "    found.sort(key=operator.attrgetter('s'))\n    return found[0].s", "h()", "ks[0].s = 5.0"),
    "map by a method of a dictionary": ("d = {'a': 2.0, 'b': 1.0}\nnames = ['a', 'b']", "sum(map(d.get, names))",
        "d['a'] = 3.0"),
    "items of new lists": ("a = [2.0]\ndef h():\n    rows = [[0.0, 1.0], ([3.0],)]\n    rows[0][0] = a[0]\n"
        "    rows[1][0][0] = a[0]\n    return rows[0][0] + rows[1][0][0]", "h()", "a[0] = 5.0"),
    "a slice of a new list": ("ks = [[2.0], [3.0]]\ndef h():\n    found = [None] * 2\n    found[:] = ks\n"
        "    return sum(k[0] for k in found)", "h()", "ks[0][0] = 5.0"),
    "a record in a variable": ("n = np.array([(1.0, 2.0)], dtype=[('a', float), ('b', float)])\ndef h():\n"
        "    v = n[0]\n    return float(v['b'])", "h()", "n['b'] = 7.0"),
    "a view in a variable": ("n = np.arange(1.0, 5.0)\ndef h():\n    v = n[1:]\n    return float(v[0])", "h()",
        "n[1] = 7.0"),
    "a sum of a view": ("n = np.arange(1.0, 5.0)\ndef h():\n    v = n[::2].T\n    return v.sum()", "h()", "n[2] = 7.0"),
    "a view passed to a function": ("n = np.arange(1, 5)\ndef second(v): return v[1].item()",
        "second(n.reshape(2, 2)[0])", "n[1] = 3"),
    "a copy of a view": ("n = np.arange(1.0, 5.0)\ndef h():\n    v = n.reshape(2, 2).transpose((1, 0))\n"
        "    return v.reshape(-1)[1]", "h()", "n[2] = 7.0"),
    "a view in a library that copies elements": ("n = strict.asarray([1.0, 2.0, 3.0])\ndef h():\n    v = n[1:]\n"
        "    return float(v[0])", "h()", "n[1] = 7.0"),
    "an array of counts": ("n = np.array([1, 2])", "np.pad(np.asarray(Variable(np.ones(2)).array), n).sum() * len(n)",
        "n[0] = 5"),
    "a choice by text": ("n = np.array(['a', 'b'])", "np.where(n == 'a', 1.0, 2.0).sum()", "n[0] = 'b'"),
    "reduce": ("ks = [NS(s=2.0), NS(s=3.0)]", "functools.reduce(lambda a, k: a * k.s, ks, 1.0)", "ks[1].s = 9.0"),
    "a set": ("s = {1}", "(2.0 if 2 in s else 3.0)", "s.add(2)"),
    "a set comprehension": (
        "k = [2.0, 3.0]\ndef h():\n    s = {v for v in k}\n    s.discard(3.0)\n    return s.pop()", "h()",
        "k[0] = 4.0"),
    "a defaultdict": (
        "k = [2.0, 3.0]\ndef h():\n    d = collections.defaultdict(list)\n    for i, v in enumerate(k):\n"
        "        d[i % 2].append(v)\n    return d[0][0]", "h()", "k[0] = 4.0"),
    "an array of text": ("names = np.asarray(['a', 'b'])", "(2.0 if (names == 'a').any() else 3.0)", "names[0] = 'c'"),
    "a deque": ("q = collections.deque([2.0, 1.0])", "q[0]", "q[0] = 3.0"),
    "a UserDict": ("d = collections.UserDict(a=2.0)", "d['a']", "d['a'] = 3.0"),
    "a ChainMap": ("d = collections.ChainMap({}, {'a': 2.0})", "d['a']", "d['a'] = 3.0"),
    "a Counter": ("d = collections.Counter('aab')", "d['a']", "d['a'] = 5"),
    "a subclass of dict": ("class C(dict): pass\nd = C(a=2.0)", "d['a']", "d['a'] = 3.0"),
    "a subclass of list": ("class C(list): pass\nd = C([2.0])", "d[0]", "d[0] = 3.0"),
    "a mapping proxy": ("d = {'a': 2.0}\np = types.MappingProxyType(d)", "p['a']", "d['a'] = 3.0"),
    "a bytearray": ("b = bytearray([2, 1])", "b[0]", "b[0] = 3"),
    "a large dictionary": ("d = {i: float(i) for i in range(20000)}", "d[7]", "d[7] = 3.0"),
    "the environment": ("os.environ['OUTSIDE_A'] = '2'", "float(os.environ['OUTSIDE_A'])",
        "os.environ['OUTSIDE_A'] = '3'"),
    "a thread-local": ("t = threading.local()\nt.k = 2.0", "t.k", "t.k = 3.0"),
    "a context variable": ("v = contextvars.ContextVar('v', default=2.0)", "v.get()", "v.set(3.0)"),
    "a weak reference": (K + "r = weakref.ref(k)", "r().rate", "k.rate = 3.0"),
    "a module": ("mod = types.ModuleType('outside_mod')\nmod.r = 2.0", "mod.r", "mod.r = 3.0"),
    "an imported module": (
        "mod = types.ModuleType('outside_mod')\nmod.r = 2.0\nsys.modules['outside_mod'] = mod\ndef h():\n"
        "    import outside_mod\n    return outside_mod.r", "h()", "mod.r = 3.0"),
    "keywords of a partial": ("p = functools.partial(lambda s: s, s=2.0)", "p()", "p.keywords['s'] = 3.0"),
    "a decorator": ("box = [2.0]\ndef deco(h):\n    @functools.wraps(h)\n    def w(): return h() * box[0]\n"
        "    return w\nh = deco(lambda: 1.0)", "h()", "box[0] = 3.0"),
    "a decorator that is a class": (
        "class Deco:\n    def __init__(self, h):\n        functools.update_wrapper(self, h)\n"
        "        self.h, self.s = h, 2.0\n    def __call__(self): return self.h() * self.s\n" "h = Deco(lambda: 1.0)",
        "h()", "h.s = 3.0"),
    "single dispatch": ("st = {'k': 2.0}\n@functools.singledispatch\ndef act(v): return v * st['k']", "act(1.0)",
        "st['k'] = 3.0"),
    "what __init__ reads": ("g = {'a': 2.0}\nclass C:\n    def __init__(self): self.a = g['a']", "C().a",
        "g['a'] = 3.0"),
    "an attribute of a class that is made inside": (K, "K().rate", "K.rate = 3.0"),
    "a context manager": ("import contextlib\nst = {'k': 2.0}\n@contextlib.contextmanager\ndef ctx(): yield st['k']\n"
        "def h():\n    with ctx() as v: return v", "h()", "st['k'] = 3.0"),
    "a match": ("o = {'kind': 'a', 'v': 2.0}\ndef h():\n    match o:\n"
        "        case {'kind': 'a', 'v': v}: return v\n    return 1.0", "h()", "o['v'] = 3.0"),
    "a text": ("cfg = NS(n='a')\nd = {'ka': 2.0, 'kb': 3.0}", "d[f'k{cfg.n}']", "cfg.n = 'b'"),
    "a count of loops": ("c = NS(n=3)", "float(sum(1 for _ in range(c.n)))", "c.n = 5"),
    "an element of an array": ("w = np.ones(3)", "float(w[0])", "w[0] = 5.0"),
    "item of an array": ("w = np.array(2.0)", "w.item()", "w[...] = 5.0"),
    "a function of an array": ("w = np.ones(3)", "float(np.exp(w).sum())", "w[0] = 2.0"),
    "a norm": ("w = np.ones(3)", "float(np.linalg.norm(w))", "w[0] = 2.0"),
    "an iterated array": ("w = np.ones(3)", "sum(float(v) for v in w)", "w[1] = 2.0"),
    "the list of an array": ("w = np.ones(3)", "sum(w.tolist())", "w[1] = 2.0"),
    "whether all are true": ("w = np.ones(3)", "(2.0 if w.all() else 1.0)", "w[1] = 0.0"),
    "an index from an array": ("i = np.array([1, 2])\na = [1.0, 2.0, 3.0]", "a[int(i[0])]", "i[0] = 2"),
    "a range from an array": ("i = np.array(2)", "float(sum(1 for _ in range(int(i))))", "i[...] = 3"),
    "an array of objects": ("a = np.array([NS(v=2.0), None], dtype=object)", "a[0].v", "a[0].v = 3.0"),
    "the shape of an array": ("w = [np.ones(3)]", "w[0].shape[0]", "w[0] = np.ones(4)"),
    "arrays in a list": ("ws = [np.array([1.0]), np.array([2.0])]", "sum(float(w[0]) for w in ws)", "ws[1][0] = 9.0"),
    "a setting of an optimizer": ("opt = xpgrad.optimizers.SGD(2.0)", "opt.lr", "opt.lr = 3.0"),
    "a setting of a group": ("opt = xpgrad.optimizers.Adam()", "opt.alpha", "opt.hyperparam.alpha = 0.5"),
    "a mask from an array": ("w = np.ones(3)\nm = np.array([True, False, True])", "float(w[m].sum())", "m[1] = True"),
    "a list as an index": ("w = np.arange(3.0)\ni = [0, 1]", "float(w[i].sum())", "i[1] = 2"),
    "an iterator of NumPy": ("w = np.ones(3)", "sum(float(v) for v in np.nditer(w))", "w[1] = 7.0"),
    "elements by flat": ("w = np.ones(3)", "sum(float(v) for v in w.flat)", "w[1] = 7.0"),
    "a setting of NumPy": ("np.seterr(over='warn')", "2.0 if np.geterr()['over'] == 'warn' else 3.0",
        "np.seterr(over='ignore')"),
    "a dictionary of weak keys": ("d = weakref.WeakKeyDictionary()\nclass K: pass\nk = K()\nd[k] = 2.0",
        "d[k]", "d[k] = 3.0"),
    "a level of logging": ("import logging\nlog = logging.getLogger('outside')\nlog.setLevel(10)",
        "float(log.getEffectiveLevel())", "log.setLevel(20)"),
    "a setting of the interpreter": ("limit = sys.getrecursionlimit()", "float(sys.getrecursionlimit() - limit)",
        "sys.setrecursionlimit(limit + 10)"),
    "a generator of another": ("a = [2.0]\ndef one(): yield from a\ndef two(): yield from one()", "sum(two())",
        "a[0] = 3.0"),
    "a class that is called": ("T = type('T', (), {'v': 2.0})", "T().v", "T.v = 3.0"),
    "an operator of a new object": ("class C:\n    def __neg__(self): return 2.0", "-C()",
        "C.__neg__ = lambda self: 3.0"),
    "what __new__ returns": ("class C:\n    one = None\n    def __new__(cls):\n        if cls.one is None:\n"
        "            cls.one = object.__new__(cls)\n            cls.one.v = 2.0\n        return cls.one\nC()", "C().v",
        "C.one.v = 3.0"),
    "the end of an iteration": ("class C:\n    v = [1.0, 2.0]\n    def __getitem__(self, i): return self.v[i]\nc = C()",
        "sum(list(c))", "c.v = [1.0, 5.0]"),
    "a regular expression": ("import re\no = NS(t='v=2')", "float(re.search('[0-9]', o.t).group())", "o.t = 'v=5'"),
    "a time": ("import datetime\no = NS(v=datetime.timedelta(seconds=2))", "o.v.total_seconds()",
        "o.v = datetime.timedelta(seconds=5)"),
    "the name of a Parameter": ("p = xpgrad.Parameter(np.ones(3), name='ab')", "len(p.name)", "p.name = 'abc'"),
    "the shape of a Variable": ("v = Variable(np.ones(3))", "v.shape[0]", "v.array = np.ones(4)"),
    "parts of an object in a match": ("@dataclasses.dataclass\nclass D: parts: list\nd = D([2.0, 3.0])\ndef h():\n"
        "    match d:\n        case D(parts=[a, *rest]): return a * sum(rest)\n    return 1.0", "h()",
        "d.parts.append(5.0)"),
    "rows of a loop": ("rows = [[2.0, 3.0]]\ndef h():\n    n = 1.0\n    for a, *rest in rows: n = n * a + sum(rest)\n"
        "    return n", "h()", "rows[0].append(5.0)"),
    "rows of a comprehension": ("rows = [[2.0, 3.0]]", "sum(a * b for a, b in rows)", "rows[0][1] = 5.0"),
    "rows of a slice": ("rows = [[2.0], [3.0]]", "sum(rows[:1][0])", "rows[0][0] = 5.0"),
    "rows of an unpacked list": ("rows = [[2.0], [3.0]]", "sum([*rows][1])", "rows[1].append(5.0)"),
    "items of merged dictionaries": ("d = {'a': [2.0]}", "sum({**d}['a'])", "d['a'].append(5.0)"),
    "what a generator yields": ("rows = [[2.0], [3.0]]\ndef each(): yield from rows", "sum(list(each())[0])",
        "rows[0].append(5.0)"),
    "a list with a default": ("d = {'a': [2.0]}", "sum(d.setdefault('a', []))", "d['a'].append(5.0)"),
    "items of a list with a default": ("a = [2.0]", "sum({}.setdefault('k', a))", "a.append(5.0)"),
    "the text of a list": ("a = [2.0]", "float(len(repr(a)))", "a.append(5.0)"),
    "a cached list": ("a = [2.0]\n@functools.cache\ndef h(): return a", "sum(h()) * h()[0]", "a.append(5.0)"),
    "an array in a tuple": ("t = (np.ones(2), 3.0)", "float(t[0][1])", "t[0][1] = 5.0"),
    "arrays in a new list": ("n = np.ones(3)", "(n * float(np.sum([n, n])))[0]", "n[1] = 5.0"),
    "what fills a new list": ("a = [2.0]\ndef fill(xs, *, into, first):\n    first.append(1.0)\n    into.extend(xs)\n"
        "    return into + first", "sum(fill(a, first=[], into=[0.5]))", "a.append(5.0)"),
    "names of an object": ("class C: a = 2.0\nc = C()", "sum(getattr(c, n) for n in dir(c) if n[0] != '_')",
        "C.b = 3.0"),
    "members": ("class C: a = 2.0", "dict(inspect.getmembers(C))['a']", "C.a = 3.0"),
    "a signature": ("def h(v, o=2.0): return o", "inspect.signature(h).parameters['o'].default",
        "h.__defaults__ = (3.0,)"),
    "a union of sets": ("a = [{1}, {2}]", "float(len(set().union(*a)))", "a[1].add(3)"),
    "a joined text": ("a = ['x', 'y']", "float(len(f'{len(a)}'.join(a)))", "a.append('z')"),
    "a name in lower case": ("o = NS(rate=2.0)\na = ['RA', 'TE']", "getattr(o, ''.join(a).lower().strip())",
        "o.rate = 3.0"),
    "a name with a number": ("o = NS(a1=2.0, a_02=1.0)\ni = 1",
        "getattr(o, 'a' + str(i)) * getattr(o, 'a%d' % i) * getattr(o, f'a_{i + 1:02d}')", "o.a1 = 3.0"),
    "a name from an object": (
        "o = NS(rate=2.0)\nclass C:\n    v = 'rate'\n    def __str__(self): return self.v\nc = C()",
        "getattr(o, str(c)) * getattr(o, f'{c}')", "o.rate = 3.0"),
    "the largest pair": ("a = [(2.0, 'a'), (1.0, 'b')]", "max(a, key=operator.itemgetter(0))[0] * min(a)[0]",
        "a.append((3.0, 'c'))"),
    "an object that a key picks": ("ks = [NS(s=1.0, v=2.0), NS(s=3.0, v=4.0)]",
        "max(ks, key=lambda k: k.s).v * sorted(ks, key=lambda k: k.s)[0].v", "ks[1].v = 5.0"),
    "the keys of picked objects": ("ks = [NS(s=1.0, v=2.0), NS(s=3.0, v=4.0)]",
        "min(ks, key=lambda k: k.s).v * next(filter(lambda k: k.s > 2.0, ks)).v", "ks[0].s = 5.0"),
    "a picked item of a dictionary": ("d = {'a': [0.3, {'v': 2.0}], 'b': [0.7, {'v': 3.0}]}",
        "max(d.values(), key=lambda p: p[0])[1].get('v') * d[max(d)][1]['v']", "d['b'][1]['v'] = 5.0"),
    "a list of a picked object": ("ks = [NS(s=1.0, v=[2.0]), NS(s=3.0, v=[4.0])]",
        "sum(max(ks, key=lambda k: k.s).v)", "ks[1].v[0] = 5.0"),
    "an iterator of a class": ("class C:\n    v, i = [1.0, 2.0], 0\n    def __iter__(self): self.i = 0; return self\n"
        "    def __next__(self):\n        if self.i == len(self.v): raise StopIteration\n        self.i += 1\n"
        "        return self.v[self.i - 1]\nc = C()\nsum(c)", "sum([v for v in c])", "c.v.append(5.0)"),
    "a lock": ("lock = threading.RLock()\no = NS(v=2.0)\ndef h():\n    lock.acquire()\n    try: return o.v\n"
        "    finally: lock.release()", "h()", "o.v = 3.0"),
    "a keyword of a cached function": ("g = 2.0\n@functools.cache\ndef h(*, v): return g * v", "h(v=1.0)",
        "g = 3.0; h.cache_clear()"),
    "what a new list gives": ("a = [NS(v=2.0), NS(v=3.0)]\ndef h():\n    new = list(a)\n    return new.pop().v", "h()",
        "a[1].v = 5.0"),
    "a dictionary in a new class": ("a = [2.0]", "sum(type('T', (), {'a': a}).a)", "a.append(5.0)"),
    "a field of a structure in C": ("import ctypes\nclass S(ctypes.Structure): _fields_ = [('a', ctypes.c_double)]\n"
        "s = S(2.0)", "s.a", "s.a = 3.0"),
    "a cached method": ("class K:\n    r = 2.0\n    @functools.cache\n    def h(self, n): return n * self.r\nk = K()",
        "k.h(2)", "k.r = 3.0; K.h.cache_clear()"),
    "a context variable without a value": ("v = contextvars.ContextVar('v')\ndef h():\n    try: return v.get()\n"
        "    except LookupError: return v.get(2.0)", "h()", "v.set(3.0)"),
    "the precision of decimal numbers": ("import decimal\nd = decimal.Decimal(1)\ndef h():\n"
        "    return float(d / 3) * float(decimal.Decimal(2) / 3)", "h()", "decimal.getcontext().prec = 3"),
    "a weak set": ("class K: pass\nk, k2 = K(), K()\ns = weakref.WeakSet([k])", "len(s)", "s.add(k2)"),
    "a weak method": ("class K:\n    v = 2.0\n    def act(self): return self.v\nk = K()\nr = weakref.WeakMethod(k.act)",
        "r()()", "k.v = 3.0"),
    "an event": ("e = threading.Event()", "(2.0 if e.is_set() else 3.0)", "e.set()"),
    "the name of a thread": ("name = threading.current_thread().name", "len(threading.current_thread().name)",
        "threading.current_thread().name = 'a' + name"),
    "a condition": ("c, o = threading.Condition(), NS(v=2.0)\ndef h():\n    with c: return o.v", "h()", "o.v = 3.0"),
    "a path": ("a = ['b']", "float(len(os.path.normpath(os.path.join(*a))))", "a.append('c')"),
    "what __getattribute__ finds": ("class C:\n    k = 2.0\n    def __getattribute__(self, n):\n"
        "        v = super().__getattribute__(n)\n        return v * 2 if n == 'k' else v\nc = C()",
        "c.k", "C.k = 3.0"),
    "a registered subclass": ("import abc\nclass A(abc.ABC): pass\nclass K: pass", "(2.0 if issubclass(K, A) else 3.0)",
        "A.register(K)"),
    "type hints": ("import typing\nclass K: a: int", "len(typing.get_type_hints(K))", "K.__annotations__['b'] = int"),
    "attributes in a format": ("o = NS(a=NS(b=2), c=[5])\nd = {'2-5-5': 2.0, '3-5-5': 3.0}",
        "d['{0.a.b}-{o.c[0]}-{1}'.format(*[o], 5, o=o)]", "o.a.b = 3"),
    "a format with numbers that are left out": ("a, b = NS(v=1), NS(v=2)\nd = {'{1},2': 2.0, '{1},3': 3.0}",
        "d['{{{.v}}},{.v}'.format(a, b)]", "b.v = 3"),
    "a name among the builtins": ("import builtins\nbuiltins.outside = lambda: 2.0", "outside()",
        "builtins.outside = lambda: 3.0"),
    "an attribute of a subclass of arrays": ("class A(np.ndarray): pass\na = np.ones(3).view(A)\na.k = 2.0", "a.k",
        "a.k = 3.0"),
    "items as attributes": ("class C(dict): __getattr__ = dict.__getitem__\nc = C(a=2.0)", "c.a", "c['a'] = 3.0"),
    "attributes that objects share": ("class C:\n    shared = {'v': 2.0}\n    def __init__(self):\n"
        "        self.__dict__ = self.shared", "C().v", "C.shared['v'] = 3.0"),
    "the name of a class": ("class C: pass", "len(type(C()).__name__)", "C.__name__ = 'Longer'"),
    "attributes of a module by a function": ("m = types.ModuleType('outside_m')\n"
        "exec('d = {\"v\": 2.0}\\ndef __getattr__(n): return d[n]', m.__dict__)", "m.v", "m.d['v'] = 3.0"),
    "equal namespaces": ("a, b = NS(v=1), NS(v=1)", "(2.0 if a == b else 3.0)", "b.v = 2"),
    "unequal objects": ("class C: pass\na, b = C(), C()", "(2.0 if a != b else 3.0)", "C.__ne__ = lambda a, b: False"),
    "an order": ("class C:\n    def __ge__(self, o): return True\nclass D(C): pass\na, b = C(), D()",
        "(2.0 if b <= a else 3.0)", "D.__le__ = lambda a, b: False"),
    "an iterator that was missing": ("class C:\n    def __getitem__(self, i): return [1.0, 2.0][i]\nc = C()", "sum(c)",
        "C.__iter__ = lambda self: iter([5.0])"),
    "what super finds in a class between": ("class A:\n    def act(self): return 2.0\nclass B(A): pass\nclass C(B):\n"
        "    def act(self): return super().act()\nc = C()", "c.act()", "B.act = lambda self: 5.0"),
    "an attribute below a property": ("class A: r = 2.0\nclass B(A): pass\nclass C(B):\n    @property\n"
        "    def act(self): return super().r\nc = C()", "c.act", "B.r = 5.0"),
    "the items of a class": ("class C:\n    def __class_getitem__(cls, k): return 2.0", "C['a']",
        "C.__class_getitem__ = classmethod(lambda cls, k: 3.0)"),
    "a methodcaller with arguments": ("class C:\n    k = 2.0\n    def h(self, a, b=1.0): return self.k * a * b\n"
        "c, call = C(), operator.methodcaller('h', 3.0, b=2.0)", "call(c)", "c.k = 3.0"),
    "a polynomial": ("q = np.polynomial.Polynomial([1.0, 2.0])", "q(3.0)", "q.coef[0] = 5.0"),
    "a derived polynomial": ("q = np.poly1d([1.0, 2.0, 3.0])", "q.deriv()(2.0)", "q.c[0] = 5.0"),
    "an attribute of a subclass of Variable": ("class P(xpgrad.Parameter): scale = 2.0\np = P(np.ones(3))", "p.scale",
        "P.scale = 3.0"),
    "the end of an array": ("w = np.arange(3.0)\nclass C:\n    def __getitem__(self, i): return w[i]\nc = C()",
        "sum(float(v) for v in c)", "w[1] = 7.0"),
    "values of an enum": ("import enum\nclass M(enum.Enum): A, B = 2.0, 1.0\ndef h():\n"
        "    found = M.__members__.values()\n"
        "    return sum(m.value for m in found) * sum(m.value for m in M) * list(M)[0].value", "h()",
        "M.A._value_ = 3.0"),
    "a function under the name of another": ("k = [2.0]\n@functools.wraps(np.sum)\ndef h(a): return k[0]", "h(1)",
        "k[0] = 3.0"),
    "a module with a name like a plugin's": ("m = types.ModuleType('xpgrad_outside')\n"
        "exec('def h(): return v', m.__dict__)\nm.v = 2.0", "m.h()", "m.v = 3.0"),
    "a view of bytes": ("b = bytearray([2, 1])\nv = memoryview(b)[:1]", "sum(v) * v[0] * bytes(v)[0]", "b[0] = 3"),
    "whether a lock is held": ("lock = threading.Lock()", "(2.0 if lock.locked() else 3.0)", "lock.acquire()"),
    "a property in C": ("class C:\n    inner = NS(v=2.0)\n    r = property(operator.attrgetter('inner.v'))\nc = C()",
        "c.r", "C.inner.v = 3.0"),
    "a shape that is set": ("w = np.arange(6.0)", "float(w.shape[0]) * len(w)", "w = w.reshape(6); w.resize((2, 3))"),
    "flags of an array": ("w = np.ones(3)", "(2.0 if w.flags.writeable else 3.0)", "w.flags.writeable = False"),
    "a mask of an array": ("a = np.ma.array([2.0, 1.0], mask=[False, True])", "float(a.sum())", "a.mask[1] = False"),
    "a matrix of NumPy": ("a = np.matrix([[1.0, 2.0]])", "float((a * 2).sum())", "a[0, 0] = 5.0"),
    "a cached function of a tuple": ("@functools.cache\ndef h(s, *, k): return float(len(s) * k)\ns = (1, 2)",
        "h(s, k=1)", "s = (1, 2, 3)"),
    "what next gets from a class": ("class C:\n    v = 2.0\n    def __iter__(self): return self\n"
        "    def __next__(self): return self.v\nc = C()", "next(c)", "c.v = 3.0"),
    "a new iterator of a class": ("a = [1.0]\nclass C:\n    def __init__(self): self.i = 0\n"
        "    def __iter__(self): return self\n    def __next__(self):\n        self.i += 1\n"
        "        if self.i > len(a): raise StopIteration\n        return a[self.i - 1]", "sum(C())", "a.append(5.0)"),
    "a relative import": ("p, s = types.ModuleType('outside_p'), types.ModuleType('outside_p.s')\n"
        "p.__path__, p.s = [], s\ns.v, p.__package__ = 2.0, 'outside_p'\n"
        "sys.modules.update({'outside_p': p, 'outside_p.s': s})\n"
        "exec('def h():\\n    from .s import v\\n    return v', p.__dict__)",
        "p.h()", "s.v = 3.0"),
    "a setter that was missing": ("class C: pass\nc = C()\ndef h():\n    c.v = 2.0\n    return c.v", "h()",
        "C.__setattr__ = lambda c, n, v: object.__setattr__(c, n, v * 2)"),
    **{
        f"options of printing, {text}": ("np.set_printoptions(precision=3)\nw = np.array([1.23456789])", f"len({text})",
            "np.set_printoptions(precision=8)")
        for text in ("'%s' % w", "str([w])", "w.__repr__()", "f'{w}'", "''.join(map(str, [w]))")
    },
    "options of printing": ("np.set_printoptions(precision=3)\nw = np.array([1.23456789])",
        "len(f'{w}') * len(str(w)) * len(np.array2string(w))", "np.set_printoptions(precision=8)"),
    "a dataclass that is made inside": ("d = {'a': 2.0}\ndef h():\n    @dataclasses.dataclass\n"
        "    class D: a: float = 1.0\n    return D(d['a']).a", "h()", "d['a'] = 3.0"),
    "a base of a class that is made inside": ("class A: r = 2.0\ndef h():\n    class B(A): v = [1.0]\n"
        "    B.v.append(2.0)\n    return B().r * B.r * sum(B.v)", "h()", "A.r = 3.0"),
    "a precision that is set inside": ("import decimal\np = [5]\ndef h():\n    with decimal.localcontext() as c:\n"
        "        c.prec = p[0]\n        return float(decimal.Decimal(1) / 3)", "h()", "p[0] = 2"),
    "an unpacked generator": ("a = [2.0]\ndef rows(): return (v for v in a)", "sum([*rows()]) * len({*rows()})",
        "a.append(3.0)"),
    "what hides a descriptor": ("class D:\n    def __get__(self, o, t=None): return 2.0\nclass C: r = D()\nc = C()",
        "c.r", "c.r = 3.0"),
    "a class without a module": ("exec('class T(tuple): pass', space := {})\nt = space['T']((1.0,))\nt.k = 2.0", "t.k",
        "t.k = 3.0"),
}  # fmt: skip
PLACES = {
    # How `f`, a function of one Variable, reads it.
    "a function": "def f(x): return x * READ",
    "a function within": "def inner(x): return x * READ\ndef f(x): return inner(x) + 1",
    "a lambda in a dictionary": "acts = {'a': lambda x: x * READ}\ndef f(x): return acts['a'](x)",
    "a method": "class Runner:\n    def run(self, x): return x * READ\nf = Runner().run",
    "a partial": "f = functools.partial(lambda n, x: x * READ + n, 1)",
    "a model": "class Net(xpgrad.Chain):\n    def forward(self, x): return x * READ\nnet = Net()\n"
        "def f(x): return net(x)",
    "a model itself": "class Net(xpgrad.Link):\n    def forward(self, x): return x * READ\nf = Net()",
    "a model in a model": "class Net(xpgrad.Link):\n    def forward(self, x): return x * READ\n"
        "chain = xpgrad.Sequential(Net(), F.relu, Net())\ndef f(x): return chain(x)",
    "an argument's model": "class Net(xpgrad.Link):\n    def forward(self, x): return x * READ\nnet = Net()\n"
        "def f(x, net=net): return value_and_grad(lambda n, x: (n(x) ** 2).sum(), 1)(net, x)[1]",
    "a function node": "class Node(xpgrad.FunctionNode):\n    def forward(self, xs): return xs[0] * READ,\n"
        "    def backward(self, i, gys): return gys[0] * READ,\ndef f(x): return Node().apply((x,))[0]",
    "a backward pass": "node = custom_vjp(lambda x: x * 2.0)\n"
        "node.defvjp(lambda x: (x * 2.0, ()), lambda _, gy: (gy * READ,))\n"
        "def f(x): return grad(lambda x: node(x).sum())(x)",
    "a hook": "def loss(x):\n    y = x * x\n    y.register_hook(lambda gy: gy * READ)\n    return (y * y).sum()\n"
        "def f(x): return grad(loss)(x)",
    "a link hook": "class Hook(xpgrad.LinkHook):\n    def forward_preprocess(self, args): self.last = READ\n"
        "hook = Hook()\nlink = xpgrad.Sequential(F.relu)\ndef f(x):\n    with hook: y = link(x)\n"
        "    return y * hook.last",
    "a loop": "def f(x): return scan(lambda carry, _: (carry * READ, None), x, None, 3)[0]",
    "a cell of a loop": "class Cell(xpgrad.Link):\n    def forward(self, carry, x): return carry * READ, None\n"
        "cell = Cell()\ndef f(x): return scan(cell, x, None, 3)[0]",
    "an index": "first = [0, 1]\ndef f(x): return x[:, first + [int(0 * READ)]] * READ",
    "a batch": "def f(x): return vmap(lambda row: row * READ)(x)",
    "a batch of lists": "def of_row(row):\n    kept = [[0.0] for _ in range(2)]\n    for each in kept:\n"
        "        each[0] = row * READ\n    return kept[0][0] + kept[1][0]\ndef f(x): return vmap(of_row)(x)",
    "a gradient": "def f(x): return grad(lambda x: (x * x * READ).sum())(x)",
}  # fmt: skip

CHANGED = 5
"""The call before which the state changes; this call is not compared with the program."""


class Program(NamedTuple):
    """A program with its name, its source, and the statement that changes its external state."""

    name: str
    source: str
    change: str


def programs() -> list[Program]:
    """Return the programs: each kind of state in several of the places, all places equally often."""
    made = []
    for number, (state, (setup, read, change)) in enumerate(STATES.items()):
        for turn in range(5):
            place = list(PLACES)[(number + 3 * turn) % len(PLACES)]
            body = PLACES[place].replace("READ", f"({read})")
            made.append(Program(f"{state} in {place}", f"{setup}\n{body}\n", change))
    return made


class Outcome(NamedTuple):
    """The outcome of a program: differences from an eager run, its warnings, and whether a program ran."""

    differs: list[int]
    warnings: list[str]
    ran: bool


def space_of(program: Program) -> dict[str, Any]:
    """Return the names of a program, after its source has run."""
    modules = collections, contextvars, dataclasses, functools, inspect, itertools, math, operator, os, sys, threading
    space: dict[str, Any] = {module.__name__: module for module in (*modules, types, weakref)}
    transforms = importlib.import_module("xpgrad.transforms")
    names = ("grad", "value_and_grad", "scan", "vmap", "custom_vjp")
    space |= {
        "np": np,
        "strict": importlib.import_module("array_api_strict"),
        "NS": types.SimpleNamespace,
        "xpgrad": xpgrad,
        "F": xpgrad.functions,
        "Variable": Variable,
    }
    space |= {name: getattr(transforms, name) for name in names}
    space |= {"__name__": "outside"}
    exec(textwrap.dedent(program.source), space)
    return space


def outcome(program: Program, executor: str = "python", device: str = "@numpy") -> Outcome:
    """Run a program compiled and eagerly, before and after the change."""
    space = space_of(program)
    f = space["f"]
    compiled = xpgrad.compile(f, executor=executor)
    x = xpgrad.get_device(device).send(np.asarray([[1.5, -2.0, 0.5]]))
    differs = []
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        for call in range(8):
            if call == CHANGED:
                exec(program.change, space)
            got, wanted = flatten(compiled(x))[0], flatten(f(Variable(x)))[0]
            pairs = [(on_host(a), on_host(b)) for a, b in zip(got, wanted, strict=True)]
            if not all(np.allclose(a, b, rtol=1e-12) for a, b in pairs):
                differs.append(call)
    texts = [str(each.message) for each in caught if issubclass(each.category, CompileWarning)]
    return Outcome(differs, texts, compiled.cache_info().hits > 0)
