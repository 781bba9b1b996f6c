import numpy as np

import xpgrad
import xpgrad.array_api as xp
import xpgrad.functions as F
from xpgrad import Variable, Varriable, ops, transforms  # error: attr-defined | reportAttributeAccessIssue

x = Variable(np.ones(3))

xpgrad.Varible  # error: attr-defined | reportAttributeAccessIssue
xpgrad.gard  # error: attr-defined | reportAttributeAccessIssue
xpgrad.transform  # error: attr-defined | reportAttributeAccessIssue
xpgrad.testing.gradientcheck  # error: attr-defined | reportAttributeAccessIssue
xpgrad.plugin.Backand  # error: attr-defined | reportAttributeAccessIssue
xp.summ  # error: attr-defined | reportAttributeAccessIssue
xp.float31  # error: attr-defined | reportAttributeAccessIssue
xp.linalg.inverse  # error: attr-defined | reportAttributeAccessIssue
xp.fft.fftfrequency  # error: attr-defined | reportAttributeAccessIssue
xp.special.gama  # error: attr-defined | reportAttributeAccessIssue
F.rleu  # error: attr-defined | reportAttributeAccessIssue
ops.log_sum_exp  # error: attr-defined | reportAttributeAccessIssue
transforms.grads  # error: attr-defined | reportAttributeAccessIssue
x.reshpe(3)  # error: attr-defined | reportAttributeAccessIssue
x.backwards()  # error: attr-defined | reportAttributeAccessIssue
