"""Names of classes in messages, as users import them."""

PACKAGE = __name__.partition(".")[0]


def class_name(kind: type) -> str:
    """Return the name of the class `kind` with its module, without private ones; xpgrad's own are ``xpgrad.Name``."""
    module, name = str(getattr(kind, "__module__", "")), kind.__qualname__
    parts = module.split(".")
    if parts[0] == PACKAGE:
        return f"{PACKAGE}.{name}"
    public = [part for part in parts if part and not part.startswith("_") and part != "builtins"]
    return ".".join([*public, name])
