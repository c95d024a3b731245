// A library for LD_PRELOAD that delays tests at random, for Scripts/test-under-load: blocks and jobs of Dispatch, threads, and whoever
// dispatches, starts or wakes them. So things happen in orders that are rare on a quiet machine.
//
// One in SHAKE_RATE calls (4 by default) is delayed, by 5 ms at most for what is called and by 20 ms for the caller. Programs that the
// tests start are not delayed.

#define _GNU_SOURCE
#include <Block.h>
#include <dispatch/dispatch.h>
#include <dlfcn.h>
#include <errno.h>
#include <pthread.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

// 0 if nothing is delayed.
static uint64_t rate;

__attribute__((constructor)) static void begin(void) {
    const char *given = getenv("SHAKE_RATE"), *name = strrchr(program_invocation_short_name, '.');
    if (name && !strcmp(name, ".xctest")) rate = given ? strtoul(given, NULL, 10) : 4;
}

// A number for the calling thread (xorshift64).
static uint64_t random_number(void) {
    static __thread uint64_t number;
    if (!number) {
        struct timespec now;
        clock_gettime(CLOCK_MONOTONIC, &now);
        number = ((uint64_t)now.tv_nsec + (uintptr_t)&number) | 1;
    }
    number ^= number << 13;
    number ^= number >> 7;
    return number ^= number << 17;
}

static int is_chosen(void) { return rate && random_number() % rate == 0; }

static void delay_caller(void) {
    if (is_chosen()) usleep(random_number() % 20000);
}

// What runs later: a block's copy, or a function with its argument.
struct work {
    dispatch_block_t block;
    dispatch_function_t function;
    void *argument;
};

static struct work *copied(struct work work) {
    struct work *copy = malloc(sizeof *copy);
    *copy = work;
    return copy;
}

static void run_late(void *argument) {
    struct work work = *(struct work *)argument;
    free(argument);
    usleep(random_number() % 5000);
    if (work.block) {
        work.block();
        Block_release(work.block);
    } else {
        work.function(work.argument);
    }
}

#define NEXT(name) ((__typeof__(&name))dlsym(RTLD_NEXT, #name))

void dispatch_async_f(dispatch_queue_t queue, void *argument, dispatch_function_t function) {
    if (is_chosen()) {
        NEXT(dispatch_async_f)(queue, copied((struct work){.function = function, .argument = argument}), run_late);
    } else {
        NEXT(dispatch_async_f)(queue, argument, function);
    }
    delay_caller();
}

void dispatch_async(dispatch_queue_t queue, dispatch_block_t block) {
    if (is_chosen()) {
        NEXT(dispatch_async_f)(queue, copied((struct work){.block = Block_copy(block)}), run_late);
    } else {
        NEXT(dispatch_async)(queue, block);
    }
    delay_caller();
}

intptr_t dispatch_semaphore_signal(dispatch_semaphore_t semaphore) {
    intptr_t is_awake = NEXT(dispatch_semaphore_signal)(semaphore);
    delay_caller();
    return is_awake;
}

void dispatch_group_leave(dispatch_group_t group) {
    NEXT(dispatch_group_leave)(group);
    delay_caller();
}

struct start {
    void *(*function)(void *);
    void *argument;
};

static void *start_late(void *argument) {
    struct start start = *(struct start *)argument;
    free(argument);
    usleep(random_number() % 5000);
    return start.function(start.argument);
}

int pthread_create(pthread_t *thread, const pthread_attr_t *attributes, void *(*function)(void *), void *argument) {
    struct start *start = is_chosen() ? malloc(sizeof *start) : NULL;
    int error;
    if (start) {
        *start = (struct start){function, argument};
        error = NEXT(pthread_create)(thread, attributes, start_late, start);
        if (error) free(start);
    } else {
        error = NEXT(pthread_create)(thread, attributes, function, argument);
    }
    delay_caller();
    return error;
}
