"""Frames of JSON-RPC, a line of JSON each, on streams that nothing else reads or writes."""

import io
import json
import os

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any, BinaryIO

# Bytes of a line; no text that is remembered is as long.
LONGEST = 4 * 1_048_576
# What no answer could be made to: the code and what it says.
NO_JSON, NO_REQUEST = -32700, -32600


class Fault(Exception):
    """A frame that is answered with an error."""

    def __init__(self, code: int, says: str, data: "Any" = None) -> None:
        super().__init__(says)
        self.error = {"code": code, "message": says} | ({} if data is None else {"data": data})


def own_streams() -> "tuple[BinaryIO, BinaryIO]":
    """Take standard input and output for frames alone: what prints from now on goes to standard error."""
    frames = io.FileIO(os.dup(0)), io.FileIO(os.dup(1), "w")
    nothing = os.open(os.devnull, os.O_RDONLY)
    os.dup2(nothing, 0)
    os.close(nothing)
    os.dup2(2, 1)
    return io.BufferedReader(frames[0]), io.BufferedWriter(frames[1])


def serve(source: "BinaryIO", target: "BinaryIO", answer: "Callable[[Any], Any]") -> None:
    """Answer each frame of `source` on `target` until there is none; what `answer` makes None of gets no answer."""
    while line := source.readline(LONGEST):
        if said := _answered(line, source, answer):
            target.write(json.dumps(said, separators=(",", ":")).encode() + b"\n")
            target.flush()


def _answered(line: bytes, source: "BinaryIO", answer: "Callable[[Any], Any]") -> "Any":
    if len(line) == LONGEST and not line.endswith(b"\n"):
        while line and not line.endswith(b"\n"):
            line = source.readline(LONGEST)
        return failed(None, Fault(NO_REQUEST, f"a frame has at most {LONGEST} bytes"))
    if not line.strip():
        return None
    try:
        frame = json.loads(line.decode(), parse_constant=_refuse)
    except (ValueError, RecursionError):
        return failed(None, Fault(NO_JSON, "a frame is one line of JSON in UTF-8"))
    if not isinstance(frame, list):
        return answer(frame)
    # The revision of 2025-03-26 alone has several frames in one.
    return list(filter(None, map(answer, frame))) if frame else failed(None, Fault(NO_REQUEST, "an empty batch"))


def failed(number: "Any", fault: Fault) -> "dict[str, Any]":
    """Write the answer that is an error; `number` is what the request is known by, None where that is not known."""
    return {"jsonrpc": "2.0", "id": number, "error": fault.error}


def _refuse(constant: str) -> None:
    raise ValueError(constant)
