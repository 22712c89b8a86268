"""bench.py -- every workload in Arras, in hand-written C and in the peers, interleaved in one run.

Before a workload is timed, all results are compared.  Tables of ratios, then the bounds."""

import argparse
import json
import platform
import sys
from pathlib import Path

sys.dont_write_bytecode = True
import environment

TREE = Path(__file__).resolve().parent.parent


def parse_arguments():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--build", type=Path, default=TREE / "build/release", help="with the libraries")
    parser.add_argument("--against", type=Path, help="another build of Arras, which takes part as 'other'")
    parser.add_argument("--only", action="append", help="a workload or part; may be given again")
    parser.add_argument("--rounds", type=int, default=7, help="of which medians are taken")
    parser.add_argument("--quick", action="store_true", help="small sizes: to see that it works")
    parser.add_argument("--json", type=Path, help="writes all numbers to this file")
    parser.add_argument("--threads", type=int, default=2, help="of each contender")
    parser.add_argument("--peers", help="a list with commas, or none; otherwise all that there are")
    parser.add_argument("--no-arras", action="store_true", help="only C against the peers")
    parser.add_argument("--no-install", action="store_true", help="this Python with the peers it has")
    arguments = parser.parse_args()
    for name in ("rounds", "threads"):
        if getattr(arguments, name) < 1:
            sys.exit(f"bench: --{name} takes a number from 1 on, not {getattr(arguments, name)}")
    return arguments


def check_names(arguments):
    import contenders
    import small
    from workloads import WORKLOADS

    names = [workload.name for workload in WORKLOADS] + list(small.PARTS)
    for name in arguments.only or []:
        if name not in names:
            sys.exit(f"bench: there is no {name}; --only takes {', '.join(names)}")
    for name in [] if arguments.peers in (None, "none") else arguments.peers.split(","):
        if name not in contenders.PEERS:
            sys.exit(f"bench: there is no {name}; --peers takes none or {','.join(contenders.PEERS)}")


def make_contenders(arguments):
    """C comes first: the others are compared with it."""
    import contenders

    names = contenders.PEERS if arguments.peers is None else arguments.peers.split(",")
    hand = contenders.Hand(arguments.build)
    arras = None if arguments.no_arras else contenders.Arras(arguments.build, arguments.threads)
    peers = contenders.peers([] if names == ["none"] else names, arguments.threads)
    if arguments.against:
        peers.append(contenders.Arras(arguments.against, arguments.threads, "other"))
    return [hand] + ([arras] if arras else []), peers


def run_races(arguments, own, peers):
    from timing import Race
    from workloads import WORKLOADS

    races, failures, checks = [], [], 0
    for workload in WORKLOADS:
        if arguments.only and workload.name not in arguments.only:
            continue
        print(f"== {workload.name}", flush=True)
        race = Race(workload, arguments.quick, own + peers)
        for failure in race.failures:
            print(f"   failed: {failure}", flush=True)
        seconds = race.time(arguments.rounds)
        race.close()
        races.append({"workload": workload, "size": race.size, "seconds": seconds})
        failures += race.failures
        checks += race.checks
    return races, failures, checks


def run_parts(arguments, arras):
    import small

    found, bounds = {}, []
    for name, part in small.PARTS.items():
        if arras and (not arguments.only or name in arguments.only):
            found[name], more = part(arras, arguments.build, arguments.rounds, arguments.quick)
            bounds += more
    return found, bounds


def main():
    arguments = parse_arguments()
    environment.threads_in_environment(arguments.threads)
    if not arguments.no_install and not environment.is_active():
        environment.enter()
    import report

    check_names(arguments)
    own, peers = make_contenders(arguments)
    versions = {peer.name: peer.version for peer in peers}
    versions["machine"] = f"{platform.machine()}, {arguments.threads} threads"
    print("== bench:", ", ".join(f"{name} {version}" for name, version in versions.items()))
    races, failures, checks = run_races(arguments, own, peers)
    names = [peer.name for peer in peers]
    if races:
        print()
        report.show_races(races, names)
    found, bounds = run_parts(arguments, own[1] if len(own) > 1 else None)
    bounds = report.race_bounds(races, [name for name in names if name != "other"]) + bounds
    if bounds and not arguments.quick:
        report.show_bounds(bounds)
    if arguments.json:
        text = json.dumps(report.as_json(races, bounds, found, versions), indent=1)
        arguments.json.write_text(text + "\n")
    print("\nResults, compared with those of C before they were timed:")
    print(f"{checks - len(failures)} passed, {len(failures)} failed")
    return bool(failures)


if __name__ == "__main__":
    sys.exit(main())
