/* Lets the search work in pages that are read from files, where a browser starts no workers: the
   script of the search runs in a frame instead. The theme would load such a script from elsewhere. */
if (location.protocol === "file:") {
  window.Worker = class extends EventTarget {
    constructor(url) {
      super()
      const frame = document.createElement("iframe")
      frame.hidden = true
      document.body.appendChild(frame)
      const inside = (this.inside = frame.contentWindow)
      window.addEventListener("message", event => {
        if (event.source === inside)
          this.dispatchEvent(new MessageEvent("message", { data: event.data }))
      })
      inside.document.open()
      inside.document.write(`<body><script>
        var postMessage = data => parent.postMessage(data, "*")
        var importScripts = (...urls) => urls.reduce((before, url) => before.then(() =>
          new Promise(loaded => {
            const script = document.createElement("script")
            script.src = url
            script.onload = loaded
            document.body.appendChild(script)
          })), Promise.resolve())
      </script><script src="${url}"></script></body>`)
      inside.document.close()
      this.loaded = new Promise(done => inside.addEventListener("load", done))
    }
    postMessage(data) {
      this.loaded.then(() =>
        this.inside.dispatchEvent(new MessageEvent("message", { data: structuredClone(data) })))
    }
    set onmessage(listener) {
      this.addEventListener("message", listener)
    }
    terminate() {
      this.inside.frameElement.remove()
    }
  }
}
