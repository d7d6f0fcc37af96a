// Python with numpy, scipy and refdp, off the page's thread. Every file comes from this folder.
importScripts("pyodide.js");
const started = performance.now();
const seconds = from => `${((performance.now() - from) / 1000).toFixed(1)} s`;
const ready = (async () => {
  const python = await loadPyodide({ packageCacheDir: "." });
  await python.loadPackage(["numpy", "scipy"]);
  python.unpackArchive(await (await fetch("refdp.zip")).arrayBuffer(), "zip");
  python.runPython("import json\nfrom labs.browser import graded");
  postMessage({ state: `ready after ${seconds(started)}` });
  return python;
})();
ready.catch(error => postMessage({ state: `cannot start: ${error}`, failed: true }));
onmessage = async ({ data }) => {
  const python = await ready, from = performance.now();
  try {
    python.globals.set("asked", python.toPy(data));
    const grade = JSON.parse(python.runPython("json.dumps(graded(asked['lab'], asked['source']))"));
    postMessage({ state: `graded in ${seconds(from)}`, grade });
  } catch (error) {
    postMessage({ state: "cannot be graded", grade: { found: true, text: String(error), report: null } });
  }
};
