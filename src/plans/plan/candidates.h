/* plan/candidates.h: the parts of candidates, from which the tuner makes plans near a good one. */
#ifndef HEDDLE_PLAN_CANDIDATES_H
#define HEDDLE_PLAN_CANDIDATES_H

#include "heddle/plan.h"

/* Row and column order, tiles, a table: in one of them, most often, tasks that share are neighbours. */
enum { PLAN_LINE_ORDERS = 4 };
size_t plan_line_orders(const hd_plan_space *s, hd_order out[PLAN_LINE_ORDERS]);
/* Whole lines of tasks for each SM, along the order: the data that a line shares is in one L1 then. */
hd_split plan_line_split(const hd_plan_space *s, const hd_order *o);
/* A plan's order goes through the shape's cells, where there is a shape and the order sees it. */
void plan_give_shape(const hd_plan_space *s, hd_plan *p);
/* CTAs per SM, guessed where it is not known how many fit. */
uint32_t plan_resident(const hd_plan_space *s);
/* The next fewer agents: three quarters and a half of all, of that the same, ...; 0: no fewer. */
uint32_t plan_fewer_agents(uint32_t most, uint32_t step);

#endif
