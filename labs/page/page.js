// The page of the labs: a story, a text to repair, and the grade that a worker gives it.
(async () => {
  const at = id => document.getElementById(id);
  const labs = await (await fetch("labs.json")).json();
  const kept = {};  // texts by lab, as long as the page is open
  for (const [name, lab] of Object.entries(labs)) at("lab").add(new Option(lab.title, name));
  const chosen = () => at("lab").value;
  const say = (text, kind) => { at("said").textContent = text; at("said").className = kind; };
  function show() {
    at("story").innerHTML = labs[chosen()].story;
    at("mine").value = kept[chosen()] ?? labs[chosen()].starter;
    say("", "");
  }
  at("lab").onchange = () => { location.hash = chosen(); };
  window.onhashchange = () => { at("lab").value = location.hash.slice(1) in labs ? location.hash.slice(1) : Object.keys(labs)[0]; show(); };
  window.onhashchange();
  at("mine").oninput = () => { kept[chosen()] = at("mine").value; };
  at("again").onclick = () => { delete kept[chosen()]; show(); };
  const worker = new Worker("worker.js");
  worker.onmessage = ({ data }) => {
    at("grade").disabled = Boolean(data.failed);
    at("state").textContent = data.state;
    if (data.grade) {
      say(data.grade.text, data.grade.found ? "found" : "nothing");
      at("said").dataset.report = JSON.stringify(data.grade);
    }
  };
  worker.onerror = error => { at("state").textContent = `cannot start: ${error.message}`; };
  at("grade").onclick = () => {
    at("grade").disabled = true;
    at("state").textContent = "grading";
    say("", "");
    worker.postMessage({ lab: chosen(), source: at("mine").value });
  };
})();
