"""The model file: what goes in comes out to the last bit, and nothing else is believed."""

from __future__ import annotations

import hashlib
import json
import pickle
import zipfile

import numpy as np
import pytest

from convexcluster.persistence import (
    FORMAT,
    FORMAT_VERSION,
    ModelFileError,
    read_container,
    write_container,
)

CONTENT = {
    "numbers": [1, -2, 0.1, 1e-320, -0.0, True, None, "γ"],
    "odd": {"nan": float("nan"), "inf": float("inf"), "minus": float("-inf")},
    "array": {"array": np.arange(6.0).reshape(2, 3)[:, ::-1], "map": np.array([], dtype=np.int64)},
    "flag": np.bool_(True),
}


@pytest.fixture
def file(tmp_path):
    write_container(tmp_path / "m", CONTENT)
    return tmp_path / "m"


def test_round_trip(file):
    back = read_container(file)
    assert back["numbers"] == CONTENT["numbers"]
    assert str(back["numbers"][4]) == "-0.0"
    assert np.isnan(back["odd"]["nan"])
    assert back["odd"]["minus"] == -np.inf
    np.testing.assert_array_equal(back["array"]["array"], CONTENT["array"]["array"])
    assert back["array"]["map"].dtype == np.int64
    assert back["flag"] is True


def test_equal_models_give_equal_files(tmp_path, file):
    write_container(tmp_path / "again", CONTENT)
    assert (tmp_path / "again").read_bytes() == file.read_bytes()


def test_every_damaged_byte_is_noticed_or_harmless(file, tmp_path):
    """A flipped byte is refused, or lies in zip's own bookkeeping and changes nothing."""
    raw = file.read_bytes()
    whole = repr(read_container(file))
    sentences = []
    for place in range(0, len(raw), 7):
        damaged = bytearray(raw)
        damaged[place] ^= 0x55
        (tmp_path / "d").write_bytes(bytes(damaged))
        try:
            assert repr(read_container(tmp_path / "d")) == whole
        except ModelFileError as error:
            sentences.append(str(error))
    assert len(sentences) > len(raw) / 7 / 2
    assert not any("\n" in sentence for sentence in sentences)


@pytest.mark.parametrize("keep", [0, 10, 0.5, 0.99])
def test_a_cut_file_is_refused(file, keep):
    raw = file.read_bytes()
    file.write_bytes(raw[: int(keep * len(raw)) if keep < 1 else keep])
    with pytest.raises(ModelFileError, match=r"cut off|damaged"):
        read_container(file)


def repack(file, change, compression=zipfile.ZIP_STORED):
    """Rewrite the members after ``change(members)``, with a header checksum that matches."""
    with zipfile.ZipFile(file) as archive:
        members = {name: archive.read(name) for name in archive.namelist()}
    header = json.loads(members["header.json"])
    change(members, header)
    members["header.json"] = json.dumps(header).encode()
    members["header.sha256"] = hashlib.sha256(members["header.json"]).hexdigest().encode()
    with zipfile.ZipFile(file, "w", compression) as archive:
        for name, data in members.items():
            archive.writestr(name, data)


def test_a_newer_format_is_refused_with_the_remedy(file):
    repack(file, lambda m, h: h.update(format_version=FORMAT_VERSION + 1, package_version="9.9"))
    with pytest.raises(ModelFileError, match=r"convexcluster 9\.9.*upgrade with pip"):
        read_container(file)


def test_another_format_is_refused(file):
    repack(file, lambda m, h: h.update(format="a recipe"))
    with pytest.raises(ModelFileError, match=f"holds 'a recipe', not a {FORMAT}"):
        read_container(file)


def test_a_changed_array_is_refused(file):
    def change(members, header):
        members["arrays/0.npy"] = members["arrays/0.npy"][:-1] + b"\x41"

    repack(file, change)
    with pytest.raises(ModelFileError, match="checksum of array 0"):
        read_container(file)


class Bomb:
    def __reduce__(self):
        return (pytest.fail, ("code of the file was run",))


def test_a_pickle_inside_is_never_run(file, tmp_path):
    pickled = np.array([Bomb()], dtype=object)
    np.save(tmp_path / "p.npy", pickled, allow_pickle=True)
    data = (tmp_path / "p.npy").read_bytes()

    def change(members, header):
        members["arrays/0.npy"] = data
        header["sha256"][0] = hashlib.sha256(data).hexdigest()

    repack(file, change)
    with pytest.raises(ModelFileError, match="damaged"):
        read_container(file)
    (tmp_path / "plain").write_bytes(pickle.dumps(Bomb()))
    with pytest.raises(ModelFileError, match="not a convexcluster model"):
        read_container(tmp_path / "plain")


def test_compressed_members_are_refused(file):
    repack(file, lambda m, h: None, zipfile.ZIP_DEFLATED)
    with pytest.raises(ModelFileError, match="repacked"):
        read_container(file)


def test_other_zip_files_are_refused(tmp_path):
    with zipfile.ZipFile(tmp_path / "z", "w") as archive:
        archive.writestr("readme", "hello")
    with pytest.raises(ModelFileError, match="a zip file, but not"):
        read_container(tmp_path / "z")
    with pytest.raises(FileNotFoundError):
        read_container(tmp_path / "absent")


@pytest.mark.parametrize("value", [np.array(["a"]), object(), {1, 2}, lambda x: x])
def test_what_cannot_be_saved_is_named(tmp_path, value):
    with pytest.raises(TypeError, match=r"model\.kernel"):
        write_container(tmp_path / "m", {"kernel": value})
    assert list(tmp_path.iterdir()) == []
