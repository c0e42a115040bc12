// SPDX-License-Identifier: MIT OR Apache-2.0
//
// A port's data plane, as a tc program on its way out, before HTB takes the packet: chooses the queue, keeps a
// virtual queue for L4S traffic and marks by a ramp on its delay, marks or drops classic traffic with the
// probability that the agent works out (PI2), and couples the two (RFC 9332).

#include <linux/bpf.h>
#include <linux/if_ether.h>
#include <linux/ip.h>
#include <linux/ipv6.h>
#include <linux/pkt_cls.h>
#include <bpf/bpf_endian.h>
#include <bpf/bpf_helpers.h>

#define NOT_ECT 0
#define ECT_1 1
#define CE 3

#define NS_PER_S 1000000000ULL
// 802.1Q and 802.1ad tags that are looked through.
#define MAX_TAGS 2

struct vlan_tag {
	__be16 control;
	__be16 protocol;
};

// Written by the agent. Probabilities are shares of 2^32.
struct settings {
	__u32 l4s_class;      // what skb->priority becomes: major << 16 | minor, 0 leaves it alone
	__u32 classic_class;
	__u32 dscp;           // that L4S packets carry as well, or 64 for any
	__u32 marking;        // 0 classifies and counts only
	__u64 virtual_rate;   // of the virtual queue, bytes per second
	__u64 ramp_low;       // ns of virtual queue
	__u64 ramp_high;
	__u64 coupled;        // p_CL, for L4S
	__u64 classic;        // p_C
	__u64 written_at;     // ns, monotonic
	__u64 lifetime;       // ns: p_CL and p_C that are older are not used, since nobody looks at the backlog
};

// Read by the agent.
struct counters {
	__u64 packets;
	__u64 bytes;
	__u64 came_marked;    // CE on arrival
	__u64 ramp_marked;
	__u64 coupled_marked; // by p_CL (L4S) or p_C (classic)
	__u64 dropped;        // by p_C, not ECN-capable
};

struct virtual_queue {
	struct bpf_spin_lock lock;
	__u32 padding;
	__u64 backlog;        // ns at the virtual rate
	__u64 updated_at;
	__u64 first_over;     // when the delay was at ramp_low or above first, and the first mark after; both reset by the agent
	__u64 first_mark;
};

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct settings);
} settings_map SEC(".maps");

// 0 is L4S, 1 is classic, 2 is what is not IP.
struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, 3);
	__type(key, __u32);
	__type(value, struct counters);
} counters_map SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct virtual_queue);
} virtual_queue_map SEC(".maps");

// Traffic class byte of an IP packet, or -1.
static __always_inline int traffic_class(struct __sk_buff *skb)
{
	void *data = (void *)(long)skb->data;
	void *end = (void *)(long)skb->data_end;
	struct ethhdr *ethernet = data;
	__be16 protocol;
	void *next;

	if ((void *)(ethernet + 1) > end)
		return -1;
	protocol = ethernet->h_proto;
	next = ethernet + 1;
#pragma unroll
	for (int tag = 0; tag < MAX_TAGS; tag++) {
		struct vlan_tag *vlan = next;

		if (protocol != bpf_htons(ETH_P_8021Q) && protocol != bpf_htons(ETH_P_8021AD))
			break;
		if ((void *)(vlan + 1) > end)
			return -1;
		protocol = vlan->protocol;
		next = vlan + 1;
	}
	if (protocol == bpf_htons(ETH_P_IP)) {
		struct iphdr *ip = next;

		return (void *)(ip + 1) > end ? -1 : ip->tos;
	}
	if (protocol == bpf_htons(ETH_P_IPV6)) {
		struct ipv6hdr *ip = next;

		return (void *)(ip + 1) > end ? -1 : (ip->priority << 4) | (ip->flow_lbl[0] >> 4);
	}
	return -1;
}

// Puts a packet into the virtual queue and gives the delay that it finds there, in ns.
static __always_inline __u64 virtual_delay(struct virtual_queue *queue, struct settings *settings, __u32 len, __u64 now)
{
	__u64 service = settings->virtual_rate ? (__u64)len * NS_PER_S / settings->virtual_rate : 0;
	__u64 delay;

	bpf_spin_lock(&queue->lock);
	__u64 passed = now > queue->updated_at ? now - queue->updated_at : 0;

	queue->backlog = queue->backlog > passed ? queue->backlog - passed : 0;
	if (now > queue->updated_at)
		queue->updated_at = now;
	delay = queue->backlog;
	// A queue above the ramp by a second is forgotten: a real queue would have dropped it.
	if (delay < settings->ramp_high + NS_PER_S)
		queue->backlog += service;
	bpf_spin_unlock(&queue->lock);
	return delay;
}

// Share of 2^32 of a delay on the ramp.
static __always_inline __u64 ramp(struct settings *settings, __u64 delay)
{
	if (delay < settings->ramp_low)
		return 0;
	if (delay >= settings->ramp_high)
		return 1ULL << 32;
	return ((delay - settings->ramp_low) << 32) / (settings->ramp_high - settings->ramp_low);
}

static __always_inline int l4s(struct __sk_buff *skb, struct settings *settings, struct counters *counters, __u64 coupled,
			       __u64 now, int ecn)
{
	__u32 zero = 0;
	struct virtual_queue *queue = bpf_map_lookup_elem(&virtual_queue_map, &zero);
	__u64 draw = bpf_get_prandom_u32();
	__u64 delay, native;

	if (!queue)
		return TC_ACT_OK;
	delay = virtual_delay(queue, settings, skb->len, now);
	native = ramp(settings, delay);
	if (native && !queue->first_over)
		queue->first_over = now;
	// RFC 9332 A.1: p_L = max(p'_L, p_CL), here with one draw for both.
	if (ecn != CE && (draw < native || draw < coupled)) {
		if (draw < native)
			counters->ramp_marked++;
		else
			counters->coupled_marked++;
		if (!queue->first_mark)
			queue->first_mark = now;
		bpf_skb_ecn_set_ce(skb);
	}
	return TC_ACT_OK;
}

SEC("tc")
int mark(struct __sk_buff *skb)
{
	__u32 zero = 0, kind;
	struct settings *settings = bpf_map_lookup_elem(&settings_map, &zero);
	struct counters *counters;
	__u64 now = bpf_ktime_get_ns();
	__u64 coupled, classic;
	int tos = traffic_class(skb);
	int ecn, fresh;

	if (!settings)
		return TC_ACT_OK;
	ecn = tos & 3;
	// CE goes to the L queue whoever set it (RFC 9332 2.5.1): it may have been ECT(1).
	if (tos < 0)
		kind = 2;
	else if ((ecn == ECT_1 || ecn == CE) && (settings->dscp > 63 || settings->dscp == (__u32)tos >> 2))
		kind = 0;
	else
		kind = 1;
	counters = bpf_map_lookup_elem(&counters_map, &kind);
	if (!counters)
		return TC_ACT_OK;
	counters->packets++;
	counters->bytes += skb->len;
	if (kind == 2)
		return TC_ACT_OK;
	if (ecn == CE)
		counters->came_marked++;
	if (kind == 0 && settings->l4s_class)
		skb->priority = settings->l4s_class;
	if (kind == 1 && settings->classic_class)
		skb->priority = settings->classic_class;
	if (!settings->marking)
		return TC_ACT_OK;
	fresh = now < settings->written_at + settings->lifetime;
	coupled = fresh ? settings->coupled : 0;
	classic = fresh ? settings->classic : 0;
	if (kind == 0)
		return l4s(skb, settings, counters, coupled, now, ecn);
	if (bpf_get_prandom_u32() < classic) {
		if (ecn != NOT_ECT) {
			counters->coupled_marked++;
			bpf_skb_ecn_set_ce(skb);
		} else {
			counters->dropped++;
			// Dropped, as by TC_ACT_SHOT, but without an error (ENOBUFS) to who sends: the datapath in user
			// space would drop the rest of its batch, and several losses in a round trip are one to TCP.
			return TC_ACT_STOLEN;
		}
	}
	return TC_ACT_OK;
}

char _license[] SEC("license") = "Dual MIT/GPL";
