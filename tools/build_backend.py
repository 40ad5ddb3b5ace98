"""The build backend: meson-python, and two things of our own.

A C compiler is needed, and where the machine has none, that of Zig is asked for, which is a package like any other.

An editable install compiles at once and puts the module beside its source, with ``src`` on the path. What meson-python
makes of it would run ninja whenever the package is imported, in every process, and several may start at the same time.
"""

from __future__ import annotations

import base64
import hashlib
import importlib.machinery
import importlib.metadata
import os
import platform
import shlex
import shutil
import sys
import sysconfig
import tempfile
import zipfile
from pathlib import Path
from typing import Any

import mesonpy

__all__ = [
    "build_editable",
    "build_sdist",
    "build_wheel",
    "get_requires_for_build_editable",
    "get_requires_for_build_sdist",
    "get_requires_for_build_wheel",
]

Settings = dict[str, Any] | None

SRC = Path(__file__).resolve().parent.parent / "src"
ZIG = "ziglang>=0.13"
#: Commands by any of which Meson finds a compiler by itself.
COMPILERS = ("cc", "gcc", "clang", "icx", "cl", "clang-cl")


def needs_zig() -> bool:
    """Tell whether there is no C compiler that Meson would find."""
    if "CC" in os.environ or any(map(shutil.which, COMPILERS)):
        return False
    # Visual Studio is not on the path; Meson asks its installer for it.
    installer = Path(os.environ.get("PROGRAMFILES(X86)", "")) / "Microsoft Visual Studio/Installer/vswhere.exe"
    return not (sys.platform == "win32" and installer.exists())


def zig_target() -> str:
    """Return the arguments that say for which machines Zig compiles: without them, for the very one it runs on."""
    if sys.platform != "linux":
        return "-mcpu=baseline"
    return f"-target {platform.machine()}-linux-{'gnu.2.17' if platform.libc_ver()[0] == 'glibc' else 'musl'}"


def prepare() -> None:
    """Set the environment such that Meson finds its commands, and a compiler."""
    if not Path(sysconfig.get_path("include"), "Python.h").exists():
        sys.exit(f"{sys.executable} has no Python.h, which compiling needs; on Debian: apt install python3-dev")
    # Outside an environment that is made for one build, commands installed beside Python need not be on the path.
    held = importlib.metadata.files("meson") or []
    here = {str(Path(one.locate()).resolve().parent) for one in held if one.parent.name in ("bin", "Scripts")}
    os.environ["PATH"] = os.pathsep.join([*here, os.environ.get("PATH", "")])
    if needs_zig():
        zig = f"{shlex.quote(sys.executable)} -m ziglang"
        os.environ["CC"] = f"{zig} cc -g0 {zig_target()}"
        os.environ["AR"] = f"{zig} ar"
        # Meson would ask it for the headers of another Python, the system's, which Zig cannot read.
        os.environ["PKG_CONFIG"] = "none"


def get_requires_for_build_wheel(config_settings: Settings = None) -> list[str]:
    """Return what building a wheel needs on this machine, beside what pyproject.toml names."""
    return [*mesonpy.get_requires_for_build_wheel(config_settings), *([ZIG] if needs_zig() else [])]


def get_requires_for_build_editable(config_settings: Settings = None) -> list[str]:
    """Return what an editable install needs: the same as a wheel."""
    return get_requires_for_build_wheel(config_settings)


def get_requires_for_build_sdist(config_settings: Settings = None) -> list[str]:
    """Return what building an sdist needs; Meson wants a compiler for that, too."""
    return [*mesonpy.get_requires_for_build_sdist(config_settings), *([ZIG] if needs_zig() else [])]


def build_sdist(sdist_directory: str, config_settings: Settings = None) -> str:
    """Build an sdist of what git has committed, and return its name."""
    prepare()
    return str(mesonpy.build_sdist(sdist_directory, config_settings))


def build_wheel(wheel_directory: str, config_settings: Settings = None, metadata_directory: str | None = None) -> str:
    """Build a wheel, and return its name."""
    prepare()
    return str(mesonpy.build_wheel(wheel_directory, config_settings, metadata_directory))


def build_editable(
    wheel_directory: str, config_settings: Settings = None, metadata_directory: str | None = None
) -> str:
    """Compile, put the result beside its source, and return the name of a wheel that only leads to ``src``."""
    with tempfile.TemporaryDirectory() as folder:
        name = build_wheel(folder, config_settings)
        with (
            zipfile.ZipFile(Path(folder) / name) as built,
            zipfile.ZipFile(Path(wheel_directory) / name, "w") as editable,
        ):
            put_beside_sources(built)
            point_to_sources(built, editable)
    return name


def put_beside_sources(built: zipfile.ZipFile) -> None:
    """Write the compiled modules of a wheel into ``src``, and remove those of other builds."""
    suffixes = tuple(importlib.machinery.EXTENSION_SUFFIXES)
    placed = set()
    for name in built.namelist():
        if name.endswith(suffixes):
            place = SRC / name
            fresh = place.with_name(f"{place.name}.{os.getpid()}.tmp")
            fresh.write_bytes(built.read(name))
            fresh.replace(place)  # processes that have loaded the old one keep it
            placed.add(place)
    for path in set((SRC / "allrelevant").rglob("*")) - placed:
        if path.name.endswith(suffixes):
            path.unlink()


def point_to_sources(built: zipfile.ZipFile, editable: zipfile.ZipFile) -> None:
    """Write a wheel with the metadata of another one and, in the place of the package, a path."""
    (record,) = (name for name in built.namelist() if name.endswith(".dist-info/RECORD"))
    metadata = record.removesuffix("RECORD")
    held = {name: built.read(name) for name in built.namelist() if name.startswith(metadata) and name != record}
    held["_allrelevant.pth"] = f"{SRC}\n".encode()
    lines = [f"{record},,"]
    for name, content in held.items():
        editable.writestr(name, content)
        digest = base64.urlsafe_b64encode(hashlib.sha256(content).digest()).rstrip(b"=").decode()
        lines.append(f"{name},sha256={digest},{len(content)}")
    editable.writestr(record, "\n".join(lines) + "\n")
