/* module.c: the library as the Python module heddle._heddle, by the stable ABI.
 *
 * A thin layer: texts and numbers go in, texts come out, results as the JSON that heddle/results.h prints and
 * the pages of heddle/report.h. The package's Python files make objects of them. The interpreter's lock is
 * released while the library works, and Ctrl-C ends what takes long (work.h).
 */
#include "convert.h"

static int add_all(PyObject *module) {
  PyMethodDef *const tables[] = {file_functions,  workload_functions, model_functions,   program_functions,
                                 array_functions, verdict_functions,  contest_functions, probation_functions};
  for (size_t i = 0; i < sizeof tables / sizeof *tables; i++)
    if (PyModule_AddFunctions(module, tables[i]) != 0) return -1;
  PyType_Spec *const types[] = {&launches_type, &probation_type, &note_type};
  for (size_t i = 0; i < sizeof types / sizeof *types; i++) {
    PyObject *type = PyType_FromModuleAndSpec(module, types[i], NULL);
    const int rc = type ? PyModule_AddType(module, (PyTypeObject *)type) : -1;
    Py_XDECREF(type);
    if (rc != 0) return -1;
  }
  return add_errors(module);
}

PyMODINIT_FUNC PyInit__heddle(void);
PyMODINIT_FUNC PyInit__heddle(void) {
  static PyModuleDef_Slot slots[] = {{Py_mod_exec, (void *)add_all}, {0}};
  static PyModuleDef definition = {.m_base = PyModuleDef_HEAD_INIT,
                                   .m_name = "_heddle",
                                   .m_doc = "heddle's library; use the package heddle.",
                                   .m_size = sizeof(errors),
                                   .m_slots = slots,
                                   .m_traverse = visit_errors,
                                   .m_clear = clear_errors,
                                   .m_free = free_errors};
  return PyModuleDef_Init(&definition);
}
