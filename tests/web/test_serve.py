from __future__ import annotations

import contextlib
import os
import re
import signal
import socket
import subprocess
import sys
import zipfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from learnroute.cli import run
from learnroute.web.assets import examples, page_files
from service import ROOT, get
from waiting import GUARD, has_ended, wait_for


@contextlib.contextmanager
def start_command(*arguments: str, **environment: str) -> Iterator[tuple[subprocess.Popen[str], str]]:
    """Start the command; give the process and the address that it prints."""
    command = [sys.executable, "-u", "-m", "learnroute", "serve", "--port", "0", *arguments]
    with subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env={**os.environ, **environment}
    ) as process:
        try:
            assert process.stdout is not None
            found = re.search(r"http://\S+", process.stdout.readline())
            assert found
            yield process, found[0]
        finally:
            process.kill()


def children(process: int) -> list[int]:
    """Return the processes that any thread of a process started."""
    lists = Path(f"/proc/{process}/task").glob("*/children")
    return [int(child) for found in lists for child in found.read_text().split()]


def test_serving_on_loopback_until_interrupted() -> None:
    with start_command() as (process, address):
        assert address.startswith("http://127.0.0.1:")
        assert get(f"{address}api/health").json()["status"] == "ok"
        workers = children(process.pid)
        process.send_signal(signal.SIGINT)
        assert process.wait(GUARD) in (0, 130)
        assert "Traceback" not in process.stderr.read()  # type: ignore[union-attr]
    wait_for(lambda: all(has_ended(worker) for worker in workers))


@pytest.mark.skipif(not Path("/proc/self/stat").exists(), reason="looks at /proc")
def test_workers_do_not_outlive_a_killed_service() -> None:
    with start_command("--workers", "2") as (process, _):
        wait_for(lambda: len(children(process.pid)) >= 2)
        workers = children(process.pid)
        process.kill()
        process.wait()
    wait_for(lambda: all(has_ended(worker) for worker in workers))


def test_a_token_in_the_environment_is_asked_for_and_never_logged() -> None:
    with start_command("--seconds", "600", LEARNROUTE_TOKEN="open-sesame") as (process, address):
        base, _, fragment = address.partition("#")
        assert fragment == "token=open-sesame"  # a fragment is not sent with requests
        assert get(f"{base}api/formats").status_code == 401
        headers = {"Authorization": "Bearer open-sesame"}
        assert get(f"{base}api/formats", headers=headers).status_code == 200
        process.terminate()
        process.wait(GUARD)
        assert "sesame" not in process.stderr.read()  # type: ignore[union-attr]


def test_port_in_use_and_invalid_options_are_reported_in_one_line(capsys: pytest.CaptureFixture[str]) -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = str(taken.getsockname()[1])
        for arguments in (
            ["--port", port], ["--host", "no.such.host.invalid"], ["--workers", "0"], ["--queue", "0"],
            ["--max-seconds", "0"], ["--max-body", "-1"], ["--seconds", "0"], ["--port", "70000"],
            ["--max-regions", "1"], ["--max-requests", "0"], ["--receive-seconds", "0"], ["--allow-host", "a b"],
            ["--root-path", "x"], ["--trust-proxy", "*"],
        ):  # fmt: skip
            assert run(["serve", *arguments]) == 2
            out, err = capsys.readouterr()
            assert out == ""
            assert err.startswith("learnroute: ")
            assert err.count("\n") == 1


def test_without_the_web_stack_the_command_says_what_to_install() -> None:
    code = "import sys; sys.modules['uvicorn'] = None; from learnroute.cli import run; sys.exit(run(['serve']))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=GUARD)
    assert done.returncode == 2
    assert done.stderr == (
        "learnroute: the service needs FastAPI and uvicorn: pip install fastapi pydantic uvicorn prometheus_client, or "
        "pip install '.[web]' in a checkout of learnroute\n"
    )


def test_wheel_contains_page_and_examples(tmp_path: Path) -> None:
    command = [sys.executable, "-m", "pip", "wheel", "--no-build-isolation", "--no-deps", "-w", str(tmp_path), "."]
    tools = os.pathsep.join([str(Path(sys.executable).parent), os.environ["PATH"]])  # CMake and Ninja
    subprocess.run(command, cwd=ROOT, env={**os.environ, "PATH": tools}, check=True, capture_output=True, timeout=GUARD)
    (wheel,) = tmp_path.glob("*.whl")
    names = set(zipfile.ZipFile(wheel).namelist())
    wanted = {f"learnroute/web/page{path}" for path in page_files() if path not in ("/", "/docs")}
    assert wanted <= names
    single = {f"learnroute/web/examples/{path.name}" for path in (ROOT / "examples").glob("*.json")}
    assert {name for name in names if "examples" in name} == single
    installed = tmp_path / "installed"
    zipfile.ZipFile(wheel).extractall(installed)
    code = (
        "import sys; sys.meta_path = [each for each in sys.meta_path if 'ScikitBuild' not in type(each).__name__]\n"
        "from learnroute.web import assets; print(assets.__file__, *assets.examples())"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], env={**os.environ, "PYTHONPATH": str(installed)}, cwd=tmp_path, check=True,
        capture_output=True, text=True, timeout=GUARD,
    )  # fmt: skip
    file, *found = done.stdout.split()
    assert Path(file).is_relative_to(installed)
    assert found == list(examples())  # those of the checkout
