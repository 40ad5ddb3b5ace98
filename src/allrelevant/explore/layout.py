"""The page of the explorer, without what moves."""

from __future__ import annotations

from typing import Any

import numpy as np

from allrelevant._summary import near
from allrelevant._words import BORDERLINE
from allrelevant.explore.answers import Answers
from allrelevant.plotting._style import CLASS_STYLES

__all__ = ["page"]

HELP = (
    "A bar reaches from the least to the most weight that any good model gives a feature. Choose a feature, in the "
    "drawing or in the list, and hold it: all other bars show what that leaves for them. Pale bars are the intervals "
    "without constraints. Extremes of different features are in general not attained by the same model."
)


def page(answers: Answers, title: str) -> Any:
    """Return the layout."""
    from dash import dcc, html

    result = answers.result
    first = result.feature_names[int(result.ranking()[0])]

    def button(name: str, text: str, hint: str) -> Any:
        return html.Button(text, id=name, n_clicks=0, title=hint, type="button")

    keys = [(style.symbol, f"symbol {kind.label}", style.phrase) for kind, style in CLASS_STYLES.items()]
    if np.isnan(result.thresholds.max_relevance):
        keys.append(("|", "symbol", result.words.own_limit))
    if result.borderline.any():
        keys.append((BORDERLINE, "symbol", f"borderline: {near(result.thresholds)}"))
    legend = [html.Span([html.Span(sign, className=name), f" {text}"], className="key") for sign, name, text in keys]
    controls = html.Section(
        [
            html.H2("Hold a feature", id="hold-heading"),
            html.Label("Feature", htmlFor="feature"),
            dcc.Dropdown(
                id="feature",
                options=[{"label": name, "value": name} for name in result.feature_names],
                value=first,
                clearable=False,
            ),
            html.P(id="about", className="about"),
            html.Div(
                [
                    button("at-minimum", "Minimum", "hold the feature at the least weight it can have"),
                    button("at-maximum", "Maximum", "hold the feature at the most weight it can have"),
                    button("exclude", "Exclude", "look only at models without the feature"),
                    button("free", "Let go", "do not hold the feature any more"),
                ],
                className="buttons",
            ),
            html.Div(
                dcc.RangeSlider(
                    id="range", min=0, max=1, value=[0, 1], step=0.001, marks=None, updatemode="drag", allowCross=False,
                    allow_direct_input=False,
                ),
                className="slider",
            ),
            html.Div(
                [
                    html.Label(["from ", dcc.Input(id="low", type="number", min=0, step="any", debounce=True)]),
                    html.Label([" to ", dcc.Input(id="high", type="number", min=0, step="any", debounce=True)]),
                    button("apply", "Hold", "hold the feature between these two numbers"),
                ],
                className="numbers",
            ),
            html.Div(
                [
                    button("undo", "Undo", "one step back"),
                    button("redo", "Redo", "one step forward again"),
                    button("reset", "Reset", "let all features go"),
                ],
                className="buttons",
            ),
            html.Div(id="message", role="status", **{"aria-live": "polite"}),  # type: ignore[arg-type]
            html.Div(id="held"),
            html.Div(id="changes"),
        ],
    )  # fmt: skip
    asked = html.Section(
        [
            html.H2("Ask"),
            html.Div(
                [
                    button("ask-substitutes", "What can stand in for it?", "substitutes of the chosen feature"),
                    button("ask-groups", "What goes together?", "groups of features, marked in the drawing"),
                ],
                className="buttons",
            ),
            dcc.Loading(html.Div(id="answer-substitutes"), delay_show=300),
            dcc.Loading(html.Div(id="answer-groups"), delay_show=300),
            html.Details(
                [
                    html.Summary("Cheapest panels"),
                    html.P("What does every relevant feature cost? Features that you exclude above are in no panel."),
                    html.Div(_cost_rows(answers), className="costs"),
                    button("ask-panels", "Find panels", "the cheapest sets of features that lose nothing"),
                    dcc.Loading(html.Div(id="answer-panels"), delay_show=300),
                ]
            ),
        ]
    )
    exports = html.Section(
        [
            html.H2("Take away"),
            html.Div(
                [
                    button("get-result", "Result (JSON)", "the result under these constraints"),
                    button("get-report", "Report (HTML)", "the report of the result under these constraints"),
                    button("get-code", "Python code", "a script that leads here"),
                ],
                className="buttons",
            ),
            dcc.Download(id="download"),
        ]
    )
    return html.Main(
        [
            dcc.Location(id="url", refresh=False),
            dcc.Store(id="state", storage_type="memory"),
            dcc.Store(id="request", storage_type="memory"),
            dcc.Store(id="page", storage_type="memory"),
            dcc.Store(id="grouped", storage_type="memory"),
            html.H1(title),
            html.P(HELP, className="help"),
            html.P(legend, className="legend"),
            html.Div(
                [
                    html.Div(
                        dcc.Graph(id="bars", config={"displayModeBar": False, "responsive": True}), className="drawing"
                    ),
                    html.Div([controls, asked, exports], className="side"),
                ],
                className="columns",
            ),
        ]
    )


def _cost_rows(answers: Answers) -> list[Any]:
    from dash import dcc, html

    return [
        html.Label(
            [
                html.Span(name),
                dcc.Input(id={"cost": name}, type="number", min=0, step="any", value=cost, debounce=True),
            ]
        )
        for name, cost in answers.costs.items()
    ]
