"""Asks the registry for known vulnerabilities of the locked packages that users install.

``python requirements/audit.py [OPTIONS OF PIP-AUDIT]``: exit status 1 if there is one. A registry
that does not answer, or has no advisories, is no error: one line says so.
"""

import json
import re
import subprocess
import sys
from pathlib import Path

FOLDER = Path(__file__).parent
LOCKS = ("build.lock", "run.lock")
SECONDS = 60
"""The audit ends after so much time; one request after a tenth of it."""
_NO_ANSWER = re.compile(r"requests\.exceptions\.\w+|ServiceError|ConnectionError")
"""What pip-audit prints if a request fails."""


def audit(*options: str) -> tuple[bool, str]:
    """Runs pip-audit on the locks.

    Args:
        options: More options of pip-audit.

    Returns:
        Whether no vulnerability is known, and one line or more that say what was found.
    """
    command = [sys.executable, "-m", "pip_audit", "--format=json", "--progress-spinner=off"]
    command += ["--require-hashes", "--disable-pip", f"--timeout={SECONDS // 10}", *options]
    for lock in LOCKS:
        command.append(f"--requirement={FOLDER / lock}")
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=SECONDS)
    except subprocess.TimeoutExpired:
        return True, f"Advisories: not checked, no answer in {SECONDS} seconds"
    if not done.stdout.startswith("{"):
        if _NO_ANSWER.search(done.stderr):
            return True, "Advisories: not checked, the registry does not answer"
        return False, f"pip-audit failed:\n{done.stderr}"
    return verdict(done.stdout)


def verdict(found: str) -> tuple[bool, str]:
    """Returns what ``audit`` returns, for pip-audit's JSON."""
    packages = json.loads(found)["dependencies"]
    known = [package for package in packages if "vulns" in package]
    lines = [
        f"{package['name']} {package['version']} has {each['id']}: "
        f"fixed in {', '.join(each['fix_versions']) or 'no version yet'}"
        for package in known
        for each in package["vulns"]
    ]
    if lines:
        hint = "make lock takes newer versions; or give --ignore-vuln ID in the Makefile, and why"
        return False, "\n".join([*lines, f"Advisories: {len(lines)} found: {hint}"])
    if not known:
        return True, "Advisories: not checked, the registry has none for any package"
    return True, f"Advisories: none for {len(known)} of {len(packages)} packages that are known"


if __name__ == "__main__":
    passed, text = audit(*sys.argv[1:])
    print(text)
    sys.exit(not passed)
