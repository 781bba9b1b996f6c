import numpy as np

import xpgrad
import xpgrad.array_api as xp
import xpgrad.functions as F
from xpgrad import Variable, ops

x = Variable(np.ones((3, 3)))

xp.tanh(1, 2, 3, nonsense=4)  # error: call-arg, arg-type | reportCallIssue
xp.sum(x, axes=0)  # error: call-arg | reportCallIssue
xp.sum(x, 0, True)  # error: call-arg | reportCallIssue
xp.sum(x, axis="rows")  # error: arg-type | reportArgumentType
xp.add(x)  # error: call-arg | reportCallIssue
xp.add(x, "2")  # error: arg-type | reportArgumentType
xp.add(x, [1.0])  # error: arg-type | reportArgumentType
xp.matmul(x, 2.0)  # error: arg-type | reportArgumentType
xp.concat(x, axis="rows")  # error: arg-type | reportArgumentType
xp.zeros("3")  # error: arg-type | reportArgumentType
xp.exp({"x": x})  # error: arg-type | reportArgumentType
xp.special.gamma("x")  # error: arg-type | reportArgumentType
xp.linalg.inv(3.0)  # error: arg-type | reportArgumentType
F.relu("x")  # error: arg-type | reportArgumentType
F.relu(2.0)  # error: arg-type | reportArgumentType
F.relu(None)  # error: arg-type | reportArgumentType
F.softmax(x, axis="last")  # error: arg-type | reportArgumentType
F.dropout(x, ratio="half")  # error: call-overload | reportCallIssue, reportArgumentType
F.max_pooling_2d(x)  # error: call-overload | reportCallIssue
F.convolution_2d(x, x, strides=2)  # error: call-arg | reportCallIssue
F.convolution_2d(x, x, stride="2")  # error: arg-type | reportArgumentType
F.softmax_cross_entropy(x)  # error: call-arg | reportCallIssue
ops.logsumexp(x, axes=0)  # error: call-arg | reportCallIssue
number: float = xp.sum(x)  # error: assignment | reportAssignmentType
xpgrad.as_variable([1.0, 2.0])  # error: arg-type | reportArgumentType
