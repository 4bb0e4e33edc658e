/* Speaks and hears by liblcm, for check.py.
 *
 *   peer hear URL            prints "CHANNEL SIZE HASH" for each message, until it is killed
 *   peer say URL ROUNDS      reads lines "CHANNEL SIZE SEED", and publishes all of them in each round
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <lcm/lcm.h>

enum { MESSAGES_MAX = 100 };

/* CRC-32, as zlib has it. */
static uint32_t hash(const uint8_t *data, uint32_t size)
{
    static uint32_t table[256];
    for (uint32_t byte = 0; byte < 256 && !table[255]; byte++) {
        table[byte] = byte;
        for (int bit = 0; bit < 8; bit++)
            table[byte] = (table[byte] >> 1) ^ (table[byte] & 1 ? UINT32_C(0xedb88320) : 0);
    }
    uint32_t all = UINT32_MAX;
    for (uint32_t place = 0; place < size; place++)
        all = (all >> 8) ^ table[(all ^ data[place]) & 255];
    return ~all;
}

static void heard(const lcm_recv_buf_t *message, const char *channel, void *nothing)
{
    (void) nothing;
    printf("%s %" PRIu32 " %08" PRIx32 "\n", channel, message->data_size,
           hash(message->data, message->data_size));
    fflush(stdout);
}

static int hear(lcm_t *lcm)
{
    lcm_subscription_t *all = lcm_subscribe(lcm, ".*", heard, NULL);
    if (!all)
        return 1;
    lcm_subscription_set_queue_capacity(all, 1000);
    printf("ready 0 0\n");
    fflush(stdout);
    while (lcm_handle(lcm) == 0) {
    }
    return 1;
}

static int say(lcm_t *lcm, int rounds)
{
    static char channels[MESSAGES_MAX][64];
    static unsigned sizes[MESSAGES_MAX], seeds[MESSAGES_MAX];
    static uint8_t *payloads[MESSAGES_MAX];
    int count = 0;
    while (count < MESSAGES_MAX && scanf("%63s %u %u", channels[count], &sizes[count], &seeds[count]) == 3) {
        payloads[count] = malloc(sizes[count] + 1);
        if (!payloads[count])
            return 1;
        for (unsigned place = 0; place < sizes[count]; place++)
            payloads[count][place] = (uint8_t) (place * 31 + (place >> 8) * 17 + seeds[count]);
        count++;
    }
    for (int round = 0; round < rounds; round++) {
        for (int number = 0; number < count; number++) {
            if (lcm_publish(lcm, channels[number], payloads[number], sizes[number]) != 0)
                return 1;
            usleep(2000 + sizes[number] / 200);
        }
    }
    return 0;
}

int main(int count, char **words)
{
    if (count < 3)
        return 2;
    lcm_t *lcm = lcm_create(words[2]);
    if (!lcm)
        return 1;
    return strcmp(words[1], "hear") == 0 ? hear(lcm) : say(lcm, count > 3 ? atoi(words[3]) : 1);
}
