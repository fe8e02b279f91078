// The cheapest load that a benchmark can have: one prepared request for each connection, sent again
// as soon as its answer is there.
//   generator <port> <requests> <milliseconds>
// `requests` holds, for each connection, the length (32 bits, little-endian) and the bytes of its
// HTTP request. Each "@@@@@@@@@@" in it becomes the number of the request, ten digits long, and must
// come back twice: as the id, and in the text "token-<number>". Prints one line of JSON.

#define _GNU_SOURCE
#include <arpa/inet.h>
#include <errno.h>
#include <netinet/tcp.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <time.h>
#include <unistd.h>

enum { MOST = 1024, LONGEST = 1 << 16, MOST_SAMPLES = 8 << 20 };

typedef struct {
  int fd;
  char *request;
  uint32_t length;
  uint64_t number;
  int64_t sent;
  char *answer;
  size_t used;
} Connection;

static Connection all[MOST];
static int count;
static uint32_t *samples;
static size_t answered, wrong;
static uint64_t next = 1000000000;
static char first_wrong[300];

static int64_t now_ns(void) {
  struct timespec time;
  clock_gettime(CLOCK_MONOTONIC, &time);
  return (int64_t)time.tv_sec * 1000000000 + time.tv_nsec;
}

static void load(const char *path) {
  FILE *file = fopen(path, "rb");
  if (!file) { perror(path); exit(2); }
  for (uint32_t length; count < MOST && fread(&length, 4, 1, file) == 1; count++) {
    all[count].length = length;
    all[count].request = malloc(length);
    all[count].answer = malloc(LONGEST);
    if (fread(all[count].request, 1, length, file) != length) exit(2);
  }
  fclose(file);
}

static void ask(Connection *it) {
  char old[24] = "@@@@@@@@@@", digits[24];
  if (it->number) snprintf(old, sizeof old, "%010llu", (unsigned long long)it->number);
  it->number = next++;
  snprintf(digits, sizeof digits, "%010llu", (unsigned long long)it->number);
  for (char *at = it->request, *end = at + it->length; (at = memmem(at, (size_t)(end - at), old, 10)); at += 10) memcpy(at, digits, 10);
  it->used = 0;
  it->sent = now_ns();
  if (write(it->fd, it->request, it->length) != (ssize_t)it->length) { perror("write"); exit(1); }
}

// The length of the whole answer, or 0 while it is not there.
static size_t whole(const Connection *it) {
  char *end = memmem(it->answer, it->used, "\r\n\r\n", 4);
  if (!end) return 0;
  size_t head = (size_t)(end - it->answer) + 4;
  *end = 0;
  char *length = strcasestr(it->answer, "\r\ncontent-length:");
  size_t size = length ? head + (size_t)atol(length + 17) : 0;
  *end = '\r';
  if (length) return it->used >= size ? size : 0;
  char *last = memmem(it->answer + head, it->used - head, "0\r\n\r\n", 5);
  return last ? it->used : 0;
}

static void judge(Connection *it, size_t size) {
  char id[40], text[40];
  int id_size = snprintf(id, sizeof id, "\"id\":%llu", (unsigned long long)it->number);
  int text_size = snprintf(text, sizeof text, "token-%llu", (unsigned long long)it->number);
  int is_right = size > 12 && !memcmp(it->answer + 9, "200", 3) && memmem(it->answer, size, id, (size_t)id_size) && memmem(it->answer, size, text, (size_t)text_size);
  if (is_right) return;
  if (wrong++ == 0) {
    snprintf(first_wrong, sizeof first_wrong, "%.*s", (int)(size < 250 ? size : 250), it->answer);
    for (char *at = first_wrong; *at; at++) if (*at == '"' || *at == '\\' || (unsigned char)*at < 32) *at = ' ';
  }
}

static int by_size(const void *a, const void *b) {
  uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
  return x < y ? -1 : x > y;
}

int main(int argc, char **argv) {
  if (argc < 4) { fprintf(stderr, "generator <port> <requests> <milliseconds>\n"); return 2; }
  load(argv[2]);
  samples = malloc(sizeof *samples * MOST_SAMPLES);
  struct sockaddr_in address = {.sin_family = AF_INET, .sin_port = htons((uint16_t)atoi(argv[1])), .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
  int poll = epoll_create1(0), one = 1;
  for (int n = 0; n < count; n++) {
    all[n].fd = socket(AF_INET, SOCK_STREAM, 0);
    if (connect(all[n].fd, (struct sockaddr *)&address, sizeof address)) { perror("connect"); return 1; }
    setsockopt(all[n].fd, IPPROTO_TCP, TCP_NODELAY, &one, sizeof one);
    struct epoll_event event = {.events = EPOLLIN, .data.ptr = &all[n]};
    epoll_ctl(poll, EPOLL_CTL_ADD, all[n].fd, &event);
  }
  int64_t start = now_ns(), end = start + (int64_t)atol(argv[3]) * 1000000, now = start;
  for (int n = 0; n < count; n++) ask(&all[n]);
  int open = count;
  struct epoll_event ready[256];
  while (open > 0) {
    int got = epoll_wait(poll, ready, 256, 10000);
    if (got == 0) { fprintf(stderr, "no answer for 10 s\n"); return 1; }
    for (int n = 0; n < got; n++) {
      Connection *it = ready[n].data.ptr;
      ssize_t read_bytes = read(it->fd, it->answer + it->used, LONGEST - it->used);
      if (read_bytes <= 0) { fprintf(stderr, "a connection was closed\n"); return 1; }
      it->used += (size_t)read_bytes;
      size_t size = whole(it);
      if (!size) continue;
      now = now_ns();
      judge(it, size);
      if (answered < MOST_SAMPLES) samples[answered++] = (uint32_t)((now - it->sent) / 1000);
      if (now < end) ask(it);
      else open--;
    }
  }
  qsort(samples, answered, sizeof *samples, by_size);
  printf("{\"requests\":%zu,\"wrong\":%zu,\"firstWrong\":\"%s\",\"ms\":%.3f,\"p50\":%.3f,\"p99\":%.3f}\n", answered, wrong, first_wrong,
         (double)(now - start) / 1e6, answered ? samples[answered / 2] / 1000.0 : 0, answered ? samples[answered * 99 / 100] / 1000.0 : 0);
  return 0;
}
