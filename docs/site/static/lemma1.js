// The figure of docs/teaching/lemma1.md: the change of the gain, and the band that Lemma 1 allows.
(() => {
  const box = document.getElementById("lemma1");
  const input = name => box.querySelector(`[data-name=${name}]`);
  const svg = box.querySelector("svg"), said = box.querySelector(".said");
  const X = g => 60 + (g + 1) * 270, Y = c => 20 + (1.3 - c) / 4.6 * 250;
  const change = (n, m, g, l) => (n * m + g) ** 2 / (n + 1 + l) - (n * m) ** 2 / (n + l);
  const line = (y, colour, text) =>
    `<line x1="60" x2="600" y1="${Y(y)}" y2="${Y(y)}" stroke="${colour}" stroke-dasharray="5 4"/>` +
    `<text x="604" y="${Y(y) + 4}" fill="${colour}" font-size="12">${text}</text>`;
  function draw() {
    const n = +input("n").value, [m, g, l] = ["m", "g", "l"].map(name => input(name).value / 100);
    const allowed = (3 * l + 2) / ((l + 1) * (l + 2)), now = change(n, m, g, l);
    const outside = Math.abs(now) > allowed * (1 + 1e-12);
    for (const [name, value] of [["n", n], ["m", m], ["g", g], ["l", l]])
      input(name).nextElementSibling.value = name === "n" ? value : value.toFixed(2);
    const points = Array.from({ length: 201 }, (_, i) => `${X(i / 100 - 1)},${Y(change(n, m, i / 100 - 1, l))}`);
    svg.innerHTML =
      `<rect x="60" width="540" y="${Y(allowed)}" height="${Y(-allowed) - Y(allowed)}" fill="#2e7d32" opacity=".15"/>` +
      line(allowed, "#3c9a43", allowed.toFixed(2)) + line(-allowed, "#3c9a43", (-allowed).toFixed(2)) +
      line(-3, "#d9534f", "-3") +
      [-1, -0.5, 0, 0.5, 1].map(at => `<text x="${X(at)}" y="280" text-anchor="middle" font-size="12" fill="currentColor">${at}</text>`).join("") +
      `<text x="52" y="150" text-anchor="middle" font-size="13" fill="currentColor" transform="rotate(-90 40 150)">change of the gain</text>` +
      `<polyline points="${points.join(" ")}" fill="none" stroke="#3b78d8" stroke-width="2"/>` +
      `<circle cx="${X(g)}" cy="${Y(now)}" r="6" fill="${outside ? "#d9534f" : "#3c9a43"}"/>` +
      `<text x="330" y="296" text-anchor="middle" font-size="13" fill="currentColor">gradient of the new record</text>`;
    said.textContent = outside
      ? `The gain changes by ${now.toFixed(3)}, ${(Math.abs(now) / allowed).toFixed(1)} times Lemma 1's ${allowed.toFixed(3)}: a counterexample.`
      : `The gain changes by ${now.toFixed(3)}, within Lemma 1's ${allowed.toFixed(3)}. Try a record against the crowd.`;
    box.dataset.now = now;
    box.dataset.allowed = allowed;
  }
  box.querySelectorAll("input").forEach(each => each.addEventListener("input", draw));
  draw();
})();
