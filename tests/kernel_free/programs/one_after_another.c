// SPDX-License-Identifier: Apache-2.0
// one_after_another: the first process of a Linux. It runs the programs in /programs as the lines of /list say (`NAME
// ARGUMENTS...`) and prints `ended NAME STATUS` after each. Linked with a libc and without the runtime, so that each
// program is a separate process with a runtime of its own.
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/reboot.h>
#include <sys/wait.h>
#include <termios.h>
#include <unistd.h>

enum { kMaxWords = 8, kPatience = 150 };

static void make_plain(int terminal) {
  struct termios modes;
  if (tcgetattr(terminal, &modes) != 0) return;
  modes.c_oflag &= ~(tcflag_t)OPOST;
  modes.c_lflag &= ~(tcflag_t)ECHO;
  tcsetattr(terminal, TCSANOW, &modes);
}

static int run(char* line) {
  char* words[kMaxWords + 1] = {0};
  char* const nothing[] = {NULL};
  char path[200];
  int count = 0;
  for (char* word = strtok(line, " "); word != NULL && count < kMaxWords; word = strtok(NULL, " "))
    words[count++] = word;
  snprintf(path, sizeof path, "/programs/%s", words[0]);
  const pid_t child = fork();
  if (child == 0) {
    alarm(kPatience);  // the alarm survives the exec
    execve(path, words, nothing);
    _exit(127);
  }
  int status = -1;
  waitpid(child, &status, 0);
  // Kills and reaps the processes that the program has left.
  kill(-1, SIGKILL);
  while (wait(NULL) > 0) {
  }
  return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

int main(void) {
  const int machine = open(getenv("JANUS_INIT"), O_RDWR | O_NOCTTY | O_CLOEXEC);
  make_plain(machine);
  make_plain(STDOUT_FILENO);
  FILE* const list = fopen("/list", "re");
  char line[500];
  while (list != NULL && fgets(line, sizeof line, list) != NULL) {
    char name[200] = "";
    line[strcspn(line, "\n")] = '\0';
    sscanf(line, "%199s", name);
    const int status = run(line);
    printf("\nended %s %d\n", name, status);
    fflush(stdout);
  }
  if (write(machine, "exit 000\n", 9) == 9) tcdrain(machine);
  reboot(RB_POWER_OFF);
}
