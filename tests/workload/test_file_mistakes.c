/* workload.toml: the one line that each mistake is answered with. */
#include "workload/good.h"

/* ---- Mistakes ---------------------------------------------------------------------------- */

#define DIR "dir/workload.toml:"

static const struct {
  const char *from, *to, *line;
} mistakes[] = {
    /* the file */
    {"title = ", "titel = ",
     DIR
     "1:1: unknown key 'titel' (known: title, paper, category, source, module, reference, registers, sizes, "
     "ranges, buffer, variable, texture, surface, launch)"},
    {"title = \"Good\"", "title = 3", DIR "1:1: 'title' should be a string"},
    {"\"Good\"", "\"\"", DIR "1:1: 'title' is empty"},
    {"\"Good\"", "\"a\\u0000b\"", DIR "1:1: 'title' holds a NUL byte"},
    {"data+write", "data+",
     DIR "3:1: unknown category 'data+' (known: algorithm, cache-line, data, write, streaming)"},
    {"source = \"kernel.cu\"\n", "", DIR "1:1: 'source' is missing"},
    {"kernel.cu", "kernel.c", DIR "4:1: 'source' should be CUDA C in a .cu file, or a file that holds PTX"},
    {"registers = 32", "  registers = 256", DIR "6:3: registers is 256, allowed are 1 to 255"},
    {"registers = 32", "registers = { sm_90 = 0 }", DIR "6:15: sm_90 is 0, allowed are 1 to 255"},
    {"registers = 32", "registers = { sm_20 = 14, sm_90 = 256 }",
     DIR "6:27: sm_90 is 256, allowed are 1 to 255"},
    {"registers = 32", "registers = { fermi = 14 }", DIR "6:15: 'fermi' is no architecture such as sm_90"},
    {"registers = 32", "registers = { sm_ = 14 }", DIR "6:15: 'sm_' is no architecture such as sm_90"},
    {"registers = 32", "registers = { sm_90a = 14 }", DIR "6:15: 'sm_90a' is no architecture such as sm_90"},
    {"registers = 32", "registers = { sm_1000 = 14 }",
     DIR "6:15: 'sm_1000' is no architecture such as sm_90"},
    {"registers = 32", "registers = { \"sm_ 20\" = 14 }",
     DIR "6:16: 'sm_ 20' is no architecture such as sm_90"},
    {"registers = 32", "registers = { sm_020 = 14, sm_20 = 15 }",
     DIR "6:15: 'sm_020' is no architecture such as sm_90"},
    {"registers = 32", "registers = {}", DIR "6:1: 'registers' names no architecture"},
    {"registers = 32", "registers = { sm_90 = \"q\" }", NULL},
    {"registers = 32", "registers = [32]", NULL},
    {"compare = \"exact\"\n", "",
     DIR "5:1: no [[buffer]] has 'compare': there is nothing to hold against the reference"},
    /* sizes */
    {"sizes.small", "sizes.tiny", DIR "7:1: no [sizes.small] is given"},
    {"[sizes.small]", "[other]",
     DIR
     "7:1: unknown key 'other' (known: title, paper, category, source, module, reference, registers, sizes, "
     "ranges, buffer, variable, texture, surface, launch)"},
    {"n = 1000\n", "", DIR "9:1: size 'large' lacks 'n', size 'small' has it"},
    {"n = 1000\n", "n = 1\nm = 2\n", DIR "9:1: size 'large' has 'm', size 'small' lacks it"},
    {"n = 100\n", "n = 1.5\n", DIR "8:1: 'n' should be an integer"},
    {"[[buffer]]\n", "[ranges]\nm = { least = 1 }\n[[buffer]]\n",
     DIR "12:1: 'm' is no parameter of the sizes"},
    {"[[buffer]]\n", "[ranges]\nn = 1\n[[buffer]]\n", DIR "12:1: 'n' should be a table: { least = 1 }"},
    {"[[buffer]]\n", "[ranges]\nn = { most = 1 }\n[[buffer]]\n", DIR "12:1: 'least' is missing"},
    {"[[buffer]]\n", "[ranges]\nn = { least = 1, step = 0 }\n[[buffer]]\n",
     DIR "12:18: step is 0, allowed are 1 to 9223372036854775807"},
    {"[[buffer]]\n", "[ranges]\nn = { least = 1, of = 0 }\n[[buffer]]\n",
     DIR "12:1: unknown key 'of' (known: least, most, step)"},
    {"[[buffer]]\n", "[ranges]\nn = { least = \"q\" }\n[[buffer]]\n",
     DIR "12:16: least: unknown name 'q' (this size has: n)"},
    {"[[buffer]]\n", "[ranges]\nn = { least = 1, most = \"n / 2\" }\n[[buffer]]\n",
     DIR "12:1: n is 100, allowed are 1 to 50 in steps of 1"},
    {"n = 100\n", "n = \"7\"\n", DIR "8:1: 'n' should be an integer"},
    {"n = 100\n", "\"n-m\" = 1\n",
     DIR "8:2: a size's parameter is named by letters, digits and '_', not 'n-m'"},
    {"n = 100\n", "iteration = 1\n", DIR "8:1: 'iteration' is the name of a repeated launch's counter"},
    {"sizes.large", "sizes.\"a b\"", DIR "9:1: a size is named by letters, digits, '_' and '-', not 'a b'"},
    /* buffers */
    {"name = \"a\"\n", "", DIR "11:1: 'name' is missing"},
    {"name = \"a\"", "name = \"1a\"", DIR "12:1: a buffer is named by letters, digits and '_', not '1a'"},
    {"name = \"c\"", "name = \"a\"", DIR "17:1: there are two buffers 'a'"},
    {"type = \"f32\"", "type = \"float\"",
     DIR "13:1: unknown type 'float' (known: u8, s8, u16, s16, u32, s32, u64, s64, f16, bf16, f32, f64)"},
    {"count = \"n*n\"\n", "", DIR "11:1: 'count' is missing"},
    {"\"n*n\"", "\"n*m\"", DIR "14:12: count: unknown name 'm' (this size has: n)"},
    {"\"n*n\"", "\"n-n\"", DIR "14:10: count: count is 0, allowed are 1 to 9223372036854775807"},
    {"\"n*n\"", "\"n/(n-100)\"", DIR "14:11: count: '/' divides by zero"},
    {"\"n*n\"", "'pow2(62)*4'", DIR "14:18: count: '*' overflows 64 bits"},
    {"\"n*n\"", "\"pow2(38) + 1\"",
     DIR "14:1: the buffers take more than 1 TB with the 274877906945 elements of 'a'"},
    {"\"n*n\"", "1.5", DIR "14:1: count should be an integer or an expression in quotes"},
    {"\"n*n\"", "-1", DIR "14:1: count is -1, allowed are 1 to 9223372036854775807"},
    {"\"n*n\"", "1979-05-27", "dir/workload.toml: a value is a date, a time, or infinite"},
    {"uniform(-1, 1)", "unifrom(-1, 1)",
     DIR "15:9: fill: unknown fill 'unifrom' (known: none, zero, value(v), iota, uniform(low, high), "
         "uniform_int(low, high), normal(mean, sd), bytes, sorted(low, high), permutation, "
         "each(EXPRESSION of i), copy(BUFFER), address(BUFFER, EXPRESSION of i), file(\"NAME\"), "
         "recorded(\"NAME\"), column(\"NAME\", k), generate)"},
    {"uniform(-1, 1)", "uniform(1)", DIR "15:9: fill: 'uniform' is written uniform(low, high)"},
    {"uniform(-1, 1)", "uniform(1, -1)",
     DIR "15:9: fill: uniform(low, high): the lower bound is above the upper one"},
    {"uniform(-1, 1)", "uniform(-1, 1", DIR "15:22: fill: expected ')'"},
    {"uniform(-1, 1)", "uniform(-1, m)", DIR "15:21: fill: unknown name 'm' (this size has: n)"},
    {"uniform(-1, 1)", "uniform(-1, 1e999)", DIR "15:21: fill: the number is out of range"},
    {"uniform(-1, 1)", "uniform(-1, 1e99)",
     DIR "15:9: fill: uniform(low, high): a bound is too large for the type"},
    {"uniform(-1, 1)", "zero()", DIR "15:9: fill: 'zero' is written zero"},
    {"uniform(-1, 1)", "zero zero", DIR "15:14: fill: expected '(' or the end"},
    {"uniform(-1, 1)", "normal(0, -1)",
     DIR "15:9: fill: normal(mean, sd): the standard deviation is negative"},
    {"uniform(-1, 1)", "file(a.bin)", DIR "15:14: fill: expected a file name in double quotes"},
    {"seed = 99", "fill = \"uniform(0, 1)\"",
     DIR "20:9: fill: 'uniform' makes floating-point numbers, the buffer is u16; uniform_int makes integers"},
    {"seed = 99", "fill = \"uniform_int(0, 65536)\"", DIR "20:24: fill: 65536 does not fit in u16"},
    {"seed = 99", "fill = \"address(a, i)\"",
     DIR "20:9: fill: address(BUFFER, EXPRESSION of i): addresses are u64"},
    {"type = \"u16\"", "type = \"u64\"\nfill = \"address(b, i)\"", DIR "19:1: there is no buffer 'b'"},
    {"type = \"u16\"", "type = \"u64\"\nfill = \"address(a, i)\"",
     DIR "22:1: a buffer of addresses has no 'compare'"},
    {"type = \"u16\"", "type = \"u64\"\nfill = 'recorded(\"b.zst\")'",
     DIR "19:1: a recorded buffer has an address, 'at', and is no variable"},
    {"seed = 99", "at = \"4096\"", DIR "20:1: an address is written as \"0x7f0012000000\", not '4096'"},
    {"seed = 99", "at = \"0x\"", DIR "20:1: an address is written as \"0x7f0012000000\", not '0x'"},
    {"seed = 99", "at = \"0xffffffffffffffff\"",
     DIR "20:1: an address is written as \"0x7f0012000000\", not '0xffffffffffffffff'"},
    {"seed = 99", "fill = \"value(-1)\"", DIR "20:15: fill: -1 does not fit in u16"},
    {"seed = 99", "seed = -1", DIR "20:1: seed is -1, allowed are 0 to 9223372036854775807"},
    {"seed = 99", "sed = 1",
     DIR "20:1: unknown key 'sed' (known: name, type, count, fill, seed, compare, abs, rel, atomics, "
         "unwritten, at)"},
    {"\"exact\"", "\"close\"", DIR "21:1: unknown comparison 'close' (known: exact, near, none)"},
    {"\"exact\"", "\"near\"", DIR "21:1: compare = \"near\" needs 'abs' or 'rel' above 0"},
    {"\"exact\"", "\"exact\"\nrel = 1e-3", DIR "22:1: 'abs' and 'rel' go with compare = \"near\""},
    {"\"exact\"", "\"near\"\nabs = -1", DIR "22:1: 'abs' should be a number >= 0"},
    {"\"exact\"", "\"exact\"\natomics = true",
     DIR "22:1: 'atomics' goes with compare = \"near\": it lets sums differ within 'abs' and 'rel'"},
    {"\"exact\"", "\"near\"\nabs = 1\natomics = 1", DIR "23:1: 'atomics' should be true or false"},
    /* launches */
    {"kernel = \"k\"\n", "", DIR "22:1: 'kernel' is missing"},
    {"kernel = \"k\"", "kernels = \"k\"",
     DIR "23:1: unknown key 'kernels' (known: kernel, grid, block, shared, args, cooperative, repeat)"},
    {"grid = [\"ceil_div(n, 32)\", 2]\n", "", DIR "22:1: 'grid' is missing"},
    {"grid = [\"ceil_div(n, 32)\", 2]", "grid = 4", DIR "24:1: 'grid' should be an array of 1 to 3 numbers"},
    {"grid = [\"ceil_div(n, 32)\", 2]", "grid = []", DIR "24:1: 'grid' should be an array of 1 to 3 numbers"},
    {"\"ceil_div(n, 32)\", 2", "1, 2, 3, 4", DIR "24:1: 'grid' should be an array of 1 to 3 numbers"},
    {"\"ceil_div(n, 32)\", 2", "\"n / 200\", 2",
     DIR "24:10: grid: grid's x is 0, allowed are 1 to 2147483647"},
    {"\"ceil_div(n, 32)\", 2", "2,\n\"65536 + 0*n\"",
     DIR "25:2: grid: grid's y is 65536, allowed are 1 to 65535"},
    {"\"ceil_div(n, 32)\", 2", "\"pow2(31)\"",
     DIR "24:10: grid: grid's x is 2147483648, allowed are 1 to 2147483647"},
    {"\"ceil_div(n, 32)\", 2", "\"n / 32 +\"",
     DIR "24:18: grid: the expression ends where a number, a name or '(' should follow"},
    {"\"ceil_div(n, 32)\", 2", "\"iteration + 1\"",
     DIR "24:10: grid: unknown name 'iteration' (this size has: n)"},
    {"[32, 8]", "[32, 33]", DIR "25:1: a block of 1056 threads, at most 1024 are allowed"},
    {"[32, 8]", "[1, 1, 65]", DIR "25:1: block's z is 65, allowed are 1 to 64"},
    {"[32, 8]", "[32, {}]", DIR "25:1: block's y should be an integer or an expression in quotes"},
    {"\"4*n\"", "\"4*n*n*n\"", DIR "26:11: shared: shared is 4000000, allowed are 0 to 232448"},
    {"\"4*n\"", "-4", DIR "26:1: shared is -4, allowed are 0 to 232448"},
    {"\"c\", \"a\"", "\"c\", \"b\"", DIR "27:15: args: there is no buffer 'b'"},
    {"\"c\", \"a\"", "\"c\", \"n\"",
     DIR "27:15: args: 'n' is no buffer but a size: write { type = \"s32\", value = \"n\" }"},
    {"\"c\", \"a\"", "\"c\", 4",
     DIR "27:1: an argument is a buffer's or an image's name, { type = \"s32\", value = \"n\" }, { struct = "
         "[...] } or { tensormap = \"a\", "
         "... }"},
    {"value = \"n - 200\"", "value = \"n - 2OO\"", DIR "27:48: value: '2OO' is no decimal integer"},
    {"value = \"n - 200\"", "value = \"n * pow2(40)\"", DIR "27:1: 109951162777600 does not fit in s32"},
    {"value = \"n - 200\"", "val = 1", DIR "27:1: unknown key 'val' (known: type, value, at, repeat)"},
    {", value = \"n - 200\"", "", DIR "27:1: an argument's 'value' is missing"},
    {"value = \"n - 200\"", "value = 0.5", DIR "27:1: a s32 argument needs an integer"},
    {"shared = \"4*n\"", "repeat = 0", DIR "26:1: repeat is 0, allowed are 1 to 65536"},
    {"shared = \"4*n\"", "repeat = \"n*n*n\"",
     DIR "26:11: repeat: repeat is 1000000, allowed are 1 to 65536"},
    {"[[launch]]\n", "[[launch]]\nbody = 3\n",
     DIR "23:1: 'body' should be [[launch.body]] tables, at least one"},
    {"[[launch]]\n", "[[launch]]\nbody = [3]\n",
     DIR "23:1: 'body' should be [[launch.body]] tables, at least one"},
    {"[[launch]]\n", "[[launch]]\nkernel = \"j\"\n[[launch.body]]\n",
     DIR "23:1: unknown key 'kernel' (known: repeat, body)"},
    {"shared = \"4*n\"", "repeat = 2\n[[launch.body]]\nrepeat = 2\n", NULL},
    {"[[launch]]\n", "[[launch]]\n[[launch.body]]\nrepeat = 2\n",
     DIR "24:1: unknown key 'repeat' (known: kernel, grid, block, shared, args, cooperative)"},
    {"args = [", "args = \"c\"\nx = [",
     DIR "28:1: unknown key 'x' (known: kernel, grid, block, shared, args, cooperative, repeat)"},
    /* TOML itself */
    {"[[launch]]", "[[launch]", NULL},
    {"n = 100\n", "n = 100\nn = 100\n", NULL},
    {"\"Good\"", "\"Good", NULL},
};

static void every_mistake_is_answered_with_its_place_and_what_would_be_right(void **state) {
  for (size_t i = 0; i < sizeof mistakes / sizeof *mistakes; i++) {
    char *text = changed(mistakes[i].from, mistakes[i].to), line[1400];
    hd_workload *w;
    hd_diag d;
    hd_status st = read_text(text, NULL, &w, &d);
    assert_int_equal(st, HD_ERR_INPUT);
    assert_null(w);
    hd_diag_line(&d, line, sizeof line);
    if (mistakes[i].line)
      assert_string_equal(line, mistakes[i].line);
    else
      assert_true(strncmp(line, DIR, strlen(DIR)) == 0 && d.line > 0);
    assert_int_equal(read_text(text, NULL, &w, NULL), HD_ERR_INPUT); /* and without a diagnostic */
    free(text);
  }
}

static void the_offending_line_is_quoted(void **state) {
  char *text = changed("\"n*n\"", "\"n*m\"");
  hd_workload *w;
  hd_diag d;
  assert_int_equal(read_text(text, NULL, &w, &d), HD_ERR_INPUT);
  assert_string_equal(d.source, "count = \"n*m\"");
  free(text);
}

static void an_unknown_size_is_answered_with_the_known_ones(void **state) {
  hd_workload *w;
  hd_diag d;
  char line[1400];
  assert_int_equal(read_text(GOOD, "huge", &w, &d), HD_ERR_USAGE);
  assert_string_equal(hd_diag_line(&d, line, sizeof line),
                      "dir/workload.toml: there is no size 'huge', known are: small, large");
}

static void the_sum_of_all_buffers_is_limited(void **state) {
  char *text = changed("\"n + 1\"", "\"pow2(39)\""); /* 1 TB of u16, and a's 40 KB */
  hd_workload *w;
  hd_diag d;
  assert_int_equal(read_text(text, NULL, &w, &d), HD_ERR_INPUT);
  assert_int_equal(d.line, 19);
  free(text);
  text = changed("\"n + 1\"", "\"pow2(39) - 2*n*n\"");
  assert_int_equal(read_text(text, NULL, &w, &d), HD_OK);
  hd_workload_close(w);
  free(text);
}

/* Every prefix and every single damaged byte: an answer, never a crash. */
static void read_damaged(const char *good, size_t size) {
  char *text = malloc(size);
  hd_workload *w;
  hd_diag d;
  for (size_t n = 0; n < size; n += 3) {
    const wl_input in = {.text = good, .len = n, .path = "f", .folder = "dir"};
    if (wl_read(&in, &w, &d) == HD_OK) hd_workload_close(w);
  }
  for (size_t i = 0; i < 2000; i++) {
    memcpy(text, good, size);
    text[hd_random_at(1, i) % size] = (char)hd_random_at(2, i);
    const wl_input in = {.text = text, .len = size, .path = "f", .folder = "dir"};
    if (wl_read(&in, &w, &d) == HD_OK) hd_workload_close(w);
  }
  free(text);
}

static void truncated_and_damaged_files_are_answered(void **state) {
  hd_file f; /* with structs, variables, textures and surfaces */
  hd_diag d;
  read_damaged(GOOD, sizeof GOOD - 1);
  assert_int_equal(hd_file_open(SOURCE_DIR "/tests/cli/data/filter/workload.toml", &f, &d), HD_OK);
  read_damaged(f.data, f.len);
  hd_file_close(&f);
}

/* ---- Tensor maps ---------------------------------------------------------------------- */

static const struct {
  const char *argument, *words;
} bad_maps[] = {
    {"{ tensormap = \"b\", shape = [4], box = [4] }", "there is no buffer 'b'"},
    {"{ tensormap = 3, shape = [4], box = [4] }", "'tensormap' should be a string"},
    {"{ tensormap = \"a\", box = [4] }", "'shape' should be an array of 1 to 5 sizes"},
    {"{ tensormap = \"a\", shape = [], box = [] }", "'shape' should be an array of 1 to 5 sizes"},
    {"{ tensormap = \"a\", shape = [1, 1, 1, 1, 1, 4], box = [4] }", "'shape' should be an array of 1 to 5"},
    {"{ tensormap = \"a\", shape = [4] }", "a tensor map's 'box' is missing"},
    {"{ tensormap = \"a\", shape = [4], box = [4, 4] }", "'box' should be an array of 1 integers"},
    {"{ tensormap = \"a\", shape = [8, 8], box = [4, 4], strides = [8, 1] }",
     "'strides' should be an array of 1"},
    {"{ tensormap = \"a\", shape = [\"m\"], box = [4] }", "shape: unknown name 'm'"},
    {"{ tensormap = \"a\", shape = [4], box = [-4] }", "box is -4, allowed are 0 to"},
    {"{ tensormap = \"a\", shape = [4], box = [4], swizzle = \"96B\" }",
     "'swizzle' is \"96B\", allowed are \"none\", \"32B\", \"64B\", \"128B\", "},
    {"{ tensormap = \"a\", shape = [4], box = [4], fill = 0 }", "'fill' should be a string"},
    {"{ tensormap = \"a\", shape = [4], box = [4], value = 0 }", "unknown key 'value'"},
    {"{ tensormap = \"a\", shape = [4], box = [3] }", "tensor map: the box has 12 bytes along dimension 0"},
    {"{ tensormap = \"a\", shape = [64], box = [64], swizzle = \"128B\" }",
     "more than the 128 of the swizzle"},
    {"{ tensormap = \"a\", shape = [4, 9], box = [1, 4] }", "the stride of dimension 1 is 36 bytes"},
    {"{ tensormap = \"a\", shape = [0], box = [4] }", "dimension 0 has 0 elements"},
    {"{ tensormap = \"a\", shape = [16], box = [16], offset = 2 }", "address 0x8 is no multiple of 16"},
    {"{ tensormap = \"a\", shape = [\"n*n\"], box = [16], offset = 4 }",
     "the tensor reaches beyond the 40000 bytes of 'a'"},
    {"{ tensormap = \"a\", shape = [\"n + 1\", \"n\"], box = [1, 16] }", "reaches beyond the 40000 bytes"},
    {"{ tensormap = \"a\", shape = [2, 1099511627776, 1099511627776], box = [1, 1, 4] }", "reaches beyond"},
    {"{ tensormap = \"c\", shape = [64], box = [8], fill = \"nan\" }", "only floating-point elements"},
};

static void a_bad_tensor_map_is_answered_with_its_place(void **state) {
  for (size_t i = 0; i < sizeof bad_maps / sizeof *bad_maps; i++) {
    hd_workload *w;
    hd_diag d = {0};
    assert_int_equal(read_with(bad_maps[i].argument, &w, &d), HD_ERR_INPUT);
    if (!strstr(d.message, bad_maps[i].words)) fail_msg("no \"%s\" in: %s", bad_maps[i].words, d.message);
    assert_int_equal(d.line, 27);
    assert_true(d.column >= 1);
  }
}

/* ---- Structs, variables and images ---------------------------------------------------------- */

static const struct {
  const char *argument, *words;
} bad_structs[] = {
    {"{ struct = [] }", "'struct' should be an array of fields"},
    {"{ struct = 3 }", "'struct' should be an array of fields"},
    {"{ struct = [\"b\"] }", "there is no buffer 'b'"},
    {"{ struct = [\"a\"], value = 1 }", "unknown key 'value'"},
    {"{ struct = [{ struct = [{ value = 1 }] }] }", "'type' is missing"},
    {"{ struct = [\"a\", { type = \"u8\", value = 1, at = 7 }] }", "overlap"},
    {"{ struct = [{ type = \"u8\", value = 1, at = 32764 }] }", "reaches beyond 32764 bytes"},
    {"{ struct = [{ type = \"u64\", value = 1, repeat = 4096 }] }", "reaches beyond 32764 bytes"},
    {"{ struct = [{ type = \"u8\", value = 1, repeat = 0 }] }", "repeat is 0, allowed are 1 to 32764"},
    {"{ struct = [{ type = \"u8\", values = [] }] }", "'values' should be an array"},
    {"{ struct = [{ type = \"u8\", values = [1, 256] }] }", "256 does not fit in u8"},
    {"{ struct = [\"a\"], align = 12 }", "power of 2"},
    {"{ struct = [\"a\"], bytes = 4 }", "bytes is 4, allowed are 8 to 32764"},
    {"{ type = \"u8\", value = 1, at = 0 }", "'at' is for the fields of structs"},
    {"{ buffer = \"b\" }", "there is no buffer 'b'"},
    {"{ buffer = \"a\", offset = \"n*n + 1\" }", "offset is 10001, allowed are 0 to 10000"},
    {"{ struct = [{ struct = [{ struct = [{ struct = [{ struct = [{ struct = [{ struct = [{ struct = [{ "
     "struct = [{ "
     "struct = [{ struct = [{ struct = [{ struct = [{ struct = [{ struct = [{ struct = [{ struct = [{ struct "
     "= "
     "[\"a\"] }] }] }] }] }] }] }] }] }] }] }] }] }] }] }] }] }] }",
     "more than 16 deep"},
};

static void a_bad_struct_is_answered_with_its_place(void **state) {
  for (size_t i = 0; i < sizeof bad_structs / sizeof *bad_structs; i++) {
    hd_workload *w;
    hd_diag d = {0};
    assert_int_equal(read_with(bad_structs[i].argument, &w, &d), HD_ERR_INPUT);
    if (!strstr(d.message, bad_structs[i].words))
      fail_msg("no \"%s\" in: %s", bad_structs[i].words, d.message);
    assert_int_equal(d.line, 27);
  }
}

/* Tables in front of the launch; their first line is 22. */
static const struct {
  const char *tables, *words;
} bad_tables[] = {
    {"[[variable]]\nname = \"a b\"\ntype = \"f32\"\ncount = 1\n", "a variable is named by"},
    {"[[variable]]\nname = \"a\"\ntype = \"f32\"\ncount = 1\n", "two buffers 'a'"},
    {"[[variable]]\nname = \"v\"\ntype = \"f32\"\n", "'count' is missing"},
    {"[[texture]]\nname = \"t\"\n", "'buffer' is missing"},
    {"[[texture]]\nname = \"a\"\nbuffer = \"a\"\nshape = [4]\n", "two things called 'a'"},
    {"[[texture]]\nname = \"t\"\nbuffer = \"q\"\nshape = [4]\n", "no buffer 'q'"},
    {"[[texture]]\nname = \"t\"\nbuffer = \"a\"\n", "'shape' should be an array of 1 to 3"},
    {"[[texture]]\nname = \"t\"\nbuffer = \"a\"\nshape = [4]\nlayered = true\n", "array of 2 to 3"},
    {"[[texture]]\nname = \"t\"\nbuffer = \"a\"\nshape = [\"n\", \"n + 1\"]\n", "beyond the 40000 bytes"},
    {"[[texture]]\nname = \"t\"\nbuffer = \"a\"\nshape = [2, 4]\nkind = \"pitch\"\npitch = 33\n",
     "pitch of 33"},
    {"[[texture]]\nname = \"t\"\nbuffer = \"a\"\nshape = [4]\nchannels = 3\n", "3 channels"},
    {"[[texture]]\nname = \"t\"\nbuffer = \"a\"\nshape = [4]\nchannels = 4\noffset = 1\n",
     "within a texel of 16"},
    {"[[texture]]\nname = \"t\"\nbuffer = \"a\"\nshape = [4]\nwrap = \"around\"\n",
     "allowed are \"wrap\", \"clamp\""},
    {"[[texture]]\nname = \"t\"\nbuffer = \"a\"\nshape = [4]\nfilter = \"cubic\"\n", "\"point\", \"linear\""},
    {"[[texture]]\nname = \"t\"\nbuffer = \"c\"\nshape = [4]\nfilter = \"linear\"\n",
     "cannot be interpolated"},
    {"[[texture]]\nname = \"t\"\nbuffer = \"a\"\nshape = [4]\nborder = [1, 2, 3, 4, 5]\n", "up to 4 numbers"},
    {"[[texture]]\nname = \"t\"\nbuffer = \"a\"\nshape = [9223372036854775807, 2]\n",
     "allowed are 1 to 4294967295"},
    {"[[texture]]\nname = \"t\"\nbuffer = \"a\"\nshape = [131072, 65536]\nlevels = 3\nnormalized = true\n",
     "65536 x 131072 texels"},
    {"[[surface]]\nname = \"s\"\nbuffer = \"a\"\nshape = [4]\nfilter = \"point\"\n", "unknown key 'filter'"},
};

static void bad_tables_are_answered_with_their_place(void **state) {
  for (size_t i = 0; i < sizeof bad_tables / sizeof *bad_tables; i++) {
    hd_workload *w;
    hd_diag d = {0};
    char to[1024];
    snprintf(to, sizeof to, "%s[[launch]]\n", bad_tables[i].tables);
    char *text = changed("[[launch]]\n", to);
    assert_int_equal(read_text(text, NULL, &w, &d), HD_ERR_INPUT);
    if (!strstr(d.message, bad_tables[i].words)) fail_msg("no \"%s\" in: %s", bad_tables[i].words, d.message);
    assert_true(d.line >= 16 && d.line <= 30);
    free(text);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(a_bad_tensor_map_is_answered_with_its_place),
      cmocka_unit_test(a_bad_struct_is_answered_with_its_place),
      cmocka_unit_test(bad_tables_are_answered_with_their_place),
      cmocka_unit_test(every_mistake_is_answered_with_its_place_and_what_would_be_right),
      cmocka_unit_test(the_offending_line_is_quoted),
      cmocka_unit_test(an_unknown_size_is_answered_with_the_known_ones),
      cmocka_unit_test(the_sum_of_all_buffers_is_limited),
      cmocka_unit_test(truncated_and_damaged_files_are_answered),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
