"""Uses the extension once, in VS Code itself: python vscode.py VSIX SILICON

VS Code is that of code-server, from npm, in a browser that WebDriver drives. Needed are chromedriver, chromium, node 20 with its
headers, make and a C++ compiler. A wrong program has its error marked; mended, it is verified.
"""

import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
import time
import urllib.request
from pathlib import Path
from typing import Any
from urllib.parse import quote

SERVER = "code-server@4.96.4"
# The modules of code without which it does not start; others are for other systems, or for signing in.
NATIVE = ["@vscode/spdlog", "native-watchdog", "node-pty", "@parcel/watcher"]
RIGHT = "method m(x: Int)\n  requires 0 < x\n{\n  assert x != 0\n}\n"
WRONG = RIGHT.replace("  requires 0 < x\n", "")
SETTINGS = {"security.workspace.trust.enabled": False, "telemetry.telemetryLevel": "off"}
PATIENCE = 120


def install(folder: Path) -> Path:
    """Installs code-server; returns what starts it."""
    node = Path(shutil.which("node") or sys.exit("node is missing")).resolve()
    environment = os.environ | {"npm_config_nodedir": str(node.parent.parent)}
    if not subprocess.check_output([node, "--version"], text=True).startswith("v20."):
        sys.exit(f"{SERVER} needs node 20")

    def npm(at: Path, *arguments: str) -> None:
        command = ["npm", *arguments, "--no-audit", "--no-fund", "--loglevel=error"]
        subprocess.run(command, cwd=at, env=environment, check=True, stdout=subprocess.DEVNULL)

    # Scripts of packages would load programs from elsewhere.
    npm(folder, "install", "--ignore-scripts", "--prefix=.", SERVER)
    npm(folder, "rebuild", "argon2", "--prefix=.")
    code = folder / "node_modules/code-server/lib/vscode"
    # It names a repository, and the registry has the package.
    (code / "npm-shrinkwrap.json").unlink()
    npm(code, "install", "--ignore-scripts", "--omit=dev")
    npm(code, "rebuild", *NATIVE)
    (code / "node_modules.asar").symlink_to("node_modules")
    return folder / "node_modules/code-server/out/node/entry.js"


class Browser:
    """A browser without a window; W3C, WebDriver (2018)."""

    def __init__(self, home: Path) -> None:
        environment = os.environ | {"HOME": str(home), "TMPDIR": str(home)}
        self.driver = subprocess.Popen(
            ["chromedriver", "--port=0"], stdout=subprocess.PIPE, text=True, env=environment
        )
        assert self.driver.stdout
        ports = (re.search(r"successfully on port (\d+)", line) for line in self.driver.stdout)
        self.session = f"http://127.0.0.1:{next(filter(None, ports))[1]}/session"
        arguments = ["--headless=new", "--no-sandbox", "--disable-dev-shm-usage", "--disable-gpu"]
        options = {"binary": shutil.which("chromium"), "args": arguments}
        wanted = {"alwaysMatch": {"goog:chromeOptions": options}}
        self.session += "/" + self.ask("POST", "", {"capabilities": wanted})["sessionId"]

    def ask(self, method: str, command: str, body: Any = None) -> Any:
        data = None if body is None else json.dumps(body).encode()
        request = urllib.request.Request(self.session + command, data, method=method)
        with urllib.request.urlopen(request, timeout=PATIENCE) as answer:
            return json.load(answer)["value"]

    def wait(self, selector: str, text: str, count: int) -> None:
        """Waits until so many elements that fit a selector have a text."""
        script = """const [selector, text] = arguments;
            const all = [...document.querySelectorAll(selector)];
            return all.filter(one => one.textContent.includes(text)).length;"""
        end = time.monotonic() + PATIENCE
        while self.ask("POST", "/execute/sync", {"script": script, "args": [selector, text]}) != count:
            if time.monotonic() > end:
                sys.exit(f"there are not {count} of {selector} with {text!r}")
            time.sleep(0.5)

    def end(self) -> None:
        self.ask("DELETE", "")
        self.driver.terminate()
        self.driver.wait()


def use(vsix: Path, silicon: Path, folder: Path) -> None:
    """Installs the extension, and opens programs."""
    entry = install(folder)
    user, program = folder / "user", folder / "programs" / "a.vpr"
    (user / "User").mkdir(parents=True)
    (user / "User/settings.json").write_text(json.dumps(SETTINGS | {"silicon.path": str(silicon)}))
    program.parent.mkdir()
    program.write_text(WRONG)
    environment = os.environ | {"HOME": str(folder)}
    code = ["node", str(entry), f"--user-data-dir={user}", f"--extensions-dir={folder / 'extensions'}"]
    subprocess.run([*code, "--install-extension", str(vsix)], env=environment, check=True)
    command = [*code, "--auth=none", "--bind-addr=127.0.0.1:0", "--disable-update-check"]
    server = subprocess.Popen(command, stdout=subprocess.PIPE, text=True, env=environment)
    try:
        assert server.stdout
        places = (re.search(r"listening on http://(\S+?)/?$", line) for line in server.stdout)
        place = next(filter(None, places))[1]
        browser = Browser(folder)
        try:
            opened = json.dumps([["openFile", f"vscode-remote://{place}{program}"]])
            url = f"http://{place}/?folder={program.parent}&payload={quote(opened)}"
            browser.ask("POST", "/url", {"url": url})
            browser.wait(".codelens-decoration", "1 error", 1)
            browser.wait(".squiggly-error", "", 1)
            program.write_text(RIGHT)
            browser.wait(".codelens-decoration", "verified", 1)
            browser.wait(".squiggly-error", "", 0)
        finally:
            browser.end()
    finally:
        server.terminate()
        server.wait()


with tempfile.TemporaryDirectory() as folder:
    use(Path(sys.argv[1]).resolve(), Path(sys.argv[2]).resolve(), Path(folder))
print("the extension works")
