// Delays blocks, jobs and threads at random, and also the threads that dispatch, start or wake them. So they run in orders that are
// rare on a quiet machine. Scripts/test-under-load loads this library into the tests with LD_PRELOAD. Programs that the tests start
// are not delayed.

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

// Whether this program is delayed.
static int is_on;

__attribute__((constructor)) static void begin(void) {
    const char *extension = strrchr(program_invocation_short_name, '.');
    is_on = extension && !strcmp(extension, ".xctest");
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

// Whether a call is delayed: one in four is.
static int is_chosen(void) { return is_on && random_number() % 4 == 0; }

static void delay_called(void) { usleep(random_number() % 5000); }

static void delay_caller(void) {
    if (is_chosen()) usleep(random_number() % 20000);
}

struct work {
    dispatch_function_t function;
    void *argument;
};

static void run_late(void *argument) {
    struct work work = *(struct work *)argument;
    free(argument);
    delay_called();
    work.function(work.argument);
}

static void run_block(void *block) {
    ((dispatch_block_t)block)();
    Block_release(block);
}

#define NEXT(name) ((__typeof__(&name))dlsym(RTLD_NEXT, #name))

static void dispatch_late(dispatch_queue_t queue, void *argument, dispatch_function_t function) {
    struct work *work = malloc(sizeof *work);
    *work = (struct work){function, argument};
    NEXT(dispatch_async_f)(queue, work, run_late);
}

void dispatch_async_f(dispatch_queue_t queue, void *argument, dispatch_function_t function) {
    if (is_chosen()) {
        dispatch_late(queue, argument, function);
    } else {
        NEXT(dispatch_async_f)(queue, argument, function);
    }
    delay_caller();
}

void dispatch_async(dispatch_queue_t queue, dispatch_block_t block) {
    if (is_chosen()) {
        dispatch_late(queue, Block_copy(block), run_block);
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
    delay_called();
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
