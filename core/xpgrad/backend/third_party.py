"""Errors of third-party code: their texts, and which errors are caused by the user instead."""

import dis


def text_of(error: BaseException) -> str:
    """Return type and text of an error, with its notes; only the type if the text cannot be made."""
    name = type(error).__name__
    try:
        notes = "".join(f" ({note})" for note in getattr(error, "__notes__", ()))
        return ": ".join(filter(None, [name, str(error)])) + notes
    except BaseException as failure:
        if is_interrupt(failure):
            raise
        return f"{name}, which cannot be printed ({type(failure).__name__})"


def is_interrupt(error: BaseException) -> bool:
    """Return whether an error is an interrupt by the user, not an exception that the code raised."""
    if not isinstance(error, KeyboardInterrupt):
        return False
    last = error.__traceback__
    while last is not None and last.tb_next is not None:
        last = last.tb_next
    return last is None or dis.opname[last.tb_frame.f_code.co_code[last.tb_lasti]] != "RAISE_VARARGS"
