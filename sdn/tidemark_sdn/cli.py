"""The command `tidemark-sdn`."""

import argparse
import asyncio
import contextlib
import json
import logging
import signal
import sys
from collections.abc import Callable
from pathlib import Path

from tidemark_sdn import config
from tidemark_sdn.agent import program
from tidemark_sdn.agent.program import ProgramError
from tidemark_sdn.agent.server import Agent, RefusedError
from tidemark_sdn.agent.switch import SwitchDatabase, SwitchError
from tidemark_sdn.config import ConfigError, Tls
from tidemark_sdn.controller import Controller
from tidemark_sdn.lab import reaction
from tidemark_sdn.lab.demo import find_tidemark, run_demo
from tidemark_sdn.lab.experiment import Experiment, Queues
from tidemark_sdn.lab.isolation import LabError, enter
from tidemark_sdn.lab.measure import FIGURES, measure, points_of, write
from tidemark_sdn.metrics import exposition
from tidemark_sdn.openflow import ChannelError
from tidemark_sdn.status import read_status
from tidemark_sdn.tls import server_context
from tidemark_sdn.units import format_rate, format_time, parse_rate, parse_size, parse_time

_ERRORS = (ConfigError, ProgramError, RefusedError, SwitchError, ChannelError, LabError, OSError)


def _quantity(parse: Callable[[object], float]) -> Callable[[str], str]:
    """Check of an argument with a unit. argparse shows its error with the argument. The text is passed on as it is."""

    def check(text: str) -> str:
        try:
            parse(text)
        except ValueError as error:
            raise argparse.ArgumentTypeError(str(error)) from None
        return text

    return check


_TIME, _RATE, _SIZE = _quantity(parse_time), _quantity(parse_rate), _quantity(parse_size)


def _arguments() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="tidemark-sdn", description=__doc__)
    parser.add_argument("--verbose", action="store_true", help="say more")
    commands = parser.add_subparsers(dest="command", required=True)

    run = commands.add_parser("run", help="the controller")
    run.add_argument("config", type=Path)
    run.add_argument("--out", type=Path, help="write series.csv, events.csv, summary.json and report.html here")
    run.set_defaults(execute=_run)

    check = commands.add_parser("check", help="checks a configuration file")
    check.add_argument("config", type=Path)
    check.set_defaults(execute=_check)

    status = commands.add_parser("status", help="shows the state of a running controller")
    status.add_argument("--socket", type=Path, default=Path("/run/tidemark-sdn.sock"))
    form = status.add_mutually_exclusive_group()
    form.add_argument("--json", action="store_true", help="print everything as JSON")
    form.add_argument("--metrics", action="store_true", help="print Prometheus metrics")
    status.set_defaults(execute=_status)

    agent = commands.add_parser("agent", help="runs the agent beside a switch")
    agent.add_argument("--bridge", required=True)
    agent.add_argument("--database", default="unix:/var/run/openvswitch/db.sock", help="OVSDB server of the switch")
    agent.add_argument("--listen", default="unix:/run/tidemark-sdn-agent.sock", help="unix:/path or tls:host:port")
    agent.add_argument("--certificate", type=Path)
    agent.add_argument("--private-key", type=Path)
    agent.add_argument("--authority", type=Path)
    agent.add_argument("--program", type=Path, help="compiled by `tidemark-sdn compile`, for a machine without clang")
    agent.set_defaults(execute=_agent)

    demo = commands.add_parser("demo", help="runs two switches and 24 senders in namespaces of this machine")
    demo.add_argument("--out", type=Path, default=Path("out/sdn-demo"))
    demo.add_argument("--mode", choices=("sound", "literal", "plain"), help="of the switches [default: sound]")
    demo.add_argument(
        "--hop", metavar="DISCIPLINE", help="make the line a `tidemark net hop`, such as dualpi2; switches only forward"
    )
    demo.add_argument("--controller", choices=("udp-prague", "sdn-l4s"), help="of the L4S senders")
    demo.add_argument("--q1", type=float, default=0.8, help="load from which rules mark and drop (literal)")
    demo.add_argument("--q2", type=float, default=0.01, help="share of marks from which sdn-l4s slows down")
    demo.add_argument("--period", type=_TIME, default="100 ms", help="time between two queue reports to the controller")
    demo.add_argument("--target", type=_TIME, default="15 ms", help="target delay of PI2's classic queue (sound)")
    demo.add_argument("--coupling", type=float, default=2.0, help="coupling factor of L4S marks to PI2 (sound)")
    demo.add_argument(
        "--round-trip",
        type=_TIME,
        default="0 ms",
        help="of the line without its queue; a `tidemark net hop` is the wire",
    )
    demo.add_argument(
        "--one-queue", action="store_true", help="put all traffic into one queue of the classic queue's size"
    )
    queues = Queues()
    demo.add_argument("--l4s-size", type=_SIZE, default=f"{queues.l4s_size} B", help="of the L4S queue")
    demo.add_argument("--classic-size", type=_SIZE, default=f"{queues.classic_size} B", help="of the classic queue")
    demo.add_argument("--l4s-share", type=float, default=queues.l4s_share, help="L4S queue's share of the line's rate")
    _add_size(demo)
    demo.set_defaults(execute=_demo)

    measure = commands.add_parser("measure", help="measures the paper's figures by repeated demos")
    measure.add_argument("figure", nargs="*", choices=(*FIGURES, []), help=f"of {', '.join(FIGURES)} [default: all]")
    measure.add_argument("--out", type=Path, default=Path("out/sdn-figures"))
    measure.add_argument("--repetitions", type=int, default=5)
    _add_size(measure)
    measure.set_defaults(execute=_measure)

    reacting = commands.add_parser("reaction", help="measures the time from a queue's threshold to the first mark")
    reacting.add_argument("--out", type=Path, default=Path("out/sdn-reaction"))
    reacting.add_argument("--mode", choices=("sound", "literal"), default="sound")
    reacting.add_argument("--events", type=int, default=100, help="number of bursts, one per second")
    reacting.add_argument("--rate", type=_RATE, default="20 Mbit/s", help="of the line between the switches")
    reacting.set_defaults(execute=_reaction)

    compile_ = commands.add_parser("compile", help="compiles the program of the ports, for agents without clang")
    compile_.add_argument("output", type=Path)
    compile_.set_defaults(execute=lambda arguments: program.compile_program(arguments.output))
    return parser


def _add_size(parser: argparse.ArgumentParser) -> None:
    """Arguments of commands that run a laboratory."""
    parser.add_argument("--l4s", type=int, default=12, help="L4S senders")
    parser.add_argument("--classic", type=int, default=12, help="classic senders")
    parser.add_argument("--rate", type=_RATE, default="20 Mbit/s", help="of the line between the switches")
    parser.add_argument(
        "--time", type=_TIME, default="6 s", help="duration, of which the first 2 s are left out of the figures"
    )
    parser.add_argument("--tidemark", type=Path, help="the command `tidemark` [default: target/release/tidemark]")


def _measure(arguments: argparse.Namespace) -> None:
    common = ["--l4s", str(arguments.l4s), "--classic", str(arguments.classic), "--rate", arguments.rate]
    common += ["--time", arguments.time]
    figures, out = arguments.figure or list(FIGURES), arguments.out.resolve()
    repetitions, tidemark = max(1, arguments.repetitions), find_tidemark(arguments.tidemark)
    results = measure(points_of(figures), repetitions, common, tidemark, out, _progress)
    print(write(figures, results, out))


def _reaction(arguments: argparse.Namespace) -> None:
    enter(sys.argv[1:])
    out = arguments.out.resolve()
    experiment = Experiment(
        tidemark=Path(), out=out, mode=arguments.mode, l4s=1, classic=0, rate=parse_rate(arguments.rate)
    )
    values = reaction.measure_reaction(experiment, max(2, arguments.events))
    reaction.write(values, out / "reactions.csv")
    print(f"{arguments.mode}: {reaction.describe(values)}")


def _progress(text: str) -> None:
    print(text, file=sys.stderr, flush=True)


def _run(arguments: argparse.Namespace) -> None:
    controller = Controller(config.load(arguments.config), arguments.out)

    async def until_signal() -> None:
        running = asyncio.create_task(controller.run(lambda: print("ready", flush=True)))
        for number in (signal.SIGTERM, signal.SIGINT):
            asyncio.get_running_loop().add_signal_handler(number, running.cancel)
        with contextlib.suppress(asyncio.CancelledError):
            await running

    asyncio.run(until_signal())


def _check(arguments: argparse.Namespace) -> None:
    read = config.load(arguments.config)
    print(f"{arguments.config}: mode {read.mode}, {len(read.switch)} switches")


def _agent(arguments: argparse.Namespace) -> None:
    listen = arguments.listen
    try:
        config.parse_endpoint(listen)
    except ValueError as error:
        raise ConfigError(f"--listen: {error}") from None
    files = (arguments.certificate, arguments.private_key, arguments.authority)
    tls = server_context(Tls(*files)) if all(files) else None
    object_file = arguments.program or program.compiled()
    agent = Agent(SwitchDatabase(arguments.database, arguments.bridge), arguments.bridge, object_file)
    asyncio.run(agent.run(listen, tls, lambda: print("ready", flush=True)))


def _demo(arguments: argparse.Namespace) -> None:
    enter(sys.argv[1:])
    if arguments.hop and arguments.mode not in (None, "plain"):
        raise ConfigError("--mode: with --hop the switches only forward: leave out one of the two")
    if min(arguments.l4s, arguments.classic) < 0 or arguments.l4s + arguments.classic == 0:
        raise ConfigError("--l4s, --classic: numbers of senders, of which there must be one at least")
    mode = arguments.mode or ("plain" if arguments.hop else "sound")
    target, period = parse_time(arguments.target), parse_time(arguments.period)
    sizes = parse_size(arguments.l4s_size), parse_size(arguments.classic_size)
    run_demo(
        Experiment(
            tidemark=find_tidemark(arguments.tidemark),
            out=arguments.out.resolve(),
            mode=mode,
            # The paper's senders for the paper's switches.
            controller=arguments.controller or ("sdn-l4s" if mode == "literal" else "udp-prague"),
            q1=arguments.q1,
            q2=arguments.q2,
            one_queue=arguments.one_queue or arguments.hop is not None,
            queues=Queues(*sizes, arguments.l4s_share),
            hop=arguments.hop,
            round_trip=parse_time(arguments.round_trip),
            l4s=arguments.l4s,
            classic=arguments.classic,
            rate=parse_rate(arguments.rate),
            settings=(
                f'period = "{period * 1e3:g} ms"\n'
                f'[sound]\ntarget = "{target * 1e3:g} ms"\ncoupling = {arguments.coupling:g}\n'
            ),
            seconds=parse_time(arguments.time),
        )
    )


def _status(arguments: argparse.Namespace) -> None:
    status = read_status(arguments.socket)
    if arguments.json:
        print(json.dumps(status, indent=1))
        return
    if arguments.metrics:
        print(exposition(status), end="")
        return
    print(f"mode {status['mode']}, up {format_time(status['uptime'])}, {len(status['flows'])} flows")
    for switch in status["switches"]:
        states = [what for what in ("connected", "agent") if switch[what]]
        print(f"switch {switch['name']} {switch['datapath_id']}: {', '.join(states) or 'gone'}")
    for link in status["links"]:
        load = "" if link["load"] is None else f", {link['load']:.0%} used"
        print(f"link {link['from']} to {link['to']}{load}")
    for queue in status["queues"]:
        line = f"queue {queue['queue']} at {queue['switch']} {queue['port']}"
        if "delay" in queue:
            traffic = queue["traffic"]
            marked = traffic["ramp_marked"] + traffic["coupled_marked"]
            line += f" of {format_rate(queue['rate'])}: {queue['backlog_bytes']} B, {format_time(queue['delay'])}"
            line += (
                f", {traffic['packets']} packets, {marked} marked, {traffic['dropped'] + queue['overflowed']} dropped"
            )
        print(line)


def main() -> None:
    """Runs the command."""
    arguments = _arguments().parse_args()
    level = logging.INFO if arguments.verbose else logging.WARNING
    logging.basicConfig(level=level, format="%(levelname)s %(name)s: %(message)s", stream=sys.stderr)
    try:
        arguments.execute(arguments)
    except _ERRORS as error:
        sys.exit(f"tidemark-sdn: {error}")
    except KeyboardInterrupt:
        sys.exit(130)
