"""The few named errors of refdp. Every message gives the value, what is allowed, and where the bound comes from."""


class RefdpError(Exception):
    """Base of every error that refdp raises on purpose."""


class InvalidParameter(RefdpError, ValueError):
    """A parameter is outside its domain. Raised before any record is touched."""


class InvalidRecords(RefdpError, ValueError):
    """The records do not fit the public schema (wrong columns, NaN label, infinite feature, no rows)."""


class BudgetExceeded(RefdpError, ValueError):
    """A release would cost more than is left of a budget. Nothing was charged and nothing released."""


class RelationMismatch(RefdpError, ValueError):
    """Two objects that speak about different neighbouring relations were combined."""


class ImpossibleReplay(RefdpError):
    """A replay could not follow its transcript: no privacy loss of that run is stated.

    Attributes:
        release: the name of the release (or draw) where the two runs part.
        kind: what differs: "control flow", "options", "shape", "mechanism", "sensitivity", "output", "assignment".
    """

    def __init__(self, release: str, kind: str, detail: str) -> None:
        super().__init__(f"{release}: {kind} differs between neighbours: {detail}")
        self.release = release
        self.kind = kind
        self.detail = detail


class ModelFileError(RefdpError, ValueError):
    """A model file is truncated, altered, or of an unknown schema version."""


class MessageError(RefdpError, ValueError):
    """A message between owners is damaged, malformed, repeated or out of order. Nothing was done with it."""


class JournalError(RefdpError, ValueError):
    """The file of what an owner began is damaged, of another run, or in use. Nothing was begun and nothing released."""


class PrivacyWarning(UserWarning):
    """The guarantee does not hold as it stands: something was taken from the data (bounds, categories, label range,
    owners), it rests on what only the caller can keep (a seed that stays secret, a relation that was not given), or a
    stated figure gives something away or promises little (an exact number of records, a delta above one over it)."""


class UtilityWarning(UserWarning):
    """The guarantee holds and the result will be poor: noise exceeds what the records can show, by public figures."""


class RepeatedFitWarning(PrivacyWarning):
    """Records were fitted again and no budget holds the fits together: each certificate is about its own fit alone."""
