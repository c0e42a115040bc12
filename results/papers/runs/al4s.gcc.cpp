// The public libwebrtc's Google Congestion Control over the link of scenarios/papers/al4s.toml, without a network: its controller and its prober,
// driven by events. Compiled with `modules/congestion_controller/goog_cc` and `modules/pacing/bitrate_prober` of that program, with what these
// include of it and of Abseil (a hundred files, `-std=c++17 -DWEBRTC_POSIX -DWEBRTC_LINUX`). Then
//
//     ./gcc flows=1
//
// Around them is what the program has there, in short: a pacer at 2.5 times the target that wakes every 5 ms and is held back by the congestion window,
// an encoder that drops frames in its proportion, transport-wide feedback and receiver reports. Retransmissions and audio are left out.
// Each argument replaces a value: see `settings` below. One line comes out.

#include <algorithm>
#include <array>
#include <cstdio>
#include <cstring>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <queue>
#include <random>
#include <string>
#include <vector>

#include "api/transport/field_trial_based_config.h"
#include "api/transport/goog_cc_factory.h"
#include "api/rtc_event_log/rtc_event_log.h"
#include "modules/pacing/bitrate_prober.h"

#include "al4s.link.h"

using webrtc::DataRate;
using webrtc::DataSize;
using webrtc::TimeDelta;
using webrtc::Timestamp;

static std::map<std::string, double> settings = {
    {"flows", 1},   {"seed", 1},
    {"rate", 20},      // Mbit/s at the pattern's 1.0
    {"rtt", 2},        // ms
    {"fps", 60},    {"deviation", 0.1}, {"encoder", 5},  // frames a second, standard deviation of their sizes, ms until a new rate is followed
    {"key", 1},        // size of a key frame, one a second, in frames
    {"max", 70},    {"init", 2},   {"min", 0.03},  // Mbit/s
    {"pacing", 2.5},   // times the target
    {"tick", 5}, {"late", 0},  // ms between the pacer's bursts, 0: packet by packet; and by which they come late at most
    {"alr", 0},        // 1: probes while the video is the limit
    {"feedback", 50},  // ms between transport-wide reports
    {"clock", 1},      // ms, the resolution of arrival times
    {"mtu", 1200},
};
static double at(const char* name) { return settings.at(name); }

static const int HEADERS = 40;
static Timestamp time_of(double seconds) { return Timestamp::Micros(int64_t((seconds + 10) * 1e6)); }

struct Packet {
    int flow, size;
    int64_t number;
    double arrived;
};

struct Flow {
    std::unique_ptr<webrtc::NetworkControllerInterface> controller;
    std::unique_ptr<webrtc::BitrateProber> prober;
    std::mt19937_64 random;
    // The encoder: bit/s now and those on their way; one frame in so many is dropped.
    double encoded;
    std::deque<std::pair<double, double>> wanted;
    double reduce = 0;
    int frames = 0;
    // The pacer.
    std::deque<int> queue;
    double rate = 1e6, free_at = 0, timer = -1, budget = 0;
    int64_t window = INT64_MAX, in_flight = 0;
    // What was sent and not reported, and what arrived since the last report.
    std::map<int64_t, webrtc::SentPacket> sent;
    std::vector<std::pair<int64_t, double>> arrivals;
    int64_t number = 1;
    int received = 0, lost = 0;
    double delivered = 0, last_wait = 0, last_rr = 0;
};
static std::vector<Flow> flows;

// The link.
static std::deque<Packet> waiting;
static bool is_busy = false;
static std::vector<double> waits;
static const std::array<double, 3> LIMITS = {0.020, 0.055, 0.145};
static std::array<double, 3> over{};
static long dropped = 0;

static void transmit(int of);

static void apply(int of, const webrtc::NetworkControlUpdate& update) {
    Flow& flow = flows[of];
    for (const auto& cluster : update.probe_cluster_configs)
        flow.prober->CreateProbeCluster(cluster.target_data_rate, cluster.at_time, cluster.id);
    if (update.pacer_config) flow.rate = update.pacer_config->data_rate().bps<double>();
    if (update.congestion_window) flow.window = update.congestion_window->IsFinite() ? update.congestion_window->bytes() : INT64_MAX;
    if (update.target_rate) {
        const double bits = std::min(update.target_rate->target_rate.bps<double>(), at("max") * 1e6);
        flow.wanted.push_back({now + at("encoder") / 1e3, bits * at("mtu") / (at("mtu") + HEADERS)});
        flow.reduce = update.target_rate->cwnd_reduce_ratio;
    }
}

static void serve() {
    if (is_busy || waiting.empty()) return;
    is_busy = true;
    Packet packet = waiting.front();
    waiting.pop_front();
    const double wait = now - packet.arrived;
    waits.push_back(wait * 1e3);
    after(packet.size * 8 / capacity(now, at("rate") * 1e6), [packet, wait] {
        is_busy = false;
        Flow& flow = flows[packet.flow];
        flow.delivered += packet.size;
        flow.last_wait = wait;
        flow.arrivals.push_back({packet.number, now});
        serve();
    });
}

static void send(int of, int size, const webrtc::PacedPacketInfo& info) {
    Flow& flow = flows[of];
    webrtc::SentPacket sent;
    sent.send_time = time_of(now);
    sent.size = DataSize::Bytes(size);
    sent.sequence_number = flow.number;
    sent.pacing_info = info;
    flow.in_flight += size;
    sent.data_in_flight = DataSize::Bytes(flow.in_flight);
    flow.sent[flow.number] = sent;
    const int64_t number = flow.number++;
    after(at("rtt") / 2e3, [=] {
        waiting.push_back({of, size, number, now});
        serve();
    });
    apply(of, flow.controller->OnSentPacket(sent));
}

static void wake(int of, double when) {
    Flow& flow = flows[of];
    if (flow.timer <= now || when < flow.timer) {
        flow.timer = when;
        after(std::max(0.0, when - now), [of] { transmit(of); });
    }
}

static void transmit(int of) {
    Flow& flow = flows[of];
    for (;;) {
        if (flow.prober->is_probing()) {
            const Timestamp next = flow.prober->NextProbeTime(time_of(now));
            if (next.IsFinite() && next > time_of(now)) return wake(of, now + (next - time_of(now)).seconds<double>() + 1e-6);
            if (next.IsPlusInfinity()) break;
            const auto info = flow.prober->CurrentCluster(time_of(now));
            if (info) {
                const int64_t least = flow.prober->RecommendedMinProbeSize().bytes();
                int64_t sum = 0;
                while (sum < least) {
                    int size = int(at("mtu")) + HEADERS;
                    if (!flow.queue.empty()) {
                        size = flow.queue.front();
                        flow.queue.pop_front();
                    }
                    send(of, size, *info);
                    sum += size;
                    flow.budget -= size;
                    flow.free_at = std::max(flow.free_at, now) + size * 8 / flow.rate;
                }
                flow.prober->ProbeSent(time_of(now), DataSize::Bytes(sum));
                continue;
            }
        }
        break;
    }
    if (at("tick") > 0) return;
    while (!flow.queue.empty() && flow.in_flight < flow.window) {
        // What waits leaves within two seconds.
        double waiting_bytes = 0;
        for (int size : flow.queue) waiting_bytes += size;
        const double rate = std::max(flow.rate, waiting_bytes * 8 / 2);
        if (flow.free_at > now + 1e-9) return wake(of, flow.free_at);
        const int size = flow.queue.front();
        flow.queue.pop_front();
        flow.free_at = std::max(flow.free_at, now) + size * 8 / rate;
        send(of, size, webrtc::PacedPacketInfo());
    }
}

// The pacer's burst: what is over of a budget is owed, what is left is not kept.
static void burst(int of) {
    Flow& flow = flows[of];
    double waiting_bytes = 0;
    for (int size : flow.queue) waiting_bytes += size;
    const double bytes = std::max(flow.rate / 8, waiting_bytes / 2) * at("tick") / 1e3;
    flow.budget = flow.budget < 0 ? std::min(bytes, flow.budget + bytes) : bytes;
    while (flow.budget > 0 && !flow.queue.empty() && flow.in_flight < flow.window) {
        const int size = flow.queue.front();
        flow.queue.pop_front();
        flow.budget -= size;
        send(of, size, webrtc::PacedPacketInfo());
    }
    const double late = at("late") > 0 ? std::uniform_real_distribution<>(0, at("late"))(flow.random) : 0;
    after((at("tick") + late) / 1e3, [of] { burst(of); });
}

static void encode(int of) {
    Flow& flow = flows[of];
    for (; !flow.wanted.empty() && flow.wanted.front().first <= now + 1e-9; flow.wanted.pop_front()) flow.encoded = flow.wanted.front().second;
    const double deviation = std::normal_distribution<>(1, at("deviation"))(flow.random);
    const double fps = at("fps"), key = at("key"), mean = flow.frames % int(fps) == 0 ? key : (fps - key) / (fps - 1);
    int left = int(flow.encoded / 8 / fps * mean * std::min(1.5, std::max(0.5, deviation)));
    flow.frames++;
    const bool is_dropped = flow.reduce > 0 && flow.frames % std::max(2, int(1 / flow.reduce)) == 0;
    while (left > 0 && !is_dropped) {
        const int payload = std::min(left, int(at("mtu")));
        left -= payload;
        flow.queue.push_back(payload + HEADERS);
        flow.prober->OnIncomingPacket(DataSize::Bytes(payload + HEADERS));
    }
    transmit(of);
    after(1 / at("fps"), [of] { encode(of); });
}

static void report(int of) {
    Flow& flow = flows[of];
    after(at("feedback") / 1e3, [of] { report(of); });
    if (flow.arrivals.empty()) return;
    auto arrivals = std::move(flow.arrivals);
    flow.arrivals.clear();
    after(at("rtt") / 2e3, [of, arrivals] {
        Flow& flow = flows[of];
        webrtc::TransportPacketsFeedback message;
        message.feedback_time = time_of(now);
        message.prior_in_flight = DataSize::Bytes(flow.in_flight);
        std::map<int64_t, double> times(arrivals.begin(), arrivals.end());
        const int64_t highest = times.rbegin()->first;
        while (!flow.sent.empty() && flow.sent.begin()->first <= highest) {
            webrtc::PacketResult result;
            result.sent_packet = flow.sent.begin()->second;
            const auto time = times.find(flow.sent.begin()->first);
            if (time != times.end()) {
                const double clock = at("clock") / 1e3;
                result.receive_time = time_of(clock > 0 ? std::floor(time->second / clock) * clock : time->second);
                flow.received++;
            } else {
                result.receive_time = Timestamp::PlusInfinity();
                flow.lost++;
            }
            flow.in_flight -= result.sent_packet.size.bytes();
            message.packet_feedbacks.push_back(result);
            flow.sent.erase(flow.sent.begin());
        }
        message.data_in_flight = DataSize::Bytes(flow.in_flight);
        message.first_unacked_send_time = flow.sent.empty() ? time_of(now) : flow.sent.begin()->second.send_time;
        apply(of, flow.controller->OnTransportPacketsFeedback(message));
        transmit(of);
    });
}

// The receiver report of each second.
static void receiver_report(int of) {
    Flow& flow = flows[of];
    if (flow.received + flow.lost > 0) {
        webrtc::TransportLossReport losses;
        losses.receive_time = time_of(now);
        losses.start_time = time_of(flow.last_rr);
        losses.end_time = time_of(now);
        losses.packets_lost_delta = flow.lost;
        losses.packets_received_delta = flow.received;
        flow.lost = flow.received = 0;
        apply(of, flow.controller->OnTransportLossReport(losses));
        webrtc::RoundTripTimeUpdate trip;
        trip.receive_time = time_of(now);
        trip.round_trip_time = TimeDelta::Micros(int64_t(at("rtt") * 1e3 + flow.last_wait * 1e6));
        apply(of, flow.controller->OnRoundTripTimeUpdate(trip));
    }
    flow.last_rr = now;
    after(1, [of] { receiver_report(of); });
}

static void process(int of) {
    Flow& flow = flows[of];
    webrtc::ProcessInterval interval;
    interval.at_time = time_of(now);
    apply(of, flow.controller->OnProcessInterval(interval));
    transmit(of);
    after(0.025, [of] { process(of); });
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
    static webrtc::FieldTrialBasedConfig trials;
    static webrtc::RtcEventLogNull log;
    const int seed = int(at("seed"));
    for (int of = 0; of < at("flows"); of++) {
        webrtc::NetworkControllerConfig config;
        config.constraints.at_time = time_of(0);
        config.constraints.min_data_rate = DataRate::BitsPerSec(int64_t(at("min") * 1e6));
        config.constraints.max_data_rate = DataRate::BitsPerSec(int64_t(at("max") * 1e6));
        config.constraints.starting_rate = DataRate::BitsPerSec(int64_t(at("init") * 1e6));
        config.stream_based_config.at_time = time_of(0);
        config.stream_based_config.requests_alr_probing = at("alr") > 0;
        config.stream_based_config.pacing_factor = at("pacing");
        config.stream_based_config.max_total_allocated_bitrate = DataRate::BitsPerSec(int64_t(at("max") * 1e6));
        config.key_value_config = &trials;
        config.event_log = &log;
        webrtc::GoogCcNetworkControllerFactory factory(&log);
        Flow flow;
        flow.controller = factory.Create(config);
        flow.prober = std::make_unique<webrtc::BitrateProber>(trials);
        flow.prober->SetEnabled(true);
        flow.random.seed(1000 + 10 * seed + of);
        flow.encoded = at("init") * 1e6;
        flow.rate = at("init") * 1e6 * at("pacing");
        flows.push_back(std::move(flow));
    }
    for (int of = 0; of < at("flows"); of++) {
        webrtc::NetworkAvailability available;
        available.at_time = time_of(0);
        available.network_available = true;
        apply(of, flows[of].controller->OnNetworkAvailability(available));
        process(of);
        if (at("tick") > 0) after(0.001 * (of + 1), [of] { burst(of); });
        after(of / at("fps") / at("flows") / 2, [of] { encode(of); });
        after(0.01 + 0.017 * of, [of] { report(of); });
        after(0.3 * (of + 1), [of] { receiver_report(of); });
    }
    after(0.2, drop_by_age);
    double possible = 0, rise = 0, at_rise = 0, jain = 0;
    int jains = 0;
    std::vector<double> last(flows.size(), 0);
    const auto delivered = [] {
        double bytes = 0;
        for (const Flow& flow : flows) bytes += flow.delivered;
        return bytes * 8e-6;
    };
    long steps = 0;
    const std::function<void()> look = [&] {
        possible += capacity(now, at("rate") * 1e6) * STEP * 1e-6;
        const double age = waiting.empty() ? 0 : now - waiting.front().arrived;
        for (size_t limit = 0; limit < LIMITS.size(); limit++) over[limit] += age > LIMITS[limit] ? STEP : 0;
        if (std::abs(now - 40) < STEP / 2) at_rise = delivered();
        if (std::abs(now - 45) < STEP / 2) rise = (delivered() - at_rise) / 5;
        if (++steps % 100 == 0) {
            double sum = 0, squares = 0;
            for (size_t of = 0; of < flows.size(); of++) {
                const double part = flows[of].delivered - last[of];
                last[of] = flows[of].delivered;
                sum += part, squares += part * part;
            }
            if (squares > 0) jain += sum * sum / flows.size() / squares, jains++;
        }
        after(STEP, look);
    };
    after(STEP, look);
    for (; events.top().time <= DURATION;) {
        now = events.top().time;
        const auto run = events.top().run;
        events.pop();
        run();
    }
    std::sort(waits.begin(), waits.end());
    const auto percentile = [](double of) { return waits[size_t(waits.size() * of)]; };
    printf("%% %.1f p50 %.1f p95 %.1f p99 %.1f tdq20 %.2f tdq55 %.2f tdq145 %.2f jain %.3f rise %.1f dropped %ld\n", 100 * delivered() / possible / flows.size(),
        percentile(0.5), percentile(0.95), percentile(0.99), over[0], over[1], over[2], jain / jains, rise, dropped);
}
