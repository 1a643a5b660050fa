// The script of every page: the desk, the board that follows the feed, and a file read into a text field.
// Nothing is kept here but what is in the field: an answer counts once the server has said so.
"use strict";

const RETRY_SECONDS = [1, 2, 3, 5];
const path = (...parts) => "/" + parts.map(encodeURIComponent).join("/");

class Refused extends Error {
  constructor(status, words, part) {
    super(words);
    this.status = status;
    this.part = part;
  }
}

// Ask the server; a refusal is an error with its status, no answer at all is a TypeError.
async function ask(url, form, more = {}) {
  const asked = form === undefined ? { headers: { Accept: "text/html" } } : {
    method: "POST",
    headers: { "Content-Type": "application/x-www-form-urlencoded" },
    body: new URLSearchParams(form),
  };
  const answer = await fetch(url, { ...asked, ...more, redirect: "error" });
  const text = await answer.text();
  if (answer.ok) return text;
  const part = new DOMParser().parseFromString(text, "text/html").querySelector("[data-refused]");
  throw new Refused(answer.status, part?.textContent ?? "The server did not answer as expected.", part);
}

const lost = (error) => !(error instanceof Refused) || error.status >= 500 || error.status === 401
  || error.status === 429;
const pause = (seconds) => new Promise((done) => setTimeout(done, 1000 * seconds));

// -- the desk ---------------------------------------------------------------------------------------------

class DeskView {
  constructor(root) {
    this.root = root;
    this.stream = root.dataset.stream;
    this.labeller = root.dataset.labeller;
    this.request = document.getElementById("request");
    this.told = document.getElementById("told");
    this.status = document.getElementById("status");
    this.busy = false;
    this.sending = null; // what stops an answer that is sent again and again
    this.last = null; // the id of the last answer
    document.addEventListener("keydown", (event) => this.key(event));
    root.addEventListener("click", (event) => this.click(event));
    root.addEventListener("submit", (event) => { event.preventDefault(); this.tell(); });
    root.addEventListener("input", () => this.calm());
    addEventListener("pagehide", () => this.giveBack());
    addEventListener("pageshow", (event) => { if (event.persisted) this.next(); });
    setInterval(() => this.renew(), Math.max(1000 * Number(root.dataset.lease) / 3, 1000));
    this.next();
  }

  get form() { return this.request.querySelector("[data-request]"); }
  get id() { return this.form?.dataset.request; }
  get field() { return this.request.querySelector("#answer"); }
  do(verb, form, more) { return ask(path("streams", this.stream, "desk", verb), form, more); }

  say(words, trouble = false) {
    if (this.status.textContent !== words) this.status.textContent = words;
    this.status.classList.toggle("lost", trouble);
  }

  // One thing at a time: keys pressed meanwhile do nothing.
  async alone(work) {
    if (this.busy) return;
    this.busy = true;
    try {
      await work();
    } catch (error) {
      this.say(lost(error) ? this.lostWords(error) : error.message, true);
    } finally {
      this.busy = false;
    }
  }

  lostWords(error) {
    if (error instanceof Refused && error.status === 401) {
      return "Your session has ended. Log in again in another tab; this page then goes on.";
    }
    if (error instanceof Refused) return error.message;
    return "The connection is lost.";
  }

  show(html) {
    this.request.innerHTML = html;
    this.sure = this.withdrawing = false;
    if (this.field) this.field.focus();
    else if (this.form) this.request.querySelector("[data-answer]").focus();
    if (this.request.querySelector("[data-nothing]")) this.wait();
    else this.stopWaiting();
  }

  next(skipped = false) {
    return this.alone(() => this.fetchNext(skipped));
  }

  // Ask for the next request until there is an answer.
  async fetchNext(skipped = false) {
    for (let tries = 0; ; tries += 1) {
      try {
        this.show(await this.do("next", { labeller: this.labeller, skipped: skipped ? "1" : "" }));
        if (tries) this.say("The connection is back.");
        return;
      } catch (error) {
        if (!lost(error)) throw error;
        this.request.innerHTML = "";
        this.say(`${this.lostWords(error)} Trying again.`, true);
        await pause(RETRY_SECONDS[Math.min(tries, RETRY_SECONDS.length - 1)]);
      }
    }
  }

  // -- answering

  tell(value) {
    const y = value ?? this.field?.value.trim();
    if (!this.id || this.busy) return;
    if (!y) return this.warn("Give a number first; s skips.");
    if (value === undefined && !this.sure && this.outside(y)) {
      this.warn(`${y} lies outside of the declared range. Enter once more tells it all the same.`);
      this.sure = true;
      return;
    }
    this.alone(() => this.send(y));
  }

  outside(y) {
    const number = Number(y.replace("−", "-").replace(",", "."));
    const { low, high } = this.form.dataset;
    return (low !== "" && number < Number(low)) || (high !== "" && number > Number(high));
  }

  // Send an answer until the server has it. Meanwhile it stays in the field, and nowhere else.
  async send(y) {
    const id = this.id;
    let stopped = false, woken = () => {};
    this.sending = () => { stopped = true; woken(); };
    const online = () => woken();
    addEventListener("online", online);
    this.lock(true);
    try {
      for (let tries = 0; ; tries += 1) {
        try {
          const form = { id, y, labeller: this.labeller, sure: this.sure ? "1" : "" };
          this.told.innerHTML = await this.do("tell", form);
          break;
        } catch (error) {
          if (!lost(error)) return this.refused(error);
          this.say(`${this.lostWords(error)} Your answer ${y} is still here and is sent again by itself; `
            + "Esc stops that.", true);
          const wait = RETRY_SECONDS[Math.min(tries, RETRY_SECONDS.length - 1)];
          await Promise.race([pause(wait), new Promise((wake) => { woken = wake; })]);
          if (stopped) return this.say(`The answer ${y} was not sent again. It is still in the field.`, true);
        }
      }
    } finally {
      removeEventListener("online", online);
      this.sending = null;
      this.lock(false);
    }
    this.last = id;
    this.say(`Told: ${y}.`);
    await this.fetchNext();
  }

  lock(yes) {
    if (this.field) this.field.readOnly = yes;
    for (const one of this.request.querySelectorAll("button")) one.disabled = yes;
    this.field?.focus();
  }

  refused(error) {
    this.warn(error.message);
    this.say("");
  }

  warn(words) {
    const place = this.request.querySelector("#ask-again");
    if (!place) return this.say(words, true);
    place.textContent = words;
    place.hidden = false;
  }

  // The answer is being changed: what was asked of the last one does not hold.
  calm() {
    this.sure = this.withdrawing = false;
    const place = this.request.querySelector("#ask-again");
    if (place) place.hidden = true;
  }

  // -- not answering

  skip() {
    if (!this.id) return;
    this.alone(async () => {
      await this.do("skip", { id: this.id });
      this.say("Skipped; it stays open for others.");
      await this.fetchNext();
    });
  }

  withdraw() {
    if (!this.id) return;
    if (!this.withdrawing) {
      this.warn("Withdraw it? Then nobody is asked for this label, and it costs nothing. "
        + "w once more withdraws it, Esc keeps it.");
      this.withdrawing = true;
      return;
    }
    this.alone(async () => {
      await this.do("withdraw", { id: this.id });
      this.say("Withdrawn.");
      await this.fetchNext();
    });
  }

  undo() {
    const id = this.last;
    if (!id) return this.say("There is no answer to take back.");
    this.alone(async () => {
      const held = this.id;
      this.show(await this.do("undo", { id }));
      this.field?.select();
      this.last = null;
      this.told.innerHTML = "";
      if (held && held !== id) this.do("give-back", { id: held }).catch(() => {});
      this.say("Taken back: it is open again.");
    });
  }

  // -- holding

  renew() {
    if (this.id && !this.sending) this.do("hold", { id: this.id }).catch((error) => {
      if (error instanceof Refused && error.status < 500 && error.status !== 401) this.warn(error.message);
    });
  }

  giveBack() {
    if (this.id && !this.sending) this.do("give-back", { id: this.id }, { keepalive: true }).catch(() => {});
  }

  // There is nothing: look again when the log goes on, and now and then.
  wait() {
    if (this.waiting) return;
    const again = () => { if (!this.busy) this.next(); };
    let heard = false;
    const feed = new EventSource(path("v1", "streams", this.stream, "feed"));
    feed.addEventListener("changed", () => { if (heard) again(); heard = true; });
    this.waiting = { feed, timer: setInterval(again, 15_000) };
  }

  stopWaiting() {
    if (!this.waiting) return;
    this.waiting.feed.close();
    clearInterval(this.waiting.timer);
    this.waiting = null;
  }

  // -- keys and buttons

  key(event) {
    if (event.ctrlKey || event.metaKey || event.altKey || event.isComposing) return;
    const inField = event.target === this.field;
    if (!inField && event.target.closest("input, select, textarea")) return;
    const does = {
      s: () => this.skip(), w: () => this.withdraw(), u: () => this.undo(), r: () => this.again(),
      y: () => this.press("yes"), n: () => this.press("no"), "?": () => this.keys(),
      Escape: () => this.escape(),
    }[event.key];
    if (!does) return;
    event.preventDefault();
    does();
  }

  press(answer) {
    if (this.request.querySelector(`[data-answer="${answer}"]`)) this.tell(answer);
  }

  again() { if (this.request.querySelector("[data-nothing=all_skipped]")) this.next(true); }

  keys() {
    const keys = document.getElementById("keys");
    keys.open = !keys.open;
    if (keys.open) keys.scrollIntoView({ block: "nearest" });
  }

  escape() {
    if (this.sending) this.sending();
    else this.calm();
  }

  click(event) {
    const button = event.target.closest("button");
    if (!button) return;
    if (button.dataset.answer) this.tell(button.dataset.answer);
    ({ skip: () => this.skip(), withdraw: () => this.withdraw(), undo: () => this.undo(),
      skipped: () => this.again() })[button.dataset.do]?.();
  }
}

// -- the board --------------------------------------------------------------------------------------------

class BoardView {
  constructor(root) {
    this.root = root;
    this.stream = root.dataset.stream;
    this.status = document.getElementById("status");
    this.busy = this.due = false;
    document.addEventListener("visibilitychange", () => (document.hidden ? this.feed.close() : this.follow()));
    this.follow();
  }

  // A browser has few connections to one server: only a board that is looked at follows its stream.
  follow() {
    this.feed = new EventSource(path("v1", "streams", this.stream, "feed"));
    this.feed.addEventListener("changed", (event) => this.changed(Number(event.lastEventId)));
    this.feed.addEventListener("open", () => this.say(""));
    this.feed.addEventListener("error", () => this.say(this.feed.readyState === EventSource.CLOSED
      ? "This board does not follow the stream any more; load it again."
      : "The connection is lost; the board goes on when it is back."));
  }

  say(words) {
    this.status.textContent = words;
    this.status.classList.toggle("lost", Boolean(words));
  }

  changed(entry) {
    const shown = Number(this.root.querySelector("[data-entry]").dataset.entry);
    if (entry > shown) this.refresh();
  }

  // Show what is there now; what changes meanwhile is shown next, and nothing while nobody looks.
  async refresh() {
    this.due = true;
    if (this.busy || document.hidden) return;
    this.busy = true;
    try {
      while (this.due && !document.hidden) {
        this.due = false;
        this.put(await ask(path("streams", this.stream, "board", "now")));
        await pause(1);
      }
    } catch (error) {
      if (error instanceof Refused && error.status < 500) this.say(error.message);
    } finally {
      this.busy = false;
    }
  }

  put(html) {
    const open = [...this.root.querySelectorAll("details[open]")].map((one) => one.id);
    const focused = document.activeElement?.closest("details")?.id;
    const scrolled = [...this.root.querySelectorAll(".scroll")].map((one) => one.scrollTop);
    this.root.innerHTML = html;
    for (const id of open) document.getElementById(id)?.setAttribute("open", "");
    if (focused) document.getElementById(focused)?.querySelector("summary").focus();
    [...this.root.querySelectorAll(".scroll")].forEach((one, place) => { one.scrollTop = scrolled[place]; });
  }
}

// -- every page -------------------------------------------------------------------------------------------

for (const one of document.querySelectorAll("[data-desk]")) new DeskView(one);
for (const one of document.querySelectorAll("[data-board]")) new BoardView(one);
for (const one of document.querySelectorAll("input[data-into]")) {
  one.addEventListener("change", async () => {
    if (one.files.length) document.getElementById(one.dataset.into).value = await one.files[0].text();
  });
}
