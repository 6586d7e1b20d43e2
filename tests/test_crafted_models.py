"""Model files with valid checksums and hostile contents: a sentence each, and little memory."""

from __future__ import annotations

import hashlib
import io
import json
import struct
import tracemalloc
import zipfile
import zlib

import numpy as np
import pytest

from convexcluster import KernelConvexClustering, load
from convexcluster.persistence import MODEL, ModelFileError, load_notes

START = f'{{"format": "{MODEL.format}", "format_version": {MODEL.version}, '


def packed(path, content, arrays=()):
    """A model file as ``save`` would write it, with any JSON text and array bytes."""
    digests = json.dumps([hashlib.sha256(data).hexdigest() for data in arrays])
    header = (START + f'"sha256": {digests}, "content": {content}}}').encode()
    with zipfile.ZipFile(path, "w", zipfile.ZIP_STORED) as archive:
        archive.writestr("header.json", header)
        archive.writestr("header.sha256", hashlib.sha256(header).hexdigest())
        for k, data in enumerate(arrays):
            archive.writestr(f"arrays/{k}.npy", data)
    return path


def npy(shape="(1,)", data=b"", head=None):
    text = head or f"{{'descr': '<f8', 'fortran_order': False, 'shape': {shape}, }}"
    text = text.encode() + b"\n"
    return b"\x93NUMPY\x01\x00" + struct.pack("<H", len(text)) + text + data


def estimator(parameters="{}", state="{}"):
    parts = f'"parameters": {{"map": {parameters}}}, "state": {{"map": {state}}}'
    return f'{{"map": {{"estimator": "KernelConvexClustering", {parts}}}}}'


CASES = {
    "deep maps": ('{"map": {"a": ' * 490 + "1" + "}}" * 490, []),
    "deep lists": ("[" * 600 + "]" * 600, []),
    "very deep lists": ("[" * 100_000 + "]" * 100_000, []),
    "a shape without data": ('{"array": 0}', [npy("(3000000000000,)")]),
    "a shape of rows without columns": ('{"array": 0}', [npy("(3000000000000, 0)")]),
    "a negative shape": ('{"array": 0}', [npy("(-1,)", bytes(8))]),
    "too much data": ('{"array": 0}', [npy("(1,)", bytes(16))]),
    "parentheses for a head": ('{"array": 0}', [npy(head="(" * 2000)]),
    "brackets for a head": ('{"array": 0}', [npy(head="[" * 2000)]),
    "an array of objects": ('{"array": 0}', [npy(head="{'descr': '|O', 'shape': (1,), }")]),
    "sparse of a number": ('{"map": {"estimator": {"sparse": 3}}}', []),
    "a map of a number": ('{"map": 3}', []),
    "an array of a name": ('{"array": "x"}', []),
    "an array from the end": ('{"map": {"x": {"array": -1}}}', [npy("(1,)", bytes(8))]),
    "strings of a number": ('{"map": {"x": {"strings": 3}}}', []),
    "strings of lists": ('{"map": {"x": {"strings": [["a"]]}}}', []),
    "two marks": ('{"map": {}, "array": 0}', []),
    "a number": ("3", []),
    "a list": ("[1, 2]", []),
    "no state": ('{"map": {"estimator": "KernelConvexClustering", "parameters": {"map": {}}}}', []),
    "an estimator of another module": ('{"map": {"estimator": "os.system"}}', []),
    "an unfitted estimator": (estimator(), []),
    "labels of text": (estimator(state='{"labels_": "x"}'), []),
    "a method as state": (estimator(state='{"predict": 3}'), []),
    "a huge integer": ('{"map": {"estimator": ' + "9" * 5000 + "}}", []),
    "a record of a list": ('{"record": ["Graph", [1]]}', []),
    "a path of nothing": ('{"record": ["ClusterPath", {"map": {}}]}', []),
    "a kernel of another module": (
        '{"record": ["Kernel", {"map": {"name": "os.system", "params": {"map": {}}}}]}',
        [],
    ),
    "a kernel of code": (
        '{"record": ["Kernel", {"map": {"name": "callable", "function": "os.system"}}]}',
        [],
    ),
    "a kernel parameter that the kernel lacks": (
        '{"record": ["Kernel", {"map": {"name": "rbf", "params": {"map": {"x": 1}}}}]}',
        [],
    ),
}


@pytest.mark.parametrize("reader", [load, load_notes])
@pytest.mark.parametrize("case", CASES)
def test_crafted_contents_end_in_one_sentence(tmp_path, case, reader):
    if case in ("no state", "a method as state") or "estimator" in case or "labels" in case:
        reader = load  # notes are read without building the estimator
    with pytest.raises(ModelFileError) as refused:
        reader(packed(tmp_path / "model", *CASES[case]))
    assert "\n" not in str(refused.value)


def overlapping(path, copies, size):
    """Stored members of which each holds all later ones, and the same last bytes."""

    def local(label, data):
        sizes = (zlib.crc32(data), len(data), len(data), len(label), 0)
        return struct.pack("<4s5H3L2H", b"PK\x03\x04", 20, 0, 0, 0, 33, *sizes) + label

    def entry(label, data, offset):
        sizes = (zlib.crc32(data), len(data), len(data), len(label), 0, 0, 0, 0, 0, offset)
        return struct.pack("<4s6H3L5H2L", b"PK\x01\x02", 20, 20, 0, 0, 0, 33, *sizes) + label

    header = (START + f'"sha256": {json.dumps(["0"] * copies)}, "content": 0}}').encode()
    tail, members = bytes(size), []
    for k in reversed(range(copies)):
        label = b"arrays/%d.npy" % k
        members.append((label, tail))
        tail = local(label, tail) + tail
    out, directory = io.BytesIO(), b""
    digest = hashlib.sha256(header).hexdigest().encode()
    for label, data in ((b"header.json", header), (b"header.sha256", digest)):
        directory += entry(label, data, out.tell())
        out.write(local(label, data) + data)
    end = out.tell() + len(tail)
    for label, data in reversed(members):
        directory += entry(label, data, end - len(data) - len(local(label, data)))
    out.write(tail)
    count = copies + 2
    tail = struct.pack("<4s4H2LH", b"PK\x05\x06", 0, 0, count, count, len(directory), end, 0)
    path.write_bytes(out.getvalue() + directory + tail)


def test_members_that_overlap_take_no_more_memory_than_the_file(tmp_path):
    overlapping(tmp_path / "model", copies=200, size=200_000)
    tracemalloc.start()
    try:
        with pytest.raises(ModelFileError, match="damaged: its members are larger than the file"):
            load(tmp_path / "model")
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert peak < 5_000_000


@pytest.fixture(scope="module")
def content(tmp_path_factory):
    path = tmp_path_factory.mktemp("models") / "model"
    KernelConvexClustering(2).fit([[0.0], [0.1], [5.0], [5.1]]).save(path)
    return MODEL.read(path)


@pytest.mark.parametrize(
    ("name", "value", "message"),
    [
        ("kernel", "os.system", "kernel 'os.system' is unknown"),
        ("solver", "os.system", "solver must be one of"),
        ("n_clusters", -3, "n_clusters must be a whole number"),
        ("weights", "x", "weights must be one of"),
    ],
)
def test_names_and_numbers_are_checked_when_a_model_is_loaded(
    tmp_path, content, name, value, message
):
    parameters = {**content["parameters"], name: value}
    MODEL.write(tmp_path / "model", {**content, "parameters": parameters})
    with pytest.raises(ModelFileError, match=message):
        load(tmp_path / "model")


@pytest.mark.parametrize("order", ["C", "F"])
@pytest.mark.parametrize(
    "array",
    [
        np.arange(6.0).reshape(2, 3),
        np.zeros((0, 3)),
        np.array(7),
        np.array([True, False]),
        np.arange(4, dtype=np.float32)[::-1],
        np.arange(3, dtype=">i4"),
        np.array([5], dtype=np.uint8),
    ],
)
def test_arrays_come_back_with_shape_type_and_order(tmp_path, array, order):
    array = np.asarray(array, order=order)
    MODEL.write(tmp_path / "f", {"x": array})
    back = MODEL.read(tmp_path / "f")["x"]
    assert (back.shape, back.dtype) == (array.shape, array.dtype)
    assert back.flags.f_contiguous == array.flags.f_contiguous
    assert back.flags.writeable
    np.testing.assert_array_equal(back, array)
