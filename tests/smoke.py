"""Install each wheel and sdist of a folder into an empty environment, and plan there, outside of the checkout.

python tests/smoke.py dist
"""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
import venv
from pathlib import Path


def run(*command: str | Path, folder: Path) -> str:
    """Run a command in a folder, with no variables that could lead back to a checkout; return what it prints."""
    clean = {"PATH": "/usr/bin:/bin", "HOME": str(folder)}
    done = subprocess.run([str(word) for word in command], cwd=folder, env=clean, capture_output=True, text=True)
    if done.returncode:
        raise SystemExit(f"{' '.join(map(str, command))}: exit code {done.returncode}\n{done.stdout}{done.stderr}")
    return done.stdout


def smoke(package: Path) -> None:
    """Install a package, then plan and verify a random problem and an example of the package."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        venv.create(folder / "env", with_pip=True)
        python, learnroute = folder / "env" / "bin" / "python", folder / "env" / "bin" / "learnroute"
        pip = [sys.executable, "-m", "pip", f"--python={python}"]  # this pip knows where packages come from
        subprocess.run([*pip, "install", "--quiet", "--disable-pip-version-check", str(package.resolve())], check=True)
        run(learnroute, "generate", "--regions", "8", "--seed", "1", "-o", "problem.json", folder=folder)
        where = "import learnroute; print(learnroute.__path__[0])"
        installed = Path(run(python, "-c", where, folder=folder).strip())
        assert installed.is_relative_to(folder), installed
        assert not (installed / "cpp").exists(), "sources of the core"
        licences = {path.name for path in installed.parent.glob("learnroute-*.dist-info/licenses/**/*")}
        assert {"LICENSE", "nanobind.txt", "robin-map.txt"} <= licences, licences
        example = installed / "web" / "examples" / "city-survey.json"
        for problem in (folder / "problem.json", example):
            plan = json.loads(run(learnroute, "plan", problem, "--json", "-o", "plan.json", folder=folder))
            assert plan["optimal"], problem
            assert "refuted" not in run(learnroute, "verify", "plan.json", problem, folder=folder)
    print(f"{package.name}: installed, planned, verified")


if __name__ == "__main__":
    packages = [path for path in sorted(Path(sys.argv[1]).iterdir()) if path.name.endswith((".whl", ".tar.gz"))]
    assert len(packages) == 2, "a wheel and an sdist are needed"
    for found in packages:
        smoke(found)
