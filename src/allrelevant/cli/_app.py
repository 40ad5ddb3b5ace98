"""The commands."""

from __future__ import annotations

import json
import tempfile
from enum import StrEnum
from io import BytesIO
from pathlib import Path
from typing import Annotated

import typer

import allrelevant
from allrelevant.cli._exits import guarded
from allrelevant.cli._fit import examine, fit, read_costs, source
from allrelevant.cli._options import COSTS, FIT, JSON, METHOD, OUTPUT, QUIET, Job, Method, with_table
from allrelevant.cli._problems import Problem, closest, split_names
from allrelevant.cli._show import Screen

__all__ = ["app"]

app = typer.Typer(
    name="allrelevant",
    help="Which features matter, and which could stand in for which.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)


def _version(asked: bool) -> None:
    if asked:
        typer.echo(f"allrelevant {allrelevant.__version__}")
        raise typer.Exit


@app.callback()
def _main(
    version: Annotated[
        bool, typer.Option("--version", callback=_version, is_eager=True, help="Show the version.")
    ] = False,
) -> None:
    pass


@app.command("fit")
@guarded
@with_table
def _fit(
    job: Job,
    *,
    method: Annotated[Method, METHOD] = Method.linear,
    costs: Annotated[Path | None, COSTS] = None,
    thorough: Annotated[
        bool, typer.Option("--thorough", help="Find groups and substitutes however long it takes.", rich_help_panel=FIT)
    ] = False,
    time_limit: Annotated[
        float | None,
        typer.Option(min=0.0, metavar="SECONDS", help="Take what is proven by then.", rich_help_panel=FIT),
    ] = None,
    out: Annotated[
        Path | None, typer.Option(metavar="DIR", help="Folder for report and tables.", rich_help_panel=OUTPUT)
    ] = None,
    as_json: Annotated[bool, JSON] = False,
    quiet: Annotated[bool, QUIET] = False,
) -> None:
    """Find out which features of a table matter.

    allrelevant fit patients.csv --target outcome --out results
    """
    screen = Screen(quiet=quiet)
    if method is Method.forest and (costs is not None or thorough):
        raise Problem(f"{'--thorough' if costs is None else '--costs'} is for --method linear: forests have no groups, "
                      "substitutes and panels. Leave it out.")  # fmt: skip
    if time_limit is not None and (method is Method.forest or time_limit == 0.0):
        raise Problem("--time-limit is a number of seconds above 0, for --method linear.")
    prices = _costs(job, costs, screen)
    if out is not None:
        _check_folder(out)
    with screen.progress():
        model = fit(job.prepared, seed=job.seed, jobs=job.jobs, parameters=job.parameters, time_limit=time_limit)
        # Substitutes take long and are not printed; only files and other programs have room for them.
        wanted = out is not None or as_json
        findings, notices = examine(
            model, facts=job.prepared.facts, costs=prices, substitutes=wanted, thorough=thorough
        )
    screen.notices(notices)
    written = []
    if out is not None:
        from allrelevant.report import write_csv, write_markdown, write_report
        from allrelevant.report._files import write_whole

        # The result first, from which everything else can be made again.
        result = write_whole(out / "result.json", lambda: findings.to_json(indent=1), "result.json")
        written = [
            write_report(findings, out / "report.html", title=job.title),
            result,
            write_csv(findings, out / "relevance.csv"),
            write_markdown(findings, out / "relevance.md", title=job.title),
        ]
    if as_json:
        screen.plain(findings.to_json(indent=1))
        screen.notices(f"Written: {path}" for path in written)
    else:
        screen.findings(findings)
        for path in written:
            screen.line(f"Written: {path}")


@app.command("panels")
@guarded
@with_table
def _panels(
    job: Job,
    *,
    costs: Annotated[Path | None, COSTS] = None,
    k: Annotated[int, typer.Option("-k", min=1, help="Number of panels.")] = 10,
    max_size: Annotated[int | None, typer.Option(min=1, help="Features that a panel may have.")] = None,
    include: Annotated[str | None, typer.Option(metavar="A,B", help="Features that every panel has.")] = None,
    exclude: Annotated[str | None, typer.Option(metavar="A,B", help="Features that no panel has.")] = None,
    as_json: Annotated[bool, JSON] = False,
    quiet: Annotated[bool, QUIET] = False,
) -> None:
    """Find the cheapest sets of features that are enough.

    allrelevant panels patients.csv --target outcome --costs costs.csv
    """
    screen = Screen(quiet=quiet)
    prices = _costs(job, costs, screen)
    wanted, unwanted = split_names(include), split_names(exclude)
    for option, names in (("--include", wanted), ("--exclude", unwanted)):
        for name in names:
            if name not in job.prepared.features:
                raise Problem(f"{option}: there is no feature {name!r}; {closest(name, job.prepared.features)}")
    with screen.progress():
        model = fit(job.prepared, seed=job.seed, jobs=job.jobs, parameters=job.parameters)
        panels = model.panels(prices, k, max_size=max_size, include=wanted, exclude=unwanted)
    if as_json:
        content = {
            "panels": [
                {"features": list(one.features), "cost": one.cost, "score": one.score, "gap": one.gap} for one in panels
            ],
            "metric": panels.metric,
            "baseline_score": panels.baseline_score,
            "complete": panels.complete,
            "timed_out": panels.timed_out,
            "notes": list(panels.notes),
        }
        screen.plain(json.dumps(content, indent=1))
    else:
        screen.panels(panels)


@app.command("explore")
@guarded
@with_table
def _explore(
    job: Job,
    *,
    costs: Annotated[Path | None, COSTS] = None,
    port: Annotated[int, typer.Option(min=0, max=65535, help="Port of the page; 0 takes a free one.")] = 0,
    browser: Annotated[bool, typer.Option("--browser/--no-browser", help="Whether to open a browser.")] = True,
    quiet: Annotated[bool, QUIET] = False,
) -> None:
    """Explore a table in the browser, until Ctrl-C.

    allrelevant explore patients.csv --target outcome
    """
    from allrelevant.explore import run

    screen = Screen(quiet=quiet)
    prices = _costs(job, costs, screen)
    with screen.progress():
        model = fit(job.prepared, seed=job.seed, jobs=job.jobs, parameters=job.parameters)
    code = source(job.table, job.prepared, seed=job.seed, jobs=job.jobs, parameters=job.parameters)
    run(model, title=job.title, costs=prices, source=code, port=port, open_browser=browser)


@app.command("report")
@guarded
def _report(
    result: Annotated[Path, typer.Argument(metavar="RESULT.json", help="A result.json that fit has written.")],
    out: Annotated[Path, typer.Option(metavar="FILE", help="Web page to write.")] = Path("report.html"),
    title: Annotated[str | None, typer.Option(help="Heading of the page.")] = None,
) -> None:
    """Make a web page from a result.

    allrelevant report results/result.json --out report.html
    """
    from allrelevant.findings import Findings
    from allrelevant.report import write_report

    try:
        findings = Findings.from_json(result.read_text(encoding="utf-8"))
    except FileNotFoundError:
        raise Problem(f"There is no file {result}; fit writes one with --out.") from None
    except IsADirectoryError:
        raise Problem(f"{result} is a folder; name the result.json in it.") from None
    except ValueError as error:
        raise Problem(f"{result} is no result of allrelevant fit: {error}") from None
    if out.is_dir():
        out = out / "report.html"
    Screen().line(f"Written: {write_report(findings, out, title=title)}")


@app.command("demo")
@guarded
def _demo(
    out: Annotated[Path, typer.Option(metavar="DIR", help="Folder for report and drawing.")] = Path("demo-output"),
    jobs: Annotated[int, typer.Option(help="Threads; -1 uses all processors.")] = -1,
    quiet: Annotated[bool, QUIET] = False,
) -> None:
    """See it work on measurements of breast tumours.

    Which measurements of cell nuclei tell benign from malignant tumours?
    """
    from sklearn.datasets import load_breast_cancer

    from allrelevant import LinearRelevanceClassifier
    from allrelevant.findings import Findings
    from allrelevant.plotting import RelevanceDisplay
    from allrelevant.report import write_report
    from allrelevant.report._files import write_whole

    screen = Screen(quiet=quiet)
    _check_folder(out)
    title = "Breast cancer (Wisconsin)"
    with screen.progress():
        X, y = load_breast_cancer(return_X_y=True, as_frame=True)
        model = LinearRelevanceClassifier(n_jobs=jobs, random_state=0).fit(X, y)
    findings = Findings(model.result_, data={"source": "sklearn.datasets.load_breast_cancer"})
    screen.findings(findings)
    display = RelevanceDisplay.from_estimator(model)
    display.ax_.set_title(title)
    image = BytesIO()
    display.figure_.savefig(image, dpi=150, format="png")
    drawing = write_whole(out / "relevance.png", image.getvalue, "relevance.png")
    report = write_report(findings, out / "report.html", title=title)
    screen.line(f"Drawing: {drawing.resolve()}")
    screen.line(f"Report:  {report.resolve()}")
    screen.line("Next:    allrelevant fit DATA --target COLUMN, with a table of your own")


class Made(StrEnum):
    """Data that can be drawn."""

    simulation = "simulation"
    classification = "classification"
    regression = "regression"
    ordinal = "ordinal"


@app.command("generate")
@guarded
def _generate(
    what: Annotated[Made, typer.Argument(metavar="simulation|classification|regression|ordinal", show_choices=False)],
    out: Annotated[Path, typer.Option(metavar="FILE", help="CSV file to write.")],
    name: Annotated[str | None, typer.Option(help="Which simulation, sim1 to sim9.", show_default="sim1")] = None,
    samples: Annotated[int, typer.Option(min=1, help="Rows.")] = 500,
    strong: Annotated[int | None, typer.Option(min=0, help="Strongly relevant features.", show_default="4")] = None,
    weak: Annotated[int | None, typer.Option(min=0, help="Weakly relevant features.", show_default="4")] = None,
    irrelevant: Annotated[int | None, typer.Option(min=0, help="Irrelevant features.", show_default="22")] = None,
    seed: Annotated[int, typer.Option(min=0, help="Seed.")] = 0,
) -> None:
    """Write data of which it is known what matters.

    allrelevant generate simulation --name sim1 --out data.csv
    """
    from allrelevant.cli._generate import generate

    counts = {"n_strong": strong, "n_weak": weak, "n_irrelevant": irrelevant}
    given = {key: value for key, value in counts.items() if value is not None}
    data, truth = generate(what.value, out, name=name, samples=samples, seed=seed, counts=given)
    screen = Screen()
    screen.line(f"Written: {data}")
    screen.line(f"Written: {truth}, which says which features are relevant")
    screen.line(
        f"Next:    allrelevant fit {data} --target target{' --problem ordinal' if what == Made.ordinal else ''}"
    )


def _costs(job: Job, path: Path | None, screen: Screen) -> dict[str, float] | None:
    if path is None:
        return None
    costs, notices = read_costs(path, job.prepared.features, job.prepared.left_out)
    screen.notices(notices)
    return costs


def _check_folder(out: Path) -> None:
    """Make the folder, and see before a long fit that files can be written there."""
    try:
        out.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryFile(dir=out):
            pass
    except (FileExistsError, NotADirectoryError):
        raise Problem(f"--out: {out} cannot be a folder, as there is a file of that name; choose another.") from None
    except OSError as error:
        raise Problem(f"--out: {out} cannot be written to ({error.strerror or error}); choose another.") from None
