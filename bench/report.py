"""report.py -- the tables, and the bounds that must hold, each marked ok or short."""

import statistics
from dataclasses import dataclass

SLOWEST_AGAINST_C = 1.15
MEDIAN_AGAINST_C = 1.0
TIMES_NUMPY = 5


@dataclass(frozen=True)
class Bound:
    what: str
    value: float
    limit: float
    unit: str = ""
    at_least: bool = False

    @property
    def holds(self):
        return self.value >= self.limit if self.at_least else self.value <= self.limit


def number(x):
    return "-" if x is None else f"{x:.0f}" if x >= 100 else f"{x:.3g}"


def show_table(head, rows):
    widths = [max(len(row[k]) for row in [head, *rows]) for k in range(len(head))]
    for row in [head, *rows]:
        first, *others = (f"{cell:>{width}}" for cell, width in zip(row, widths))
        print("  ".join([f"{row[0]:<{widths[0]}}", *others]))


def ratio(race, name, base):
    seconds = race["seconds"]
    return seconds[name] / seconds[base] if name in seconds and base in seconds else None


def base_of(race):
    """Whose times the others are divided by; without Arras it is C."""
    return "Arras" if "Arras" in race["seconds"] else "C"


def title_of(race):
    return race["workload"].title_at(race["size"])


def race_row(race, peers):
    workload, base = race["workload"], base_of(race)
    own = race["seconds"].get(base)
    speed = f"{workload.work(race['size']) / own / 1e9:.1f} {workload.unit}" if own else "-"
    times = [number(own and own * 1e3), speed, number(ratio(race, base, "C"))]
    return [title_of(race), *times, *(number(ratio(race, peer, base)) for peer in peers)]


def show_races(races, peers):
    base = base_of(races[0])
    head = ["workload", f"{base} ms", "speed", f"{base}/C", *(f"{peer}/{base}" for peer in peers)]
    show_table(head, [race_row(race, peers) for race in races])


def race_bounds(races, peers):
    races = [race for race in races if "Arras" in race["seconds"]]
    against_c = [ratio(race, "Arras", "C") for race in races if "C" in race["seconds"]]
    bounds = [
        Bound(f"{title_of(race)}: Arras / C", ratio(race, "Arras", "C"), SLOWEST_AGAINST_C)
        for race in races
        if "C" in race["seconds"]
    ]
    if against_c:
        middle = statistics.median(against_c)
        bounds.append(Bound("median of Arras / C over all", middle, MEDIAN_AGAINST_C))
    for race in races:
        bounds += peer_bounds(race, peers)
    return bounds


def peer_bounds(race, peers):
    title, bounds = title_of(race), []
    for peer in peers:
        value = ratio(race, peer, "Arras")
        if value is not None:
            limit = TIMES_NUMPY if peer == "NumPy" and race["workload"].is_chain else 1
            bounds.append(Bound(f"{title}: {peer} / Arras", value, limit, at_least=True))
    return bounds


def show_bounds(bounds):
    print(f"\nBounds: {sum(bound.holds for bound in bounds)} of {len(bounds)} hold")
    rows = [
        [
            bound.what,
            f"{number(bound.value)} {bound.unit}".rstrip(),
            f"{'>=' if bound.at_least else '<='} {number(bound.limit)}",
            "ok" if bound.holds else "short",
        ]
        for bound in bounds
    ]
    show_table(["bound", "value", "limit", ""], rows)


def as_json(races, bounds, small, versions):
    return {
        "versions": versions,
        "races": [
            {"name": race["workload"].name, "size": race["size"], "seconds": race["seconds"]}
            for race in races
        ],
        "small": small,
        "bounds": [
            {"what": bound.what, "value": bound.value, "limit": bound.limit, "holds": bound.holds}
            for bound in bounds
        ],
    }
