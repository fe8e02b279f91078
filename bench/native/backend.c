// The cheapest MCP server that a benchmark can have: prepared answers, over HTTP/1.1 or stdio.
//   backend <answers> [--stdio]
// `answers` holds records of three strings, each ended by a zero byte: a method, what stands behind
// the id of its answer, and what stands behind the echoed text ("" if nothing is echoed). Requests
// come from a gateway under test, so they are searched, not parsed. Over HTTP it prints its address
// and ends with its stdin.

#define _GNU_SOURCE
#include <arpa/inet.h>
#include <errno.h>
#include <netinet/tcp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <unistd.h>

enum { MOST_SOCKETS = 4096, MOST_ANSWERS = 32 };

typedef struct { char *data; size_t used, size; } Bytes;
typedef struct { const char *method, *behind_id, *behind_text; } Answer;

static Answer answers[MOST_ANSWERS];
static int known;
static Bytes in[MOST_SOCKETS], out;

static void add(Bytes *to, const char *data, size_t length) {
  if (to->used + length > to->size) {
    to->size = (to->used + length) * 2;
    to->data = realloc(to->data, to->size);
    if (!to->data) exit(1);
  }
  memcpy(to->data + to->used, data, length);
  to->used += length;
}
static void add_text(Bytes *to, const char *text) { add(to, text, strlen(text)); }

static void load(const char *path) {
  FILE *file = fopen(path, "rb");
  if (!file) { perror(path); exit(1); }
  static char text[1 << 20];
  size_t length = fread(text, 1, sizeof text - 1, file);
  fclose(file);
  for (char *at = text; at < text + length && known < MOST_ANSWERS; known++) {
    answers[known].method = at; at += strlen(at) + 1;
    answers[known].behind_id = at; at += strlen(at) + 1;
    answers[known].behind_text = at; at += strlen(at) + 1;
  }
}

// The value behind `key` up to the first byte of `end`.
static size_t find(const char *body, size_t length, const char *key, const char *end, const char **value) {
  const char *at = memmem(body, length, key, strlen(key));
  if (!at) return 0;
  *value = at + strlen(key);
  size_t size = 0;
  while (*value + size < body + length && !strchr(end, (*value)[size])) size++;
  return size;
}

// Writes the answer to a request; 0 for a notification.
static int answer(const char *body, size_t length, Bytes *to) {
  const char *id, *method, *text;
  size_t method_size = find(body, length, "\"method\":\"", "\"", &method);
  size_t id_size = find(body, length, "\"id\":", ",}", &id);
  if (!id_size || (method_size > 14 && !memcmp(method, "notifications/", 14))) return 0;
  add_text(to, "{\"jsonrpc\":\"2.0\",\"id\":");
  add(to, id, id_size);
  for (int n = 0; n < known; n++) {
    if (strlen(answers[n].method) != method_size || memcmp(answers[n].method, method, method_size)) continue;
    add_text(to, answers[n].behind_id);
    if (*answers[n].behind_text) {
      size_t text_size = find(body, length, "\"text\":\"", "\"", &text);
      if (text_size) add(to, text, text_size);
      add_text(to, answers[n].behind_text);
    }
    return 1;
  }
  add_text(to, ",\"error\":{\"code\":-32601,\"message\":\"Method not found\"}}");
  return 1;
}

static void write_all(int fd, const Bytes *bytes) {
  for (size_t done = 0; done < bytes->used;) {
    ssize_t wrote = write(fd, bytes->data + done, bytes->used - done);
    if (wrote > 0) done += (size_t)wrote;
    else if (errno != EAGAIN && errno != EINTR) return;
  }
}

// Answers every whole request in the buffer of a socket.
static void serve(int fd) {
  static Bytes body;
  Bytes *buffer = &in[fd];
  size_t at = 0;
  out.used = 0;
  for (;;) {
    char *start = buffer->data + at;
    size_t left = buffer->used - at;
    char *end = memmem(start, left, "\r\n\r\n", 4);
    if (!end) break;
    size_t head = (size_t)(end - start) + 4, length = 0;
    char kept = *end;
    *end = 0;
    char *field = strcasestr(start, "content-length:");
    if (field) length = (size_t)atol(field + 15);
    *end = kept;
    if (left < head + length) break;
    body.used = 0;
    char header[160];
    if (*start == 'G') add_text(&out, "HTTP/1.1 405 Method Not Allowed\r\ncontent-length: 0\r\n\r\n");
    else if (*start == 'D') add_text(&out, "HTTP/1.1 200 OK\r\ncontent-length: 0\r\n\r\n");
    else if (!answer(start + head, length, &body)) add_text(&out, "HTTP/1.1 202 Accepted\r\ncontent-length: 0\r\n\r\n");
    else {
      snprintf(header, sizeof header, "HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: %zu\r\n\r\n", body.used);
      add_text(&out, header);
      add(&out, body.data, body.used);
    }
    at += head + length;
  }
  memmove(buffer->data, buffer->data + at, buffer->used - at);
  buffer->used -= at;
  if (out.used) write_all(fd, &out);
}

static int serve_http(void) {
  int listener = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK, 0), one = 1;
  struct sockaddr_in address = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
  socklen_t size = sizeof address;
  if (bind(listener, (struct sockaddr *)&address, size) || listen(listener, 1024)) { perror("listen"); return 1; }
  getsockname(listener, (struct sockaddr *)&address, &size);
  printf("http://127.0.0.1:%d/mcp\n", ntohs(address.sin_port));
  fflush(stdout);
  int poll = epoll_create1(0);
  struct epoll_event event = {.events = EPOLLIN, .data.fd = listener}, ready[256];
  epoll_ctl(poll, EPOLL_CTL_ADD, listener, &event);
  event.data.fd = 0;
  epoll_ctl(poll, EPOLL_CTL_ADD, 0, &event);
  static char chunk[1 << 16];
  for (;;) {
    int count = epoll_wait(poll, ready, 256, -1);
    for (int n = 0; n < count; n++) {
      int fd = ready[n].data.fd;
      if (fd == 0) {
        if (read(0, chunk, sizeof chunk) <= 0) return 0;
      } else if (fd == listener) {
        int client = accept4(listener, NULL, NULL, SOCK_NONBLOCK);
        if (client < 0) continue;
        if (client >= MOST_SOCKETS) { close(client); continue; }
        setsockopt(client, IPPROTO_TCP, TCP_NODELAY, &one, sizeof one);
        in[client].used = 0;
        event.data.fd = client;
        epoll_ctl(poll, EPOLL_CTL_ADD, client, &event);
      } else {
        ssize_t got = read(fd, chunk, sizeof chunk);
        if (got <= 0) { if (got == 0 || errno != EAGAIN) close(fd); continue; }
        add(&in[fd], chunk, (size_t)got);
        serve(fd);
      }
    }
  }
}

static int serve_stdio(void) {
  static char chunk[1 << 18];
  Bytes *buffer = &in[0];
  for (ssize_t got; (got = read(0, chunk, sizeof chunk)) > 0;) {
    add(buffer, chunk, (size_t)got);
    out.used = 0;
    size_t at = 0;
    for (char *end; (end = memchr(buffer->data + at, '\n', buffer->used - at)); at = (size_t)(end - buffer->data) + 1) {
      size_t before = out.used;
      if (answer(buffer->data + at, (size_t)(end - buffer->data) - at, &out)) add(&out, "\n", 1);
      else out.used = before;
    }
    memmove(buffer->data, buffer->data + at, buffer->used - at);
    buffer->used -= at;
    write_all(1, &out);
  }
  return 0;
}

int main(int argc, char **argv) {
  if (argc < 2) { fprintf(stderr, "backend <answers> [--stdio]\n"); return 2; }
  load(argv[1]);
  return argc > 2 && !strcmp(argv[2], "--stdio") ? serve_stdio() : serve_http();
}
