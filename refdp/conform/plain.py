"""Arrays, mechanisms and parameters as JSON that loses no bit.

Floats are hexadecimal strings as C99 and `float.hex` write them ("0x1.8p+1", "-0x0.0p+0", "inf", "nan"), whole numbers
decimal strings, so that no reader rounds them. An array is {"dtype", "shape", "values"} with its values in row-major
order.
"""

from __future__ import annotations

import hashlib
import json
import math
import re
from dataclasses import asdict
from typing import Any

import numpy as np

from refdp.data.forms import canonical, schema_out
from refdp.data.records import Schema
from refdp.errors import InvalidParameter
from refdp.noise.mechanisms import Mechanism
from refdp.privacy.curator import Array
from refdp.privacy.events import Sensitivity

_HEXED = re.compile(r"[+-]?(0x|inf|nan)", re.IGNORECASE)


def hexed(number: float) -> str:
    """A float without loss; every NaN is "nan"."""
    return float(number).hex()


def floated(text: object) -> float:
    """Reads `hexed`. Errors: InvalidParameter, for whole numbers too: "10" as a hexadecimal one would be 16."""
    if isinstance(text, str) and _HEXED.match(text):
        try:
            return float.fromhex(text)
        except (ValueError, OverflowError):
            pass
    raise InvalidParameter(f"{text!r}: a hexadecimal float such as '0x1.8p+1' is needed")


def array_out(array: Array) -> dict[str, Any]:
    """An array of floats, whole numbers or truth values. Of any shape, which is kept."""
    whole = array.dtype.kind in "iub"
    flat = array.ravel().tolist()
    values = [str(int(one)) for one in flat] if whole else [hexed(one) for one in flat]
    return {"dtype": "int64" if whole else "float64", "shape": list(array.shape), "values": values}


def array_in(body: Any) -> Array:
    """Reads `array_out`. Errors: InvalidParameter. Of the shape that is kept."""
    try:
        dtype, shape, values = body["dtype"], tuple(int(n) for n in body["shape"]), body["values"]
        if dtype not in ("int64", "float64") or len(values) != math.prod(shape):
            raise InvalidParameter(f"an array of dtype {dtype!r}, shape {shape} and {len(values)} values")
        read = [int(one) for one in values] if dtype == "int64" else [floated(one) for one in values]
        return np.array(read, dtype=dtype).reshape(shape)
    except (KeyError, TypeError, ValueError, OverflowError) as error:
        raise InvalidParameter(f"an array needs dtype, shape and as many values: {error}") from error


def mechanism_out(mechanism: Mechanism) -> dict[str, Any]:
    """A mechanism: its name and its parameters."""
    return {"name": type(mechanism).__name__, **{key: plain_number(value) for key, value in vars(mechanism).items()}}


def sensitivity_out(sensitivity: Sensitivity) -> dict[str, Any]:
    """A declared sensitivity, without the claim behind it."""
    return {"bound": hexed(sensitivity.bound), "norm": str(sensitivity.norm), "relation": str(sensitivity.relation)}


def plain_number(value: Any) -> Any:
    """Floats as hexadecimal strings, also inside sequences; all else as it is."""
    if isinstance(value, float):
        return hexed(value)
    return [plain_number(one) for one in value] if isinstance(value, tuple | list) else value


def params_out(params: Any) -> dict[str, Any]:
    """All parameters of a run as a model file has them."""
    found: dict[str, Any] = canonical(asdict(params))
    return found


def schema_digest(schema: Schema) -> str:
    """SHA-256 of the canonical JSON of a schema."""
    return hashlib.sha256(json.dumps(canonical(schema_out(schema)), sort_keys=True).encode()).hexdigest()
