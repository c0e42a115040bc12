// The thesis on L4S and ANBR (chapter 4.1) in ns-3 and 5G-LENA: two video UEs and a background UE in one cell.
//
// One run a call; a line of CSV to standard output: load, row, seed, one-way delay in ms, Mbit/s of both streams, share of marks, round trip, delay of reports,
// one-way delay of a frame's last packet, age of the head as packets came, background's Mbit/s and delay, Mbit/s of blocks, share of slots used, most and by busy UEs, MCS. Needs no change of ns-3 or 5G-LENA: marks are made between PDCP and RLC,
// by the head of line of a copy of RLC's queue that follows RLC's own trace of what leaves.

#include "ns3/antenna-module.h"
#include "ns3/core-module.h"
#include "ns3/mobility-module.h"
#include "ns3/network-module.h"
#include "ns3/internet-module.h"
#include "ns3/ideal-beamforming-algorithm.h"
#include "ns3/ideal-beamforming-helper.h"
#include "ns3/cc-bwp-helper.h"
#include "ns3/nr-channel-helper.h"
#include "ns3/nr-helper.h"
#include "ns3/nr-point-to-point-epc-helper.h"
#include "ns3/nr-gnb-rrc.h"
#include "ns3/nr-gnb-mac.h"
#include "ns3/nr-gnb-net-device.h"
#include "ns3/nr-ue-net-device.h"
#include "ns3/nr-ue-rrc.h"
#include "ns3/nr-pdcp.h"
#include "ns3/nr-rlc.h"
#include "ns3/nr-radio-bearer-info.h"
#include "ns3/bwp-manager-gnb.h"
#include "ns3/nr-epc-tft.h"
#include "ns3/nr-eps-bearer.h"
#include "ns3/bwp-manager-ue.h"

#include <cmath>
#include <cstdio>
#include <cstring>
#include <deque>
#include <map>
#include <memory>
#include <vector>

using namespace ns3;

namespace
{

struct Options
{
    std::string load = "low";
    std::string row = "l4s"; // none, l4s, anbr, hybrid
    double low = 5, high = 7; // ms
    double window = 40;       // ms
    uint32_t seed = 1;
    double seconds = 30;
    std::string duplex = "fdd";     // fdd, flexible
    std::string feedback = "packet"; // a report for each packet or for each frame
    std::string estimate = "delivered"; // delivered, capability
    std::string clip = "window";    // window: the cap changes the window; rate: only the rate
} g;

constexpr double START = 0.6;
constexpr uint32_t HEADERS = 28, PDCP = 2;
constexpr uint32_t PACKET = 1250; // UDP payload of a packet, in bytes
constexpr double CAP = 30;        // rate of the video at the most, in Mbit/s

struct Message
{
    uint32_t kind, flow, seq, marked, count, unmarkedBytes;
    uint32_t frame, last;
    double sent, rate;
};

double
Now()
{
    return Simulator::Now().GetSeconds();
}

Ptr<Packet>
Encode(const Message& m, uint32_t size)
{
    std::vector<uint8_t> bytes(std::max<uint32_t>(size, sizeof m), 0);
    std::memcpy(bytes.data(), &m, sizeof m);
    return Create<Packet>(bytes.data(), bytes.size());
}

// Uplink messages are as small as the thesis' could be: sequence number, mark and timestamp. The rest is looked up.
constexpr uint32_t UPLINK_SIZE = 32;

class SeqTag : public Tag
{
  public:
    static TypeId GetTypeId()
    {
        static TypeId tid = TypeId("tidemark::SeqTag").SetParent<Tag>().AddConstructor<SeqTag>();
        return tid;
    }
    TypeId GetInstanceTypeId() const override { return GetTypeId(); }
    uint32_t GetSerializedSize() const override { return 8; }
    void Serialize(TagBuffer b) const override { b.WriteU32(flow); b.WriteU32(seq); }
    void Deserialize(TagBuffer b) override { flow = b.ReadU32(); seq = b.ReadU32(); }
    void Print(std::ostream& o) const override { o << flow << " " << seq; }
    uint32_t flow = 0, seq = 0;
};

struct Sdu
{
    uint32_t flow, seq, left;
    double arrived;
};

struct VideoFlow;
std::vector<std::unique_ptr<VideoFlow>> flows;
Ptr<UniformRandomVariable> uniform;

// A copy of RLC's queue of one UE.
struct RlcQueue : public NrRlcSapProvider
{
    NrRlcSapProvider* rlc = nullptr;
    uint32_t ue = 0;
    uint16_t rnti = 0;
    std::deque<Sdu> sdus;
    uint64_t bytes = 0;
    // For ANBR: payload that left in this window.
    double payload = 0;
    // Resources (bytes of transport blocks) of this window.
    double taken = 0;
    double holSum = 0;
    uint64_t holCount = 0;
    std::map<uint32_t, uint64_t> wrong;

    double Hol() const
    {
        return sdus.empty() ? 0 : (Now() - sdus.front().arrived) * 1e3;
    }
    static bool Marked(double hol)
    {
        if (g.row != "l4s" && g.row != "hybrid")
            return false;
        const double p = (hol - g.low) / (g.high - g.low);
        return p >= 1 || (p > 0 && uniform->GetValue() < p);
    }
    void TransmitPdcpPdu(TransmitPdcpPduParameters params) override;
    void OnTxPdu(uint16_t, uint8_t, uint32_t size);
};
std::vector<std::unique_ptr<RlcQueue>> queues; // by UE

struct VideoFlow
{
    uint32_t id = 0;
    Ptr<Socket> server, ue;
    Ptr<Node> serverNode, ueNode;
    InetSocketAddress toUe{Ipv4Address(), 0}, toServer{Ipv4Address(), 0};
    // Sender.
    double rate = 0, prague = 0, window = 0, srtt = 0, alpha = 0;
    bool first = true;
    double alphaAt = 0, reducedAt = -1;
    uint64_t acked = 0, ackedMarked = 0, ackedThen = 0, markedThen = 0;
    double recommended = -1;
    bool lastMarked = false;
    uint32_t seq = 0, frame = 0;
    std::vector<bool> marks;
    std::vector<float> sentAt;
    std::vector<uint16_t> size;
    Ptr<NormalRandomVariable> jitter;
    // Receiver, one report a frame.
    uint32_t inFrame = 0, inFrameMarked = 0, inFrameUnmarkedBytes = 0;
    // Measures.
    double owd = 0, rtt = 0, frameOwd = 0, sum = 0, sums = 0, fbDelay = 0;
    uint64_t packets = 0, bytes = 0, marked = 0, rtts = 0, frames = 0, reductions = 0;

    void SendFrame();
    void OnPacket(Ptr<Socket>);
    void OnFeedback(Ptr<Socket>);
    void Feedback(const Message&);
    void Derive();
    void Recommend(double rate);
};

void
RlcQueue::TransmitPdcpPdu(TransmitPdcpPduParameters params)
{
    SeqTag tag;
    const bool tagged = params.pdcpPdu->PeekPacketTag(tag);
    const double hol = Hol();
    if (tagged)
    {
        VideoFlow& flow = *flows[tag.flow];
        holSum += hol;
        holCount++;
        flow.marks[tag.seq] = Marked(hol);
    }
    sdus.push_back({tagged ? tag.flow : UINT32_MAX, tag.seq, params.pdcpPdu->GetSize(), Now()});
    bytes += params.pdcpPdu->GetSize();
    rlc->TransmitPdcpPdu(params);
}

void
RlcQueue::OnTxPdu(uint16_t, uint8_t, uint32_t size)
{
    // RLC's header: two bytes, and twelve bits for each SDU but the last.
    uint32_t before = 0, n = 0, data = 0;
    for (n = 1; n <= sdus.size(); n++)
    {
        const uint32_t header = 2 + (3 * (n - 1) + 1) / 2;
        if (size < header)
            break;
        data = size - header;
        if (data <= before + sdus[n - 1].left)
            break;
        before += sdus[n - 1].left;
    }
    if (n > sdus.size())
        wrong[0]++;
    while (data > 0 && !sdus.empty())
    {
        Sdu& sdu = sdus.front();
        const uint32_t take = std::min(data, sdu.left);
        data -= take;
        sdu.left -= take;
        bytes -= take;
        payload += take;
        if (sdu.left == 0)
        {
            payload -= HEADERS + PDCP;
            sdus.pop_front();
        }
    }
}

void
VideoFlow::SendFrame()
{
    uint32_t left = std::max<uint32_t>(rate * 1e6 / 60 / 8, 60);
    frame++;
    frames++;
    while (left > 0)
    {
        const uint32_t payload = std::max<uint32_t>(std::min(left, PACKET), sizeof(Message));
        left -= std::min(left, payload);
        Message m{0, id, seq, 0, 0, 0, frame, left == 0, Now(), rate};
        Ptr<Packet> packet = Encode(m, payload);
        SeqTag tag;
        tag.flow = id;
        tag.seq = seq;
        packet->AddPacketTag(tag);
        marks.push_back(false);
        sentAt.push_back(0);
        size.push_back(payload);
        seq++;
        server->SendTo(packet, 0, toUe);
    }
    double shift;
    do
        shift = jitter->GetValue();
    while (shift > 2 || shift <= -2);
    Simulator::Schedule(Seconds(1.0 / 60 + shift * 1e-3), &VideoFlow::SendFrame, this);
}

void
VideoFlow::OnPacket(Ptr<Socket> socket)
{
    while (Ptr<Packet> packet = socket->Recv())
    {
        Message m;
        packet->CopyData(reinterpret_cast<uint8_t*>(&m), sizeof m);
        const double delay = Now() - m.sent;
        const bool mark = marks[m.seq];
        if (m.sent >= START)
        {
            owd += delay;
            packets++;
            marked += mark;
            if (m.last)
                frameOwd += delay;
        }
        if (Now() >= START && Now() < START + g.seconds)
            bytes += packet->GetSize() + HEADERS;
        inFrame++;
        inFrameMarked += mark;
        inFrameUnmarkedBytes += mark ? 0 : packet->GetSize();
        Message report = m;
        report.kind = 1;
        report.marked = mark;
        report.count = 1;
        report.unmarkedBytes = mark ? 0 : packet->GetSize();
        report.rate = Now();
        if (g.feedback == "frame")
        {
            if (!m.last)
                continue;
            report.marked = inFrameMarked;
            report.count = inFrame;
            report.unmarkedBytes = inFrameUnmarkedBytes;
            inFrame = inFrameMarked = inFrameUnmarkedBytes = 0;
        }
        ue->SendTo(Encode(report, UPLINK_SIZE), 0, toServer);
    }
}

void
VideoFlow::OnFeedback(Ptr<Socket> socket)
{
    while (Ptr<Packet> packet = socket->Recv())
    {
        Message m;
        packet->CopyData(reinterpret_cast<uint8_t*>(&m), sizeof m);
        if (m.kind == 2)
            Recommend(m.rate);
        else
            Feedback(m);
    }
}

// Eqs. 3.3 to 3.8.
void
VideoFlow::Feedback(const Message& m)
{
    const double now = Now();
    const double sample = now - m.sent;
    srtt = first ? sample : srtt + (sample - srtt) / 8;
    if (m.sent >= START)
    {
        rtt += sample;
        rtts++;
        fbDelay += now - m.rate;
    }
    const double vrtt = std::max(srtt, 0.025);
    if (first)
    {
        window = prague * 1e6 / 8 * srtt;
        alphaAt = now;
        first = false;
    }
    acked += m.count;
    ackedMarked += m.marked;
    lastMarked = m.marked > 0;
    if (now - alphaAt >= vrtt && acked > ackedThen)
    {
        const double share = double(ackedMarked - markedThen) / double(acked - ackedThen);
        alpha += (share - alpha) / 16;
        alphaAt = now;
        ackedThen = acked;
        markedThen = ackedMarked;
    }
    const double mss = PACKET;
    if (m.unmarkedBytes > 0 && now - reducedAt >= srtt)
        window += m.unmarkedBytes * srtt * srtt * mss / (window * vrtt * vrtt);
    if (m.marked > 0 && now - reducedAt >= vrtt)
    {
        window *= 1 - alpha / 2;
        reducedAt = now;
        reductions++;
    }
    window = std::max(window, 2 * mss);
    Derive();
}

void
VideoFlow::Derive()
{
    prague = window / srtt * 8e-6;
    if (prague > CAP)
    {
        prague = CAP;
        if (g.clip == "window")
            window = prague * 1e6 / 8 * srtt;
    }
    prague = std::max(prague, 0.1);
    if (g.row == "l4s")
        rate = prague;
    else if (g.row == "hybrid")
        rate = lastMarked || recommended < 0 ? prague : std::max(prague, recommended);
}

void
VideoFlow::Recommend(double value)
{
    recommended = std::min(std::max(value, 0.1), CAP);
    if (g.row == "anbr")
        rate = recommended;
    else if (g.row == "hybrid" && !lastMarked)
        rate = std::max(prague, recommended);
}

// Scheduling: bytes of transport blocks of each slot.
struct Slots
{
    uint64_t key = UINT64_MAX;
    std::map<uint16_t, uint32_t> blocks;
    uint32_t symbols = 0;
    uint64_t slots = 0, busy = 0, retx = 0;
    double bytes = 0, mcs = 0;
    uint64_t mcsCount = 0;
    std::map<uint32_t, std::pair<uint64_t, double>> full; // by UEs with data: slots with something left over, bytes
    double perSlot = 0; // the most bytes that a slot had
} slots;

struct Uplinks
{
    uint64_t grants = 0, slotsUsed = 0, key = UINT64_MAX;
    double bytes = 0;
} uplinks;

void
CloseSlot()
{
    if (slots.blocks.empty())
        return;
    double total = 0;
    for (auto& [rnti, size] : slots.blocks)
        total += size;
    slots.busy++;
    slots.bytes += total;
    slots.perSlot = std::max(slots.perSlot, total);
    uint64_t left = 0;
    for (auto& queue : queues)
        left += queue->bytes;
    if (left > 6000)
    {
        auto& [count, bytes] = slots.full[slots.blocks.size()];
        count++;
        bytes += total;
    }
    slots.blocks.clear();
}

void
OnDl(NrSchedulingCallbackInfo info)
{
    if (Now() < START || Now() > START + g.seconds)
        return;
    if (info.m_rv != 0 || info.m_ndi == 0)
    {
        slots.retx++;
        return;
    }
    const uint64_t key = (uint64_t(info.m_frameNum) * 10 + info.m_subframeNum) * 8 + info.m_slotNum;
    if (key != slots.key)
    {
        CloseSlot();
        slots.key = key;
    }
    slots.blocks[info.m_rnti] += info.m_tbSize;
    slots.mcs += info.m_mcs;
    slots.mcsCount++;
    for (auto& queue : queues)
        if (queue->rnti == info.m_rnti)
            queue->taken += info.m_tbSize;
}

void
OnUl(NrSchedulingCallbackInfo info)
{
    if (Now() < START || Now() > START + g.seconds)
        return;
    const uint64_t key = (uint64_t(info.m_frameNum) * 10 + info.m_subframeNum) * 8 + info.m_slotNum;
    uplinks.grants++;
    uplinks.bytes += info.m_tbSize;
    if (key != uplinks.key)
    {
        uplinks.slotsUsed++;
        uplinks.key = key;
    }
}

void
EndWindow()
{
    Simulator::Schedule(Seconds(g.window * 1e-3), &EndWindow);
    const double all = slots.perSlot * g.window / 0.5;
    uint32_t sending = 0;
    double used = 0;
    for (auto& queue : queues)
    {
        sending += queue->taken > 0;
        used += queue->taken;
    }
    for (auto& flow : flows)
    {
        RlcQueue& queue = *queues[flow->id];
        double bytes = std::max(queue.payload, 0.0);
        if (queue.taken > 0)
        {
            if (g.estimate == "capability")
            {
                const double free = std::max(all - used, 0.0) / std::max(sending, 1u);
                const double fair = std::max(queue.taken + free, all / std::max(sending, 1u));
                bytes *= std::max(fair, queue.taken) / queue.taken;
            }
            const double value = bytes * 8e-6 / (g.window * 1e-3);
            if (g.row == "anbr" || g.row == "hybrid")
            {
                Message m{2, flow->id, 0, 0, 0, 0, 0, 0, Now(), value};
                flow->ue->SendTo(Encode(m, UPLINK_SIZE), 0, flow->toServer);
            }
        }
    }
    for (auto& queue : queues)
        queue->payload = queue->taken = 0;
}

// Background: on and off, packets at a constant rate while on, as ns-3's OnOffApplication.
struct Background
{
    Ptr<Socket> server, ue;
    InetSocketAddress toUe{Ipv4Address(), 0};
    Ptr<RandomVariableStream> on, off;
    double rate = 0, end = 0;
    uint64_t bytes = 0, packets = 0;
    double owd = 0;
    static constexpr uint32_t SIZE = 1250;

    void Start()
    {
        end = Now() + on->GetValue();
        Send();
    }
    void Send()
    {
        const double gap = SIZE * 8 / (rate * 1e6);
        if (Now() + gap > end)
        {
            Simulator::Schedule(Seconds(end - Now() + off->GetValue()), &Background::Start, this);
            return;
        }
        Simulator::Schedule(Seconds(gap), &Background::Emit, this);
    }
    void Emit()
    {
        Message m{};
        m.sent = Now();
        server->SendTo(Encode(m, SIZE), 0, toUe);
        Send();
    }
    void OnPacket(Ptr<Socket> socket)
    {
        while (Ptr<Packet> packet = socket->Recv())
        {
            Message m;
            packet->CopyData(reinterpret_cast<uint8_t*>(&m), sizeof m);
            if (Now() >= START && Now() < START + g.seconds)
            {
                bytes += packet->GetSize() + HEADERS;
                packets++;
                owd += Now() - m.sent;
            }
        }
    }
} background;

void
Attach(Ptr<NetDevice> gnb, NetDeviceContainer ues)
{
    Ptr<NrGnbRrc> rrc = DynamicCast<NrGnbNetDevice>(gnb)->GetRrc();
    for (uint32_t i = 0; i < ues.GetN(); i++)
    {
        const uint16_t rnti = DynamicCast<NrUeNetDevice>(ues.Get(i))->GetRrc()->GetRnti();
        ObjectMapValue bearers;
        rrc->GetUeManager(rnti)->GetAttribute("DataRadioBearerMap", bearers);
        NS_ABORT_MSG_IF(bearers.GetN() == 0, "no bearer");
        for (auto it = bearers.Begin(); it != bearers.End(); ++it)
        {
            auto info = DynamicCast<NrDataRadioBearerInfo>(it->second);
            RlcQueue& queue = *queues[i];
            queue.ue = i;
            queue.rnti = rnti;
            queue.rlc = info->m_rlc->GetNrRlcSapProvider();
            info->m_pdcp->SetNrRlcSapProvider(&queue);
            info->m_rlc->TraceConnectWithoutContext("TxPDU", MakeCallback(&RlcQueue::OnTxPdu, &queue));
            break; // The default bearer; reports have another one where there are two carriers.
        }
    }
}

} // namespace

int
main(int argc, char** argv)
{
    CommandLine cmd;
    cmd.AddValue("load", "", g.load);
    cmd.AddValue("row", "", g.row);
    cmd.AddValue("low", "", g.low);
    cmd.AddValue("high", "", g.high);
    cmd.AddValue("window", "", g.window);
    cmd.AddValue("seed", "", g.seed);
    cmd.AddValue("seconds", "", g.seconds);
    cmd.AddValue("duplex", "", g.duplex);
    cmd.AddValue("feedback", "", g.feedback);
    cmd.AddValue("estimate", "", g.estimate);
    cmd.AddValue("clip", "", g.clip);
    cmd.Parse(argc, argv);

    SeedManager::SetSeed(1);
    SeedManager::SetRun(g.seed);
    uniform = CreateObject<UniformRandomVariable>();

    Config::SetDefault("ns3::NrRlcUm::MaxTxBufferSize", UintegerValue(999999999));
    Config::SetDefault("ns3::NrGnbRrc::EpsBearerToRlcMapping", EnumValue(NrGnbRrc::RLC_UM_ALWAYS));
    Config::SetDefault("ns3::NrRlcUm::EnablePdcpDiscarding", BooleanValue(false));

    auto nr = CreateObject<NrHelper>();
    auto epc = CreateObject<NrPointToPointEpcHelper>();
    auto beams = CreateObject<IdealBeamformingHelper>();
    auto channel = CreateObject<NrChannelHelper>();
    nr->SetBeamformingHelper(beams);
    nr->SetEpcHelper(epc);
    epc->SetAttribute("S1uLinkDelay", TimeValue(Seconds(0)));
    epc->SetAttribute("S1uLinkDataRate", DataRateValue(DataRate("100Gb/s")));
    beams->SetAttribute("BeamformingMethod", TypeIdValue(DirectPathBeamforming::GetTypeId()));
    channel->ConfigureFactories("UMa", "LOS", "ThreeGpp");
    channel->SetPathlossAttribute("ShadowingEnabled", BooleanValue(false));

    const bool fdd = g.duplex == "fdd";
    CcBwpCreator creator;
    CcBwpCreator::SimpleOperationBandConf conf(700e6, fdd ? 30e6 : 15e6, 1);
    conf.m_numBwp = fdd ? 2 : 1;
    OperationBandInfo band = creator.CreateOperationBandContiguousCc(conf);
    channel->AssignChannelsToBands({band});
    BandwidthPartInfoPtrVector bwps = CcBwpCreator::GetAllBwps({band});

    nr->SetSchedulerTypeId(TypeId::LookupByName("ns3::NrMacSchedulerOfdmaPF"));
    nr->SetDlErrorModel("ns3::NrEesmIrT1");
    nr->SetUlErrorModel("ns3::NrEesmIrT1");
    nr->SetGnbDlAmcAttribute("AmcModel", EnumValue(NrAmc::ErrorModel));
    nr->SetGnbDlAmcAttribute("NumRefScPerRb", UintegerValue(1));
    nr->SetGnbPhyAttribute("TxPower", DoubleValue(46));
    nr->SetGnbPhyAttribute("Numerology", UintegerValue(1));
    nr->SetUePhyAttribute("TxPower", DoubleValue(23));
    for (auto set : {&NrHelper::SetGnbAntennaAttribute, &NrHelper::SetUeAntennaAttribute})
    {
        ((*nr).*set)("NumRows", UintegerValue(1));
        ((*nr).*set)("NumColumns", UintegerValue(1));
        ((*nr).*set)("AntennaElement", PointerValue(CreateObject<IsotropicAntennaModel>()));
    }

    NodeContainer gnbs, ues;
    gnbs.Create(1);
    ues.Create(3);
    MobilityHelper mobility;
    mobility.SetMobilityModel("ns3::ConstantPositionMobilityModel");
    auto positions = CreateObject<ListPositionAllocator>();
    positions->Add(Vector(0, 0, 25));
    auto place = CreateObject<UniformRandomVariable>();
    for (uint32_t i = 0; i < 3; i++)
    {
        const double r = place->GetValue(50, 150), a = place->GetValue(0, 2 * M_PI);
        positions->Add(Vector(r * std::cos(a), r * std::sin(a), 1.5));
    }
    mobility.SetPositionAllocator(positions);
    mobility.Install(gnbs);
    mobility.Install(ues);

    if (fdd)
    {
        Config::SetDefault("ns3::NrUeNetDevice::PrimaryUlIndex", UintegerValue(1));
        nr->SetGnbBwpManagerAlgorithmAttribute("GBR_CONV_VOICE", UintegerValue(1));
        nr->SetUeBwpManagerAlgorithmAttribute("GBR_CONV_VOICE", UintegerValue(1));
    }
    NetDeviceContainer gnb = nr->InstallGnbDevice(gnbs, bwps);
    NetDeviceContainer ue = nr->InstallUeDevice(ues, bwps);
    int64_t stream = 1000;
    stream += nr->AssignStreams(gnb, stream);
    stream += nr->AssignStreams(ue, stream);
    if (fdd)
    {
        NrHelper::GetGnbPhy(gnb.Get(0), 0)->SetAttribute("Pattern", StringValue("DL|DL|DL|DL|DL|DL|DL|DL|DL|DL|"));
        NrHelper::GetGnbPhy(gnb.Get(0), 1)->SetAttribute("Pattern", StringValue("UL|UL|UL|UL|UL|UL|UL|UL|UL|UL|"));
        NrHelper::GetBwpManagerGnb(gnb.Get(0))->SetOutputLink(1, 0);
        for (uint32_t i = 0; i < 3; i++)
            NrHelper::GetBwpManagerUe(ue.Get(i))->SetOutputLink(0, 1);
    }

    // The address that it returns is the gateway's.
    Ptr<Node> server = epc->SetupRemoteHost("100Gb/s", 2500, Seconds(0)).first;
    const Ipv4Address serverAddress = server->GetObject<Ipv4>()->GetAddress(1, 0).GetLocal();
    InternetStackHelper internet;
    internet.Install(ues);
    Ipv4InterfaceContainer addresses = epc->AssignUeIpv4Address(ue);
    nr->AttachToClosestGnb(ue, gnb);
    if (fdd)
    {
        // Reports go by a bearer of the uplink's part of the band.
        for (uint32_t i = 0; i < 3; i++)
        {
            Ptr<NrEpcTft> tft = Create<NrEpcTft>();
            NrEpcTft::PacketFilter filter;
            filter.direction = NrEpcTft::UPLINK;
            filter.remotePortStart = 5000;
            filter.remotePortEnd = 5002;
            tft->Add(filter);
            nr->ActivateDedicatedEpsBearer(ue.Get(i), NrEpsBearer(NrEpsBearer::GBR_CONV_VOICE), tft);
        }
    }

    for (uint32_t i = 0; i < 3; i++)
        queues.push_back(std::make_unique<RlcQueue>());
    auto open = [](Ptr<Node> node, uint16_t port) {
        Ptr<Socket> socket = Socket::CreateSocket(node, UdpSocketFactory::GetTypeId());
        socket->SetAttribute("RcvBufSize", UintegerValue(100000000));
        socket->Bind(InetSocketAddress(Ipv4Address::GetAny(), port));
        return socket;
    };
    for (uint32_t i = 0; i < 2; i++)
    {
        auto flow = std::make_unique<VideoFlow>();
        flow->id = i;
        flow->rate = flow->prague = CAP;
        flow->server = open(server, 5000 + i);
        flow->ue = open(ues.Get(i), 6000);
        flow->toUe = InetSocketAddress(addresses.GetAddress(i), 6000);
        flow->toServer = InetSocketAddress(serverAddress, 5000 + i);
        flow->ue->SetRecvCallback(MakeCallback(&VideoFlow::OnPacket, flow.get()));
        flow->server->SetRecvCallback(MakeCallback(&VideoFlow::OnFeedback, flow.get()));
        flow->jitter = CreateObject<NormalRandomVariable>();
        flow->jitter->SetAttribute("Variance", DoubleValue(2));
        Simulator::Schedule(Seconds(START - 0.1 + place->GetValue(0, 1.0 / 60)), &VideoFlow::SendFrame, flow.get());
        flows.push_back(std::move(flow));
    }
    background.server = open(server, 5002);
    background.ue = open(ues.Get(2), 6000);
    background.toUe = InetSocketAddress(addresses.GetAddress(2), 6000);
    background.ue->SetRecvCallback(MakeCallback(&Background::OnPacket, &background));
    if (g.load == "low")
    {
        background.rate = 30;
        background.on = CreateObjectWithAttributes<ParetoRandomVariable>("Scale", DoubleValue(0.133), "Shape", DoubleValue(1.5));
        background.off = CreateObjectWithAttributes<LogNormalRandomVariable>("Mu", DoubleValue(0), "Sigma", DoubleValue(0.8));
    }
    else
    {
        background.rate = 16.5;
        background.on = CreateObjectWithAttributes<ExponentialRandomVariable>("Mean", DoubleValue(0.06));
        background.off = CreateObjectWithAttributes<ExponentialRandomVariable>("Mean", DoubleValue(0.03));
    }
    background.on->SetStream(1);
    background.off->SetStream(2);
    Simulator::Schedule(Seconds(START - 0.1), &Background::Start, &background);

    Simulator::Schedule(Seconds(START - 0.15), &Attach, gnb.Get(0), ue);
    Simulator::Schedule(Seconds(START - 0.1), &EndWindow);
    for (uint32_t i = 0; i < (fdd ? 2 : 1); i++)
    {
        NrHelper::GetGnbMac(gnb.Get(0), i)->TraceConnectWithoutContext("DlScheduling", MakeCallback(&OnDl));
        NrHelper::GetGnbMac(gnb.Get(0), i)->TraceConnectWithoutContext("UlScheduling", MakeCallback(&OnUl));
    }

    Simulator::Stop(Seconds(START + g.seconds));
    Simulator::Run();

    double owd = 0, rtt = 0, frameOwd = 0, fb = 0;
    uint64_t packets = 0, bytes = 0, marked = 0, rtts = 0, reductions = 0, holCount = 0, wrong = 0, frames = 0;
    double holSum = 0;
    for (auto& flow : flows)
    {
        owd += flow->owd;
        packets += flow->packets;
        bytes += flow->bytes;
        marked += flow->marked;
        rtt += flow->rtt;
        rtts += flow->rtts;
        frameOwd += flow->frameOwd;
        frames += flow->frames;
        fb += flow->fbDelay;
        reductions += flow->reductions;
        holSum += queues[flow->id]->holSum;
        holCount += queues[flow->id]->holCount;
    }
    for (auto& queue : queues)
        for (auto& [key, count] : queue->wrong)
            wrong += count;
    const double n = std::max<double>(packets, 1), r = std::max<double>(rtts, 1);
    auto full = [](uint32_t k) { auto& f = slots.full[k]; return f.first ? f.second / f.first * 8 / 500 : 0.0; };
    std::printf("%s,%s %g-%g,%u,%.3f,%.3f,%.4f,%.3f,%.3f,%.3f,%.3f,%.3f,%.3f,%.3f,%.4f,%.2f,%.2f,%.2f,%.2f,%.3f,%.4f,%lu,%lu,%lu,%s %s %s %s %.0fs\n",
                g.load.c_str(), g.row.c_str(), g.low, g.high, g.seed, owd / n * 1e3, bytes * 8e-6 / g.seconds, marked / n, rtt / r * 1e3,
                fb / r * 1e3, frameOwd / std::max<double>(frames, 1) * 1e3, holSum / std::max<double>(holCount, 1),
                background.bytes * 8e-6 / g.seconds, background.owd / std::max<double>(background.packets, 1) * 1e3,
                slots.bytes * 8e-6 / g.seconds, slots.busy / (g.seconds * 2000), slots.perSlot * 8 / 500,
                full(1), full(2), full(3), slots.mcs / std::max<double>(slots.mcsCount, 1),
                uplinks.slotsUsed / (g.seconds * 2000), (unsigned long)slots.retx, (unsigned long)reductions, (unsigned long)wrong,
                g.duplex.c_str(), g.feedback.c_str(), g.clip.c_str(), g.estimate.c_str(), g.seconds);
    Simulator::Destroy();
    return 0;
}
