"""layers.py [TREE] -- who includes whom, against src/LAYERS.

A room (a folder of src/, or a folder of one: HOUSE/ROOM) may include its own files, the public headers, and of
each room that LAYERS allows it the door (ROOM/ROOM.h) and the tables (*.def).  A room within a house sees the headers
of the house, and of its sisters all headers that LAYERS allows; other rooms see the house's door only.  Strangers (lang, cmd, bindings, examples) and
the public headers include nothing of src/; of each other only cmd sees the door of lang, lang/lang.h.  tools
may include tables of ir/.  tests/ may look everywhere.
"""

import re
import sys
import tempfile
from pathlib import Path

sys.dont_write_bytecode = True
from tally import Tally

STRANGERS = ["lang", "cmd", "bindings", "examples", "include"]
SUFFIXES = {".c", ".h", ".def", ".inc", ".cc", ".cpp", ".hpp", ".cu", ".cl"}
COMMENT = re.compile(r"/\*.*?\*/|//[^\n]*", re.DOTALL)
INCLUDE = re.compile(r"^[ \t]*#[ \t]*include[ \t]*(.*?)[ \t]*$", re.MULTILINE)


def read_layers(tree):
    """The rooms and what each may see, as {room: set of rooms}, and what is wrong with the file."""
    layers, complaints = {}, []
    lines = (tree / "src/LAYERS").read_text().splitlines()
    for number, line in enumerate(lines, 1):
        line = line.split("#")[0].strip()
        if not line:
            continue
        room, colon, allowed = line.partition(":")
        if not colon or room in layers:
            complaints.append(f"src/LAYERS:{number}: expected 'room: rooms', each room once")
            continue
        for other in allowed.split():
            # Only rooms above may be named, so that the rooms form a ladder, without a circle.
            if other not in layers:
                complaints.append(f"src/LAYERS:{number}: {room} sees {other}, which is not above it")
        layers[room] = set(allowed.split())
    return layers, complaints


def rooms_of(tree):
    """Folders of src/ and their folders, as they stand in LAYERS."""
    src = tree / "src"
    return {str(path.relative_to(src)) for path in [*src.glob("*"), *src.glob("*/*")] if path.is_dir()}


def check_rooms(tree, layers):
    folders = rooms_of(tree)
    return [f"src/{room} is not in src/LAYERS" for room in sorted(folders - layers.keys())] + [
        f"src/LAYERS names {room}, which is no folder of src" for room in sorted(layers.keys() - folders)
    ]


def sources(tree, top):
    folder = tree / top
    if not folder.is_dir():
        return []
    return sorted(path for path in folder.rglob("*") if path.suffix in SUFFIXES)


def own_sources(tree, room):
    """Without those of rooms within it."""
    return sorted(path for path in (tree / "src" / room).iterdir() if path.is_file() and path.suffix in SUFFIXES)


def includes(path):
    """The (line, name) of every #include in a file; name is None when it is not written out."""
    text = path.read_text(errors="replace")
    text = COMMENT.sub(lambda comment: re.sub(r"[^\n]", " ", comment[0]), text)
    for match in INCLUDE.finditer(text):
        line = text.count("\n", 0, match.start()) + 1
        named = re.fullmatch(r'"([^"]+)"|<([^>]+)>', match[1])
        yield line, (named[1] or named[2]) if named else None


def target_in_src(tree, path, name):
    """The file of src/ that an #include means, as (room, rest), or None for all other headers."""
    src = (tree / "src").resolve()
    beside = (path.parent / name).resolve()
    found = beside if beside.is_file() else (src / name).resolve()
    if not found.is_relative_to(src):
        return None
    *folders, name = found.relative_to(src).parts
    is_ours = found.is_file() or (folders and (src / folders[0]).is_dir())
    return ("/".join(folders), name) if is_ours else None


def target_outside(tree, path, name):
    """The file of a stranger that an #include means, as (top, rest), or None."""
    for found in ((path.parent / name).resolve(), (tree / name).resolve()):
        if found.is_relative_to(tree):
            top, *rest = found.relative_to(tree).parts
            if top in STRANGERS and top != "include" and (found.is_file() or name.startswith(top + "/")):
                return top, "/".join(rest)
    return None


def complaint_among_strangers(top, target):
    other, rest = target
    if other == top or (top, other, rest) == ("cmd", "lang", "lang.h"):
        return None
    return f"{top}/ may include nothing of {other}/" + (" but lang/lang.h" if top == "cmd" else "")


def complaint_in_room(layers, room, target):
    other, rest = target
    house = room.split("/")[0]
    if other in (room, house):
        return None
    if other not in layers.get(room, ()):
        return f"{room} may not see {other} (src/LAYERS)"
    door = other.split("/")[-1] + ".h"
    if rest != door and not rest.endswith(".def") and other.split("/")[0] != house:
        return f"only the door and tables of {other} may be included from outside: {other}/{door}"
    return None


def complaint_outside(top, target):
    room, rest = target
    if top == "tools" and room == "ir" and rest.endswith(".def"):
        return None
    return f"{top}/ may include nothing of src/"


def check_file(tree, path, complain):
    complaints = []
    for line, name in includes(path):
        where = f"{path.relative_to(tree)}:{line}"
        if name is None:
            complaints.append(f"{where}: an #include that is not written out cannot be checked")
            continue
        target = target_in_src(tree, path, name)
        complaint = complain(target) if target else None
        stranger = None if target else target_outside(tree, path, name)
        if stranger:
            complaint = complaint_among_strangers(path.relative_to(tree).parts[0], stranger)
        if complaint:
            complaints.append(f"{where}: {name}: {complaint}")
    return complaints


def check_tree(tree):
    layers, complaints = read_layers(tree)
    complaints += check_rooms(tree, layers)
    for room in sorted(rooms_of(tree)):
        for path in own_sources(tree, room):
            complaints += check_file(tree, path, lambda target: complaint_in_room(layers, room, target))
    for top in STRANGERS + ["tools"]:
        for path in sources(tree, top):
            complaints += check_file(tree, path, lambda target: complaint_outside(top, target))
    return complaints


# ---- The check of the check: a small tree, and plants in it that must be found --------------------

SOUND = {
    "src/LAYERS": "# rooms\nbase:\nir: base\nfiles/zip: base\nfiles/tar: base files/zip\nfiles: base files/zip files/tar\n"
    "api: base ir files\n",
    "src/files/files.h": '#include "base/base.h"\n',
    "src/files/parts.h": "",
    "src/files/open.c": '#include "files/tar/tar.h"\n#include "files/zip/inner.h"\n',
    "src/files/zip/zip.h": '#include "base/base.h"\n#include "files/parts.h"\n',
    "src/files/zip/inner.h": "",
    "src/files/tar/tar.h": '#include "files/zip/inner.h"\n#include "files/files.h"\n',
    "src/base/base.h": "#include <stdint.h>\n#include <arras/arras.h>\n",
    "src/ir/ir.h": '#include "base/base.h"\n',
    "src/ir/inner.h": "",
    "src/ir/ops.def": "",
    "src/ir/node.c": '#include "ir/inner.h"\n#include "ir/ops.def"\n/*\n#include "api/api.h"\n*/\n',
    "src/api/api.h": '#include "ir/ir.h"\n#include "ir/ops.def"\n',
    "include/arras/arras.h": "#include <stdbool.h>\n",
    "tools/make.c": '#include "ir/ops.def"\n',
    "examples/demo.c": "#include <arras/arras.h>\n",
    "lang/lang.h": "#include <arras/arras.h>\n",
    "lang/inside.h": '#include "lang/lang.h"\n',
    "cmd/main.c": '#include "cmd/main.h"\n#include "lang/lang.h"\n',
    "cmd/main.h": "",
    "tests/test_node.c": '#include "ir/inner.h"\n',
}

# What is planted where, and a part of the complaint.
PLANTS = [
    ("src/base/up.c", '#include "ir/ir.h"', "base may not see ir"),
    ("src/ir/up.c", "#  include <api/api.h>", "ir may not see api"),
    ("src/ir/up.c", '#include "../api/api.h"', "ir may not see api"),
    ("src/ir/up.c", '#include "api/missing.h"', "ir may not see api"),
    ("src/api/window.c", '#include "ir/inner.h"', "only the door and tables of ir"),
    ("src/base/table.c", '#include "ir/ops.def"', "base may not see ir"),
    ("src/attic/attic.h", "", "src/attic is not in src/LAYERS"),
    ("src/ir/macro.c", "#include HEADER", "not written out"),
    ("src/files/zip/up.c", '#include "files/tar/tar.h"', "files/zip may not see files/tar"),
    ("src/files/zip/up.c", '#include "ir/ir.h"', "files/zip may not see ir"),
    ("src/files/shed/shed.h", "", "src/files/shed is not in src/LAYERS"),
    ("src/api/window.c", '#include "files/zip/zip.h"', "api may not see files/zip"),
    ("src/api/window.c", '#include "files/parts.h"', "only the door and tables of files"),
    ("src/LAYERS", SOUND["src/LAYERS"] + "run: ir\n", "names run, which is no folder"),
    ("src/LAYERS", SOUND["src/LAYERS"].replace("base:\n", "base: ir\n", 1), "base sees ir, which is not above it"),
    ("examples/thief.c", '#include "ir/ir.h"', "examples/ may include nothing"),
    ("bindings/ruby/thief.c", '#include "../../src/base/base.h"', "bindings/ may include nothing"),
    ("include/arras/leak.h", '#include "base/base.h"', "include/ may include nothing"),
    ("tools/thief.c", '#include "ir/ir.h"', "tools/ may include nothing"),
    ("lang/thief.c", '#include "ir/ir.h"', "lang/ may include nothing of src/"),
    ("lang/up.c", '#include "cmd/main.h"', "lang/ may include nothing of cmd/"),
    ("cmd/window.c", '#include "lang/inside.h"', "cmd/ may include nothing of lang/ but lang/lang.h"),
    ("cmd/window.c", '#include "../lang/inside.h"', "cmd/ may include nothing of lang/ but lang/lang.h"),
    ("src/ir/up.c", '#include "lang/lang.h"', "src/ may include nothing of lang/"),
    ("examples/up.c", '#include "cmd/main.h"', "examples/ may include nothing of cmd/"),
]


def complaints_about(files):
    with tempfile.TemporaryDirectory() as folder:
        tree = Path(folder)
        for name, text in files.items():
            path = tree / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text)
        return check_tree(tree)


def check_plant(name, text, part):
    complaints = complaints_about({**SOUND, name: text})
    if len(complaints) == 1 and part in complaints[0]:
        return []
    return [f"wanted one complaint with '{part}', got {complaints}"]


def main():
    tree = Path(sys.argv[1]) if len(sys.argv) > 1 else Path(__file__).resolve().parents[2]
    tally = Tally()
    tally.check("a sound tree passes", complaints_about(SOUND))
    for name, text, part in PLANTS:
        tally.check(f"planted in {name}: {text!r}", check_plant(name, text, part))
    tally.check("includes follow src/LAYERS", check_tree(tree.resolve()))
    tally.finish()


main()
