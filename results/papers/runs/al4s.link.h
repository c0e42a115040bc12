// Time, events and the rate of the link of scenarios/papers/al4s.toml, for the drivers of public senders beside this file. Times are in seconds.

#pragma once

#include <functional>
#include <queue>

static const double DURATION = 100, STEP = 0.001;
static double now = 0;

// Events in the order of their times.
struct Event {
    double time;
    long number;
    std::function<void()> run;
    bool operator<(const Event& other) const { return time != other.time ? time > other.time : number > other.number; }
};
static std::priority_queue<Event> events;
static void after(double delay, std::function<void()> run) {
    static long number = 0;
    events.push({now + delay, number++, std::move(run)});
}

// The pattern's rate in bit/s, of its rate at 1.0.
static double capacity(double t, double one) {
    if (t < 20) return one;
    if (t < 30) return one * (1 + 0.05 * (t - 20));
    if (t < 40) return one * (1.5 - 0.05 * (t - 30));
    return t < 60 ? one * 2.5 : t < 80 ? one * 0.6 : one;
}
