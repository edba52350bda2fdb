"""A stand-in for the Hugging Face hub: the paths and headers that its clients ask for.

Serves repositories at one commit from memory, over HTTP, to a client started with ``HF_ENDPOINT``.
Every request is noted, so that a test can say what was asked for and what was not.
"""

from __future__ import annotations

import hashlib
import json
import re
import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from urllib.parse import unquote, urlsplit

COMMIT = "0123456789abcdef0123456789abcdef01234567"

API = re.compile(
    r"/api/(?P<kind>datasets|models)/(?P<repo>[^/]+/[^/]+)"
    r"/(?P<what>revision|tree|paths-info)/(?P<revision>[^/]+)(?:/(?P<below>.*))?"
)
RESOLVE = re.compile(
    r"/(?P<kind>datasets/)?(?P<repo>[^/]+/[^/]+)/resolve/(?P<revision>[^/]+)/(?P<file>.+)"
)


@dataclass
class Standin:
    """Repositories by ``datasets/ORG/NAME`` or ``models/ORG/NAME``, files by path."""

    repositories: Mapping[str, Mapping[str, bytes]]
    endpoint: str = ""
    asked: list[str] = field(default_factory=list)
    tokens: list[str] = field(default_factory=list)
    """Authorisations that came with requests."""


@contextmanager
def serving(repositories: Mapping[str, Mapping[str, bytes]]) -> Iterator[Standin]:
    """A running stand-in."""
    standin = Standin(repositories)

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def log_message(self, *args: object) -> None:
            pass

        def do_GET(self) -> None:
            self.reply(body=True)

        def do_HEAD(self) -> None:
            self.reply(body=False)

        def do_POST(self) -> None:
            said = self.rfile.read(int(self.headers.get("Content-Length", 0)))
            self.reply(body=True, said=said)

        def reply(self, body: bool, said: bytes = b"") -> None:
            path = unquote(urlsplit(self.path).path)
            standin.asked.append(f"{self.command} {path}")
            if token := self.headers.get("Authorization"):
                standin.tokens.append(token)
            status, headers, content = answer(standin.repositories, path, said)
            first, last = 0, len(content) - 1
            if (wanted := self.headers.get("Range")) and status == 200:
                start, _, end = wanted.removeprefix("bytes=").partition("-")
                first, last = int(start), min(int(end or last), last)
                status = 206
                headers["Content-Range"] = f"bytes {first}-{last}/{len(content)}"
            self.send_response(status)
            for name, value in headers.items():
                self.send_header(name, value)
            self.send_header("Content-Length", str(last - first + 1))
            self.end_headers()
            if body:
                self.wfile.write(content[first : last + 1])

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    standin.endpoint = f"http://127.0.0.1:{server.server_port}"
    try:
        yield standin
    finally:
        server.shutdown()
        server.server_close()
        thread.join()


def answer(
    repositories: Mapping[str, Mapping[str, bytes]], path: str, said: bytes
) -> tuple[int, dict[str, str], bytes]:
    """Status, headers and content for a path."""
    if found := RESOLVE.fullmatch(path):
        kind = "datasets" if found["kind"] else "models"
        files = repositories.get(f"{kind}/{found['repo']}")
        if files is None:
            return problem("RepoNotFound", "Repository not found")
        if found["revision"] != COMMIT:
            return problem("RevisionNotFound", f"Invalid rev id: {found['revision']}")
        if found["file"] not in files:
            return problem("EntryNotFound", "Entry not found")
        content = files[found["file"]]
        headers = {
            "ETag": f'"{hashlib.sha1(content).hexdigest()}"',
            "X-Repo-Commit": COMMIT,
            "Accept-Ranges": "bytes",
        }
        return 200, headers, content
    if found := API.fullmatch(path):
        files = repositories.get(f"{found['kind']}/{found['repo']}")
        if files is None:
            return problem("RepoNotFound", "Repository not found")
        if found["revision"] != COMMIT:
            return problem("RevisionNotFound", f"Invalid rev id: {found['revision']}")
        if found["what"] == "revision":
            return plain(
                {
                    "id": found["repo"],
                    "sha": COMMIT,
                    "private": False,
                    "tags": [],
                    "downloads": 0,
                    "siblings": [{"rfilename": name} for name in files],
                }
            )
        below = found["below"] or ""
        entries = list(listing(files, below))
        if found["what"] == "paths-info":
            wanted = asked_for(said)
            return plain([entry for entry in listing(files, "") if entry["path"] in wanted])
        return plain(entries) if entries else problem("EntryNotFound", "Entry not found")
    return problem("EntryNotFound", "Entry not found")


def listing(files: Mapping[str, bytes], below: str) -> Iterator[dict[str, object]]:
    """All folders and files below a folder."""
    prefix = f"{below}/" if below else ""
    folders = {
        name[: at.start()] for name in files for at in re.finditer("/", name) if at.start() > 0
    }
    for folder in sorted(folders):
        if folder.startswith(prefix):
            oid = hashlib.sha1(folder.encode()).hexdigest()
            yield {"type": "directory", "path": folder, "oid": oid, "size": 0}
    for name, content in files.items():
        if name.startswith(prefix):
            oid = hashlib.sha1(content).hexdigest()
            yield {"type": "file", "path": name, "oid": oid, "size": len(content)}


def asked_for(said: bytes) -> set[str]:
    """Paths in the body of a request, as JSON or as a form."""
    from urllib.parse import parse_qs

    try:
        found = json.loads(said)["paths"]
    except ValueError:
        found = parse_qs(said.decode())["paths"]
    return set(found)


def plain(data: object) -> tuple[int, dict[str, str], bytes]:
    return 200, {"Content-Type": "application/json"}, json.dumps(data).encode()


def problem(code: str, message: str) -> tuple[int, dict[str, str], bytes]:
    headers = {"X-Error-Code": code, "X-Error-Message": message}
    return 404, headers, json.dumps({"error": message}).encode()
