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

json_t *convert(const toml::node &node);

json_t *line_of(const toml::node &node) { return json_integer(node.source().begin.line); }

json_t *convert_table(const toml::table &table) {
  json_t *out = json_object();
  if (!out) return nullptr;
  json_object_set_new(out, TOML_LINE, line_of(table));
  for (auto &&[key, value] : table) {
    std::string name(key.str());
    json_t *v = convert(value);
    if (!v || json_object_set_new(out, name.c_str(), v) != 0) {
      json_decref(out);
      return nullptr;
    }
    std::string where = TOML_LINE + name;
    json_object_set_new(out, where.c_str(), line_of(value));
  }
  return out;
}

json_t *convert_array(const toml::array &array) {
  json_t *out = json_array();
  if (!out) return nullptr;
  for (auto &&value : array) {
    json_t *v = convert(value);
    if (!v || json_array_append_new(out, v) != 0) {
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
  *out = convert_table(result.table());
  if (!*out)
    return hd_fail_at(d, HD_ERR_INPUT, name, nullptr, 0, 0,
                      "a value is a date, a time, infinite, or not UTF-8 text");
  return HD_OK;
}
