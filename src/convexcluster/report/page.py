"""Facts and arrays → one HTML file that needs nothing else.

Text of users is only ever data: it travels as JSON in which ``<``, ``>`` and ``&`` are escaped, and
the script shows it by ``textContent``. A content security policy that names the script and the
style by their hashes lets nothing else run and nothing be fetched.
"""

from __future__ import annotations

import base64
import hashlib
import html
import json
import zlib
from importlib.resources import files
from typing import Any

import numpy as np

SCRIPTS = ("data.js", "draw.js", "plane.js", "charts.js", "app.js", "events.js")


def embed_json(value: Any) -> str:
    r"""JSON that may stand inside a ``<script>`` element."""
    text = json.dumps(value, allow_nan=False, separators=(",", ":"))
    for sign in "<>&":
        text = text.replace(sign, f"\\u{ord(sign):04x}")
    return text


def pack(arrays: dict[str, np.ndarray]) -> tuple[list[list[Any]], str]:
    """Little-endian arrays side by side, deflated, in base64; and where each one lies.

    Returns
    -------
    manifest : list of [name, type, offset in bytes, length]
    text : str
    """
    manifest, parts, offset = [], [], 0
    for name, array in arrays.items():
        flat = np.ascontiguousarray(array).ravel()
        # 32 bits hold every index, at half the size
        narrow = "<i4" if flat.dtype == np.int64 else flat.dtype.newbyteorder("<").str
        flat = flat.astype(narrow)
        manifest.append([name, flat.dtype.str[1:], offset, len(flat)])
        raw = flat.tobytes()
        raw += bytes(-len(raw) % 8)  # typed arrays begin at multiples of their item size
        parts.append(raw)
        offset += len(raw)
    return manifest, base64.b64encode(zlib.compress(b"".join(parts), 6)).decode("ascii")


def render(title: str, facts: dict[str, Any], arrays: dict[str, np.ndarray]) -> str:
    """Fill the template."""
    folder = files(__package__)
    read = {name: (folder / name).read_text("utf-8") for name in ("template.html", "style.css")}
    script = "".join((folder / name).read_text("utf-8") for name in SCRIPTS)
    script = f'"use strict";\n(() => {{\n{script}\n}})();\n'
    manifest, packed = pack(arrays)
    policy = (
        f"default-src 'none'; script-src {_hash(script)}; style-src {_hash(read['style.css'])}; "
        "img-src data: blob:; base-uri 'none'; form-action 'none'"
    )
    fields = {
        "policy": policy,
        "title": html.escape(title),
        "style": read["style.css"],
        "facts": embed_json({**facts, "title": title, "manifest": manifest}),
        "arrays": packed,
        "script": script,
    }
    # one pass over the template: what is filled in is never itself searched for fields
    head, *rest = read["template.html"].split("{{")
    page = [head]
    for piece in rest:
        name, _, after = piece.partition("}}")
        page += [fields[name], after]
    return "".join(page)


def _hash(text: str) -> str:
    digest = base64.b64encode(hashlib.sha256(text.encode("utf-8")).digest()).decode("ascii")
    return f"'sha256-{digest}'"
