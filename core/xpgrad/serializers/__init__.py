"""Saving and loading of models, optimizers and trainers, with the names that Chainer gives their parts."""

from xpgrad.listing import listed as _listed
from xpgrad.serializers.base import AbstractSerializer, Deserializer, Serializer
from xpgrad.serializers.dictionary import DictionarySerializer, NpzDeserializer
from xpgrad.serializers.files import load_npz, save_npz
from xpgrad.serializers.safetensors import load_safetensors, save_safetensors

__all__ = [
    "AbstractSerializer", "Deserializer", "DictionarySerializer", "NpzDeserializer", "Serializer", "load_npz",
    "load_safetensors", "save_npz", "save_safetensors",
]  # fmt: skip
__getattr__, __dir__ = _listed(__name__, __all__)
