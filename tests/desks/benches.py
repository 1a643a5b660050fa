"""Every desk with people at it, as `check_desk` wants them."""

import json
import threading
import time
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

from breakeven.desks import FolderDesk, Journal, LabelStudio, SignedWebhook
from breakeven.desks.signed_webhook import check_signature, signature_of
from tests.desks.fake_studio import PAT, Studio, number

SECRET = "a secret that both sides know"


class AtFolder:
    """A folder, and people who write files."""

    def __init__(self, tmp_path, form):
        self.folder, self.path, self.form = tmp_path / "desk", tmp_path / "journal.db", form
        self.folder.mkdir()
        self.lines = {}

    def open(self):
        return FolderDesk(self.folder, self.form, journal=Journal(self.path))

    def tasks(self):
        path = self.folder / f"requests.{self.form}"
        if not path.exists():
            return []
        lines = path.read_text().splitlines()
        if self.form == "jsonl":
            return [json.loads(line)["id"] for line in lines]
        return [line.split(",")[0] for line in lines[1:]]

    def put(self, id, labeller, line):
        self.lines[id, labeller] = line
        self.write()

    def write(self):
        rows = [{"id": id, "labeller": who, **line} for (id, who), line in self.lines.items()]
        if self.form == "jsonl":
            text = "".join(json.dumps(row) + "\n" for row in rows) or "\n"
        else:
            cells = [[str(row.get(name, "")) for name in ("id", "y", "kind", "labeller")] for row in rows]
            text = "\n".join(map(",".join, [["id", "y", "kind", "labeller"], *cells])) + "\n"
        (self.folder / f"answers.{self.form}").write_text(text)
        self.open().answers(None)  # a first look, at which it may be half written

    def answer(self, id, y, labeller):
        self.put(id, labeller, {"y": y})

    def skip(self, id, labeller):
        self.put(id, labeller, {"kind": "skipped"})

    def delete(self, id, labeller):
        del self.lines[id, labeller]
        self.write()

    def delete_task(self, id):
        self.put(id, "", {"kind": "deleted"})

    @contextmanager
    def down(self):
        aside = self.folder.with_name("aside")
        self.folder.rename(aside)
        self.folder.write_text("in the way")
        yield
        self.folder.unlink()
        aside.rename(self.folder)


class AtStudio:
    """The fake Label Studio."""

    def __init__(self, tmp_path):
        self.studio, self.path = Studio(), tmp_path / "journal.db"

    def open(self):
        return LabelStudio(self.studio.url, 1, PAT, journal=Journal(self.path), seconds=5.0, secret=SECRET)

    def tasks(self):
        return [one["data"]["request_id"] for one in self.studio.tasks.values()]

    def answer(self, id, y, labeller):
        self.studio.annotate(id, labeller, number(y))

    def skip(self, id, labeller):
        self.studio.annotate(id, labeller, [], cancelled=True)

    def delete(self, id, labeller):
        self.studio.take_back(id, labeller)

    def delete_task(self, id):
        (task,) = self.studio.tasks_of(id)
        self.studio.delete_task(task["id"], {}, None)

    def down(self):
        return self.studio.down()

    def close(self):
        self.studio.stop()


class AtWebhook:
    """A tool that takes signed requests and sends signed answers."""

    def __init__(self, tmp_path):
        self.path, self.shown, self.broken, self.time = tmp_path / "journal.db", [], False, time.time()
        bench = self

        class Handler(BaseHTTPRequestHandler):
            def log_message(self, *words):
                pass

            def do_POST(self):
                body = self.rfile.read(int(self.headers["Content-Length"]))
                self.send_response(bench.take(dict(self.headers), body))
                self.end_headers()

        self.server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.server.daemon_threads = True
        threading.Thread(target=self.server.serve_forever, args=(0.02,), daemon=True).start()
        self.desk = self.open()

    def take(self, headers, body):
        if self.broken:
            return 503
        check_signature(SECRET, headers, body, self.time)
        message = json.loads(body)
        self.shown += [one["id"] for one in message.get("ask", ())]
        self.shown = [id for id in self.shown if id not in message.get("withdraw", ())]
        return 204

    def clock(self):
        self.time += 1.0  # so that every signature is another
        return self.time

    def open(self):
        url = f"http://127.0.0.1:{self.server.server_address[1]}/tasks"
        return SignedWebhook(url, SECRET, journal=Journal(self.path), clock=self.clock)

    def tasks(self):
        return list(self.shown)

    def send(self, **answer):
        body = json.dumps({"answers": [answer]}).encode()
        return self.desk.read_hook({"X-Breakeven-Signature": signature_of(SECRET, body, self.clock())}, body)

    def answer(self, id, y, labeller):
        self.send(id=id, y=y, labeller=labeller)

    def skip(self, id, labeller):
        self.send(id=id, kind="skipped", labeller=labeller)

    def delete(self, id, labeller):
        self.send(id=id, kind="deleted", labeller=labeller)

    def delete_task(self, id):
        self.send(id=id, kind="deleted")

    @contextmanager
    def down(self):
        self.broken = True
        yield
        self.broken = False

    def close(self):
        self.server.shutdown()
        self.server.server_close()


BENCHES = {
    "csv": lambda folder: AtFolder(folder, "csv"),
    "jsonl": lambda folder: AtFolder(folder, "jsonl"),
    "label-studio": AtStudio,
    "webhook": AtWebhook,
}
