// A conformance client for node: grids, codes, routes and predictions of all papers (level predict).
//     refdp conform --exec 'node conform/clients/predict.js' --kind route
"use strict";

const readline = require("readline");

const view = new DataView(new ArrayBuffer(8));

/** Reads a hexadecimal float such as -0x1.8p+1. */
function float(text) {
  if (text === "nan") return NaN;
  if (text === "inf") return Infinity;
  if (text === "-inf") return -Infinity;
  const [, sign, whole, part, power] = /^(-?)0x([0-9a-f]+)\.?([0-9a-f]*)p([+-]?\d+)$/.exec(text);
  const digits = BigInt("0x" + whole + part);
  const exponent = Number(power) - 4 * part.length;
  const half = Math.trunc(exponent / 2);
  const found = Number(digits) * 2 ** half * 2 ** (exponent - half);
  return sign ? -found : found;
}

/** Writes a float without loss. */
function hex(number) {
  if (Number.isNaN(number)) return "nan";
  if (!Number.isFinite(number)) return number > 0 ? "inf" : "-inf";
  view.setFloat64(0, number);
  const bits = view.getBigUint64(0);
  const sign = bits >> 63n ? "-" : "";
  const exponent = Number((bits >> 52n) & 2047n);
  const part = (bits & ((1n << 52n) - 1n)).toString(16).padStart(13, "0");
  if (exponent === 0) return Number(bits & ((1n << 63n) - 1n)) === 0 ? `${sign}0x0.0p+0` : `${sign}0x0.${part}p-1022`;
  const power = exponent - 1023;
  return `${sign}0x1.${part}p${power < 0 ? "" : "+"}${power}`;
}

const flat = (body) => body.values.map((one) => (body.dtype === "int64" ? Number(one) : float(one)));
const floats = (values, shape) => ({ dtype: "float64", shape: shape || [values.length], values: values.map(hex) });
const wholes = (values) => ({ dtype: "int64", shape: [values.length], values: values.map(String) });

function rows(body) {
  const [count, width] = body.shape;
  const values = flat(body);
  return Array.from({ length: count }, (_, k) => values.slice(k * width, (k + 1) * width));
}

const grids = {
  uniform: (q, n, low, high) => low + (q / (n + 1)) * (high - low),
  "inner-uniform": (q, n, low, high) => low + (q * (high - low)) / (n + 1),
  log: (q, n, low, high) => low + (Math.expm1((q / (n + 1)) * Math.log(1001)) / 1000) * (high - low),
  "inner-log": (q, n, low, high) => low - 1 + Math.exp((q * Math.log(1 + high - low)) / (n + 1)),
};

function grid(input) {
  const [low, high] = [float(input.low), float(input.high)];
  const found = new Set();
  for (let q = 1; q <= input.count && low < high; q++) found.add(grids[input.grid](q, input.count, low, high));
  return { thresholds: floats([...found].sort((a, b) => a - b)) };
}

function encode(input) {
  const column = flat(input.column);
  if (input.categories !== undefined) {
    return { codes: wholes(column.map((x) => (x >= 0 && x < input.categories ? 1 + Math.floor(x) : 0))) };
  }
  const thresholds = flat(input.thresholds);
  return { codes: wholes(column.map((x) => (Number.isNaN(x) ? 0 : 1 + thresholds.filter((t) => t <= x).length))) };
}

function leafOf(x, splits, categorical) {
  let node = 0;
  while (node < splits.length) {
    const [feature, value, missing] = splits[node];
    const own = x[feature];
    const right = Number.isNaN(own) ? missing > 0 : categorical[feature] ? own === value : own >= value;
    node = 2 * node + 1 + (right ? 1 : 0);
  }
  return node - splits.length;
}

function route(input) {
  const [splits, categorical] = [rows(input.splits), flat(input.categorical)];
  return { leaf: wholes(rows(input.x).map((x) => leafOf(x, splits, categorical))) };
}

function clamped(value, feature) {
  if (feature.categories) return value >= 0 && value < feature.categories.length ? Math.floor(value) : NaN;
  return Number.isNaN(value) ? value : Math.min(Math.max(value, float(feature.low)), float(feature.high));
}

function predict(input) {
  const features = input.schema.features;
  const categorical = features.map((one) => Boolean(one.categories));
  const scores = rows(input.x).map((raw) => {
    const x = raw.map((value, f) => clamped(value, features[f]));
    return input.model.map((one) =>
      one.trees.reduce(
        (total, tree, k) => total + float(one.weights[k]) * flat(tree.leaves)[leafOf(x, rows(tree.splits), categorical)],
        float(one.initial),
      ),
    );
  });
  return { scores: floats(scores.flat(), [scores.length, input.model.length]) };
}

const operations = { grid, encode, route, predict };
const say = (answer) => process.stdout.write(JSON.stringify(answer) + "\n");

readline.createInterface({ input: process.stdin }).on("line", (line) => {
  const message = JSON.parse(line);
  if (message.type === "stop") process.exit(0);
  if (message.type === "start") {
    say({ name: "predict.js", version: "1", supports: ["dpboost", "dpxgboost", "fedgbdt", "grove", "inprivate", "sgbdt"] });
  } else if (operations[message.operation]) {
    say({ id: message.id, output: operations[message.operation](message.input) });
  } else {
    say({ id: message.id, skip: "operation " + message.operation });
  }
});
