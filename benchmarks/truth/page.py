"""The page of the documentation: error and power of all methods, from the committed results."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from pathlib import Path

from benchmarks.blocks import Mean, Table
from benchmarks.drawing import COLOURS, save
from benchmarks.experiment import HERE
from benchmarks.truth.every import DESIGNS
from benchmarks.truth.record import Design
from benchmarks.truth.run import chosen
from benchmarks.truth.table import Cells, Summary, ahead, average, broad, by_set, common, shown, summary

LEVEL = 0.05
PAGE = HERE.parent / "docs" / "truth.md"
PICTURE = HERE.parent / "docs" / "images" / "truth.svg"
HEAD = Path(__file__).with_name("page_head.md")
#: What a method is called, in the order of columns.
LABELS = {
    "allrelevant": "**allrelevant**",
    "before": "before",
    "forest": "forests",
    "forest_before": "forests, before",
    "boruta": "BorutaPy",
    "lasso_cv": "lasso, CV",
    "randomised_lasso": "randomised lasso, .05",
    "randomised_lasso_one": "randomised lasso, 1",
    "ipss_l1": "IPSS, lasso",
    "ipss_boosted": "IPSS, boosted",
    "dcrt": "dCRT",
    "knockoffs": "knockoffs",
    "fri": "fri 9.0.0",
}
OURS = ("allrelevant", "before", "forest", "forest_before")
#: Why another method is ahead, where that is understood: a sentence by design.
REASONS: dict[str, str] = {
    "flip20": "A fifth of the labels is wrong; what Boruta finds beyond ours is partly noise.",
    "n40": "It finds more because four of ten of what it finds is noise.",
    "sim3": "No feature is redundant here, which is what it looks for, and it promises a stricter error.",
    "heteroscedastic": "No feature is redundant here, which is what it looks for.",
    "time_signal": "Rows are not exchangeable: no permutation is valid here, and ours promises nothing.",
}

Summaries = Mapping[tuple[str, str], Summary]


def write(lines: Cells, page: Path = PAGE, picture: Path = PICTURE) -> Path:
    """Write the page and its picture."""
    cells = {key: summary(some) for key, some in lines.items()}
    methods = [name for name in LABELS if any(name == method for _, method in cells)]
    ours = next(name for name in OURS if name in methods)
    signal, reserved, noise, rows = (_names(family) for family in ("signal", "reserved", "noise", "rows"))
    most = [name for name in methods if name in broad(cells, signal)]
    shared = common(cells, signal, most)
    picture.parent.mkdir(parents=True, exist_ok=True)
    draw(picture, cells, shared, most)
    text = [HEAD.read_text().rstrip(), "", "## In short", ""]
    text += [_means(cells, methods, most, signal, reserved, noise).markdown(), ""]
    text += [f"```{{image}} {os.path.relpath(picture, page.parent)}", f":alt: {_alt(cells, shared, most)}", "```", ""]
    there = [name for name in methods if name in most]
    sets = Table("False share, then F1, of designs that ask for the same thing", *_by_set(cells, there))
    text += [sets.markdown(), "", "## Design by design", ""]
    text += [_table("False share, then F1", cells, signal, methods, _error_and_f1).markdown(), ""]
    text += ["▲ marks a false share above the level of .05 by more than two standard errors.", ""]
    text += ["## Designs that nobody chose by", ""]
    text += [
        _table("False share, then F1, on reserved designs", cells, reserved, methods, _error_and_f1).markdown(),
        "",
    ]
    text += ["## Nothing but noise", ""]
    text += [_table("Share of data sets in which anything is found", cells, noise, methods, _any).markdown(), ""]
    text += ["## Rows that belong together", ""]
    words = "Share of the noise that is called relevant where rows are of the same subjects; F1 where there is signal"
    text += [_table(words, cells, rows, methods, _called).markdown(), ""]
    text += ["## P-values of noise", "", _pvalues(cells, methods).markdown(), ""]
    text += ["## Where another method is ahead", "", *_ahead(lines, cells, [*signal, *reserved], ours, methods), ""]
    text += ["## What the designs are", "", *_legend(), ""]
    failed = _failed(cells, methods)
    text += ["## What failed", "", failed.markdown(), ""] if failed.rows else []
    page.write_text("\n".join(text).rstrip() + "\n")
    return page


def draw(path: Path, cells: Summaries, designs: Sequence[str], methods: Sequence[str]) -> None:
    """Error against power, a point per method with standard errors."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(8, 4.5), layout="constrained")
    ax = figure.subplots()
    marks = dict(zip((name for name in methods if name not in OURS), "sv^<>pP*Xh", strict=False))
    for method in methods:
        error = average(cells, designs, method, lambda own: own.false_share)
        power = average(cells, designs, method, lambda own: own.power)
        colour = {"allrelevant": COLOURS[2], "before": COLOURS[1]}.get(method, "0.45")
        label = LABELS[method].replace("*", "")
        ax.errorbar(
            error.value,
            power.value,
            xerr=error.error,
            yerr=power.error,
            fmt=marks.get(method, "o"),
            color=colour,
            label=label,
        )
    ax.axvline(LEVEL, color="0.4", linestyle="--", linewidth=1, label="nominal level")
    ax.set(xlabel="share of noise among the found", ylabel="share of the relevant that is found", ylim=(0, 1))
    ax.set_xlim(left=-0.01)
    ax.grid(alpha=0.3)
    ax.legend(loc="center left", bbox_to_anchor=(1.0, 0.5), fontsize=8)
    save(figure, path)


def _names(family: str) -> list[str]:
    return [each.name for each in chosen([family], dict(DESIGNS))]


def _means(
    cells: Summaries,
    methods: Sequence[str],
    most: Sequence[str],
    signal: Sequence[str],
    reserved: Sequence[str],
    noise: Sequence[str],
) -> Table:
    """A line per method: means over the designs that all have an answer for; fewer designs are said."""
    lines = []
    firm = [name for name in reserved if DESIGNS[name].exchangeable]
    families = (signal, firm, noise)
    wide = [most, *(broad(cells, some) for some in families[1:])]
    sets = [common(cells, some, there) for some, there in zip(families, wide, strict=True)]
    for method in methods:
        # Methods with answers for few designs have the means of these.
        own = [
            some if method in there else common(cells, some, [method]) for some, there in zip(sets, wide, strict=True)
        ]
        cpu = [cells[name, method].cpu_seconds for name in own[0]]
        fits = sorted(cells[name, method].fits for name in own[0])
        lines.append(
            [
                LABELS[method] + ("" if method in most else f" ({len(own[0])} designs)"),
                _marked(average(cells, own[0], method, lambda s: s.false_share), 3),
                shown(average(cells, own[0], method, lambda s: s.power), 3),
                shown(average(cells, own[0], method, lambda s: s.f1), 3),
                _marked(average(cells, own[1], method, lambda s: s.false_share), 3),
                shown(average(cells, own[1], method, lambda s: s.f1), 3),
                _marked(average(cells, own[2], method, lambda s: s.any_noise), 3),
                f"{sum(cpu) / len(cpu):.2g}" if cpu else "",
                "" if not fits else f"{fits[0]}" if fits[0] == fits[-1] else f"{fits[0]} to {fits[-1]}",
            ]
        )
    caption = (
        f"Means over the {len(sets[0])} designs with signal that most methods have answers for, the {len(sets[1])} "
        f"reserved ones of exchangeable rows, and the {len(sets[2])} of pure noise"
    )
    header = [
        "",
        "false",
        "power",
        "F1",
        "reserved: false",
        "F1",
        "noise: anything found in",
        "CPU s a fit",
        "data sets",
    ]
    return Table(caption, header, lines)


def _by_set(cells: Summaries, methods: Sequence[str]) -> tuple[list[str], list[list[str]]]:
    return ["", *(LABELS[name] for name in methods)], by_set(cells, methods)


def _table(caption: str, cells: Summaries, designs: Sequence[str], methods: Sequence[str], cell) -> Table:
    there = [name for name in methods if any((design, name) in cells for design in designs)]
    lines = []
    for design in designs:
        own = [cells.get((design, name)) for name in there]
        lines.append([design, *("" if each is None else cell(each) if each.fits else "–" for each in own)])
    return Table(caption, ["", *(LABELS[name] for name in there)], lines)


def _error_and_f1(own: Summary) -> str:
    return f"{_marked(own.false_share)}, {shown(own.f1)}" if own.f1 else _marked(own.false_share)


def _any(own: Summary) -> str:
    return _marked(own.any_noise)


def _called(own: Summary) -> str:
    return shown(own.noise_called) + (f", F1 {shown(own.f1)}" if own.f1 else "")


def _marked(mean: Mean | None, digits: int = 2) -> str:
    if mean is None:
        return ""
    return shown(mean, digits) + (" ▲" if mean.value > LEVEL + 2 * mean.error and mean.runs > 1 else "")


def _pvalues(cells: Summaries, methods: Sequence[str]) -> Table:
    """Shares of noise with small p-values, by family of designs."""
    lines = []
    signal = [name for name in _names("signal") if not name.startswith(("ecoli70", "magic"))]
    networks = [name for name in _names("signal") if name.startswith(("ecoli70", "magic"))]
    small = [name for name in _names("noise") if "x8" in name]
    noise = [name for name in _names("noise") if name not in small]
    with_p = [m for m in methods if any(own.noise_05 is not None for (_, name), own in cells.items() if name == m)]
    for words, names in (
        ("designs with signal", signal),
        ("networks", networks),
        ("pure noise, 20 columns or more", noise),
        ("pure noise, 8 columns", small),
    ):
        row = [words]
        for method in with_p:
            own = [cells[name, method] for name in names if (name, method) in cells]
            known = [each for each in own if each.noise_05 is not None and each.noise_001 is not None]
            total = sum(each.fits for each in known)
            shares = [sum(getattr(each, k) * each.fits for each in known) for k in ("noise_05", "noise_001")]
            row.append(f"{shares[0] / total:.3f}, {shares[1] / total:.4f}" if total else "")
        lines.append(row)
    return Table("Share of noise with p < .05, then with p < .001", ["", *(LABELS[name] for name in with_p)], lines)


def _ahead(lines: Cells, cells: Summaries, designs: Sequence[str], ours: str, methods: Sequence[str]) -> list[str]:
    """A line per design where another method has a greater F1, by more than the standard error of the difference."""
    found = []
    for design in designs:
        better = {name: ahead(lines, design, ours, name) for name in methods if name not in OURS}
        known = {name: gain for name, gain in better.items() if gain and gain.value > max(gain.error, 0.01)}
        if known:
            best = max(known, key=lambda name: known[name].value)
            own, mine = cells[design, best], cells[design, ours]
            words = f"- `{design}`: {LABELS[best]} by {shown(known[best])} in F1 on {known[best].runs} data sets"
            words += f", false {shown(own.false_share)} against {shown(mine.false_share)}."
            found.append(f"{words} {REASONS.get(design, '')}".rstrip())
    return found or ["Nowhere."]


def _failed(cells: Summaries, methods: Sequence[str]) -> Table:
    rows = []
    for method in methods:
        said: dict[str, list[str]] = {}
        for (design, name), own in cells.items():
            if name == method and own.failed:
                said.setdefault(own.error, []).append(design)
        rows += [[LABELS[method], ", ".join(where), what.replace("|", "/")] for what, where in said.items()]
    return Table("Fits without an answer", ["", "designs", "what was said"], rows)


def _legend() -> list[str]:
    return [f"- `{each.name}`: {_about(each)}" for each in DESIGNS.values()]


def _about(each: Design) -> str:
    tags = ["reserved"] * each.reserved + ["rows are not exchangeable"] * (not each.exchangeable)
    return each.about.rstrip(".") + (f" ({'; '.join(tags)})" if tags else "")


def _alt(cells: Summaries, designs: Sequence[str], methods: Sequence[str]) -> str:
    parts = []
    for method in methods:
        error = average(cells, designs, method, lambda own: own.false_share)
        power = average(cells, designs, method, lambda own: own.power)
        parts.append(f"{LABELS[method].replace('*', '')} {error.value:.2f} false, {power.value:.2f} found")
    return "Error against power: " + "; ".join(parts)
