"""The keyring's file: what it holds, who may read it, what happens to it."""

from __future__ import annotations

import hashlib
import os
import sqlite3
import stat
import subprocess
import sys
from contextlib import closing
from pathlib import Path

import pytest

from askem.errors import InvalidInput, NotFound
from askem.http.keyring import MAX_KEYS, Keyring, KeyringBusy, KeyringUnreadable

NOW = 1_800_000_000


def keyring_in(folder: Path) -> Keyring:
    return Keyring(folder, now=lambda: NOW)


def test_what_is_stored_is_a_digest_and_never_the_key(tmp_path: Path) -> None:
    data = tmp_path / "deep" / "data"
    keyring = keyring_in(data)
    record, key = keyring.create("a name", ("write", "read"), NOW + 60)
    assert record.digest == hashlib.sha256(key.encode()).digest()
    assert (record.scopes, record.created_at) == (("read", "write"), NOW)
    assert keyring_in(data).records() == [record]
    stored = (data / "keys.sqlite3").read_bytes()
    assert key.encode() not in stored
    assert key[19:62].encode() not in stored
    assert stat.S_IMODE((data / "keys.sqlite3").stat().st_mode) == 0o600
    assert [path.name for path in data.iterdir()] == ["keys.sqlite3"]


def test_the_file_is_closed_to_others_whatever_the_umask(tmp_path: Path) -> None:
    code = (
        "import os, sys; os.umask(0); from pathlib import Path;"
        "from askem.http.keyring import Keyring;"
        "Keyring(Path(sys.argv[1])).create('x', ('read',))"
    )
    subprocess.run([sys.executable, "-c", code, str(tmp_path)], check=True, env=environment())
    assert stat.S_IMODE((tmp_path / "keys.sqlite3").stat().st_mode) == 0o600
    assert not keyring_in(tmp_path).others_may()


def environment() -> dict[str, str]:
    return {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}


def test_states(tmp_path: Path) -> None:
    keyring = keyring_in(tmp_path)
    record, _ = keyring.create("x", ("read",), NOW + 60)
    assert [record.state(NOW + 59), record.state(NOW + 60)] == ["live", "expired"]
    revoked = keyring.revoke(record.id)
    assert (revoked.revoked_at, revoked.state(NOW)) == (NOW, "revoked")
    assert Keyring(tmp_path, now=lambda: NOW + 5).revoke(record.id) == revoked
    assert keyring.records() == [revoked]


def test_two_live_keys_may_have_one_name(tmp_path: Path) -> None:
    keyring = keyring_in(tmp_path)
    old, new = (keyring.create("pipeline", ("read",))[0] for _ in range(2))
    assert [record.id for record in keyring.records()] == [old.id, new.id]
    keyring.revoke(old.id)
    assert [record.state(NOW) for record in keyring.records()] == ["revoked", "live"]


@pytest.mark.parametrize("name", ["", " x", "a\nb", "x" * 65, "schlüssel", "a{b}"])
def test_names_that_would_not_do_in_a_log(tmp_path: Path, name: str) -> None:
    with pytest.raises(InvalidInput, match="name"):
        keyring_in(tmp_path).create(name, ("read",))
    assert not list(tmp_path.iterdir())


def test_no_scope_no_key(tmp_path: Path) -> None:
    with pytest.raises(InvalidInput, match="scopes"):
        keyring_in(tmp_path).create("x", ())


def test_revoking_what_is_not_there_repeats_nothing(tmp_path: Path) -> None:
    keyring = keyring_in(tmp_path)
    with pytest.raises(NotFound):
        keyring.revoke("a" * 12)
    assert not list(tmp_path.iterdir())
    _, key = keyring.create("x", ("read",))
    for given, kind in (("a" * 12, NotFound), (key, InvalidInput), ("' OR 1=1", InvalidInput)):
        with pytest.raises(kind) as caught:
            keyring.revoke(given)
        assert given not in str(caught.value)
    assert [record.state(NOW) for record in keyring.records()] == ["live"]


def test_a_full_keyring_takes_no_more(tmp_path: Path) -> None:
    keyring = keyring_in(tmp_path)
    keyring.create("x", ("read",))
    with closing(sqlite3.connect(keyring.path)) as connection, connection:
        connection.executemany(
            "INSERT INTO keys VALUES (?, ?, 'n', 'read', 1, NULL, NULL)",
            [(f"k{number}", os.urandom(32)) for number in range(MAX_KEYS - 1)],
        )
    with pytest.raises(InvalidInput, match="1000"):
        keyring.create("y", ("read",))
    assert len(keyring.records()) == MAX_KEYS


def damage(path: Path, how: str) -> None:
    if how == "folder":
        path.unlink()
        path.mkdir()
    elif how == "version":
        with closing(sqlite3.connect(path)) as connection:
            connection.execute("PRAGMA user_version = 2")
    elif how == "digest":
        with closing(sqlite3.connect(path)) as connection, connection:
            connection.execute("PRAGMA ignore_check_constraints = ON")
            connection.execute("UPDATE keys SET digest = 'text'")
    else:
        path.write_bytes(
            {"empty": b"", "garbage": b"x" * 5000, "torn": path.read_bytes()[:99]}[how]
        )


@pytest.mark.parametrize("how", ["empty", "garbage", "torn", "folder", "version", "digest"])
def test_a_damaged_keyring_is_named_and_left_alone(tmp_path: Path, how: str) -> None:
    keyring = keyring_in(tmp_path)
    record, _ = keyring.create("x", ("read",))
    damage(keyring.path, how)
    with pytest.raises(KeyringUnreadable, match=r"keyring|keys\.sqlite3"):
        keyring.records()
    if how != "digest":
        with pytest.raises(KeyringUnreadable):
            keyring.create("y", ("read",))
        with pytest.raises(KeyringUnreadable):
            keyring.revoke(record.id)


def test_a_writer_that_takes_too_long_is_no_damage(tmp_path: Path) -> None:
    keyring = Keyring(tmp_path, wait_s=0)
    keyring.create("x", ("read",))
    with closing(sqlite3.connect(keyring.path, isolation_level=None)) as writer:
        writer.execute("BEGIN EXCLUSIVE")
        with pytest.raises(KeyringBusy):
            keyring.records()
        with pytest.raises(KeyringBusy):
            keyring.create("y", ("read",))
    assert len(keyring.records()) == 1


def test_many_writers_and_readers_at_once(tmp_path: Path) -> None:
    code = (
        "import sys; from pathlib import Path; from askem.http.keyring import Keyring;"
        "keyring = Keyring(Path(sys.argv[1]), wait_s=60);"
        "[keyring.create(f'{sys.argv[2]}-{n}', ('read',)) for n in range(5)];"
        "keyring.revoke(keyring.create('gone', ('read',))[0].id)"
    )
    processes = [
        subprocess.Popen(
            [sys.executable, "-c", code, str(tmp_path), f"p{number}"],
            env=environment(),
            stderr=subprocess.PIPE,
            text=True,
        )
        for number in range(3)
    ]
    keyring, counts = Keyring(tmp_path, wait_s=60), [0]
    while any(process.poll() is None for process in processes):
        counts.append(len(keyring.records()))
    assert counts == sorted(counts)
    errors = [process.communicate(timeout=60)[1] for process in processes]
    assert errors == ["", "", ""]
    names = [record.name for record in keyring.records()]
    assert len(names) == 18
    assert {f"p{p}-{n}" for p in range(3) for n in range(5)} <= set(names)
    assert sum(record.revoked_at is not None for record in keyring.records()) == 3


def test_what_a_killed_writer_left_is_rolled_back_by_the_next_reader(tmp_path: Path) -> None:
    keyring = keyring_in(tmp_path)
    record, _ = keyring.create("x", ("read",))
    code = (
        "import os, signal, sqlite3, sys;"
        "c = sqlite3.connect(sys.argv[1], isolation_level=None);"
        "c.execute('PRAGMA cache_size = 1'); c.execute('PRAGMA cache_spill = 1');"
        "c.execute('BEGIN');"
        "c.execute('UPDATE keys SET revoked_at = 1');"
        "[c.execute('INSERT INTO keys VALUES (?, randomblob(32), ?, ?, 1, NULL, NULL)',"
        " (str(n), 'n' * 900, 'read')) for n in range(200)];"
        "os.kill(os.getpid(), signal.SIGKILL)"
    )
    subprocess.run([sys.executable, "-c", code, str(keyring.path)], check=False)
    assert keyring.path.with_name("keys.sqlite3-journal").stat().st_size > 0
    assert keyring.records() == [record]
