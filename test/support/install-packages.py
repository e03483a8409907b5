"""Installs a file of requirements into a folder as a virtual environment, once: processes that come meanwhile wait for the first."""
import fcntl
import os
import shutil
import subprocess
import sys
import venv

folder, requirements = sys.argv[1:]
os.makedirs(os.path.dirname(folder), exist_ok=True)
with open(folder + ".lock", "w") as lock:
    fcntl.flock(lock, fcntl.LOCK_EX)
    mark = os.path.join(folder, "installed")
    if not os.path.exists(mark):
        shutil.rmtree(folder, ignore_errors=True)
        venv.create(folder, with_pip=True)
        pip = ["-m", "pip", "install", "--quiet", "--no-input", "--disable-pip-version-check"]
        # Without an index pip would try again for minutes.
        index = ["--retries", "1", "--timeout", "20"]
        done = subprocess.run([os.path.join(folder, "bin", "python"), *pip, *index, "--requirement", requirements])
        if done.returncode != 0:
            sys.exit(done.returncode)
        open(mark, "w").close()
