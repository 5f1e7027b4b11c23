/* Work that is done beside the caller. */
#include "check.h"

#include <pthread.h>
#include <stdatomic.h>
#include <unistd.h>

#include "heddle/pool.h"

enum { ITEMS = 200 };

typedef struct item {
  unsigned number;
  atomic_uint worked, dropped;
} item;

typedef struct log {
  pthread_mutex_t lock;
  pthread_cond_t open;
  bool closed; /* a gate: work waits for it */
  unsigned n, order[ITEMS];
} log;

static void work(void *ctx, void *one) {
  log *l = ctx;
  item *i = one;
  pthread_mutex_lock(&l->lock);
  while (l->closed) pthread_cond_wait(&l->open, &l->lock);
  l->order[l->n++] = i->number;
  pthread_mutex_unlock(&l->lock);
  atomic_fetch_add(&i->worked, 1);
}

static void drop(void *ctx, void *one) {
  (void)ctx;
  atomic_fetch_add(&((item *)one)->dropped, 1);
}

static hd_pool *open_pool(log *l, unsigned threads, bool closed) {
  hd_pool *p;
  const hd_pool_options o = {.work = work, .drop = drop, .ctx = l, .threads = threads};
  *l = (log){.lock = PTHREAD_MUTEX_INITIALIZER, .open = PTHREAD_COND_INITIALIZER, .closed = closed};
  assert_int_equal(hd_pool_open(&o, &p, NULL), HD_OK);
  return p;
}

static void open_gate(log *l) {
  pthread_mutex_lock(&l->lock);
  l->closed = false;
  pthread_cond_broadcast(&l->open);
  pthread_mutex_unlock(&l->lock);
}

static bool has_number(const void *one, const void *number) {
  return ((const item *)one)->number == *(const unsigned *)number;
}

static void each_item_is_worked_on_once_and_waited_for(void **state) {
  for (unsigned threads = 0; threads < 5; threads++) {
    item items[ITEMS] = {{0}};
    log l;
    hd_pool *p = open_pool(&l, threads, false);
    for (unsigned k = 0; k < ITEMS; k++) {
      items[k].number = k;
      assert_true(hd_pool_put(p, &items[k]));
    }
    for (unsigned k = ITEMS; k-- > 0;) {
      assert_ptr_equal(hd_pool_find(p, has_number, &k), &items[k]);
      hd_pool_wait(p, &items[k]);
      assert_int_equal(items[k].worked, 1);
      assert_null(hd_pool_find(p, has_number, &k));
    }
    assert_int_equal(hd_pool_count(p), 0);
    hd_pool_wait(p, &items[0]); /* one that is not there any more */
    hd_pool_close(p);
    for (unsigned k = 0; k < ITEMS; k++) assert_int_equal(items[k].worked + items[k].dropped, 1);
  }
}

typedef struct waiter {
  hd_pool *p;
  item *i;
} waiter;

static void *wait_for(void *ctx) {
  const waiter *w = ctx;
  hd_pool_wait(w->p, w->i);
  return NULL;
}

static void the_one_that_is_waited_for_comes_first(void **state) {
  item items[10] = {{0}};
  log l;
  pthread_t thread;
  hd_pool *p = open_pool(&l, 1, true);
  for (unsigned k = 0; k < 10; k++) {
    items[k].number = k;
    assert_true(hd_pool_put(p, &items[k]));
  }
  waiter w = {p, &items[7]};
  assert_int_equal(pthread_create(&thread, NULL, wait_for, &w), 0);
  usleep(50000); /* it waits, or will: then it is 7's turn later, and the test says nothing */
  open_gate(&l);
  pthread_join(thread, NULL);
  for (unsigned k = 0; k < 10; k++) hd_pool_wait(p, &items[k]);
  hd_pool_close(p);
  unsigned place = 0;
  while (l.order[place] != 7) place++;
  assert_true(place <= 1); /* one may have been begun */
}

static void what_nobody_waits_for_is_dropped(void **state) {
  item items[20] = {{0}};
  log l;
  hd_pool *p = open_pool(&l, 2, true);
  for (unsigned k = 0; k < 20; k++) {
    items[k].number = k;
    assert_true(hd_pool_put(p, &items[k]));
  }
  hd_pool_forget(p);
  const size_t left = hd_pool_count(p);
  assert_true(left <= 2);
  open_gate(&l);
  hd_pool_close(p);
  unsigned worked = 0;
  for (unsigned k = 0; k < 20; k++) {
    assert_int_equal(items[k].dropped, 1); /* worked on or not */
    worked += items[k].worked;
  }
  assert_int_equal(worked, left);
  hd_pool_close(NULL);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      BEHAVIOUR("each item is worked on once, and waited for", each_item_is_worked_on_once_and_waited_for),
      BEHAVIOUR("the one that is waited for comes first", the_one_that_is_waited_for_comes_first),
      BEHAVIOUR("what nobody waits for is dropped", what_nobody_waits_for_is_dropped),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
