"""Files appear whole or not at all. What a container holds is tested with models and paths."""

from __future__ import annotations

import os

import pytest

from convexcluster.storage import Container, replacing
from convexcluster.storage.atomic import check_writable


@pytest.fixture
def file(tmp_path):
    (tmp_path / "f").write_bytes(b"old")
    return tmp_path / "f"


def test_a_file_is_replaced_when_the_block_ends(file):
    with replacing(file) as new:
        new.write(b"new")
        assert file.read_bytes() == b"old"
    assert file.read_bytes() == b"new"
    assert list(file.parent.iterdir()) == [file]


@pytest.mark.parametrize("error", [ValueError, KeyboardInterrupt])
def test_an_error_leaves_the_old_file_and_nothing_else(file, error):
    def stop_half_way():
        with replacing(file) as new:
            new.write(b"ne")
            raise error

    with pytest.raises(error):
        stop_half_way()
    assert file.read_bytes() == b"old"
    assert list(file.parent.iterdir()) == [file]


def test_an_existing_file_is_kept_if_asked(file):
    with pytest.raises(FileExistsError), replacing(file, overwrite=False) as new:
        new.write(b"new")
    assert file.read_bytes() == b"old"
    with replacing(file.with_name("g"), overwrite=False) as new:
        new.write(b"new")
    assert sorted(f.name for f in file.parent.iterdir()) == ["f", "g"]


@pytest.mark.skipif(os.name == "nt", reason="Windows has no mode bits")
def test_a_new_file_is_as_readable_as_any_other(file):
    with replacing(file.with_name("g")) as new:
        new.write(b"new")
    file.with_name("plain").write_bytes(b"plain")
    assert file.with_name("g").stat().st_mode == file.with_name("plain").stat().st_mode


def test_a_file_of_another_kind_is_refused_by_name(tmp_path):
    Container("list of numbers", 1).write(tmp_path / "f", {"x": 1})
    with pytest.raises(ValueError, match="holds 'list of numbers', not a recipe"):
        Container("recipe", 1).read(tmp_path / "f")


def test_an_error_names_the_file_that_was_asked_for(tmp_path):
    with pytest.raises(FileNotFoundError) as missing, replacing(tmp_path / "none" / "f"):
        pass
    assert str(missing.value).endswith(f"'{tmp_path / 'none' / 'f'}'")
    with pytest.raises(FileNotFoundError, match=r"none/f'$"):
        check_writable(tmp_path / "none" / "f")
    (tmp_path / "folder").mkdir()
    with pytest.raises(IsADirectoryError, match=r"/folder'$"), replacing(tmp_path / "folder"):
        pass
    assert [f.name for f in tmp_path.iterdir()] == ["folder"]
