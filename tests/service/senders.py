"""Senders that put a server under mixed load, and remember what they were answered.

Each sender has ids of its own and does one thing after the other, so it knows what the log must say of each
id: what was answered, in that order, and perhaps the last thing, whose answer it did not get.
"""

import http.client
import json
import random
import threading
import time
from urllib.parse import urlsplit

from breakeven.service.live_stream import DEADLINE

KIND_OF = {
    "label": "Told",
    "correct": "Corrected",
    "withdraw": "Withdrawn",
    "reopen": "Reopened",
    "skip": "Skipped",
}
REPEATABLE = ("arrive", "label", "erase")
NEXT_STEPS = {  # what may be done with an arrival after the last thing that was
    "Arrived": ("label", "label", "label", "skip", "withdraw"),
    "Skipped": ("label", "withdraw"),
    "Told": ("correct", "withdraw", "reopen"),
    "Corrected": ("withdraw", "reopen"),
    "Reopened": ("label",),
    "Withdrawn": ("label",),
}


class Sender:
    """Sends to one stream until the server is gone."""

    def __init__(self, name, stream, row, seed, *, batches, erases):
        self.name, self.stream, self.row, self.random = name, stream, row, random.Random(seed)
        self.batches, self.erases = batches, erases
        self.answered = {}  # what was answered, by id: (kind, label) in order
        self.decisions = {}  # what was decided, by id: (entry, wants_label)
        self.open = None  # the call without an answer: what it does with which ids
        self.erased, self.perhaps_erased = set(), set()
        self.counts = {"done": 0, "refused": 0, "gone": 0, "failed": 0}
        self.slowest = 0.0  # seconds that an answer took
        self._number = 0

    def run(self, address):
        """Send until nobody answers."""
        where = urlsplit(address)
        self.connection = http.client.HTTPConnection(where.hostname, where.port, timeout=60)
        try:
            self.repeat()
            while True:
                self.step()
        except (OSError, http.client.HTTPException):
            self.connection.close()

    def step(self):
        choice = self.random.random()
        known = [id for id in list(self.answered)[-40:] if id not in self.perhaps_erased]
        if choice < 0.25 or not known:
            self.arrive(1)
        elif choice < 0.35 and self.batches:
            self.arrive(50)
        elif choice < 0.36 and self.erases:
            self.erase(self.random.choice(known))
        elif choice < 0.37 and self.erased:
            self.bring_back(self.random.choice(sorted(self.erased)))
        else:
            id = self.random.choice(known)
            verb = self.random.choice(NEXT_STEPS[self.answered[id][-1][0]])
            y = round(self.random.gauss(0.0, 1.0), 6) if verb in ("label", "correct") else None
            self.act(id, verb, y)

    def arrive(self, count):
        ids = [f"{self.name}-{self._number + i}" for i in range(count)]
        self._number += count
        body = [{"row": self.row(self.random), "id": id} for id in ids]
        if count == 1:
            body = body[0] | {"force": True}
        self.open = "arrive", ids, body
        self._finish()

    def act(self, id, verb, y):
        self.open = verb, [id], {} if y is None else {"y": y}
        self._finish()

    def erase(self, id):
        self.open = "erase", [id], {"ids": [id]}
        self.perhaps_erased.add(id)
        self._finish()

    def bring_back(self, id):
        """Send somebody who was erased: never taken again."""
        status, answer = self._call("POST", "arrivals", {"row": self.row(self.random), "id": id})
        assert status in (410, 503), answer
        self.counts["gone"] += status == 410

    def repeat(self):
        """Send what was not answered once more, where that is safe."""
        if self.open is not None and self.open[0] in REPEATABLE:
            self._finish()
        self.open = None

    def _finish(self):
        verb, ids, body = self.open
        path = {"arrive": "arrivals", "erase": "erase"}.get(verb, f"requests/{ids[0]}/{verb}")
        status, answer = self._call("POST", path, body)
        while status == 503:  # which may have been done, where the database was gone before it said so
            self.counts["failed"] += 1
            time.sleep(0.05)
            if verb in REPEATABLE:
                status, answer = self._call("POST", path, body)
            else:
                status = self._was_done(verb, ids[0])
        self.open = None
        if status >= 300:
            assert verb != "erase", answer
            assert status in (404, 409, 410, 422), answer
            self.counts["refused"] += 1
            return
        self.counts["done"] += 1
        if verb == "arrive":
            for one in answer if isinstance(answer, list) else [answer]:
                self.answered.setdefault(one["id"], [("Arrived", None)])
                self.decisions[one["id"]] = one["entry"], one["wants_label"]
        elif verb == "erase":
            self.erased.add(ids[0])
        else:
            self.answered[ids[0]].append((KIND_OF[verb], body.get("y")))

    def _was_done(self, verb, id):
        """The status that a call would have had, from what the log says came of an id."""
        status, answer = self._call("GET", f"arrivals/{id}")
        if status == 503:
            return status
        came = [one["kind"] for one in answer["came"] if one["by"] != DEADLINE]
        before = [kind for kind, _ in self.answered[id]]
        return 200 if came.count(KIND_OF[verb]) > before.count(KIND_OF[verb]) else 409

    def _call(self, method, path, body=None):
        began = time.monotonic()
        try:
            return self._ask(method, path, body)
        finally:
            self.slowest = max(self.slowest, time.monotonic() - began)

    def _ask(self, method, path, body):
        self.connection.request(
            method,
            f"/v1/streams/{self.stream}/{path}",
            None if body is None else json.dumps(body),
            {"content-type": "application/json"},
        )
        answer = self.connection.getresponse()
        return answer.status, json.loads(answer.read() or b"null")


def start(senders, address):
    """Let all of them send at once."""
    threads = [threading.Thread(target=one.run, args=(address,)) for one in senders]
    for thread in threads:
        thread.start()
    return threads
