"""The names of ``chainermn.communicators``."""

from xpgrad_chainer.chainermn.communicator import CommunicatorBase as CommunicatorBase
from xpgrad_chainer.chainermn.communicator import create_communicator as create_communicator
