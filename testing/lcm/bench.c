/* liblcm's side of the bench. Each line that it reads is a task, and it answers with a line.
 *
 *   bench reply URL          publishes on PONG what comes on PING
 *   bench source URL         reads "SIZE COUNT"; answers with round trips in ns, 0 for a lost one
 *   bench send URL           reads "SIZE MILLISECONDS RATE", RATE 0 for as fast as it can; "SENT NS"
 *   bench receive URL        counts; when the sender says that it has ended: "COUNT BYTES NS"
 */
#include <inttypes.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include <lcm/lcm.h>

enum { SIZE_MAX_BYTES = 16 << 20, END = 3, ENDS = 5, MARK = 7 };

static uint8_t payload[SIZE_MAX_BYTES]; /* of MARK; first and last are looked at */
static int came;
static uint64_t count, bytes, first, last;

static uint64_t now(void)
{
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (uint64_t) time.tv_sec * 1000000000u + (uint64_t) time.tv_nsec;
}

static void reply(const lcm_recv_buf_t *message, const char *channel, void *lcm)
{
    (void) channel;
    lcm_publish(lcm, "PONG", message->data, message->data_size);
}

static void pong(const lcm_recv_buf_t *message, const char *channel, void *nothing)
{
    (void) message;
    (void) channel;
    (void) nothing;
    came = 1;
}

static void counted(const lcm_recv_buf_t *message, const char *channel, void *nothing)
{
    (void) channel;
    (void) nothing;
    if (message->data_size == END) {
        if (count > 0) {
            printf("%" PRIu64 " %" PRIu64 " %" PRIu64 "\n", count, bytes, last - first);
            fflush(stdout);
        }
        count = bytes = 0;
        return;
    }
    const uint8_t *said = message->data;
    if (message->data_size == 0 || said[0] != MARK || said[message->data_size - 1] != MARK)
        return;
    last = now();
    if (count == 0)
        first = last;
    count++;
    bytes += message->data_size;
}

static int hear(lcm_t *lcm, const char *channel, lcm_msg_handler_t handler)
{
    lcm_subscription_t *heard = lcm_subscribe(lcm, channel, handler, lcm);
    if (!heard)
        return 1;
    lcm_subscription_set_queue_capacity(heard, 10000);
    puts("ready");
    fflush(stdout);
    return 0;
}

static int source(lcm_t *lcm)
{
    unsigned size, times;
    if (hear(lcm, "PONG", pong))
        return 1;
    while (scanf("%u %u", &size, &times) == 2) {
        for (unsigned turn = 0; turn < times; turn++) {
            uint64_t start = now();
            came = 0;
            lcm_publish(lcm, "PING", payload, size);
            while (!came && lcm_handle_timeout(lcm, 300) > 0) {
            }
            printf("%" PRIu64 " ", came ? now() - start : 0);
        }
        puts("");
        fflush(stdout);
    }
    return 0;
}

static int send_all(lcm_t *lcm)
{
    unsigned size, length, rate;
    puts("ready");
    fflush(stdout);
    while (scanf("%u %u %u", &size, &length, &rate) == 3) {
        uint64_t sent = 0, start = now(), end = start + (uint64_t) length * 1000000u;
        for (uint64_t at = start; at < end; sent++) {
            lcm_publish(lcm, "DATA", payload, size);
            at = now();
            uint64_t due = rate ? start + (sent + 1) * 1000000000u / rate : 0;
            if (due > at) {
                struct timespec pause = {0, (long) (due - at)};
                nanosleep(&pause, NULL);
            }
        }
        uint64_t took = now() - start;
        for (int turn = 0; turn < ENDS; turn++) {
            usleep(100000);
            lcm_publish(lcm, "DATA", payload, END);
        }
        printf("%" PRIu64 " %" PRIu64 "\n", sent, took);
        fflush(stdout);
    }
    return 0;
}

int main(int words, char **word)
{
    if (words < 3)
        return 2;
    lcm_t *lcm = lcm_create(word[2]);
    if (!lcm)
        return 1;
    memset(payload, MARK, sizeof payload);
    if (strcmp(word[1], "source") == 0)
        return source(lcm);
    if (strcmp(word[1], "send") == 0)
        return send_all(lcm);
    int replies = strcmp(word[1], "reply") == 0;
    if (hear(lcm, replies ? "PING" : "DATA", replies ? reply : counted))
        return 1;
    while (lcm_handle(lcm) == 0) {
    }
    return 1;
}
