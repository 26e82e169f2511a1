"""What learnroute raises when it cannot do what was asked."""


class InputError(ValueError):
    """Something the caller gave is wrong; the message names the field, the value and the remedy."""


class RefusedError(InputError):
    """A method cannot work on this problem; the message says why and what to use instead."""
