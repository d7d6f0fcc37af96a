"""`python -m labs.headless FOLDER [LAB ...]`: the built page graded in headless Chromium without a network.

Each lab's starter and solution go through the page's own text field and button; every report is held against the one
that this machine's Python gives with one process for everything. The status is 1 where they differ.
"""

from __future__ import annotations

import functools
import http.server
import json
import math
import os
import queue
import shutil
import subprocess
import sys
import tempfile
import threading
from pathlib import Path
from typing import Any

from labs.build import ROOT

LABS = ("scale", "gaussian", "wrong_neighbour")
"""Without names: one of each kind of task (pure, with delta, records replaced)."""
SECONDS = 300.0
CLOSE = 1e-12
CHECK = """<!doctype html><title>check</title><iframe src="index.html" style="width:90vw;height:90vh"></iframe><script>
(async () => {
  const asked = await (await fetch("asked.json")).json(), inside = document.querySelector("iframe"), found = [];
  const until = async ready => { while (!ready()) {
    const state = inside.contentDocument.getElementById("state")?.textContent ?? "";
    if (state.startsWith("cannot")) await fetch("report", { method: "POST", body: JSON.stringify([state, []]) });
    await new Promise(done => setTimeout(done, 50));
  } };
  const at = id => inside.contentDocument.getElementById(id);
  await until(() => at("state")?.textContent.startsWith("ready"));
  const ready = at("state").textContent;
  for (const [lab, source] of asked) {
    inside.contentWindow.location.hash = lab;
    await until(() => at("lab").value === lab && at("said").textContent === "" && at("story").textContent);
    await new Promise(done => setTimeout(done, 100));
    at("mine").value = source;
    at("grade").click();
    await until(() => !at("grade").disabled);
    found.push([at("state").textContent, JSON.parse(at("said").dataset.report)]);
    at("said").textContent = "";
  }
  await fetch("report", { method: "POST", body: JSON.stringify([ready, found]) });
})();
</script>"""
NATIVE = """import json, os, sys
del os.fork
from labs.browser import graded
print(json.dumps([graded(*one) for one in json.load(sys.stdin)]))"""


class Handler(http.server.SimpleHTTPRequestHandler):
    """The folder, the page that drives it, and where its report comes back."""

    asked: list[tuple[str, str]]
    reports: queue.Queue[Any]

    def do_GET(self) -> None:
        made = {"/check.html": CHECK, "/asked.json": json.dumps(self.asked)}.get(self.path)
        if made is None:
            super().do_GET()
            return
        self.send_response(200)
        self.send_header("Content-Type", "text/html" if self.path.endswith("html") else "application/json")
        self.end_headers()
        self.wfile.write(made.encode())

    def do_POST(self) -> None:
        self.reports.put(json.loads(self.rfile.read(int(self.headers["Content-Length"]))))
        self.send_response(204)
        self.end_headers()

    def log_message(self, format: str, *arguments: Any) -> None:
        """Nothing."""


def in_chromium(folder: Path, asked: list[tuple[str, str]]) -> tuple[str, list[tuple[str, dict[str, Any]]]]:
    """When Python was ready, and of each (lab, text) the time and the grade. Errors: queue.Empty after `SECONDS`."""
    reports: queue.Queue[Any] = queue.Queue()
    handler = type("Asked", (Handler,), {"asked": asked, "reports": reports})
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), functools.partial(handler, directory=str(folder)))
    threading.Thread(target=server.serve_forever, daemon=True).start()
    browser = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
    if browser is None:
        raise FileNotFoundError("no chromium on this machine")
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as home:
        nowhere = ["--proxy-server=127.0.0.1:9", "--host-resolver-rules=MAP * ~NOTFOUND , EXCLUDE 127.0.0.1"]
        quiet = ["--disable-background-networking", "--disable-component-update", "--disable-sync", "--disable-quic"]
        plain = ["--headless", "--no-sandbox", "--disable-gpu", "--no-first-run", f"--user-data-dir={home}"]
        page = f"http://127.0.0.1:{server.server_port}/check.html"
        process = subprocess.Popen(
            [browser, *plain, *quiet, *nowhere, "--remote-debugging-port=0", page],
            stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
        )  # fmt: skip
        try:
            ready, found = reports.get(timeout=SECONDS)
        finally:
            process.terminate()
            process.wait()
            server.shutdown()
    return ready, [(state, grade) for state, grade in found]


def native(asked: list[tuple[str, str]]) -> list[dict[str, Any]]:
    """The grades of this machine's Python, with one process for everything."""
    with tempfile.TemporaryDirectory() as place:
        done = subprocess.run(
            [sys.executable, "-c", NATIVE], input=json.dumps(asked), capture_output=True, text=True, check=True,
            cwd=place, env=os.environ | {"PYTHONPATH": str(ROOT)},
        )  # fmt: skip
    grades: list[dict[str, Any]] = json.loads(done.stdout)
    return grades


def differences(here: Any, there: Any, at: str = "") -> list[str]:
    """The places where two reports are not the same; figures may differ in their last bits, 1e-12 of their size."""
    if isinstance(here, dict) and isinstance(there, dict):
        keys = sorted(here.keys() | there.keys())
        return [line for key in keys for line in differences(here.get(key), there.get(key), f"{at}.{key}")]
    if isinstance(here, list) and isinstance(there, list) and len(here) == len(there):
        return [line for i, one in enumerate(zip(here, there)) for line in differences(*one, f"{at}[{i}]")]
    numbers = all(isinstance(one, int | float) and not isinstance(one, bool) for one in (here, there))
    same = math.isclose(here, there, rel_tol=CLOSE) if numbers else type(here) is type(there) and here == there
    return [] if same else [f"{at}: {here!r}, not {there!r}"]


def main(folder: Path, names: tuple[str, ...]) -> int:
    """The exit status; one line a submission."""
    parts = ("starter", "solution")
    texts = [(name, ROOT / "labs" / name / f"{part}.py") for name in names for part in parts]
    asked = [(name, path.read_text(encoding="utf-8")) for name, path in texts]
    ready, grades = in_chromium(folder, asked)
    wrong = 0
    print(f"Chromium without a network: {ready}")
    for (name, _), part, (state, here), there in zip(asked, parts * len(names), grades, native(asked)):
        right = here["found"] == (part == "starter")
        apart = differences(here, there)
        wrong += not right or bool(apart)
        verdict = "refused" if here["found"] else "nothing found"
        print(f"{name:18} {part:9} {verdict:14} {state:16} report {'DIFFERS' if apart else 'equal'}")
        for line in apart:
            print(f"  {line}")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main(Path(sys.argv[1]), tuple(sys.argv[2:]) or LABS))
