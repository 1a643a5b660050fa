// Search on a page that was opened from a folder (file:), where browsers allow no worker: the worker's script runs in
// a hidden frame instead. The theme looks for "iframe-worker" in the name of this file, and then loads no other one.
if (location.protocol === "file:") {
  window.Worker = class extends EventTarget {
    constructor(url) {
      super()
      this.waiting = []
      this.frame = document.createElement("iframe")
      this.frame.hidden = true
      this.frame.addEventListener("load", () => this.load(url), { once: true })
      document.documentElement.append(this.frame)
    }

    load(url) {
      const { contentWindow, contentDocument } = this.frame
      contentWindow.postMessage = (data) => this.dispatchEvent(new MessageEvent("message", { data }))
      const script = contentDocument.createElement("script")
      script.src = url
      script.addEventListener("load", () => this.begin())
      contentDocument.body.append(script)
    }

    begin() {
      const waiting = this.waiting
      this.waiting = null
      waiting.forEach((data) => this.postMessage(data))
    }

    postMessage(data) {
      if (this.waiting) this.waiting.push(data)
      else this.frame.contentWindow.dispatchEvent(new MessageEvent("message", { data }))
    }

    terminate() {
      this.frame.remove()
    }
  }
}
