"""Files are written whole or not at all."""

import io
import os
import stat
import threading

import numpy as np
import pytest
from tests.core.models.parts import Net
from tests.core.serializers.test_npz import Values, contents, different

from xpgrad.serializers import load_npz, load_safetensors, save_npz, save_safetensors

WAYS = {"npz": (save_npz, load_npz), "safetensors": (save_safetensors, load_safetensors)}


@pytest.mark.parametrize("way", WAYS)
def test_a_failed_save_leaves_the_old_file(tmp_path, way, monkeypatch):
    save, load = WAYS[way]
    path = tmp_path / "net"
    save(path, different())

    def failing(*args):
        raise OSError("no space left")

    monkeypatch.setattr(os, "fsync", failing)
    with pytest.raises(OSError, match="no space left"):
        save(path, Net())
    monkeypatch.undo()
    assert os.listdir(tmp_path) == ["net"]
    net = Net()
    load(path, net)
    assert contents(net) == contents(different())


@pytest.mark.parametrize("way", WAYS)
def test_a_folder_that_is_missing_is_an_error_with_the_name_of_the_file(tmp_path, way):
    path = tmp_path / "nowhere" / "net.npz"
    with pytest.raises(FileNotFoundError) as caught:
        WAYS[way][0](path, Net())
    assert caught.value.filename == str(path)
    assert ".part" not in str(caught.value)


@pytest.mark.parametrize("way", WAYS)
def test_failed_save_creates_no_file(tmp_path, way):
    class Opaque:
        def serialize(self, serializer):
            serializer("a", 1)
            raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        WAYS[way][0](tmp_path / "net", Opaque())
    assert os.listdir(tmp_path) == []


@pytest.mark.parametrize("way", WAYS)
def test_a_link_to_a_file_stays_a_link(tmp_path, way):
    (tmp_path / "models").mkdir()
    os.symlink(tmp_path / "models" / "net", tmp_path / "latest")
    save, load = WAYS[way]
    save(tmp_path / "latest", Values(x=np.ones(2)))
    assert os.listdir(tmp_path / "models") == ["net"]
    assert os.path.islink(tmp_path / "latest")
    load(tmp_path / "latest", Values(x=np.zeros(2)))


@pytest.mark.parametrize("way", WAYS)
def test_files_may_be_read_by_whom_the_process_lets(tmp_path, way):
    WAYS[way][0](tmp_path / "net", Net())
    (tmp_path / "plain").write_bytes(b"")
    assert os.stat(tmp_path / "net").st_mode == os.stat(tmp_path / "plain").st_mode


@pytest.mark.parametrize("way", WAYS)
def test_a_replaced_file_keeps_its_mode(tmp_path, way):
    WAYS[way][0](tmp_path / "net", Net())
    os.chmod(tmp_path / "net", 0o640)
    WAYS[way][0](tmp_path / "net", different())
    assert os.stat(tmp_path / "net").st_mode & 0o777 == 0o640


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="there are no named pipes on this system")
@pytest.mark.parametrize("way", WAYS)
def test_a_pipe_is_written_to(tmp_path, way):
    os.mkfifo(tmp_path / "pipe")
    read: list[bytes] = []
    thread = threading.Thread(target=lambda: read.append((tmp_path / "pipe").read_bytes()))
    thread.start()
    save, load = WAYS[way]
    save(tmp_path / "pipe", different())
    thread.join(30)
    net = Net()
    load(io.BytesIO(read[0]), net)
    assert contents(net) == contents(different())
    assert os.listdir(tmp_path) == ["pipe"]


@pytest.mark.parametrize("way", WAYS)
def test_the_file_is_on_the_disk_before_its_name_and_the_name_before_the_return(tmp_path, way, monkeypatch):
    calls = []
    fsync, replace = os.fsync, os.replace

    def synced(descriptor):
        calls.append("directory" if stat.S_ISDIR(os.fstat(descriptor).st_mode) else "file")
        fsync(descriptor)

    monkeypatch.setattr(os, "fsync", synced)
    monkeypatch.setattr(os, "replace", lambda *names: (calls.append("name"), replace(*names)))
    WAYS[way][0](tmp_path / "net", Net())
    assert calls == ["file", "name", "directory"]
