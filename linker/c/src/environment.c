// SPDX-License-Identifier: Apache-2.0
// environment.c: the environment variables that the program was started with.
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "linker/c/src/define.h"

// Set by the start code; stays empty in a host that has start code of its own.
static char* no_variables[] = {NULL};
JANUS_C_DEFINE char** environ = no_variables;

JANUS_C_DEFINE char* getenv(const char* name) {
  const size_t length = strlen(name);
  if (length == 0 || strchr(name, '=') != NULL) return NULL;
  for (char** variable = environ; *variable != NULL; variable++)
    if (strncmp(*variable, name, length) == 0 && (*variable)[length] == '=') return *variable + length + 1;
  return NULL;
}
