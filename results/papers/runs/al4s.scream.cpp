// The public SCReAM v2 over the link of scenarios/papers/al4s.toml, without a network: its sender, receiver and queue, driven by events.
// Compiled with ScreamTx, ScreamV2Tx, ScreamV2TxStream, ScreamRx and RtpQueue of that program's folder `code`, at commit 56c7abe. Then
//
//     ./scream low=2 high=10 flows=1
//
// Settings are those of the program's bandwidth test tool. Each argument replaces a value: see `settings` below. One line comes out.

#include <algorithm>
#include <array>
#include <cstdio>
#include <cstring>
#include <deque>
#include <functional>
#include <map>
#include <queue>
#include <random>
#include <string>
#include <vector>

#include "RtpQueue.h"
#include "ScreamRx.h"
#include "ScreamTx.h"

#include "al4s.link.h"

// What the program expects of its application.
void packet_free(void*, uint32_t) {}

static std::map<std::string, double> settings = {
    {"flows", 1},   {"seed", 1},
    {"rate", 20},      // Mbit/s at the pattern's 1.0
    {"low", 5},     {"high", 20},  // ms between which marks rise
    {"rtt", 2},        // ms
    {"fps", 60},    {"deviation", 0.1}, {"encoder", 5},  // frames a second, standard deviation of their sizes, ms until a new rate is followed
    {"l4s", 1},        // 0: the classic answer to marks
    {"perframe", 0},   // 1: a report at the end of each frame and no other
    {"reported", 64},  // packets in a report
    {"max", 200},   {"init", 1},   {"min", 1},  // Mbit/s
    {"scale", 0.7}, {"delaytarget", 60}, {"headroom", 1.5}, {"cwndmin", 5000}, {"pacing", 1}, {"mtu", 1200},
    {"burst", 0},      // ms of packets that go at once, as the program's own sender lets them; 0: packets one by one
};
static double at(const char* name) { return settings.at(name); }

static const uint32_t SSRC = 100;
static uint32_t ntp() { return uint32_t((now + 1) * 65536); }

struct Packet {
    int flow, size;
    uint16_t number;
    bool ends_frame, marked;
    double arrived;
};

struct Flow {
    ScreamV2Tx* sender;
    ScreamRx* receiver;
    RtpQueue* queue;
    std::mt19937_64 random;
    uint16_t number = 0;
    double encoded;  // bit/s that the encoder gives now
    std::deque<std::pair<double, double>> wanted;
    double timer = -1, delivered = 0, owed = 0;
};
static std::vector<Flow> flows;

// The link.
static std::deque<Packet> waiting;
static bool is_busy = false;
static std::mt19937_64 marks;
static std::vector<double> waits;
static const std::array<double, 3> LIMITS = {0.020, 0.055, 0.145};
static std::array<double, 3> over{};
static long packets = 0, marked = 0, dropped = 0;

static void report(int of, bool ends_frame) {
    Flow& flow = flows[of];
    std::array<unsigned char, 2048> message;
    int size = 0;
    if (!flow.receiver->createStandardizedFeedback(ntp(), ends_frame, message.data(), size)) return;
    extern void transmit(int);
    after(at("rtt") / 2e3, [of, message, size]() mutable {
        flows[of].sender->incomingStandardizedFeedback(ntp(), message.data(), size);
        transmit(of);
    });
}

static void serve() {
    if (is_busy || waiting.empty()) return;
    is_busy = true;
    Packet packet = waiting.front();
    waiting.pop_front();
    const double wait = now - packet.arrived;
    waits.push_back(wait * 1e3);
    const double share = (wait * 1e3 - at("low")) / (at("high") - at("low"));
    packet.marked = std::uniform_real_distribution<>(0, 1)(marks) < share;
    after(packet.size * 8 / capacity(now, at("rate") * 1e6), [packet] {
        is_busy = false;
        Flow& flow = flows[packet.flow];
        flow.delivered += packet.size;
        packets++;
        marked += packet.marked;
        flow.receiver->receive(ntp(), nullptr, SSRC, packet.size - 28, packet.number, packet.marked ? 3 : 1, packet.ends_frame);
        if (packet.ends_frame || (at("perframe") == 0 && flow.receiver->checkIfFlushAck())) report(packet.flow, packet.ends_frame);
        serve();
    });
}

void transmit(int of) {
    Flow& flow = flows[of];
    for (;;) {
        uint32_t ssrc;
        const float wait = flow.sender->isOkToTransmit(ntp(), ssrc);
        if (wait < 0) return;
        const double burst = at("burst") / 1e3;
        if (burst > 0 && flow.timer > now) return;
        if (burst > 0 && flow.owed > burst) {
            flow.timer = now + flow.owed;
            flow.owed = 0;
            after(flow.timer - now, [of] { transmit(of); });
            return;
        }
        if (wait > 0 && burst == 0) {
            if (flow.timer <= now || now + wait < flow.timer) {
                flow.timer = now + wait;
                after(wait, [of] { transmit(of); });
            }
            return;
        }
        void* payload;
        int size;
        uint16_t number;
        bool ends_frame;
        flow.queue->pop(&payload, size, ssrc, number, ends_frame);
        flow.owed += std::max(0.0f, flow.sender->addTransmitted(ntp(), SSRC, size, number, ends_frame));
        after(at("rtt") / 2e3, [=] {
            waiting.push_back({of, size + 28, number, ends_frame, false, now});
            serve();
        });
    }
}

static void encode(int of) {
    Flow& flow = flows[of];
    const float target = flow.sender->getTargetBitrate(SSRC);
    if (target > 0) flow.wanted.push_back({now + at("encoder") / 1e3, target});
    for (; !flow.wanted.empty() && flow.wanted.front().first <= now + 1e-9; flow.wanted.pop_front()) flow.encoded = flow.wanted.front().second;
    const double deviation = std::normal_distribution<>(1, at("deviation"))(flow.random);
    int left = int(flow.encoded / 8 / at("fps") * std::min(1.5, std::max(0.5, deviation)));
    while (left > 0) {
        const int payload = std::min(left, int(at("mtu")));
        left -= payload;
        flow.queue->push(nullptr, payload + 12, SSRC, flow.number++, left == 0, ntp() / 65536.0f);
        flow.sender->newMediaFrame(ntp(), SSRC, payload + 12, left == 0);
    }
    transmit(of);
    after(1 / at("fps"), [of] { encode(of); });
}

// The receiver's thread: a report where none went for a while.
static void look_for_reports(int of) {
    ScreamRx* receiver = flows[of].receiver;
    const bool is_due = receiver->checkIfFlushAck() || ntp() - receiver->getLastFeedbackT() > receiver->getRtcpFbInterval();
    if (at("perframe") == 0 && receiver->isFeedback(ntp()) && is_due) report(of, true);
    after(0.0005, [of] { look_for_reports(of); });
}

// Looks every 200 ms: one packet goes while the oldest is over 100 ms, and all over 500 ms.
static void drop_by_age() {
    const auto age = [] { return waiting.empty() ? 0 : now - waiting.front().arrived; };
    if (age() > 0.1) {
        do {
            waiting.pop_front();
            dropped++;
        } while (age() > 0.5);
    }
    after(0.2, drop_by_age);
}

int main(int count, char** arguments) {
    for (int index = 1; index < count; index++) {
        char* equals = strchr(arguments[index], '=');
        const std::string name(arguments[index], equals ? equals - arguments[index] : 0);
        if (!settings.count(name)) return fprintf(stderr, "%s: not one of the settings\n", arguments[index]), 1;
        settings[name] = atof(equals + 1);
    }
    // What the program logs is not wanted.
    if (!freopen("/dev/null", "w", stderr)) return 1;
    const int seed = int(at("seed"));
    marks.seed(seed);
    for (int of = 0; of < at("flows"); of++) {
        const float scale = at("scale"), headroom = at("headroom"), init = at("init") * 1e6;
        auto* sender = new ScreamV2Tx(scale, scale, at("delaytarget") / 1e3, int(init / 80), headroom, 1.5f, 2.0f, 0.05f, at("l4s") > 0);
        auto* queue = new RtpQueue();
        sender->setCwndMinLow(int(at("cwndmin")));
        sender->setPostCongestionDelay(4);
        sender->enablePacketPacing(at("pacing") > 0);
        sender->setLogTag(const_cast<char*>(""));
        sender->registerNewStream(queue, SSRC, 1, at("min") * 1e6, init, at("max") * 1e6, 0.2f, false, 0);
        flows.push_back({sender, new ScreamRx(10, -1, int(at("reported"))), queue, std::mt19937_64(1000 + 10 * seed + of)});
        flows.back().encoded = init;
    }
    for (int of = 0; of < at("flows"); of++) {
        after(of / at("fps") / at("flows") / 2, [of] { encode(of); });
        after(0.0005, [of] { look_for_reports(of); });
    }
    after(0.2, drop_by_age);
    double possible = 0, rise = 0, at_rise = 0;
    const auto delivered = [] {
        double bytes = 0;
        for (const Flow& flow : flows) bytes += flow.delivered;
        return bytes * 8e-6;
    };
    const std::function<void()> look = [&] {
        possible += capacity(now, at("rate") * 1e6) * STEP * 1e-6;
        const double age = waiting.empty() ? 0 : now - waiting.front().arrived;
        for (size_t limit = 0; limit < LIMITS.size(); limit++) over[limit] += age > LIMITS[limit] ? STEP : 0;
        if (std::abs(now - 40) < STEP / 2) at_rise = delivered();
        if (std::abs(now - 45) < STEP / 2) rise = (delivered() - at_rise) / 5;
        after(STEP, look);
    };
    after(STEP, look);
    for (; events.top().time <= DURATION; events.pop()) {
        now = events.top().time;
        const auto run = events.top().run;
        run();
    }
    double sum = 0, squares = 0;
    for (const Flow& flow : flows) sum += flow.delivered, squares += flow.delivered * flow.delivered;
    std::sort(waits.begin(), waits.end());
    const auto percentile = [](double of) { return waits[size_t(waits.size() * of)]; };
    const auto late = [](double limit) { return 100.0 * (waits.end() - std::upper_bound(waits.begin(), waits.end(), limit * 1e3)) / waits.size(); };
    printf("%% %.1f p95 %.1f p99 %.1f tdq20 %.2f tdq55 %.2f tdq145 %.2f jain %.3f late20 %.2f late55 %.2f late145 %.2f rise %.1f marked %.1f dropped %ld\n",
        100 * delivered() / possible / flows.size(), percentile(0.95), percentile(0.99), over[0], over[1], over[2], sum * sum / flows.size() / squares,
        late(LIMITS[0]), late(LIMITS[1]), late(LIMITS[2]), rise, 100.0 * marked / packets, dropped);
}
