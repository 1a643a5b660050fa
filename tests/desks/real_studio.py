"""A Label Studio of our own, started from a virtual environment that has it, with two people at it.

Who makes the first token without a browser logs in by the form, as a browser does.
"""

import os
import re
import subprocess
import time
from contextlib import contextmanager

import httpx

CONFIG = '<View><Text name="text" value="$request_id"/><Number name="y" toName="text"/></View>'
STARTS_WITHIN = 600.0  # seconds: the first start makes a database


class Person:
    """Somebody who is logged in; `token` is a personal access token of theirs."""

    def __init__(self, url, email, password, *, new=False):
        self.email, self.http = (
            email,
            httpx.Client(
                base_url=url,
                timeout=60.0,
                follow_redirects=True,
                limits=httpx.Limits(max_keepalive_connections=0),
            ),
        )
        form = "/user/signup/" if new else "/user/login/"
        page = self.http.get(form)
        sign = re.search(r'name="csrfmiddlewaretoken" value="([^"]+)"', page.text)[1]
        fields = {"email": email, "password": password, "csrfmiddlewaretoken": sign}
        self.http.post(form, data=fields, headers={"Referer": url + form})
        self.token = self.call("POST", "/api/token").json()["token"]

    def call(self, method, path, **content):
        headers = {"X-CSRFToken": self.http.cookies.get("csrftoken", ""), "Referer": str(self.http.base_url)}
        answer = self.http.request(method, path, headers=headers, **content)
        assert answer.is_success, (path, answer.status_code, answer.text[:300])
        return answer


class RealStudio:
    """A server in a folder of its own."""

    def __init__(self, program, folder, port):
        self.url, self._program, self._folder, self._port = f"http://127.0.0.1:{port}", program, folder, port
        self._process = None

    def start(self):
        environment = {
            **os.environ,
            "LABEL_STUDIO_BASE_DATA_DIR": str(self._folder),
            "SSRF_PROTECTION_ENABLED": "false",
            "COLLECT_ANALYTICS": "false",
            "LATEST_VERSION_CHECK": "false",
        }
        words = ["start", "--no-browser", "--port", str(self._port)]
        words += ["--username", "ann@clinic.example", "--password", "secret of ann"]
        with open(self._folder / "server.log", "a") as log:
            self._process = subprocess.Popen(
                [self._program, *words], env=environment, stdout=log, stderr=log, start_new_session=True
            )
        end = time.monotonic() + STARTS_WITHIN
        while time.monotonic() < end:
            assert self._process.poll() is None, (self._folder / "server.log").read_text()[-2000:]
            try:
                if httpx.get(f"{self.url}/health", timeout=5.0).is_success:
                    return
            except httpx.HTTPError:
                time.sleep(1.0)
        raise AssertionError("Label Studio did not start in time")

    def stop(self):
        os.killpg(self._process.pid, 15)
        self._process.wait(timeout=60)

    @contextmanager
    def down(self):
        self.stop()
        yield
        self.start()


class AtRealStudio:
    """A project of its own for one check, and what two people do at it."""

    def __init__(self, studio, people, journal):
        from breakeven.desks import Journal, LabelStudio

        self._studio, self._people, self._journal = studio, {one.email: one for one in people}, journal
        self._boss = people[0]
        made = {"title": "a check", "label_config": CONFIG, "maximum_annotations": 2}
        self.project = self._boss.call("POST", "/api/projects/", json=made).json()["id"]
        self._make = lambda: LabelStudio(
            studio.url, self.project, self._boss.token, journal=Journal(journal), secret="a secret of hooks"
        )

    def open(self):
        return self._make()

    def _tasks(self):
        about = {"project": self.project, "fields": "all", "page_size": 500}
        return self._boss.call("GET", "/api/tasks", params=about).json()["tasks"]

    def _task(self, id):
        return next(one for one in self._tasks() if one["data"]["request_id"] == id)

    def _mine(self, id, labeller):
        people = {one["id"]: one["email"] for one in self._boss.call("GET", "/api/users/").json()}
        for one in self._task(id)["annotations"]:
            who = one["completed_by"]
            if (who["email"] if isinstance(who, dict) else people[who]) == labeller:
                return one["id"]
        return None

    def tasks(self):
        return [one["data"]["request_id"] for one in self._tasks()]

    def _annotate(self, id, labeller, content):
        mine, person = self._mine(id, labeller), self._people[labeller]
        if mine is None:
            person.call("POST", f"/api/tasks/{self._task(id)['id']}/annotations/", json=content)
        else:
            person.call("PATCH", f"/api/annotations/{mine}/", json=content)

    def answer(self, id, y, labeller):
        value = {"from_name": "y", "to_name": "text", "type": "number", "value": {"number": y}}
        self._annotate(id, labeller, {"result": [value], "was_cancelled": False})

    def skip(self, id, labeller):
        self._annotate(id, labeller, {"result": [], "was_cancelled": True})

    def delete(self, id, labeller):
        self._boss.call("DELETE", f"/api/annotations/{self._mine(id, labeller)}/")

    def delete_task(self, id):
        self._boss.call("DELETE", f"/api/tasks/{self._task(id)['id']}/")

    def down(self):
        return self._studio.down()
