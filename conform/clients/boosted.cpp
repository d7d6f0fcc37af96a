// A conformance client in one C++ file: DPBoost, the totally random federated framework and S-GBDT, written from
// docs/spec/ alone. No dependencies.
//     g++ -O2 -std=c++17 -ffp-contract=off -o boosted conform/clients/boosted.cpp
//     refdp conform --exec ./boosted
//     ./boosted --time INPUT.json DATA      processor time of one training without noise (benchmarks/native.py)
// It computes with the draws of a tape and draws nothing itself: it is no private implementation, but the arithmetic
// of one.
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <fstream>
#include <iostream>
#include <limits>
#include <map>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

using std::string;
using std::vector;
using Floats = vector<double>;
using Ints = vector<int64_t>;

struct Refused : std::runtime_error { using std::runtime_error::runtime_error; };  // the input is not allowed
struct Skip : std::runtime_error { using std::runtime_error::runtime_error; };     // the client does not know it

// ---------------------------------------------------------------- JSON

struct Json {
  enum Kind { null, truth, number, text, list, object } kind = null;
  bool flag = false;
  string word;  // of a text; of a number as it was written
  vector<Json> items;
  std::map<string, Json> fields;

  bool has(const string& key) const { return fields.count(key) != 0; }
  const Json& operator[](const string& key) const {
    auto found = fields.find(key);
    if (found == fields.end()) throw Refused("no field " + key);
    return found->second;
  }
};

class Reader {
 public:
  explicit Reader(const string& line) : at(line.c_str()) {}
  Json value() {
    space();
    switch (*at) {
      case '{': return object();
      case '[': return list();
      case '"': return text();
      case 't': return named("true", Json::truth, true);
      case 'f': return named("false", Json::truth, false);
      case 'n': return named("null", Json::null, false);
      default: return number();
    }
  }

 private:
  const char* at;
  void space() { while (*at == ' ' || *at == '\t' || *at == '\n' || *at == '\r') at++; }
  void expect(char one) {
    space();
    if (*at != one) throw Refused(string("JSON: expected ") + one);
    at++;
  }
  Json named(const char* word, Json::Kind kind, bool flag) {
    for (; *word; word++, at++) if (*at != *word) throw Refused("JSON: an unknown word");
    Json found;
    found.kind = kind;
    found.flag = flag;
    return found;
  }
  Json number() {
    char* end;
    std::strtod(at, &end);
    if (end == at) throw Refused("JSON: no value");
    Json found;
    found.kind = Json::number;
    found.word = string(at, static_cast<const char*>(end));
    at = end;
    return found;
  }
  Json text() {
    Json found;
    found.kind = Json::text;
    for (at++; *at != '"'; at++) {
      if (*at == 0) throw Refused("JSON: a text without an end");
      if (*at == '\\') {
        at++;
        if (*at == 'u') {  // only ASCII matters here: names of files and paths are ASCII
          found.word += static_cast<char>(std::strtol(string(at + 1, at + 5).c_str(), nullptr, 16));
          at += 4;
        } else {
          found.word += *at == 'n' ? '\n' : *at == 't' ? '\t' : *at;
        }
      } else {
        found.word += *at;
      }
    }
    at++;
    return found;
  }
  Json list() {
    Json found;
    found.kind = Json::list;
    at++;
    space();
    while (*at != ']') {
      found.items.push_back(value());
      space();
      if (*at == ',') at++;
      else if (*at != ']') throw Refused("JSON: expected , or ]");
    }
    at++;
    return found;
  }
  Json object() {
    Json found;
    found.kind = Json::object;
    at++;
    space();
    while (*at != '}') {
      space();
      string key = text().word;
      expect(':');
      found.fields[key] = value();
      space();
      if (*at == ',') at++;
      else if (*at != '}') throw Refused("JSON: expected , or }");
      space();
    }
    at++;
    return found;
  }
};

double number(const Json& one) {  // a hexadecimal text, or a plain number
  if (one.kind != Json::text && one.kind != Json::number) throw Refused("a number is needed");
  char* end;
  double found = std::strtod(one.word.c_str(), &end);
  if (*end != 0 || one.word.empty()) throw Refused("no number: " + one.word);
  return found;
}

int64_t whole(const Json& one) {
  double found = number(one);
  if (found != std::floor(found) || std::fabs(found) > 9007199254740992.0) throw Refused("no whole number: " + one.word);
  return std::strtoll(one.word.c_str(), nullptr, 10);
}

void named(const Json& params, const string& name, const vector<string>& known) {
  if (std::find(known.begin(), known.end(), params[name].word) == known.end()) throw Refused(name + " of another name");
}

struct Array {
  bool whole = false;
  Ints shape;
  Floats values;  // all whole numbers of the vectors are below 2^53
};

Array array(const Json& body) {
  Array found;
  found.whole = body["dtype"].word == "int64";
  int64_t size = 1;
  for (const Json& one : body["shape"].items) found.shape.push_back(whole(one)), size *= found.shape.back();
  for (const Json& one : body["values"].items) found.values.push_back(number(one));
  if (size != static_cast<int64_t>(found.values.size())) throw Refused("an array whose shape does not fit its values");
  return found;
}

string quoted(const string& text) {
  string out = "\"";
  for (char one : text) {
    if (one == '"' || one == '\\') out += '\\';
    if (static_cast<unsigned char>(one) < 32) out += ' ';
    else out += one;
  }
  return out + "\"";
}

string hexed(double one) {
  if (std::isnan(one)) return "\"nan\"";
  if (std::isinf(one)) return one > 0 ? "\"inf\"" : "\"-inf\"";
  char buffer[64];
  std::snprintf(buffer, sizeof buffer, "\"%a\"", one);
  return buffer;
}

string shaped(const Ints& shape, const char* dtype) {
  string out = string("{\"dtype\": \"") + dtype + "\", \"shape\": [";
  for (size_t k = 0; k < shape.size(); k++) out += (k ? ", " : "") + std::to_string(shape[k]);
  return out + "], \"values\": [";
}

string floats(const Floats& values, Ints shape = {}) {
  if (shape.empty()) shape = {static_cast<int64_t>(values.size())};
  string out = shaped(shape, "float64");
  for (size_t k = 0; k < values.size(); k++) out += (k ? ", " : "") + hexed(values[k]);
  return out + "]}";
}

template <class Numbers>
string wholes(const Numbers& values, Ints shape = {}) {
  if (shape.empty()) shape = {static_cast<int64_t>(values.size())};
  string out = shaped(shape, "int64");
  for (size_t k = 0; k < values.size(); k++) out += (k ? ", \"" : "\"") + std::to_string((long long)values[k]) + "\"";
  return out + "]}";
}

// ---------------------------------------------------------------- exact fractions >= 0

struct Big {  // a whole number >= 0, least significant word first, no leading zero words
  vector<uint32_t> words;

  Big(uint64_t value = 0) { for (; value; value >>= 32) words.push_back(static_cast<uint32_t>(value)); }
  void trim() { while (!words.empty() && words.back() == 0) words.pop_back(); }
  bool zero() const { return words.empty(); }
  int bits() const { return words.empty() ? 0 : 32 * (int)words.size() - __builtin_clz(words.back()); }
  bool bit(int k) const { return k / 32 < (int)words.size() && (words[k / 32] >> (k % 32) & 1); }
};

int compare(const Big& a, const Big& b) {
  if (a.words.size() != b.words.size()) return a.words.size() < b.words.size() ? -1 : 1;
  for (size_t k = a.words.size(); k--;)
    if (a.words[k] != b.words[k]) return a.words[k] < b.words[k] ? -1 : 1;
  return 0;
}
Big operator+(const Big& a, const Big& b) {
  Big sum;
  uint64_t carry = 0;
  for (size_t k = 0; k < std::max(a.words.size(), b.words.size()) || carry; k++) {
    carry += (k < a.words.size() ? a.words[k] : 0ull) + (k < b.words.size() ? b.words[k] : 0ull);
    sum.words.push_back(static_cast<uint32_t>(carry));
    carry >>= 32;
  }
  return sum;
}
Big operator-(const Big& a, const Big& b) {  // a >= b
  Big rest = a;
  int64_t borrow = 0;
  for (size_t k = 0; k < rest.words.size(); k++) {
    int64_t one = (int64_t)rest.words[k] - (k < b.words.size() ? b.words[k] : 0) - borrow;
    borrow = one < 0;
    rest.words[k] = static_cast<uint32_t>(one);
  }
  rest.trim();
  return rest;
}
Big operator*(const Big& a, const Big& b) {
  Big product;
  product.words.assign(a.words.size() + b.words.size(), 0);
  for (size_t i = 0; i < a.words.size(); i++) {
    uint64_t carry = 0;
    for (size_t j = 0; j < b.words.size() || carry; j++) {
      carry += product.words[i + j] + (uint64_t)a.words[i] * (j < b.words.size() ? b.words[j] : 0);
      product.words[i + j] = static_cast<uint32_t>(carry);
      carry >>= 32;
    }
  }
  product.trim();
  return product;
}
Big shifted(const Big& a, int by) {  // by >= 0: times 2^by; else divided and rounded down
  Big found;
  for (int k = a.bits() - 1; k >= 0; k--) {
    int to = k + by;
    if (to < 0) break;
    if ((int)found.words.size() <= to / 32) found.words.resize(to / 32 + 1, 0);
    if (a.bit(k)) found.words[to / 32] |= 1u << (to % 32);
  }
  found.trim();
  return found;
}
std::pair<Big, Big> divided(const Big& a, const Big& b) {  // quotient and remainder, bit by bit
  Big quotient, rest;
  quotient.words.assign(a.words.size(), 0);
  for (int k = a.bits() - 1; k >= 0; k--) {
    rest = shifted(rest, 1);
    if (a.bit(k)) rest = rest + Big(1);
    if (compare(rest, b) >= 0) rest = rest - b, quotient.words[k / 32] |= 1u << (k % 32);
  }
  quotient.trim();
  return {quotient, rest};
}

struct Exact {  // a fraction >= 0, not in lowest terms
  Big top, bottom = Big(1);

  Exact() = default;
  Exact(double value) {
    if (!(value >= 0) || std::isinf(value)) throw Refused("a finite number that is not negative is needed");
    int power;
    top = Big(static_cast<uint64_t>(std::ldexp(std::frexp(value, &power), 53)));
    power -= 53;
    if (power >= 0) top = shifted(top, power);
    else bottom = shifted(bottom, -power);
  }
  Exact(Big t, Big b) : top(std::move(t)), bottom(std::move(b)) {}
};
Exact operator+(const Exact& a, const Exact& b) { return {a.top * b.bottom + b.top * a.bottom, a.bottom * b.bottom}; }
Exact operator-(const Exact& a, const Exact& b) { return {a.top * b.bottom - b.top * a.bottom, a.bottom * b.bottom}; }
Exact operator*(const Exact& a, const Exact& b) { return {a.top * b.top, a.bottom * b.bottom}; }
Exact operator/(const Exact& a, const Exact& b) { return {a.top * b.bottom, a.bottom * b.top}; }
bool operator<(const Exact& a, const Exact& b) { return compare(a.top * b.bottom, b.top * a.bottom) < 0; }
Exact least(const Exact& a, const Exact& b) { return b < a ? b : a; }
Exact power(const Exact& base, int64_t times) {
  Exact found(1.0);
  for (int64_t k = 0; k < times; k++) found = found * base;
  return found;
}

enum class Way { nearest, up };
double rounded(const Exact& value, Way way) {  // to a float; none of them is as small as a subnormal
  if (value.top.zero()) return 0.0;
  int by = 54 - (value.top.bits() - value.bottom.bits());  // the quotient has 54 or 55 bits
  auto [quotient, rest] = by >= 0 ? divided(shifted(value.top, by), value.bottom)
                                  : divided(value.top, shifted(value.bottom, -by));
  int extra = quotient.bits() - 53;
  Big head = shifted(quotient, -extra);
  Big tail = quotient - shifted(head, extra);
  Big half = shifted(Big(1), extra - 1);
  bool inexact = !tail.zero() || !rest.zero();
  int side = compare(tail, half);
  bool higher = way == Way::up ? inexact : side > 0 || (side == 0 && (!rest.zero() || head.bit(0)));
  if (higher) head = head + Big(1);
  double found = 0;
  for (size_t k = head.words.size(); k--;) found = found * 4294967296.0 + head.words[k];
  return std::ldexp(found, extra - by);
}
double down_to(const Exact& value, int power) {  // to a multiple of 2^-power
  Big steps = divided(shifted(value.top, power), value.bottom).first;
  double found = 0;
  for (size_t k = steps.words.size(); k--;) found = found * 4294967296.0 + steps.words[k];
  return std::ldexp(found, -power);
}
double root_up(const Exact& square) {
  double found = std::sqrt(rounded(square, Way::nearest));
  return Exact(found) * Exact(found) < square ? std::nextafter(found, std::numeric_limits<double>::infinity()) : found;
}
const double infinity = std::numeric_limits<double>::infinity();
// What a release is made of has to leave its squares finite.
void usable(std::initializer_list<double> all) {
  for (double one : all)
    if (!(one >= std::ldexp(1.0, -500) && one <= std::ldexp(1.0, 500))) throw Refused("a budget or noise beyond floats");
}
double quotient_at_least(double a, double b) {  // the least float from a / b upwards with found * b >= a
  double found = a / b;
  while (Exact(found) * Exact(b) < Exact(a)) found = std::nextafter(found, infinity);
  return found;
}
double quotient_at_most(double a, double b) {
  double found = a / b;
  while (Exact(a) < Exact(found) * Exact(b)) found = std::nextafter(found, 0.0);
  return found;
}

// ---------------------------------------------------------------- exp, log, expm1, log1p of the specification

const double ln2_high = 0x1.62e42feep-1, ln2_low = 0x1.a39ef35793c76p-33;

Big square_root(const Big& square) {  // rounded down
  Big root;
  for (int k = (square.bits() + 1) / 2; k >= 0; k--) {
    Big next = root + shifted(Big(1), k);
    if (compare(next * next, square) <= 0) root = next;
  }
  return root;
}
Floats powers_of_two() {  // 2^(j/256) correctly rounded
  Big root = shifted(Big(1), 401);  // with 400 binary places, as power
  for (int k = 0; k < 8; k++) root = square_root(shifted(root, 400));
  Floats found;
  Big power = shifted(Big(1), 400);
  for (int j = 0; j < 256; j++) {
    found.push_back(rounded(Exact(power, shifted(Big(1), 400)), Way::nearest));
    power = shifted(power * root, -400);
  }
  return found;
}
const Floats powers = powers_of_two();

double exponential(double x) {
  if (x < -708.0) return 0.0;
  if (x > 709.78) return infinity;
  double n = std::nearbyint(x * (256 * 1.4426950408889634));
  double r = x - n * (ln2_high / 256);
  r = r - n * (ln2_low / 256);
  double p = r * (1.0 / 24.0);
  for (double c : {1.0 / 6.0, 0.5, 1.0}) p = (p + c) * r;
  int64_t steps = (int64_t)n, place = steps & 255;
  return (p * powers[place] + powers[place]) * std::ldexp(1.0, (int)((steps - place) / 256));
}
double logarithm(double x) {
  if (!(x > 0 && x < infinity)) return x == 0 ? -infinity : x > 0 ? x : std::nan("");
  int exponent;
  double m = std::frexp(x, &exponent);
  if (m < std::sqrt(0.5)) m *= 2, exponent--;
  double f = (m - 1.0) / (m + 1.0), square = f * f, series = square * (1.0 / 21);
  for (int k = 9; k >= 1; k--) series = (series + 1.0 / (2 * k + 1)) * square;
  double tail = 2.0 * f * series + exponent * ln2_low;
  return exponent * ln2_high + (tail + 2.0 * f);
}
double exponential_less_1(double x) {
  double u = exponential(x);
  if (u > 0 && u != 1 && u < 1152921504606846976.0) return (u - 1.0) * (x / logarithm(u));
  return u == 1 ? x : u - 1.0;
}

// ---------------------------------------------------------------- records

struct Feature {
  bool categorical = false;
  double low = 0, high = 0;
  int64_t categories = 0;
};
struct Schema {
  vector<Feature> features;
  bool classes = false;
  int64_t values = 0;
  double low = 0, high = 0;

  int64_t scores() const { return classes && values > 2 ? values : 1; }
};

Schema schema_of(const Json& body) {
  Schema found;
  for (const Json& one : body["features"].items) {
    Feature feature;
    feature.categorical = one.has("categories");
    if (feature.categorical) feature.categories = (int64_t)one["categories"].items.size();
    else feature.low = number(one["low"]), feature.high = number(one["high"]);
    found.features.push_back(feature);
  }
  const Json& target = body["target"];
  found.classes = target.has("values");
  if (found.classes) found.values = (int64_t)target["values"].items.size();
  else found.low = number(target["low"]), found.high = number(target["high"]);
  return found;
}

struct Records {
  int64_t rows = 0;
  vector<Floats> columns;  // by feature, inside their bounds
  Floats y;
};

double inside(const Feature& feature, double value) {
  if (std::isnan(value)) return value;
  if (!feature.categorical) return std::min(std::max(value, feature.low), feature.high);
  value = std::floor(value);
  return value < 0 || value >= (double)feature.categories ? std::nan("") : value;
}

vector<Floats> columns_of(const Json& body, const Schema& schema) {
  Array x = array(body);
  size_t width = schema.features.size();
  if (x.shape.size() != 2 || x.shape[1] != (int64_t)width) throw Refused("records of another width");
  vector<Floats> columns(width, Floats(x.shape[0]));
  for (int64_t i = 0; i < x.shape[0]; i++)
    for (size_t f = 0; f < width; f++) columns[f][i] = inside(schema.features[f], x.values[i * width + f]);
  return columns;
}

Records records_of(const Json& input, const Schema& schema) {
  Records found;
  found.columns = columns_of(input["x"], schema);
  found.y = array(input["y"]).values;
  for (double one : found.y)
    if (!std::isfinite(one) || (schema.classes && !(one >= 0 && one < (double)schema.values && one == std::floor(one))))
      throw Refused("a label that is none");
  found.rows = (int64_t)found.y.size();
  return found;
}

double label_of(const Schema& schema, double y, int64_t score) {
  if (schema.classes) return y == (double)(schema.values == 2 ? 1 : score) ? 1.0 : 0.0;
  double value = std::min(std::max(y, schema.low), schema.high);
  return 2 * (value - schema.low) / (schema.high - schema.low) - 1;
}

struct Candidates {  // those of one feature: thresholds ascending, or the categories
  bool categorical = false;
  Floats values;

  size_t bins() const { return values.size() + (categorical ? 1 : 2); }
};

Floats grid(const string& kind, int64_t count, double low, double high) {
  Floats found;
  for (int64_t q = 1; q <= count && low < high; q++) {
    double part = (double)q / (double)(count + 1), width = high - low;
    if (kind == "uniform") found.push_back(low + part * width);
    else if (kind == "log") found.push_back(low + (exponential_less_1(part * logarithm(1001.0)) / 1000) * width);
    else if (kind == "inner-uniform") found.push_back(low + (double)q * width / (double)(count + 1));
    else if (kind == "inner-log")
      found.push_back(low - 1 + exponential((double)q * logarithm(1 + high - low) / (double)(count + 1)));
    else throw Refused("the grid " + kind);
  }
  std::sort(found.begin(), found.end());
  found.erase(std::unique(found.begin(), found.end()), found.end());
  return found;
}

vector<Candidates> candidates_of(const Schema& schema, const string& kind, int64_t count) {
  vector<Candidates> found;
  for (const Feature& feature : schema.features) {
    Candidates one;
    one.categorical = feature.categorical;
    for (int64_t k = 0; k < feature.categories; k++) one.values.push_back((double)k);
    if (!feature.categorical) one.values = grid(kind, count, feature.low, feature.high);
    found.push_back(one);
  }
  return found;
}

int64_t code_of(const Candidates& feature, double value) {
  if (std::isnan(value)) return 0;
  if (feature.categorical) return 1 + (int64_t)value;
  return 1 + (std::upper_bound(feature.values.begin(), feature.values.end(), value) - feature.values.begin());
}

using Codes = vector<vector<uint16_t>>;  // by feature

Codes encode(const vector<Candidates>& candidates, const vector<Floats>& columns) {
  Codes codes(columns.size());
  for (size_t f = 0; f < columns.size(); f++) {
    codes[f].reserve(columns[f].size());
    for (double value : columns[f]) codes[f].push_back((uint16_t)code_of(candidates[f], value));
  }
  return codes;
}

struct Split { double feature = 0, value = 0; };
struct Tree { vector<Split> splits; Floats leaves; };  // splits level by level

bool goes_right(const vector<bool>& categorical, const vector<Floats>& columns, const Split& split, int64_t row) {
  size_t f = (size_t)split.feature;
  double value = columns[f][row];
  return categorical[f] ? value == split.value : value >= split.value;
}

vector<int32_t> leaf_of(const vector<bool>& categorical, const vector<Floats>& columns, const vector<Split>& splits) {
  size_t rows = columns.empty() ? 0 : columns[0].size();
  vector<int32_t> found(rows, 0);
  for (size_t i = 0; i < rows; i++) {
    size_t node = 0;
    while (node < splits.size()) node = 2 * node + 1 + goes_right(categorical, columns, splits[node], (int64_t)i);
    found[i] = (int32_t)(node - splits.size());
  }
  return found;
}

vector<int32_t> leaf_of_codes(const vector<Candidates>& candidates, const Codes& codes, const vector<Split>& splits) {
  struct Cut { const uint16_t* codes; uint16_t code; bool categorical; };
  vector<Cut> cuts;
  for (const Split& one : splits) {
    const Candidates& feature = candidates[(size_t)one.feature];
    auto place = std::lower_bound(feature.values.begin(), feature.values.end(), one.value) - feature.values.begin();
    cuts.push_back({codes[(size_t)one.feature].data(), (uint16_t)(place + 1), feature.categorical});
  }
  size_t rows = codes.empty() ? 0 : codes[0].size();
  vector<int32_t> found(rows, 0);
  for (size_t i = 0; i < rows; i++) {
    size_t node = 0;
    while (node < cuts.size()) {
      const Cut& cut = cuts[node];
      node = 2 * node + 1 + (cut.categorical ? cut.codes[i] == cut.code : cut.codes[i] > cut.code);
    }
    found[i] = (int32_t)(node - cuts.size());
  }
  return found;
}

vector<bool> kinds_of(const Schema& schema) {
  vector<bool> found;
  for (const Feature& one : schema.features) found.push_back(one.categorical);
  return found;
}

// ---------------------------------------------------------------- mechanisms and tapes

const double grid_step = std::ldexp(1.0, -24);

double to_grid(double value, double step) {
  double steps = value / step;
  return std::fabs(steps) < 4503599627370496.0 ? std::nearbyint(steps) * step : value;
}
double cut(double value, double low, double high) { return value < low ? low : value > high ? high : value; }
double grid_floor(double bound) { return std::floor(bound / grid_step) * grid_step; }
double on_grid(double value) { return to_grid(value, grid_step); }
double snapped(double value, double scale) { return to_grid(value, std::ldexp(1.0, std::ilogb(scale) - 32)); }

struct Mechanism {
  string name;
  Floats scale;  // one, or one a column
  double step = 0, coefficient = 0;

  bool discrete() const { return name.compare(0, 8, "Discrete") == 0; }
  double scale_of(size_t place) const { return scale[place % scale.size()]; }
};

string told(const Mechanism& m) {
  if (m.name == "Exponential")
    return "{\"name\": \"Exponential\", \"sampler\": \"gumbel\", \"coefficient\": " + hexed(m.coefficient) + "}";
  string out = "{\"name\": " + quoted(m.name) + ", ";
  bool gaussian = m.name == "Gaussian" || m.name == "DiscreteGaussian";
  string scale = hexed(m.scale[0]);
  if (m.scale.size() > 1) {
    scale = "[";
    for (size_t k = 0; k < m.scale.size(); k++) scale += (k ? ", " : "") + hexed(m.scale[k]);
    scale += "]";
  }
  out += (gaussian ? "\"sd\": " : "\"scale\": ") + scale;
  if (m.discrete()) out += ", \"step\": " + hexed(m.step);
  return out + "}";
}

string digits(Big number) {
  string found;
  do {
    auto [rest, digit] = divided(number, Big(10));
    found.insert(found.begin(), (char)('0' + (digit.zero() ? 0 : digit.words[0])));
    number = rest;
  } while (!number.zero());
  return found;
}
string in_words(Exact dyadic) {  // a fraction whose bottom is a power of two, in lowest terms
  int twos = 0;
  while (twos < dyadic.bottom.bits() - 1 && !dyadic.top.bit(twos)) twos++;
  Big bottom = shifted(dyadic.bottom, -twos);
  return digits(shifted(dyadic.top, -twos)) + (bottom.bits() == 1 ? "" : "/" + digits(bottom));
}

struct Entry { string path, kind; Json law, mechanism; Array values; };

class Tape {  // every draw of a run; each must be the one that is asked for
 public:
  explicit Tape(const Json& body) {
    for (const Json& one : body.items)
      entries.push_back({one["path"].word, one["kind"].word, one["law"],
                         one.has("mechanism") ? one["mechanism"] : Json(), array(one)});
  }
  static Tape zeros() { Tape one{Json()}; one.silent = true; return one; }

  Entry next(const string& path, const string& kind, const string& law, const Ints& shape) {
    Entry found;
    if (silent) {
      int64_t size = 1;
      for (int64_t one : shape) size *= one;
      found.values = {false, shape, Floats(size, 0.0)};
      if (kind == "draw") for (double& one : found.values.values) one = made_up();
      return found;
    }
    if (at == entries.size()) throw Refused("the tape ends before " + path);
    found = entries[at++];
    if (found.path != path || found.kind != kind) throw Refused("the tape has " + found.path + ", due is " + path);
    bool index = law == "gumbel" && found.law.items[0].word == "index";
    if (found.law.items.empty() || (found.law.items[0].word != law && !index)) throw Refused(path + ": another law");
    if (found.values.shape != (index ? Ints{shape[0]} : shape)) throw Refused(path + ": another shape");
    check(path, found);
    return found;
  }
  bool tells_mechanisms() const {
    for (const Entry& one : entries) if (one.mechanism.kind == Json::object) return true;
    return false;
  }
  void finish() const { if (at != entries.size()) throw Refused("the tape has more than the run"); }

 private:
  vector<Entry> entries;
  size_t at = 0;
  bool silent = false;
  uint64_t state = 0;

  static void check(const string& path, const Entry& one) {  // values are of the kind and within the range of their law
    const string& law = one.law.items[0].word;
    bool counted = law.compare(0, 8, "discrete") == 0 || law == "index" || law == "integers" || one.kind == "assign";
    double least = one.kind == "assign" ? -1 : 0, end = infinity;
    if (law == "integers") end = number(one.law.items.at(1));
    else if (law == "partition") end = (double)one.law.items.at(1).items.size();
    else if (one.kind != "release") end = 1;
    bool allowed = one.values.whole == counted;
    for (double value : one.values.values)
      allowed = allowed && std::isfinite(value) && (one.kind == "release" || (value >= least && value < end));
    if (!allowed) throw Refused(path + ": a value that its law does not give");
  }

  double made_up() {  // splitmix64, for timing alone
    uint64_t z = state += 0x9e3779b97f4a7c15ull;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9ull;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebull;
    return std::ldexp((double)((z ^ (z >> 31)) >> 11), -53);
  }
};

Floats noised(const Mechanism& m, const Floats& value, const Floats& draws) {
  Floats out(value.size());
  for (size_t k = 0; k < value.size(); k++) {
    if (m.discrete()) out[k] = m.step * (std::nearbyint(value[k] / m.step) + draws[k]);
    else out[k] = snapped(value[k] + m.scale_of(k) * draws[k], m.scale_of(k));
  }
  return out;
}

Ints chosen(double coefficient, const Floats& utility, int64_t nodes, const Floats& draws) {
  Ints found;
  int64_t width = (int64_t)utility.size() / nodes;
  for (int64_t k = 0; k < nodes; k++) {
    const double* row = &utility[k * width];
    double most = *std::max_element(row, row + width), best = -infinity;
    int64_t place = 0;
    for (int64_t c = 0; c < width; c++) {
      double score = coefficient * (row[c] - most) + draws[k * width + c];
      if (score > best) best = score, place = c;
    }
    found.push_back(place);
  }
  return found;
}

class Outcome {  // the releases of a run as they are told
 public:
  void add(const string& path, const string& value, const string& output) {
    releases += (releases.empty() ? "" : ", ") + ("{\"path\": " + quoted(path)) + ", \"value\": " + value +
                ", \"output\": " + output + "}";
  }
  void ensemble(double initial, const Floats& weights, const vector<Tree>& trees) {
    string out = "{\"initial\": " + hexed(initial) + ", \"weights\": [";
    for (size_t t = 0; t < weights.size(); t++) out += (t ? ", " : "") + hexed(weights[t]);
    out += "], \"trees\": [";
    for (size_t t = 0; t < trees.size(); t++) {
      Floats flat;
      for (const Split& one : trees[t].splits) flat.push_back(one.feature), flat.push_back(one.value);
      out += (t ? ", " : "") + ("{\"splits\": " + floats(flat, {(int64_t)trees[t].splits.size(), 2})) +
             ", \"leaves\": " + floats(trees[t].leaves) + "}";
    }
    model += (model.empty() ? "" : ", ") + out + "]}";
  }
  string json() const { return "{\"releases\": [" + releases + "], \"model\": [" + model + "]}"; }

 private:
  string releases, model;
};

void usable_noise(const Mechanism& m) {
  for (double one : m.scale) {
    usable({one, m.discrete() ? m.step : one});
    if (m.discrete() && one > std::ldexp(m.step, 57)) throw Refused("noise of more than 2^57 steps");
  }
}

// A Laplace or discrete Laplace release, from its exact bound.
Mechanism laplace(const Exact& exact_bound, double epsilon, bool discrete, double changes) {
  Mechanism m;
  double bound = rounded(exact_bound, Way::up);
  m.name = discrete ? "DiscreteLaplace" : "Laplace";
  usable({bound, epsilon});
  if (discrete) {
    m.step = std::ldexp(1.0, std::ilogb(bound / epsilon) - 10);
    bound = m.step * std::floor(bound / m.step + changes);
  }
  m.scale = {quotient_at_least(bound, epsilon)};
  usable_noise(m);
  return m;
}
bool gaussian(const Mechanism& m) { return m.name == "Gaussian" || m.name == "DiscreteGaussian"; }

Mechanism mechanism_of(const Json& body) {
  Mechanism m;
  m.name = body["name"].word;
  const Json& scale = body.has("scale") ? body["scale"] : body["sd"];
  if (scale.kind == Json::list) for (const Json& one : scale.items) m.scale.push_back(number(one));
  else m.scale = {number(scale)};
  if (m.discrete()) m.step = number(body["step"]);
  return m;
}

// The output of a release; the noise is that of the tape where it tells its mechanism.
Floats release(Tape& tape, Outcome& outcome, const string& path, const Floats& value, const Ints& shape, Mechanism m) {
  string plain = gaussian(m) ? "normal" : "laplace", exact = gaussian(m) ? "discrete-gaussian" : "discrete-laplace";
  Entry entry = tape.next(path, "release", m.discrete() ? exact : plain, shape);
  if (entry.mechanism.kind == Json::object) m = mechanism_of(entry.mechanism);
  if (!entry.law.items.empty() && m.discrete()) {
    vector<string> due, told;
    for (double scale : m.scale) {
      Exact steps = Exact(scale) * Exact(1 / m.step);  // a power of two
      due.push_back(in_words(gaussian(m) ? steps * steps : steps));
    }
    const Json& said = entry.law.items.at(1);
    if (said.kind == Json::list) for (const Json& one : said.items) told.push_back(one.word);
    else told = {said.word};
    if (told != due) throw Refused(path + ": noise of another scale");
  }
  Floats output = noised(m, value, entry.values.values);
  outcome.add(path, floats(value, shape), floats(output, shape));
  return output;
}

// ---------------------------------------------------------------- histograms

struct Table {  // sums of g and counts by node and bin
  int64_t nodes = 0, width = 0;
  Floats g, n;
};

Table bin_sums(const vector<Candidates>& candidates, const Codes& codes, const vector<int32_t>& node, int64_t nodes,
               const Floats& g, const vector<char>& used) {
  Table found;
  found.nodes = nodes;
  for (const Candidates& one : candidates) found.width += (int64_t)one.bins();
  found.g.assign(nodes * found.width, 0.0);
  found.n.assign(nodes * found.width, 0.0);
  vector<int32_t> rows;
  for (size_t i = 0; i < node.size(); i++) if (used[i]) rows.push_back((int32_t)i);
  int64_t offset = 0;
  for (size_t f = 0; f < candidates.size(); f++) {
    const uint16_t* code = codes[f].data();
    for (int32_t i : rows) {
      int64_t place = node[i] * found.width + offset + code[i];
      found.g[place] += g[i];
      found.n[place] += 1.0;
    }
    offset += (int64_t)candidates[f].bins();
  }
  return found;
}

// What lies on the right of every candidate of one node, and the node's total: calls use(candidate, G, n, G_R, n_R).
template <class Use>
void sides(const vector<Candidates>& candidates, const Table& table, int64_t node, Use use) {
  int64_t offset = node * table.width, first = 0;
  for (const Candidates& feature : candidates) {
    int64_t bins = (int64_t)feature.bins(), count = (int64_t)feature.values.size();
    double g = 0, n = 0;
    for (int64_t b = 0; b < bins; b++) g += table.g[offset + b], n += table.n[offset + b];
    double right_g = 0, right_n = 0;
    for (int64_t q = count; q--;) {
      int64_t bin = offset + q + (feature.categorical ? 1 : 2);
      if (feature.categorical) right_g = table.g[bin], right_n = table.n[bin];
      else right_g += table.g[bin], right_n += table.n[bin];
      use(first + q, g, n, right_g, right_n);
    }
    offset += bins;
    first += count;
  }
}

int64_t size_of(const vector<Candidates>& candidates) {
  int64_t found = 0;
  for (const Candidates& one : candidates) found += (int64_t)one.values.size();
  return found;
}

vector<Split> ways_of(const vector<Candidates>& candidates) {
  vector<Split> found;
  for (size_t f = 0; f < candidates.size(); f++)
    for (double value : candidates[f].values) found.push_back({(double)f, value});
  return found;
}

bool is_budget(double epsilon) { return epsilon >= 1e-60 && epsilon <= 1e15; }

// ---------------------------------------------------------------- DPBoost

namespace dpboost {

struct Params {
  int64_t trees, per_ensemble, depth, bins;
  double epsilon, regularisation, shrinkage, bound, changes;
  string scheme, candidates;
  bool clip, discrete;

  explicit Params(const Json& p)
      : trees(whole(p["trees"])), per_ensemble(whole(p["trees_per_ensemble"])), depth(whole(p["depth"])),
        bins(whole(p["bins"])), epsilon(number(p["epsilon"])), regularisation(number(p["regularisation"])),
        shrinkage(number(p["shrinkage"])), bound(number(p["gradient_bound"])),
        changes(p["relation"].word == "replace-one" ? 2 : 1), scheme(p["scheme"].word),
        candidates(p["candidates"].word), clip(p["gradients"].word == "clip"), discrete(p["noise"].word == "discrete") {
    named(p, "relation", {"add-remove", "replace-one"});
    named(p, "noise", {"discrete", "floating"});
    named(p, "gradients", {"filter", "clip"});
    named(p, "candidates", {"uniform", "log"});
    named(p, "scheme", {"dpboost", "seq", "para", "np"});
    if (trees < 1 || trees > 1000000 || per_ensemble < 1 || per_ensemble > 1000000 || depth < 1 || depth > 16 || bins < 1 || bins > 60000 ||
        !is_budget(epsilon) || !(regularisation >= grid_step) || std::isinf(regularisation) ||
        !(shrinkage >= 0.001 && shrinkage < 1) || !(bound > grid_step && bound <= 1024))
      throw Refused("a parameter outside its domain");
  }
  Ints ensembles() const {  // how many trees each has
    int64_t most = scheme == "seq" ? 1 : scheme == "para" ? trees : per_ensemble;
    Ints found;
    for (int64_t left = trees; left > 0; left -= most) found.push_back(std::min(left, most));
    return found;
  }
  double tree_epsilon(const Schema& schema) const {
    return epsilon / (double)ensembles().size() / (double)schema.scores();
  }
  Floats shares(int64_t count) const {
    Floats found;
    Exact rest = Exact(1.0) - Exact(shrinkage);
    for (int64_t t = 0; t < count; t++) {
      if (scheme == "para") found.push_back(std::ldexp(1.0, -(int)t - 1));
      else if (count == 1) found.push_back(1.0);
      else found.push_back(down_to(Exact(shrinkage) * power(rest, t) / (Exact(1.0) - power(rest, count)), 53));
    }
    return found;
  }
  double leaf_clip(int64_t place) const {
    if (scheme != "dpboost") return bound;
    return rounded(Exact(bound) * power(Exact(1.0) - Exact(shrinkage), place), Way::nearest);
  }
  double split_range() const { return rounded(Exact(changes) * Exact(4.0) * Exact(bound) * Exact(bound), Way::up); }
  Mechanism split_mechanism(double tree_epsilon) const {
    Mechanism m;
    m.name = "Exponential";
    usable({tree_epsilon / (2.0 * (double)depth), split_range()});
    m.coefficient = quotient_at_most(tree_epsilon / (2.0 * (double)depth), split_range());
    usable({m.coefficient});
    return m;
  }
  Exact leaf_bound(int64_t place) const {
    Exact g(bound), c(leaf_clip(place)), lambda(regularisation);
    return Exact(changes) * least(least(g / (Exact(1.0) + lambda), Exact(2.0) * c), (g + c) / (Exact(2.0) + lambda));
  }
  Mechanism leaf_mechanism(double tree_epsilon, int64_t place) const {
    return laplace(leaf_bound(place), tree_epsilon / 2, discrete, changes);
  }
};

double gradient(const Params& p, double score, double label) {
  double g = on_grid(score - label), most = grid_floor(p.bound);
  return p.clip ? cut(g, -most, most) : g;
}
double signed_label(const Schema& schema, double y, int64_t score) {
  double label = label_of(schema, y, score);
  return schema.classes ? 2 * label - 1 : label;
}

Floats utilities(const Params& p, const vector<Candidates>& candidates, const Table& table) {
  int64_t count = size_of(candidates);
  Floats found(table.nodes * count);
  for (int64_t k = 0; k < table.nodes; k++)
    sides(candidates, table, k, [&](int64_t c, double g, double n, double right, double many) {
      double left = g - right, few = n - many;
      found[k * count + c] = left * left / (few + p.regularisation) + right * right / (many + p.regularisation);
    });
  return found;
}

double leaf_value(const Params& p, double g, double n, double clip) {
  return cut(-g / (n + p.regularisation), -clip, clip);
}

string plan(const Json& input) {
  Params p(input["params"]);
  Schema schema = schema_of(input["schema"]);
  if (!size_of(candidates_of(schema, p.candidates, p.bins))) throw Refused("no feature has a candidate");
  double epsilon = p.tree_epsilon(schema);
  string relation = ", \"relation\": " + quoted(p.changes == 2 ? "replace-one" : "add-remove") + "}}";
  vector<string> events;
  for (int64_t k = 0; k < schema.scores(); k++)
    for (int64_t count : p.ensembles()) {
      string shares, trees;
      for (double one : p.shares(count)) shares += (shares.empty() ? "" : ", ") + hexed(one);
      for (int64_t t = 0; t < count; t++) {
        trees += (t ? ", " : "") + string("{\"sequential\": [");
        for (int64_t level = 0; level < p.depth; level++)
          trees += "{\"release\": \"splits of level " + std::to_string(level) + "\", \"mechanism\": " +
                   told(p.split_mechanism(epsilon)) + ", \"sensitivity\": {\"norm\": \"range\", \"bound\": " +
                   hexed(p.split_range()) + relation + ", ";
        trees += "{\"release\": \"leaves\", \"mechanism\": " + told(p.leaf_mechanism(epsilon, t)) +
                 ", \"sensitivity\": {\"norm\": \"1\", \"bound\": ";
        Mechanism m = p.leaf_mechanism(epsilon, t);
        double bound = rounded(p.leaf_bound(t), Way::up);
        if (m.discrete()) bound = m.step * std::floor(bound / m.step + p.changes);
        trees += hexed(bound) + relation + "]}";
      }
      events.push_back("{\"partition\": [" + shares + "], \"events\": [" + trees + "]}");
    }
  string all;
  for (const string& one : events) all += (all.empty() ? "" : ", ") + one;
  return "{\"event\": " + (events.size() == 1 ? all : "{\"sequential\": [" + all + "]}") + "}";
}

Outcome train(const Params& p, const Schema& schema, const Records& records, Tape& tape) {
  Outcome outcome;
  vector<Candidates> candidates = candidates_of(schema, p.candidates, p.bins);
  vector<Split> ways = ways_of(candidates);
  if (ways.empty()) throw Refused("no feature has a candidate");
  Codes codes = encode(candidates, records.columns);
  double epsilon = p.tree_epsilon(schema);
  int64_t rows = records.rows, leaves = int64_t(1) << p.depth, count = (int64_t)ways.size();
  for (int64_t k = 0; k < schema.scores(); k++) {
    Floats score(rows, 0.0), label(rows), g(rows), weights;
    vector<Tree> trees;
    for (int64_t i = 0; i < rows; i++) label[i] = signed_label(schema, records.y[i], k);
    Ints ensembles = p.ensembles();
    for (size_t e = 0; e < ensembles.size(); e++) {
      string path = "score " + std::to_string(k) + "/ensemble " + std::to_string(e);
      Floats shares = p.shares(ensembles[e]);
      Entry blocks = tape.next(path, "assign", "partition", {rows});
      if (!blocks.law.items.empty()) {
        const vector<Json>& said = blocks.law.items.at(1).items;
        bool same = said.size() == shares.size();
        for (size_t t = 0; same && t < shares.size(); t++) same = number(said[t]) == shares[t];
        if (!same) throw Refused(path + ": other shares");
      }
      for (int64_t t = 0; t < ensembles[e]; t++) {
        string inner = path + (ensembles[e] > 1 ? " " + std::to_string(t) : "") + "/";
        vector<char> used(rows);
        for (int64_t i = 0; i < rows; i++) {
          used[i] = blocks.values.values[i] == (double)t;
          if (!used[i]) continue;
          g[i] = gradient(p, score[i], label[i]);
          used[i] = std::fabs(g[i]) <= p.bound;
        }
        Tree tree;
        vector<int32_t> node(rows, 0);
        for (int64_t level = 0; level < p.depth; level++) {
          int64_t nodes = int64_t(1) << level;
          Table table = bin_sums(candidates, codes, node, nodes, g, used);
          Floats utility = utilities(p, candidates, table);
          string name = inner + "splits of level " + std::to_string(level);
          Entry draws = tape.next(name, "release", "gumbel", {nodes, count});
          Ints places;
          if (!draws.law.items.empty() && draws.law.items[0].word == "index")
            for (double one : draws.values.values) places.push_back((int64_t)one);
          else places = chosen(p.split_mechanism(epsilon).coefficient, utility, nodes, draws.values.values);
          Floats output;
          for (int64_t place : places) {
            if (place < 0 || place >= count) throw Refused(name + ": no candidate " + std::to_string(place));
            tree.splits.push_back(ways[place]);
            output.push_back(ways[place].feature), output.push_back(ways[place].value);
          }
          outcome.add(name, floats(utility, {nodes, count}), floats(output, {nodes, 2}));
          for (int64_t i = 0; i < rows; i++) {
            const Split& split = tree.splits[nodes - 1 + node[i]];
            const Candidates& feature = candidates[(size_t)split.feature];
            int64_t code = codes[(size_t)split.feature][i];
            int64_t cut = std::lower_bound(feature.values.begin(), feature.values.end(), split.value) -
                          feature.values.begin();
            node[i] = 2 * node[i] + (feature.categorical ? code == cut + 1 : code > cut + 1);
          }
        }
        Floats sum(leaves, 0.0), many(leaves, 0.0), value(leaves);
        for (int64_t i = 0; i < rows; i++) if (used[i]) sum[node[i]] += g[i], many[node[i]] += 1.0;
        for (int64_t j = 0; j < leaves; j++) value[j] = leaf_value(p, sum[j], many[j], p.leaf_clip(t));
        tree.leaves = release(tape, outcome, inner + "leaves", value, {leaves}, p.leaf_mechanism(epsilon, t));
        for (int64_t i = 0; i < rows; i++) score[i] += p.shrinkage * tree.leaves[node[i]];
        trees.push_back(tree);
        weights.push_back(p.shrinkage);
      }
    }
    outcome.ensemble(0.0, weights, trees);
  }
  tape.finish();
  return outcome;
}

string statistics(const Json& input) {
  Params p(input["params"]);
  Schema schema = schema_of(input["schema"]);
  Floats y = array(input["y"]).values, score = array(input["score"]).values, label, g, h;
  Ints used;
  for (size_t i = 0; i < y.size(); i++) {
    label.push_back(signed_label(schema, y[i], whole(input["output"])));
    g.push_back(gradient(p, score[i], label[i]));
    h.push_back(1.0);
    used.push_back(std::fabs(g[i]) <= p.bound);
  }
  return "{\"label\": " + floats(label) + ", \"g\": " + floats(g) + ", \"h\": " + floats(h) + ", \"used\": " +
         wholes(used) + "}";
}

string leaves(const Json& input) {
  Params p(input["params"]);
  Array sums = array(input["sums"]);
  int64_t count = sums.shape[1];
  Floats values;
  for (int64_t j = 0; j < count; j++)
    values.push_back(leaf_value(p, sums.values[j], sums.values[count + j], number(input["clip"])));
  return "{\"values\": " + floats(values) + "}";
}

}  // namespace dpboost

// ---------------------------------------------------------------- the federated framework, totally random

namespace fedgbdt {

struct Params {
  int64_t trees, batch, depth, bins, changes, each;
  double epsilon, delta, regularisation, penalty, shrinkage, clip, bound, batch_share;  // the last: 0 if there is none
  string update, candidates, accounting;
  bool discrete, together, per_feature;

  explicit Params(const Json& p)
      : trees(whole(p["trees"])), batch(whole(p["batch"])), depth(whole(p["depth"])), bins(whole(p["bins"])),
        changes(p["relation"].word == "replace-one" ? 2 : 1), each(whole(p["records_each"])),
        epsilon(number(p["epsilon"])), delta(number(p["delta"])), regularisation(number(p["regularisation"])),
        penalty(number(p["split_penalty"])), shrinkage(number(p["shrinkage"])), clip(number(p["leaf_clip"])),
        bound(number(p["gradient_bound"])),
        batch_share(p["batch_share"].kind == Json::null ? 0 : number(p["batch_share"])), update(p["update"].word),
        candidates(p["candidates"].word), accounting(p["accounting"].word),
        discrete(p["noise"].word == "discrete"), together(p["one_vs_rest"].word == "together"),
        per_feature(p["trees_per_feature"].flag) {
    named(p, "relation", {"add-remove", "replace-one"});
    named(p, "noise", {"discrete", "floating"});
    named(p, "update", {"newton", "gradient", "averaging"});
    named(p, "one_vs_rest", {"divided", "together"});
    named(p, "splits", {"histogram", "partially-random", "totally-random"});
    named(p, "candidates", {"uniform", "log", "iterative-hessian"});
    named(p, "interactions", {"cyclic", "random"});
    named(p, "sensitivities", {"joint", "by-round"});
    named(p, "accounting", {"exact", "renyi"});
    named(p, "noise_by", {"aggregator", "record"});
    bool few = p["features_per_tree"].kind != Json::null;
    auto counted = [](int64_t one) { return one >= 1 && one <= 1000000; };
    if (!counted(trees) || !counted(batch) || depth < 1 || depth > 12 || bins < 1 || bins > 60000 || !counted(each) ||
        !counted(whole(p["rounds"])) || (few && !counted(whole(p["features_per_tree"]))) || !is_budget(epsilon) ||
        !(delta > 0 && delta < 1) || !(regularisation > 0) || std::isinf(regularisation) || !(penalty >= 0) ||
        std::isinf(penalty) || !(shrinkage > 0 && shrinkage <= 1e100) || !(clip > 0 && clip <= 1e100) ||
        !(bound > grid_step && bound <= 1024) ||
        (p["batch_share"].kind != Json::null && !(batch_share > 0 && batch_share <= 1)))
      throw Refused("a parameter outside its domain");
    if (p["splits"].word != "totally-random" || candidates == "iterative-hessian" || p["noise_by"].word == "record" ||
        p["sensitivities"].word != "joint" || few)
      throw Skip("only totally random trees on all features");
  }
  int64_t all_trees(const Schema& schema) const {
    return trees * (per_feature ? (int64_t)schema.features.size() : 1);
  }
  int64_t batch_of(const Schema& schema) const {
    if (batch_share == 0) return batch;
    return std::max(int64_t(1), (int64_t)(batch_share * (double)all_trees(schema)));
  }
  Exact squared_bound(const Schema& schema) const {
    string kind = schema.classes ? update : "gradient";
    Exact c(schema.classes || update == "averaging" ? 1.0 : bound), square = c * c;
    if (kind == "newton") return Exact(changes == 1 ? 1.0 : 4.0);
    if (kind == "averaging") return Exact(changes == 1 ? 2.0 : 4.0);
    if (changes == 1) return square + Exact(1.0);
    Exact four = Exact(4.0) * square, two = Exact(2.0) * square + Exact(2.0);
    return four < two ? two : four;
  }
  Mechanism leaf_mechanism(const Schema& schema, double* listed) const;
};

double above(double mu, double epsilon) {  // the profile of N(0, 1) against N(mu, 1)
  auto normal = [](double z) { return std::erfc(-z / std::sqrt(2.0)) / 2; };
  return normal(mu / 2 - epsilon / mu) - std::exp(epsilon) * normal(-mu / 2 - epsilon / mu);
}
double renyi(double order, double rho, double delta) {  // an order's epsilon
  return rho + std::log1p(-1 / order) - (std::log(delta) + std::log(order)) / (order - 1);
}
double total_mu(double epsilon, double delta, bool exact, bool discrete) {
  Floats orders;
  for (double order = 1.25; order <= 63; order += 0.25) orders.push_back(order);
  for (double order : {128.0, 256.0, 512.0}) orders.push_back(order);
  auto least_epsilon = [&](double mu) {
    double found = infinity;
    for (double order : orders) found = std::min(found, renyi(order, order * mu * mu / 2, delta));
    return found;
  };
  if (!exact && !(least_epsilon(0) < epsilon / 2))
    for (int k = 10; k <= 40; k++) orders.push_back(std::ldexp(1.0, k));
  double low = 0, high = 1e4;
  for (int k = 0; k < 200; k++) {
    double middle = (low + high) / 2;
    bool fits = exact ? above(middle, epsilon) <= delta : least_epsilon(middle) <= epsilon;
    (fits ? low : high) = middle;
  }
  int power;
  if (exact && discrete) low *= 1 - std::ldexp(1.0, -16);  // noise of many steps costs a little more
  double mantissa = std::frexp(low, &power);
  return std::ldexp(std::floor(std::ldexp(mantissa, 32)), power - 32);
}

Mechanism Params::leaf_mechanism(const Schema& schema, double* listed = nullptr) const {
  double scores = (double)schema.scores(), models = together ? 1 : scores;
  double queries = (double)all_trees(schema) * (together ? scores : 1);
  double mu = total_mu(epsilon / models, delta / models, accounting == "exact", discrete) / std::sqrt(queries);
  double most = rounded(Exact((double)each) * Exact(root_up(squared_bound(schema))), Way::up);
  Mechanism m;
  m.name = discrete ? "DiscreteGaussian" : "Gaussian";
  usable({mu, most});
  if (discrete) {
    m.step = std::ldexp(1.0, std::ilogb(most / mu) - 10);
    most = rounded(Exact(most) + Exact(m.step) * Exact(root_up(Exact(2.0 * (double)(changes * each)))), Way::up);
  }
  m.scale = {quotient_at_least(most, mu)};
  usable_noise(m);
  if (listed) *listed = most;
  return m;
}

string plan(const Json& input) {
  Params p(input["params"]);
  Schema schema = schema_of(input["schema"]);
  if (!size_of(candidates_of(schema, "inner-uniform", p.bins))) throw Refused("no feature has a candidate");
  double bound = 0;
  string mechanism = told(p.leaf_mechanism(schema, &bound));
  string one = "{\"release\": \"leaves\", \"mechanism\": " + mechanism +
               ", \"sensitivity\": {\"norm\": \"2\", \"bound\": " + hexed(bound) + ", \"relation\": " +
               quoted(p.changes == 2 ? "replace-one" : "add-remove") + "}}";
  int64_t count = p.all_trees(schema) * schema.scores();
  string all = one;
  for (int64_t k = 1; k < count; k++) all += ", " + one;
  return "{\"event\": " + (count == 1 ? one : "{\"sequential\": [" + all + "]}") + "}";
}

void statistics_of(const Params& p, const Schema& schema, double score, double label, double& g, double& h) {
  bool forest = p.update == "averaging";
  h = 1.0;
  if (!schema.classes) {
    double most = grid_floor(p.bound);
    g = forest ? on_grid(label) : cut(on_grid(score - label), -most, most);
    return;
  }
  double q = 1.0 / (1.0 + exponential(-score)) - label;
  g = on_grid(forest ? label : q);
  if (p.update == "newton") h = on_grid(std::fabs(q) * (1.0 - std::fabs(q)));
}

double average(double g, double h) {
  if (h <= 0) return (0.0 * g + 1.0) / 2.0;
  return cut(g / h, 0.0 * g, 1.0);
}
double leaf_value(const Params& p, const Schema& schema, double g, double h) {
  if (p.update != "averaging") {
    double weight = h <= 0 ? 0.0 * g : -g / (h + p.regularisation);
    return p.shrinkage * cut(weight, -p.clip, p.clip);
  }
  return schema.classes ? average(g, h) : 2 * average((g + h) / 2, h) - 1;
}
double decrease(const Params& p, double g, double h) {
  double positive = std::max(h, 0.0);
  double w = h > 0 ? cut(-g / (positive + p.regularisation), -p.clip, p.clip) : 0.0;
  return -2 * (g * w + (positive + p.regularisation) * w * w / 2);
}
double split_score(const Params& p, double left_g, double left_h, double right_g, double right_h) {
  double parent = decrease(p, left_g + right_g, left_h + right_h);
  return (decrease(p, left_g, left_h) + decrease(p, right_g, right_h) - parent) / 2 - p.penalty;
}

vector<Split> random_tree(const vector<Candidates>& candidates, const Floats& uniform, int64_t nodes) {
  vector<vector<vector<char>>> open(2 * nodes + 1);  // by node, feature, place
  for (const Candidates& one : candidates) open[0].push_back(vector<char>(one.values.size(), 1));
  const vector<vector<char>> everything = open[0];
  vector<Split> found;
  for (int64_t k = 0; k < nodes; k++) {
    auto free = [](const vector<char>& mask) { return std::count(mask.begin(), mask.end(), 1); };
    bool dead = true;
    for (const vector<char>& mask : open[k]) dead = dead && free(mask) == 0;
    const vector<vector<char>>& usable = dead ? everything : open[k];
    vector<size_t> features;
    for (size_t f = 0; f < usable.size(); f++) if (free(usable[f])) features.push_back(f);
    size_t f = features[(size_t)(uniform[2 * k] * (double)features.size())];
    int64_t wanted = (int64_t)(uniform[2 * k + 1] * (double)free(usable[f]));
    size_t place = 0;
    while (!usable[f][place] || wanted-- > 0) place++;
    found.push_back({(double)f, candidates[f].values[place]});
    vector<vector<char>> left = open[k], right = open[k];
    for (size_t j = 0; j < left[f].size(); j++) {
      if (candidates[f].categorical ? j == place : j >= place) left[f][j] = 0;
      if (candidates[f].categorical || j <= place) right[f][j] = 0;
    }
    open[2 * k + 1] = left, open[2 * k + 2] = right;
  }
  return found;
}

Outcome train(const Params& p, const Schema& schema, const Records& records, Tape& tape) {
  Outcome outcome;
  vector<Candidates> candidates = candidates_of(schema, p.candidates == "log" ? "inner-log" : "inner-uniform", p.bins);
  if (!size_of(candidates)) throw Refused("no feature has a candidate");
  Codes codes = encode(candidates, records.columns);
  int64_t rows = records.rows, nodes = (int64_t(1) << p.depth) - 1, leaves = nodes + 1;
  int64_t all = p.all_trees(schema), batch = p.batch_of(schema);
  Mechanism m;  // its scale is that of the tape, if the tape tells it
  if (tape.tells_mechanisms()) m.name = p.discrete ? "DiscreteGaussian" : "Gaussian";
  else m = p.leaf_mechanism(schema);
  for (int64_t k = 0; k < schema.scores(); k++) {
    Floats score(rows, 0.0), label(rows), g(rows), h(rows), weights;
    vector<Tree> trees;
    for (int64_t i = 0; i < rows; i++) label[i] = label_of(schema, records.y[i], k);
    for (int64_t first = 1; first <= all; first += batch) {
      int64_t last = std::min(first + batch - 1, all);
      for (int64_t i = 0; i < rows; i++) statistics_of(p, schema, score[i], label[i], g[i], h[i]);
      vector<vector<int32_t>> placed;
      for (int64_t t = first; t <= last; t++) {
        string path = "score " + std::to_string(k) + "/tree " + std::to_string(t) + "/splits";
        Entry draws = tape.next(path, "draw", "uniform", {nodes, 2});
        trees.push_back({random_tree(candidates, draws.values.values, nodes), {}});
        placed.push_back(leaf_of_codes(candidates, codes, trees.back().splits));
      }
      double weight = 1.0 / (double)(p.update == "averaging" ? all : last - first + 1);
      for (int64_t t = first; t <= last; t++) {
        Floats sums(2 * leaves, 0.0);
        const vector<int32_t>& leaf = placed[t - first];
        for (int64_t i = 0; i < rows; i++) sums[leaf[i]] += g[i], sums[leaves + leaf[i]] += h[i];
        string path = "score " + std::to_string(k) + "/tree " + std::to_string(t) + "/leaves";
        Floats noisy = release(tape, outcome, path, sums, {2, leaves}, m);
        Tree& tree = trees[t - 1];
        for (int64_t j = 0; j < leaves; j++) tree.leaves.push_back(leaf_value(p, schema, noisy[j], noisy[leaves + j]));
        weights.push_back(weight);
      }
      for (int64_t t = first; t <= last; t++)
        for (int64_t i = 0; i < rows; i++) score[i] += weight * trees[t - 1].leaves[placed[t - first][i]];
    }
    outcome.ensemble(0.0, weights, trees);
  }
  tape.finish();
  return outcome;
}

string scores(const Json& input) {
  Params p(input["params"]);
  Floats left = array(input["left"]).values, right = array(input["right"]).values, found;
  size_t count = left.size() / 2;
  for (size_t j = 0; j < count; j++) found.push_back(split_score(p, left[j], left[count + j], right[j], right[count + j]));
  return "{\"scores\": " + floats(found) + "}";
}

}  // namespace fedgbdt

// ---------------------------------------------------------------- S-GBDT

namespace sgbdt {

const double margin = 1e-9;

double log_of_sum(const Floats& logs) {
  double most = *std::max_element(logs.begin(), logs.end()), sum = 0;
  if (most == -infinity) return most;
  for (double one : logs) sum += std::exp(one - most);
  return most + std::log(sum);
}
double cost(int order, double rate, double t) {  // a(alpha, gamma, t)
  if (rate == 1) return order * t;
  Floats logs;
  for (int l = 2; l <= order; l++) {
    double growth = (double)l * (l - 1) * t;
    double grown = growth > 40 ? growth : growth > 0 ? std::log(std::expm1(growth)) : -infinity;
    double ways = std::lgamma(order + 1.0) - std::lgamma(l + 1.0) - std::lgamma(order - l + 1.0);
    logs.push_back(ways + (order - l) * std::log1p(-rate) + l * std::log(rate) + grown);
  }
  double excess = log_of_sum(logs);
  return (std::max(excess, 0.0) + std::log1p(std::exp(-std::fabs(excess)))) / (order - 1);
}

struct Budget { double sigma = 0; Ints orders; Floats spendable; vector<Floats> costs; double last = 0; };

Budget initialise(double epsilon, double delta, int64_t rounds, double rate, int64_t times, bool joint) {
  auto of_order = [&](int order, double sigma) {
    return fedgbdt::renyi(order, (double)(rounds * times) * cost(order, rate, 1 / (sigma * sigma)), delta);
  };
  auto best_of = [&](const Ints& orders, double sigma) {
    int64_t best = orders[0];
    double least = infinity;
    for (int64_t order : orders) if (double one = of_order((int)order, sigma); one < least) least = one, best = order;
    return std::make_pair(least, best);
  };
  auto around = [](int64_t order) {
    Ints found;
    for (int64_t one = 2; one <= 2000; one++)
      if (std::fabs((double)(one - order)) <= 0.2 * (double)order) found.push_back(one);
    return found;
  };
  Ints few;
  for (int k = 0; k < 60; k++) few.push_back((int64_t)std::nearbyint(2 * std::exp(k / 59.0 * std::log(1000.0))));
  few.erase(std::unique(few.begin(), few.end()), few.end());
  auto best_order = [&](double sigma) { return best_of(around(best_of(few, sigma).second), sigma).second; };
  auto bisected = [&](double low, double high, double accuracy, const Ints& orders, double target) {
    while (high > low * (1 + accuracy)) {
      double middle = std::sqrt(low * high);
      (best_of(orders, middle).first <= target ? high : low) = middle;
    }
    return high;
  };
  double target = epsilon - 10 * margin, low = 16777216.0, high = low;
  if (best_of(few, low).first > target) throw Refused("no sigma up to 2^24 suffices");
  while (best_of(few, low).first <= target) high = low, low /= 2;
  double rough = bisected(low, high, 1e-4, few, target);
  Budget found;
  found.sigma = bisected(0.99 * rough, rough, 1e-7, around(best_order(rough)), target);
  int64_t best = best_order(found.sigma);
  for (double factor : {0.25, 0.5, 1.0, 2.0, 4.0})
    if (joint || factor == 1) found.orders.push_back((int64_t)cut(std::nearbyint((double)best * factor), 2, 2000));
  std::sort(found.orders.begin(), found.orders.end());
  found.orders.erase(std::unique(found.orders.begin(), found.orders.end()), found.orders.end());
  found.last = 1 / (found.sigma * found.sigma) * (1 + margin);
  for (int64_t order : found.orders) {
    Floats costs;
    for (int k = 0; k < 1025; k++) costs.push_back(cost((int)order, rate, k * (found.last / 1024)) * (1 + margin));
    found.spendable.push_back((double)rounds * costs.back() * (1 + margin));
    found.costs.push_back(costs);
  }
  return found;
}

struct Params {
  int64_t trees, extra, depth, points;
  double epsilon, delta, shrinkage, regularisation, g_bound, h_bound, clip, rate, r1, initial, count_share, label_bound;
  bool uniform_features, grid_values, discrete, additive, slides, joint;

  explicit Params(const Json& p)
      : trees(whole(p["trees"])), extra(whole(p["extra_trees"])), depth(whole(p["depth"])),
        points(whole(p["grid_points"])), epsilon(number(p["epsilon"])), delta(number(p["delta"])),
        shrinkage(number(p["shrinkage"])), regularisation(number(p["regularisation"])),
        g_bound(number(p["gradient_bound"])), h_bound(number(p["hessian_bound"])), clip(number(p["leaf_clip"])),
        rate(number(p["subsample"])), r1(number(p["support_weight"])), initial(number(p["initial_share"])),
        count_share(number(p["count_share"])), label_bound(number(p["label_bound"])),
        uniform_features(p["features"].word == "uniform"), grid_values(p["values"].word == "grid"),
        discrete(p["noise"].word == "discrete"), additive(p["support"].word == "additive"),
        slides(p["weights"].word == "slides"), joint(p["orders"].word == "joint") {
    named(p, "noise", {"discrete", "floating"});
    named(p, "features", {"uniform", "cyclic"});
    named(p, "values", {"uniform", "grid"});
    named(p, "support", {"additive", "max"});
    named(p, "weights", {"relative", "slides"});
    named(p, "orders", {"one", "joint", "shared"});
    auto bound = [](double one) { return one >= 2 * grid_step && one <= 1; };
    if (p["relation"].word != "add-remove" || trees < 1 || trees > 10000 || extra < 0 || extra > 10000 || depth < 1 ||
        depth > 8 || points < 1 || points > 60000 || !is_budget(epsilon) ||
        !(delta > 0 && delta < 1) || !(shrinkage > 0 && shrinkage <= 1) || !(regularisation > 0) ||
        std::isinf(regularisation) || !bound(g_bound) || !bound(h_bound) || !bound(label_bound) || !(clip > 0 && clip <= 1e100) ||
        !(rate > 0 && rate <= 1) || !(r1 > 0 && r1 < 1) ||
        !(initial >= 0 && initial < 1) || !(count_share > 0 && count_share < 1))
      throw Refused("a parameter outside its domain");
  }
  double most_g() const { return grid_floor(g_bound); }
  double most_h(const Schema& schema) const { return schema.classes ? grid_floor(h_bound) : 1.0; }
  Budget budget(const Schema& schema) const {
    static std::map<vector<double>, Budget> known;
    double scores = (double)schema.scores();
    vector<double> key = {epsilon, initial, delta, (double)trees, rate, scores, (double)joint};
    auto found = known.find(key);
    if (found == known.end())
      found = known.emplace(key, initialise(epsilon * (1 - initial), delta, trees, rate, schema.scores(), joint)).first;
    return found->second;
  }
  double weigh(double g, double h, double g_most, double h_most, double squared) const {  // a record's cost
    double relative_g = g / g_most, relative_h = h / h_most;
    if (slides) return (r1 * h * h + (1 - r1) * g * g) / squared;
    return (r1 * relative_h * relative_h + (1 - r1) * relative_g * relative_g) / squared;
  }
  double sigma_squared(const Schema& schema) const {
    double sigma = budget(schema).sigma, g = most_g(), h = most_h(schema), squared = sigma * sigma;
    return slides ? squared * ((r1 * h * h + (1 - r1) * g * g) / 1.0) : squared;
  }
  Mechanism leaf_mechanism(const Schema& schema) const {
    double squared = sigma_squared(schema), g = slides ? 1.0 : most_g(), h = slides ? 1.0 : most_h(schema);
    Mechanism m;
    m.name = discrete ? "DiscreteGaussian" : "Gaussian";
    m.step = discrete ? grid_step : 0;
    double v_g = slides ? squared / (2 * (1 - r1)) : g * g * squared / (2 * (1 - r1));
    double v_h = slides ? squared / (2 * r1) : h * h * squared / (2 * r1);
    m.scale = {std::sqrt(v_g), std::sqrt(v_h)};
    usable_noise(m);
    return m;
  }
  std::pair<Mechanism, Mechanism> initial_mechanisms(const Schema& schema) const {
    double share = epsilon * initial / (double)schema.scores();
    return {laplace(Exact(1.0), share * count_share, discrete, 1),
            laplace(Exact(grid_floor(label_bound)), share * (1 - count_share), discrete, 1)};
  }
};

string plan(const Json& input) {
  Params p(input["params"]);
  Schema schema = schema_of(input["schema"]);
  Mechanism m = p.leaf_mechanism(schema);
  Exact g = Exact(p.most_g()) / Exact(m.scale[0]), h = Exact(p.most_h(schema)) / Exact(m.scale[1]);
  auto released = [](const string& name, const Mechanism& noise, const string& norm, double bound) {
    return "{\"release\": " + quoted(name) + ", \"mechanism\": " + told(noise) + ", \"sensitivity\": {\"norm\": " +
           quoted(norm) + ", \"bound\": " + hexed(bound) + ", \"relation\": \"add-remove\"}}";
  };
  auto on_steps = [](const Mechanism& noise, double bound) {
    return noise.discrete() ? noise.step * std::floor(bound / noise.step + 1) : bound;
  };
  string round = "{\"subsample\": " + hexed(p.rate) + ", \"method\": \"poisson\", \"event\": " +
                 released("leaves", m, "whitened", root_up(g * g + h * h)) + "}";
  vector<string> events;
  for (int64_t k = 0; k < schema.scores(); k++) {
    if (p.initial > 0) {
      auto [count, labels] = p.initial_mechanisms(schema);
      events.push_back(released("count", count, "1", on_steps(count, 1.0)));
      events.push_back(released("labels", labels, "1", on_steps(labels, grid_floor(p.label_bound))));
    }
    for (int64_t t = 0; t < p.trees + p.extra; t++) events.push_back(round);
  }
  string all;
  for (const string& one : events) all += (all.empty() ? "" : ", ") + one;
  return "{\"event\": " + (events.size() == 1 ? all : "{\"sequential\": [" + all + "]}") + "}";
}

void statistics_of(const Params& p, const Schema& schema, double score, double label, double& g, double& h) {
  double most = p.most_g();
  h = 1.0;
  if (!schema.classes) {
    g = cut(on_grid(score - label), -most, most);
    return;
  }
  double probability = 1.0 / (1.0 + exponential(-score));
  g = cut(on_grid(probability - label), -most, most);
  h = cut(on_grid(probability * (1.0 - probability)), 0.0, p.most_h(schema));
}

double leaf_value(const Params& p, double g, double h) {
  double support = p.additive ? p.regularisation + h : std::max(h, p.regularisation);
  return support > 0 ? cut(-g / support, -p.clip, p.clip) : 0.0;
}

Floats grid_shares(const Params& p, const Floats& features, const Floats& where, size_t width) {
  size_t nodes = features.size();
  vector<Ints> first(nodes, Ints(width, 0)), last(nodes, Ints(width, p.points - 1));
  Floats found;
  for (size_t k = 0; k < nodes; k++) {
    size_t f = (size_t)features[k];
    int64_t left = first[k][f], count = std::max(last[k][f] - left + 1, int64_t(0));
    int64_t chosen = std::min(left + (int64_t)(where[k] * (double)count), p.points - 1);
    found.push_back((double)chosen / (double)p.points);
    for (size_t child : {2 * k + 1, 2 * k + 2}) if (child < nodes) first[child] = first[k], last[child] = last[k];
    if (2 * k + 2 < nodes) {
      last[2 * k + 1][f] = std::min(last[k][f], chosen - 1);
      first[2 * k + 2][f] = std::max(left, chosen + 1);
    }
  }
  return found;
}

vector<Split> draw_splits(const Params& p, const Schema& schema, int64_t t, const string& prefix, Tape& tape) {
  int64_t nodes = (int64_t(1) << p.depth) - 1, width = (int64_t)schema.features.size();
  Floats features(nodes, (double)(t % width));
  if (p.uniform_features) {
    Entry drawn = tape.next(prefix + "/features", "draw", "integers", {nodes});
    if (!drawn.law.items.empty() && number(drawn.law.items.at(1)) != (double)schema.features.size())
      throw Refused("features of another number");
    features = drawn.values.values;
  }
  Floats where = tape.next(prefix + "/values", "draw", "uniform", {nodes}).values.values;
  Floats share = p.grid_values ? grid_shares(p, features, where, (size_t)width) : where;
  vector<Split> found;
  for (int64_t k = 0; k < nodes; k++) {
    if (features[k] < 0 || features[k] >= (double)width) throw Refused(prefix + ": no such feature");
    const Feature& feature = schema.features[(size_t)features[k]];
    double value = feature.categorical ? std::floor(where[k] * (double)feature.categories)
                                       : feature.low + share[k] * (feature.high - feature.low);
    found.push_back({features[k], value});
  }
  return found;
}

class Accounts {  // what every record has spent, at every order
 public:
  Accounts(const Budget& budget, int64_t rows) : budget(budget), spent(budget.orders.size(), Floats(rows, 0.0)) {}
  bool pays(int64_t row, double t) {
    Floats after;
    double place = t * (1024 / budget.last);
    size_t index = std::min((size_t)place, (size_t)1023);
    for (size_t a = 0; a < budget.orders.size(); a++) {
      const Floats& costs = budget.costs[a];
      after.push_back((costs[index + 1] - costs[index]) * (place - (double)index) + costs[index] + spent[a][row]);
      if (!(after[a] <= budget.spendable[a])) return false;
    }
    for (size_t a = 0; a < after.size(); a++) spent[a][row] = after[a];
    return true;
  }

 private:
  const Budget budget;
  vector<Floats> spent;
};

double initial_score(const Params& p, const Schema& schema, const Floats& label, const string& prefix, Tape& tape,
                     Outcome& outcome) {
  if (p.initial == 0) return 0.0;
  double most = grid_floor(p.label_bound), least = schema.classes ? 0.0 : -most, sum = 0;
  for (double one : label) sum += on_grid(cut(one, least, most));
  auto [for_count, for_sum] = p.initial_mechanisms(schema);
  double count = release(tape, outcome, prefix + "/count", {(double)label.size()}, {1}, for_count)[0];
  double total = release(tape, outcome, prefix + "/labels", {sum}, {1}, for_sum)[0];
  double mean = total / std::max(count, 1.0);
  if (!schema.classes) return cut(mean, -most, most);
  double inner = cut(mean, 0.01, 1 - 0.01);
  return logarithm(inner / (1 - inner));
}

Outcome train(const Params& p, const Schema& schema, const Records& records, Tape& tape) {
  Outcome outcome;
  vector<bool> categorical = kinds_of(schema);
  int64_t rows = records.rows, leaves = int64_t(1) << p.depth;
  Mechanism m;
  if (tape.tells_mechanisms()) m.name = p.discrete ? "DiscreteGaussian" : "Gaussian";
  else m = p.leaf_mechanism(schema);
  double g_most = p.most_g(), h_most = p.most_h(schema), squared = p.extra ? p.sigma_squared(schema) : 1.0;
  for (int64_t k = 0; k < schema.scores(); k++) {
    string prefix = "score " + std::to_string(k);
    Floats label(rows), weights;
    for (int64_t i = 0; i < rows; i++) label[i] = label_of(schema, records.y[i], k);
    double initial = initial_score(p, schema, label, prefix, tape, outcome);
    Floats score(rows, initial);
    Accounts accounts(p.extra ? p.budget(schema) : Budget(), rows);
    vector<Tree> trees;
    for (int64_t t = 0; t < p.trees + p.extra; t++) {
      Tree tree;
      tree.splits = draw_splits(p, schema, t, prefix, tape);
      vector<int32_t> leaf = leaf_of(categorical, records.columns, tree.splits);
      Floats sums(2 * leaves, 0.0);
      vector<std::pair<double, double>> both(rows);
      vector<char> used(rows, 1);
      for (int64_t i = 0; i < rows; i++) {
        statistics_of(p, schema, score[i], label[i], both[i].first, both[i].second);
        if (p.extra) used[i] = accounts.pays(i, p.weigh(both[i].first, both[i].second, g_most, h_most, squared));
      }
      Entry sample = tape.next(prefix + "/sample", "assign", "poisson", {rows});
      if (!sample.law.items.empty() && number(sample.law.items.at(1)) != p.rate) throw Refused("another sample rate");
      for (int64_t i = 0; i < rows; i++)
        if (used[i] && sample.values.values[i] == 0)
          sums[2 * leaf[i]] += both[i].first, sums[2 * leaf[i] + 1] += both[i].second;
      Floats noisy = release(tape, outcome, prefix + "/sample/leaves", sums, {leaves, 2}, m);
      for (int64_t j = 0; j < leaves; j++) tree.leaves.push_back(leaf_value(p, noisy[2 * j], noisy[2 * j + 1]));
      for (int64_t i = 0; i < rows; i++) score[i] += p.shrinkage * tree.leaves[leaf[i]];
      trees.push_back(tree);
      weights.push_back(p.shrinkage);
    }
    outcome.ensemble(initial, weights, trees);
  }
  tape.finish();
  return outcome;
}

}  // namespace sgbdt

// ---------------------------------------------------------------- what all papers share

vector<Candidates> candidates_in(const Json& body) {
  vector<Candidates> found;
  Array categorical = array(body["categorical"]);
  for (size_t f = 0; f < categorical.values.size(); f++)
    found.push_back({categorical.values[f] != 0, array(body["thresholds"].items[f]).values});
  return found;
}

vector<Split> splits_in(const Json& body) {
  Array found = array(body);
  vector<Split> splits;
  for (int64_t k = 0; k < found.shape[0]; k++)
    splits.push_back({found.values[k * found.shape[1]], found.values[k * found.shape[1] + 1]});
  return splits;
}

vector<Floats> raw_columns(const Json& body) {
  Array x = array(body);
  vector<Floats> columns(x.shape[1], Floats(x.shape[0]));
  for (int64_t i = 0; i < x.shape[0]; i++)
    for (int64_t f = 0; f < x.shape[1]; f++) columns[f][i] = x.values[i * x.shape[1] + f];
  return columns;
}

string encode_one(const Json& input) {
  Candidates feature;
  feature.categorical = input.has("categories");
  if (!feature.categorical) feature.values = array(input["thresholds"]).values;
  Feature bounds;
  bounds.categorical = feature.categorical;
  if (feature.categorical) bounds.categories = whole(input["categories"]);
  Ints codes;
  for (double value : array(input["column"]).values)
    codes.push_back(code_of(feature, feature.categorical ? inside(bounds, value) : value));
  return "{\"codes\": " + wholes(codes) + "}";
}

string route(const Json& input) {
  vector<bool> categorical;
  for (double one : array(input["categorical"]).values) categorical.push_back(one != 0);
  return "{\"leaf\": " + wholes(leaf_of(categorical, raw_columns(input["x"]), splits_in(input["splits"]))) + "}";
}

string predict(const Json& input) {
  Schema schema = schema_of(input["schema"]);
  vector<Floats> columns = columns_of(input["x"], schema);
  vector<bool> categorical = kinds_of(schema);
  int64_t rows = (int64_t)columns[0].size(), width = (int64_t)input["model"].items.size();
  Floats scores(rows * width);
  for (int64_t k = 0; k < width; k++) {
    const Json& ensemble = input["model"].items[k];
    for (int64_t i = 0; i < rows; i++) scores[i * width + k] = number(ensemble["initial"]);
    for (size_t t = 0; t < ensemble["trees"].items.size(); t++) {
      const Json& tree = ensemble["trees"].items[t];
      vector<int32_t> leaf = leaf_of(categorical, columns, splits_in(tree["splits"]));
      Floats leaves = array(tree["leaves"]).values;
      double weight = number(ensemble["weights"].items[t]);
      for (int64_t i = 0; i < rows; i++) scores[i * width + k] += weight * leaves[leaf[i]];
    }
  }
  return "{\"scores\": " + floats(scores, {rows, width}) + "}";
}

string sums(const Json& input) {
  vector<Candidates> candidates = candidates_in(input["candidates"]);
  vector<Floats> columns = raw_columns(input["x"]);
  vector<Split> splits = splits_in(input["splits"]);
  vector<bool> categorical;
  for (const Candidates& one : candidates) categorical.push_back(one.categorical);
  Floats g = array(input["g"]).values;
  vector<char> used(g.size(), 1);
  vector<int32_t> node(g.size(), 0);
  Codes codes = encode(candidates, columns);
  string bins;
  int64_t nodes = 1;
  for (; nodes <= (int64_t)splits.size(); nodes *= 2) {
    Table table = bin_sums(candidates, codes, node, nodes, g, used);
    Floats both = table.g;
    both.insert(both.end(), table.n.begin(), table.n.end());
    bins += (bins.empty() ? "" : ", ") + floats(both, {2, nodes, table.width});
    for (size_t i = 0; i < g.size(); i++)
      node[i] = 2 * node[i] + goes_right(categorical, columns, splits[nodes - 1 + node[i]], (int64_t)i);
  }
  Floats both(2 * nodes, 0.0);
  for (size_t i = 0; i < g.size(); i++) both[node[i]] += g[i], both[nodes + node[i]] += 1.0;
  return "{\"bins\": [" + bins + "], \"nodes\": " + floats(both, {2, nodes}) + "}";
}

string utilities(const Json& input) {
  vector<Candidates> candidates = candidates_in(input["candidates"]);
  Array given = array(input["table"]);
  Table table;
  table.nodes = given.shape[1], table.width = given.shape[2];
  size_t half = given.values.size() / 2;
  table.g.assign(given.values.begin(), given.values.begin() + (long)half);
  table.n.assign(given.values.begin() + (long)half, given.values.end());
  Floats found = dpboost::utilities(dpboost::Params(input["params"]), candidates, table);
  return "{\"utility\": " + floats(found, {table.nodes, size_of(candidates)}) + "}";
}

string apply(const Json& input) {
  const Json& body = input["mechanism"];
  Array value = array(input["value"]), draws = array(input["standard"]);
  if (body["name"].word == "Exponential") {
    if (body["sampler"].word != "gumbel") throw Skip("the sampler " + body["sampler"].word);
    return "{\"index\": " +
           wholes(chosen(number(body["coefficient"]), value.values, value.shape[0], draws.values)) + "}";
  }
  return "{\"output\": " + floats(noised(mechanism_of(body), value.values, draws.values), value.shape) + "}";
}

// The statistics and leaf values of the two papers that release sums of g and h.
template <class Params>
string statistics_gh(const Json& input, void (*of)(const Params&, const Schema&, double, double, double&, double&)) {
  Params p(input["params"]);
  Schema schema = schema_of(input["schema"]);
  Floats y = array(input["y"]).values, score = array(input["score"]).values, label, g(y.size()), h(y.size());
  for (size_t i = 0; i < y.size(); i++) {
    label.push_back(label_of(schema, y[i], whole(input["output"])));
    of(p, schema, score[i], label[i], g[i], h[i]);
  }
  return "{\"label\": " + floats(label) + ", \"g\": " + floats(g) + ", \"h\": " + floats(h) + ", \"used\": " +
         wholes(Ints(y.size(), 1)) + "}";
}

template <class Value>
string leaves_gh(const Json& input, Value value) {
  Array sums = array(input["sums"]);
  int64_t count = sums.shape[1];
  Floats found;
  for (int64_t j = 0; j < count; j++) found.push_back(value(sums.values[j], sums.values[count + j]));
  return "{\"values\": " + floats(found) + "}";
}

template <class Params>
string trained(const Json& input, Outcome (*train)(const Params&, const Schema&, const Records&, Tape&)) {
  Params p(input["params"]);
  Schema schema = schema_of(input["schema"]);
  Tape tape(input["tape"]);
  return train(p, schema, records_of(input, schema), tape).json();
}

string run_of(const string& paper, const Json& input) {
  if (paper == "dpboost") return trained<dpboost::Params>(input, dpboost::train);
  if (paper == "fedgbdt") return trained<fedgbdt::Params>(input, fedgbdt::train);
  if (paper == "sgbdt") return trained<sgbdt::Params>(input, sgbdt::train);
  throw Skip(paper);
}

string answer(const string& paper, const string& operation, const Json& input) {
  if (operation == "grid")
    return "{\"thresholds\": " + floats(grid(input["grid"].word, whole(input["count"]), number(input["low"]),
                                             number(input["high"]))) + "}";
  if (operation == "encode") return encode_one(input);
  if (operation == "route") return route(input);
  if (operation == "predict") return predict(input);
  if (operation == "sums") return sums(input);
  if (operation == "apply") return apply(input);
  if (operation == "train") return run_of(paper, input);
  if (operation == "neighbour") {
    string found;
    for (const Json& side : input["sides"].items) found += (found.empty() ? "" : ", ") + run_of(paper, side);
    return "{\"sides\": [" + found + "]}";
  }
  if (paper == "dpboost") {
    if (operation == "utilities") return utilities(input);
    if (operation == "leaves") return dpboost::leaves(input);
    if (operation == "statistics") return dpboost::statistics(input);
    if (operation == "plan") return dpboost::plan(input);
  }
  if (paper == "fedgbdt") {
    if (operation == "scores") return fedgbdt::scores(input);
    if (operation == "statistics") return statistics_gh<fedgbdt::Params>(input, fedgbdt::statistics_of);
    if (operation == "plan") return fedgbdt::plan(input);
    if (operation == "leaves") {
      fedgbdt::Params p(input["params"]);
      Schema schema = schema_of(input["schema"]);
      return leaves_gh(input, [&](double g, double h) { return fedgbdt::leaf_value(p, schema, g, h); });
    }
  }
  if (paper == "sgbdt") {
    if (operation == "statistics") return statistics_gh<sgbdt::Params>(input, sgbdt::statistics_of);
    if (operation == "plan") return sgbdt::plan(input);
    if (operation == "leaves") {
      sgbdt::Params p(input["params"]);
      return leaves_gh(input, [&](double g, double h) { return sgbdt::leaf_value(p, g, h); });
    }
  }
  throw Skip("the operation " + operation);
}

// Processor time of one training without noise. input: {paper, params, schema}; data: columns, then labels, as doubles.
template <class Params>
double seconds(const Json& input, const Records& records,
               Outcome (*train)(const Params&, const Schema&, const Records&, Tape&)) {
  Params p(input["params"]);
  Schema schema = schema_of(input["schema"]);
  Tape tape = Tape::zeros();
  std::clock_t start = std::clock();
  string model = train(p, schema, records, tape).json();
  double spent = (double)(std::clock() - start) / CLOCKS_PER_SEC;
  std::cout << model << std::endl;
  return spent;
}

int timed(const char* input_path, const char* data_path) {
  std::ifstream text(input_path), data(data_path, std::ios::binary);
  string line;
  std::getline(text, line);
  Json input = Reader(line).value();
  Schema schema = schema_of(input["schema"]);
  Records records;
  records.rows = whole(input["rows"]);
  for (size_t f = 0; f <= schema.features.size(); f++) {
    Floats column(records.rows);
    data.read(reinterpret_cast<char*>(column.data()), (long)sizeof(double) * records.rows);
    if (f == schema.features.size()) records.y = column;
    else records.columns.push_back(column);
  }
  if (!data) throw Refused("the data file is too short");
  string paper = input["paper"].word;
  double spent = paper == "dpboost"   ? seconds<dpboost::Params>(input, records, dpboost::train)
                 : paper == "fedgbdt" ? seconds<fedgbdt::Params>(input, records, fedgbdt::train)
                                      : seconds<sgbdt::Params>(input, records, sgbdt::train);
  std::cout << "{\"seconds\": " << spent << "}" << std::endl;
  return 0;
}

int main(int count, char** words) {
  if (count == 4 && string(words[1]) == "--time") return timed(words[2], words[3]);
  for (string line; std::getline(std::cin, line);) {
    Json message = Reader(line).value();
    string type = message["type"].word;
    if (type == "stop") break;
    if (type == "start") {
      std::cout << "{\"name\": \"boosted.cpp\", \"version\": \"1\", \"supports\": [\"dpboost\", \"fedgbdt\", \"sgbdt\"]}" << std::endl;
      continue;
    }
    string told = "{\"id\": " + quoted(message["id"].word) + ", ";
    try {
      told += "\"output\": " + answer(message["paper"].word, message["operation"].word, message["input"]);
    } catch (const Refused& reason) {
      told += "\"refused\": " + quoted(reason.what());
    } catch (const Skip& reason) {
      told += "\"skip\": " + quoted(reason.what());
    }
    std::cout << told << "}" << std::endl;
  }
}
