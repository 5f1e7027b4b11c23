/* C++, because tomlplusplus has no C interface. */
#define TOML_EXCEPTIONS 0
#define TOML_HEADER_ONLY 1
/* The library's own claims do not hold for every input: it takes for granted, to the point of
 * undefined behaviour, that a key follows '[' and that no letter from U+00A1 to U+0499 is asked
 * whether it is a blank. The code behind both claims answers properly once they are dropped. */
#include <toml++/impl/forward_declarations.h>
#undef TOML_ASSERT
#undef TOML_ASSERT_ASSUME
#define TOML_ASSERT(expr) static_assert(true)
#define TOML_ASSERT_ASSUME(expr) static_assert(true)
#pragma push_macro("TOML_UNREACHABLE")
#undef TOML_UNREACHABLE
#define TOML_UNREACHABLE return false
#include <toml++/impl/unicode.h>
#pragma pop_macro("TOML_UNREACHABLE")
#include <toml++/toml.h>

#include <cmath>
#include <string>

#include "text/toml.h"

namespace {

/* JSON has no such value: a date, a time, a number that is infinite or none. */
bool has_no_json(const toml::node &node) {
  if (auto t = node.as_table()) {
    for (auto &&[key, value] : *t)
      if (has_no_json(value)) return true;
    return false;
  }
  if (auto a = node.as_array()) {
    for (auto &&value : *a)
      if (has_no_json(value)) return true;
    return false;
  }
  if (auto f = node.as_floating_point()) return !std::isfinite(f->get());
  return node.is_date() || node.is_time() || node.is_date_time();
}

/* The rest has, and its text is UTF-8, since the parser takes no other: NULL is a lack of memory. */
json_t *convert(const toml::node &node);

bool set_line(json_t *table, const char *key, const toml::node &of) {
  return json_object_set_new(table, key, json_integer(of.source().begin.line)) == 0;
}

json_t *convert_table(const toml::table &table) {
  json_t *out = json_object();
  if (!out) return nullptr;
  bool whole = set_line(out, TOML_LINE, table);
  for (auto &&[key, value] : table) {
    if (!whole) break;
    std::string name(key.str()), where = TOML_LINE + name;
    whole = json_object_set_new(out, name.c_str(), convert(value)) == 0 && set_line(out, where.c_str(), value);
  }
  if (whole) return out;
  json_decref(out);
  return nullptr;
}

json_t *convert_array(const toml::array &array) {
  json_t *out = json_array();
  if (!out) return nullptr;
  for (auto &&value : array) {
    if (json_array_append_new(out, convert(value)) != 0) {
      json_decref(out);
      return nullptr;
    }
  }
  return out;
}

json_t *convert(const toml::node &node) {
  if (auto t = node.as_table()) return convert_table(*t);
  if (auto a = node.as_array()) return convert_array(*a);
  if (auto s = node.as_string()) return json_stringn(s->get().data(), s->get().size());
  if (auto i = node.as_integer()) return json_integer(i->get());
  if (auto f = node.as_floating_point()) return std::isfinite(f->get()) ? json_real(f->get()) : nullptr;
  if (auto b = node.as_boolean()) return json_boolean(b->get());
  return nullptr;
}

} // namespace

extern "C" hd_status toml_parse(const char *text, size_t len, const char *name, json_t **out, hd_diag *d) {
  *out = nullptr;
  toml::parse_result result = toml::parse(std::string_view(text, len), std::string_view(name));
  if (!result) {
    const toml::parse_error &e = result.error();
    std::string message(e.description());
    hd_fail_at(d, HD_ERR_INPUT, name, nullptr, 0, 0, "%s", message.c_str());
    if (d) {
      d->line = e.source().begin.line;
      d->column = e.source().begin.column;
    }
    return HD_ERR_INPUT;
  }
  if (has_no_json(result.table()))
    return hd_fail_at(d, HD_ERR_INPUT, name, nullptr, 0, 0, "a value is a date, a time, or infinite");
  *out = convert_table(result.table());
  return *out ? HD_OK : hd_nomem(d);
}
