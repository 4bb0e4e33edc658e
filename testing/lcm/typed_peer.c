/* Messages of lcm-gen's types in C, for typed.py. The same as testing/types/src/main.rs.
 *
 *   typed_peer fingerprints   prints "TYPE FINGERPRINT" for each
 *   typed_peer again TYPE     reads messages, and writes each again
 *
 * Messages have their length before them, as u32. Types that are in one another are not here: what
 * lcm-gen writes for them in C does not compile.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "apart_later_t.h"
#include "folkmoot_test_everything_t.h"
#include "folkmoot_test_inner_t.h"
#include "folkmoot_test_lengths_t.h"
#include "folkmoot_test_node_t.h"
#include "folkmoot_test_radix_t.h"
#include "other_dotted_t.h"
#include "other_stamp_t.h"
#include "plain_t.h"

/* One message, decoded and encoded again; the length, or -1. */
typedef int again_t(const uint8_t *data, int length, uint8_t *out, int most);

#define TYPE(type)                                                                     \
    static int again_##type(const uint8_t *data, int length, uint8_t *out, int most)   \
    {                                                                                  \
        type value;                                                                    \
        memset(&value, 0, sizeof value);                                               \
        if (type##_decode(data, 0, length, &value) != length)                          \
            return -1;                                                                 \
        int size = type##_encode(out, 0, most, &value);                                \
        int told = type##_encoded_size(&value);                                        \
        type##_decode_cleanup(&value);                                                 \
        return size == told ? size : -1;                                               \
    }

TYPE(apart_later_t)
TYPE(folkmoot_test_everything_t)
TYPE(folkmoot_test_inner_t)
TYPE(folkmoot_test_lengths_t)
TYPE(folkmoot_test_node_t)
TYPE(folkmoot_test_radix_t)
TYPE(other_dotted_t)
TYPE(other_stamp_t)
TYPE(plain_t)

#define ENTRY(name, type) {name, (int64_t (*)(void)) __##type##_get_hash, again_##type}

static const struct {
    const char *name;
    int64_t (*hash)(void);
    again_t *again;
} types[] = {
    ENTRY("apart.later_t", apart_later_t),
    ENTRY("folkmoot.test.everything_t", folkmoot_test_everything_t),
    ENTRY("folkmoot.test.inner_t", folkmoot_test_inner_t),
    ENTRY("folkmoot.test.lengths_t", folkmoot_test_lengths_t),
    ENTRY("folkmoot.test.node_t", folkmoot_test_node_t),
    ENTRY("folkmoot.test.radix_t", folkmoot_test_radix_t),
    ENTRY("other.dotted_t", other_dotted_t),
    ENTRY("other.stamp_t", other_stamp_t),
    ENTRY("plain_t", plain_t),
};

enum { TYPES = sizeof types / sizeof *types, MOST = 1 << 20 };

static int all_again(again_t *again)
{
    static uint8_t data[MOST], out[MOST], head[4];
    while (fread(head, 1, 4, stdin) == 4) {
        uint32_t length = (uint32_t) head[0] << 24 | head[1] << 16 | head[2] << 8 | head[3];
        if (length > MOST || fread(data, 1, length, stdin) != length)
            return 1;
        int size = again(data, (int) length, out, MOST);
        if (size < 0)
            return 1;
        for (int byte = 0; byte < 4; byte++)
            putchar(size >> (24 - 8 * byte) & 255);
        fwrite(out, 1, (size_t) size, stdout);
    }
    return 0;
}

int main(int count, char **words)
{
    for (int type = 0; type < TYPES; type++) {
        if (count == 2 && strcmp(words[1], "fingerprints") == 0)
            printf("%s %016" PRIx64 "\n", types[type].name, (uint64_t) types[type].hash());
        if (count == 3 && strcmp(words[2], types[type].name) == 0)
            return all_again(types[type].again);
    }
    return count == 2 ? 0 : 2;
}
