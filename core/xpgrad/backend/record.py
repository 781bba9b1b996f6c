"""Records of plugins and their loading."""

from xpgrad.backend.backend import Backend
from xpgrad.backend.naming import text_of
from xpgrad.errors import XpgradError


class PluginWarning(UserWarning):
    """A plugin could not be loaded, or one of its hooks failed; everything else works."""


class PluginRecord:
    """The state of one plugin module.

    Attributes
    ----------
    module, origin : str
        The module, and the distribution with its version.
    names : tuple of str
        The names of the module's backends, as its distribution registers them.
    state : str
        "not loaded", "loading", "loaded", "unavailable" or "failed".
    error : BaseException or None
    seconds : float
        The time that loading took.
    backend : Backend or None
    """

    def __init__(self, module: str, origin: str, names: tuple[str, ...]) -> None:
        self.module, self.origin, self.names = module, origin, names
        self.state, self.seconds = "not loaded", 0.0
        self.error: BaseException | None = None
        self.backend: Backend | None = None

    def __repr__(self) -> str:
        return f"<plugin {self.module} of {self.origin}: {self.state}>"

    def reason(self) -> str:
        """Return in one sentence why this plugin provides no backend."""
        if isinstance(self.error, XpgradError):
            return text_of(self.error).partition(": ")[2] or text_of(self.error)
        if self.error is not None:
            return f"{self.origin} failed to load: {text_of(self.error)}"
        if self.state == "loading":
            return f"the plugin of {self.origin} requested its own backend while it was being loaded"
        return f"{self.origin} provides no backend (its plugin has no hook xpgrad_backend)"
