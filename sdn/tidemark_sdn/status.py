"""Queries a running controller."""

import json
import socket
from pathlib import Path
from typing import Any

from tidemark_sdn.config import ConfigError


def read_status(path: Path) -> dict[str, Any]:
    """State reported by a running controller."""
    with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as connection:
        try:
            connection.connect(str(path))
        except OSError as error:
            raise ConfigError(f"{path}: no controller answers: {error.strerror}") from None
        with connection.makefile("rb") as stream:
            status: dict[str, Any] = json.loads(stream.read())
    return status
